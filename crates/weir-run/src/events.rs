//! Events of a run's timeline: each waits on a connection of its own, opened before the load, for its second.

mod clock;
mod copying;
mod lock_wait;
mod prepared;

use std::time::Duration;

use weir_model::{EventRecord, RunSpec};
use weir_mysql::{Connection, Connector, Deadline, Patience};

use self::clock::Clock;
use self::prepared::Prepared;
use crate::RunError;
use crate::target::Target;

/// How long a server may need beyond the load: connections, what is ended, and what is put back.
const PATIENCE: Duration = Duration::from_mins(3);

/// The events of one run, ready to happen.
pub(crate) struct Events(Vec<Prepared>);

impl Events {
    /// Opens the connections of all events of `spec`, and sets what their sessions need.
    ///
    /// # Errors
    ///
    /// A login that fails, or a variable of a session that the server refuses.
    pub(crate) fn open(target: &dyn Target, spec: &RunSpec) -> Result<Self, RunError> {
        if spec.timeline.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let length = spec.load.warmup.most().0 + spec.load.measure.0;
        let patience = Patience::Until(Deadline::after(length + PATIENCE));
        let connector = Connector::new(target.endpoint(), None, target.gate());
        let events = spec.timeline.iter().map(|event| {
            let refused = |error: weir_mysql::ClientError| RunError::Event {
                name: event.name.clone(),
                why: error.words(),
            };
            let connector = connector.as_ref().map_err(|error| RunError::Event {
                name: event.name.clone(),
                why: error.to_string(),
            })?;
            let open = || Connection::connect(connector, true, patience).map_err(refused);
            let mut connection = open()?;
            let session = prepared::set_session(&mut connection, event).map_err(refused)?;
            Ok(Prepared {
                event: event.clone(),
                endpoint: target.endpoint(),
                gate: target.gate(),
                connection,
                // It looks and ends what the first one does.
                watcher: open()?,
                session,
                changes: target.changes(),
                way_back: None,
            })
        });
        Ok(Self(events.collect::<Result<_, RunError>>()?))
    }

    /// Lets `load` run, which tells the clock when its measurement begins, and the events happen meanwhile. When the
    /// load is over, so are they, and what they set is as before.
    pub(crate) fn during<T>(self, load: impl FnOnce(&Clock) -> T) -> (T, Vec<EventRecord>) {
        let clock = Clock::default();
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .0
                .into_iter()
                .map(|event| scope.spawn(|| event.happen(&clock)))
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

impl Prepared {
    /// Waits for its time and does it; `None` if the load is over before.
    fn happen(mut self, clock: &Clock) -> Option<EventRecord> {
        let measured_from = clock.wait_until(self.event.at.0)?;
        let now_s = || measured_from.elapsed().as_secs_f64();
        let began_s = now_s();
        let work = self.work(clock);
        let ended_s = now_s();
        // What could not be put back is worse than whatever came before.
        let ending = self.put_back(clock).unwrap_or(work.ending);
        Some(EventRecord {
            name: self.event.name.clone(),
            kind: self.event.kind.name().to_owned(),
            began_s,
            ended_s,
            tries: work.tries,
            lock_wait_s: work.lock_wait_s,
            ending,
            session: self.session,
        })
    }
}
