//! Events of a run's timeline: each waits on a connection of its own, opened before the load, for its second.

mod blockers;
mod clock;
mod connections;
mod copy_method;
mod own_server;
mod phases;
mod prepared_event;
mod statement;
mod temporary_files;
mod warming;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_model::{EventRecord, RunSpec};
use weir_mysql::{Connector, Deadline, Patience};

use self::clock::Clock;
use self::connections::{Connections, Names};
use self::copy_method::CopyMethod;
use self::prepared_event::PreparedEvent;
use crate::RunError;
use crate::target::Target;

/// Time that a server may need beyond the load: connections, statements that are ended, and
/// settings that are put back.
const PATIENCE: Duration = Duration::from_mins(3);

/// The events of one run, ready to happen.
pub(crate) struct Events(Vec<PreparedEvent>);

impl Events {
    /// Opens the connections of all events of `spec`, and sets what their sessions need.
    ///
    /// # Errors
    ///
    /// A login that fails, a variable of a session that the server refuses, or a tool that is not there.
    pub(crate) fn open(target: &dyn Target, spec: &RunSpec) -> Result<Self, RunError> {
        if spec.timeline.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let length = spec.load.warmup.most().0 + spec.load.measure.0;
        let patience = Patience::Until(Deadline::after(length + PATIENCE));
        let refused = |name: &str, why: String| RunError::Event {
            name: name.to_owned(),
            why,
        };
        let connector = Connector::new(target.endpoint(), None, target.gate());
        let connector = connector.map_err(|error| {
            let first = spec.timeline.first().map(|event| event.name.as_str());
            refused(first.unwrap_or_default(), error.to_string())
        })?;
        let (connector, names) = (Arc::new(connector), Names::default());
        let events = spec.timeline.iter().map(|event| {
            let copying = CopyMethod::for_event(&event.kind);
            let copying = copying.map_err(|error| refused(&event.name, error.to_string()))?;
            let connections = Connections::open(&connector, patience, event, &names);
            Ok(PreparedEvent {
                event: event.clone(),
                copying,
                endpoint: target.endpoint(),
                gate: target.gate(),
                connections: connections.map_err(|error| refused(&event.name, error.words()))?,
                own: target.own(),
                changes: target.changes(),
                way_back: None,
                spec: spec.clone(),
            })
        });
        Ok(Self(events.collect::<Result<_, RunError>>()?))
    }

    /// Lets `load` run, which tells the clock when its measurement begins, and the events happen meanwhile. When the
    /// load is over, so are they, and what they set is as before. `stop`: the study is to end.
    pub(crate) fn during<T>(
        self,
        stop: &AtomicBool,
        load: impl FnOnce(&Clock) -> T,
    ) -> (T, Vec<EventRecord>) {
        let clock = Clock::default();
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .0
                .into_iter()
                .map(|event| scope.spawn(|| event.happen(&clock, stop)))
                .collect();
            // However the load ends: threads that wait would be waited for.
            let over = clock.over_when_dropped();
            let loaded = load(&clock);
            drop(over);
            let records = threads.into_iter().filter_map(|thread| {
                let joined = thread.join();
                joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            (loaded, records.collect())
        })
    }
}

impl PreparedEvent {
    /// Waits for its time and does it; `None` if the load is over before.
    fn happen(mut self, clock: &Clock, stop: &AtomicBool) -> Option<EventRecord> {
        let is_due = AtomicBool::new(false);
        let waited = std::thread::scope(|scope| {
            let warming = self.warming(&is_due).map(|warm| scope.spawn(warm));
            let measured_from = clock.wait_until(self.event.at.0);
            is_due.store(true, Ordering::Relaxed);
            // It may be within a statement of a server that is to end now.
            let began = measured_from.map(|from| {
                let began_s = from.elapsed().as_secs_f64();
                (from, began_s, self.work(clock, from, stop))
            });
            let warmed = warming.map(|thread| {
                let joined = thread.join();
                joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            (began, warmed)
        });
        let (began, warmed) = waited;
        let (measured_from, began_s, mut work) = began?;
        if let (Some(failover), Some(warmed)) = (&mut work.detail.failover, warmed) {
            warmed.tell(failover, measured_from, began_s);
        }
        let now_s = || measured_from.elapsed().as_secs_f64();
        let ended_s = now_s();
        // What could not be put back is worse than whatever came before.
        let ending = self.put_back(clock).unwrap_or(work.ending);
        let (at_start_s, at_end_s) = work.detail.lock_wait_s();
        Some(EventRecord {
            name: self.event.name.clone(),
            kind: self.event.kind.name().to_owned(),
            began_s,
            ended_s,
            tries: work.tries,
            lock_wait_s: at_start_s + at_end_s,
            ending,
            session: self.connections.session,
            detail: work.detail,
        })
    }
}
