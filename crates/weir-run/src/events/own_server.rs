//! Events that only a server of Weir's own can have: its end and its new start, a fault of its drive, its buffer pool.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use weir_model::{Bytes, EventDetail, EventEnding, FailoverRecord, PoolAction};
use weir_mysql::ClientError;

use super::clock::Clock;
use super::prepared_event::{PreparedEvent, WayBack, Work, refused};
use crate::target::{Ending, OwnServer};

/// Time between two looks at the status of the pool.
const LOOK: Duration = Duration::from_millis(20);
/// A status that is as before for so long has not changed: it has times in whole seconds.
const SETTLED: Duration = Duration::from_secs(2);

impl PreparedEvent {
    /// Ends the server, and starts it again.
    pub(super) fn restart(&self, ending: Ending, down: Duration, stop: &AtomicBool) -> Work {
        let Some(own) = &self.own else {
            return Work::refused(NOT_OWN);
        };
        match own.server.restart(ending, down, stop) {
            Ok(restart) => Work {
                detail: EventDetail {
                    restart: Some(restart),
                    ..EventDetail::default()
                },
                ..Work::done()
            },
            Err(error) => Work::refused(&error.to_string()),
        }
    }

    /// Ends the server, and lets a replica take its place.
    pub(super) fn fail_over(&self) -> Work {
        let own = self.own.as_ref();
        let Some((own, successor)) = own.and_then(|own| Some((own, own.successor.as_ref()?)))
        else {
            return Work::refused("no replica takes over");
        };
        match own.server.fail_over(successor) {
            Ok((restart, promotion)) => Work {
                detail: EventDetail {
                    restart: Some(restart),
                    failover: Some(FailoverRecord {
                        applied_s: promotion.applied.as_secs_f64(),
                        promoted_s: promotion.promoted.as_secs_f64(),
                        ..FailoverRecord::default()
                    }),
                    ..EventDetail::default()
                },
                ..Work::done()
            },
            Err(error) => Work::refused(&error.to_string()),
        }
    }

    /// Gives the drive a fault.
    pub(super) fn disturb_drive(
        &mut self,
        settings: &BTreeMap<String, String>,
        length: Option<Duration>,
        clock: &Clock,
    ) -> Work {
        let Some(drive) = self.own.as_ref().and_then(|own| own.drive.clone()) else {
            return Work::refused("no drive is emulated");
        };
        let pairs = settings
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()));
        if let Err(error) = weir_drive::set_faults(&drive, pairs.collect()) {
            return Work::refused(&error.to_string());
        }
        let Some(length) = length else {
            self.way_back = Some(WayBack::Drive(drive));
            return Work::done();
        };
        // The end of the load ends it, too.
        clock.is_over_within(length);
        match weir_drive::reset_faults(&drive) {
            Ok(()) => Work::done(),
            Err(error) => Work::refused(&error.to_string()),
        }
    }

    /// Does something to the buffer pool.
    pub(super) fn change_pool(
        &mut self,
        action: PoolAction,
        size: Option<Bytes>,
        clock: &Clock,
    ) -> Work {
        let Some(own) = self.own.clone() else {
            return Work::refused(NOT_OWN);
        };
        match action {
            PoolAction::Dump => self.await_pool("dump", clock),
            PoolAction::Load => self.await_pool("load", clock),
            PoolAction::Resize => self.resize_pool(&own, size.unwrap_or_default()),
        }
    }

    fn resize_pool(&mut self, own: &OwnServer, size: Bytes) -> Work {
        let resized = own.server.session().and_then(|mut session| {
            let before = session.pool()?.size;
            session.resize_pool(size)?;
            Ok(before)
        });
        match resized {
            Ok(before) => {
                self.way_back = Some(WayBack::Pool(before));
                Work::done()
            }
            Err(error) => Work::refused(&error.to_string()),
        }
    }

    /// Has the server dump or load its pool, and waits until it says that this is completed.
    fn await_pool(&mut self, what: &str, clock: &Clock) -> Work {
        let connection = &mut self.connections.own;
        let ask = format!("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_{what}_status'");
        let mut status = || -> Result<String, ClientError> {
            let row = connection.first::<(String, String)>(&ask)?;
            Ok(row.map(|(_, value)| value).unwrap_or_default())
        };
        let before = match status() {
            Ok(before) => before,
            Err(error) => return Work::once(Err(error)),
        };
        if let Err(error) = self
            .connections
            .watcher
            .run(format!("SET GLOBAL innodb_buffer_pool_{what}_now = ON"))
        {
            return Work::once(Err(error));
        }
        let began = Instant::now();
        loop {
            let told = match status() {
                Ok(told) => told,
                Err(error) => return Work::once(Err(error)),
            };
            let is_new = told != before || began.elapsed() > SETTLED;
            if is_new && told.contains("completed") {
                return Work::done();
            }
            let failed = ["not found", "Cannot", "aborted", "interrupted"];
            if is_new && failed.iter().any(|word| told.contains(word)) {
                return Work::refused(&told);
            }
            if clock.is_over() {
                let abort = "SET GLOBAL innodb_buffer_pool_load_abort = ON";
                let aborted = self.connections.watcher.run(abort);
                return Work {
                    ending: aborted.map_or_else(|error| refused(&error), |_| EventEnding::CutOff),
                    ..Work::done()
                };
            }
            thread::sleep(LOOK);
        }
    }
}

const NOT_OWN: &str = "only a server that Weir starts can have this event";
