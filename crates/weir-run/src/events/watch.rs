//! Watches the statement of an event: what it does, what holds it up, and its end when the load is over.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use weir_model::{EventPhase, TemporaryFiles};
use weir_mysql::Connection;

use super::blockers::blockers;
use super::clock::Clock;
use super::connections::Names;
use super::phases::{Look, Phases};
use super::temporary_files::OpenFiles;
use crate::target::OwnServer;

/// Time between two looks at the process list.
const LOOK: Duration = Duration::from_millis(50);

/// Observation of a statement.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct StatementObservation {
    pub(super) phases: Vec<EventPhase>,
    pub(super) temporary: Option<TemporaryFiles>,
    /// True if it was ended because the load was over.
    pub(super) was_ended: bool,
}

/// Watch of a statement.
pub(super) struct Watch<'a> {
    pub(super) watcher: &'a mut Connection,
    /// Connection of the statement.
    pub(super) id: u32,
    pub(super) names: &'a Names,
    pub(super) own: Option<&'a OwnServer>,
    pub(super) clock: &'a Clock,
    pub(super) measured_from: Instant,
}

impl Watch<'_> {
    /// Watches until `done` says that the statement is over.
    pub(super) fn until(mut self, done: &Receiver<()>) -> StatementObservation {
        let mut phases = Phases::new(self.now_s());
        let mut files = self.own.map(OpenFiles::new);
        let mut was_ended = false;
        loop {
            let is_done = done.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout);
            if is_done {
                return StatementObservation {
                    phases: phases.end(self.now_s()),
                    temporary: files.map(OpenFiles::end),
                    was_ended,
                };
            }
            let at_s = self.now_s();
            if let Some(state) = self.state() {
                phases.add(Look { at_s, state });
            }
            if let Some(unknown) = phases.unexplained_wait() {
                *unknown = blockers(self.watcher, self.id, self.names);
            }
            if let Some(files) = &mut files {
                files.look();
            }
            if self.clock.is_over() && !was_ended {
                // The connection may be gone, and with it the statement.
                let _ = self.watcher.run(format!("KILL QUERY {}", self.id));
                was_ended = true;
            }
        }
    }

    fn now_s(&self) -> f64 {
        self.measured_from.elapsed().as_secs_f64()
    }

    /// Returns the present state of the connection. A look that fails sees nothing.
    fn state(&mut self) -> Option<String> {
        let id = self.id;
        let look = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id}");
        let state = self.watcher.first::<Option<String>>(look);
        state.ok()?.map(Option::unwrap_or_default)
    }
}
