//! A share of a run, in a thread of its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_nats::Subject;
use tokio::sync::mpsc::UnboundedSender;
use weir_load::{Frame, LoadError, LoadPlan, PartEnd, PartReady, PartStart, run_part};
use weir_mysql::{ChangeLog, Gate, Permissions};
use weir_script::ScriptProcess;

use crate::authority_message::AuthorityFile;
use crate::messages::{Answer, Report};
use crate::own_process::own_program;
use crate::server_role::ServerOutcome;

/// Until so long before its start a run can be called back.
const REVOCABLE: Duration = Duration::from_millis(20);
/// Longest pause between two looks at whether the run was given up.
const LOOK: Duration = Duration::from_millis(200);

/// Order to a run that waits.
#[derive(Debug, Clone, Copy)]
pub(super) enum StartOrder {
    Arm(PartStart),
    Disarm,
}

/// Event of a job, a watch or the server of a study, for the agent.
pub(super) enum Event {
    /// The connections are there, or the reason that they are not.
    Ready {
        reply: Option<Subject>,
        ready: Result<PartReady, String>,
    },
    /// It is over.
    Ended { run: String, how: String },
    /// Figures of the host are there.
    Sampled {
        reply: Option<Subject>,
        answer: Box<Answer>,
    },
    /// No conductor asks for them any more.
    WatchEnded { id: String },
    /// A step of a study's server is done.
    Served {
        session: String,
        number: u64,
        outcome: Result<ServerOutcome, String>,
    },
    /// Whatever the session started is gone.
    ServingEnded { session: String },
}

/// A share of a run under way.
pub(super) struct Job {
    pub(super) run: String,
    stop: Arc<AtomicBool>,
    gave_up: Arc<OnceLock<String>>,
    orders: Sender<StartOrder>,
    done: Arc<AtomicU64>,
}

impl Job {
    /// Begins to connect; `reply`: who wants to know when that is done.
    pub(super) fn start(
        run: String,
        (plan, authority): (LoadPlan, Option<AuthorityFile>),
        writes_replicas: bool,
        reply: Option<Subject>,
        events: UnboundedSender<Event>,
        reports: UnboundedSender<Vec<u8>>,
    ) -> Result<Self, String> {
        let (orders, order_receiver) = channel();
        let work = Work {
            gate: gate(&plan.endpoint.database, writes_replicas, false),
            plan,
            stop: Arc::default(),
            gave_up: Arc::default(),
            done: Arc::default(),
            orders: order_receiver,
            reports,
        };
        let job = Self {
            run: run.clone(),
            stop: Arc::clone(&work.stop),
            gave_up: Arc::clone(&work.gave_up),
            orders,
            done: Arc::clone(&work.done),
        };
        std::thread::Builder::new()
            .name("weir-share".to_owned())
            .spawn(move || {
                let how = work.run(reply, &events);
                drop(authority);
                let _ = events.send(Event::Ended { run, how });
            })
            .map_err(|error| error.to_string())?;
        Ok(job)
    }

    /// Sends an order; returns true if it still waits for its start.
    pub(super) fn order(&self, order: StartOrder) -> bool {
        self.orders.send(order).is_ok()
    }

    /// Ends it by its conductor's wish.
    pub(super) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends it before its time for another reason, which its conductor learns.
    pub(super) fn give_up(&self, why: &str) {
        let _ = self.gave_up.set(why.to_owned());
        self.end();
    }

    /// Transactions so far.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// As `weir load` has it: the schema that is named, and no other.
pub(super) fn gate(schema: &str, writes_replicas: bool, skips_binary_log: bool) -> Gate {
    Gate::new(Permissions {
        schema: Some(schema.to_owned()),
        skips_binary_log,
        log: Some(ChangeLog::at(weir_server::change_log())),
        writes_replicas,
        ..Permissions::default()
    })
}

struct Work {
    plan: LoadPlan,
    gate: Gate,
    stop: Arc<AtomicBool>,
    gave_up: Arc<OnceLock<String>>,
    done: Arc<AtomicU64>,
    orders: Receiver<StartOrder>,
    reports: UnboundedSender<Vec<u8>>,
}

impl Work {
    /// Does the share; how that went.
    fn run(self, reply: Option<Subject>, events: &UnboundedSender<Event>) -> String {
        let mut reply = Some(reply);
        let mut begins = None;
        let mut start = |ready| {
            let reply = reply.take().flatten();
            let ready = Ok(ready);
            let _ = events.send(Event::Ready { reply, ready });
            let start = wait_for_start(&self.orders, &self.stop);
            begins = start.map(|start| start.at);
            start
        };
        let mut send_frame = |frame: &Frame| {
            self.done.fetch_add(frame.counts().0, Ordering::Relaxed);
            self.report(&Report::Frame(frame));
        };
        let ended = self.load(&mut start, &mut send_frame);
        if let (Err(error), Some(reply)) = (&ended, reply) {
            let ready = Err(error.to_string());
            let _ = events.send(Event::Ready { reply, ready });
            return "not begun".to_owned();
        }
        let gave_up = self.gave_up.get().filter(|_| !self.is_over(begins));
        self.conclude(match gave_up {
            Some(why) => Err(why.clone()),
            None => ended.map_err(|error| error.to_string()),
        })
    }

    /// True once a load that began then has come to its planned end.
    fn is_over(&self, begins: Option<Instant>) -> bool {
        let load = &self.plan.load;
        let length = load.warmup.least().0 + load.measure.0;
        !load.measure.0.is_zero() && begins.is_some_and(|begins| begins.elapsed() >= length)
    }

    /// The load of this share: a script's is in a process of its own.
    fn load(
        &self,
        start: &mut dyn FnMut(PartReady) -> Option<PartStart>,
        on_frame: &mut dyn FnMut(&Frame),
    ) -> Result<PartEnd, LoadError> {
        let Self {
            plan, gate, stop, ..
        } = self;
        if !plan.workload.is_lua() {
            return run_part(plan, gate, stop, start, on_frame);
        }
        ScriptProcess::start(&own_program())?.run_share(plan, stop, start, on_frame)
    }

    fn conclude(&self, ended: Result<PartEnd, String>) -> String {
        match ended {
            Ok(PartEnd {
                idle_connections,
                began_late,
            }) => {
                self.report(&Report::<()>::Ended {
                    idle_connections,
                    began_late_ns: began_late.as_nanos() as u64,
                });
                format!("done, {} transactions", self.done.load(Ordering::Relaxed))
            }
            Err(why) => {
                self.report(&Report::<()>::Failed { why: why.clone() });
                why
            }
        }
    }

    /// Hands a report over; that never waits.
    fn report<F: serde::Serialize>(&self, report: &Report<F>) {
        if let Ok(bytes) = report.written() {
            // Without its receiver the process is ending.
            let _ = self.reports.send(bytes);
        }
    }
}

/// Waits for the order to begin; it can be taken back until shortly before. `None`: the run was given up.
fn wait_for_start(orders: &Receiver<StartOrder>, stop: &AtomicBool) -> Option<PartStart> {
    let mut armed: Option<PartStart> = None;
    loop {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let left = armed.map_or(LOOK, |start| {
            start
                .at
                .saturating_duration_since(Instant::now() + REVOCABLE)
        });
        match orders.recv_timeout(left.min(LOOK)) {
            Ok(StartOrder::Arm(start)) => armed = Some(start),
            Ok(StartOrder::Disarm) => armed = None,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if left <= LOOK && armed.is_some() => return armed,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_can_be_taken_back_and_given_again() {
        let (orders, receiver) = channel();
        let stop = AtomicBool::new(false);
        let start = |ms: u64, before: u32| {
            StartOrder::Arm(PartStart {
                at: Instant::now() + Duration::from_millis(ms),
                reporters_before: before,
            })
        };
        orders.send(start(60_000, 1)).unwrap();
        orders.send(StartOrder::Disarm).unwrap();
        orders.send(start(60, 2)).unwrap();
        let begun = wait_for_start(&receiver, &stop).unwrap();
        assert_eq!(begun.reporters_before, 2);
        assert!(
            begun.at > Instant::now(),
            "the moment itself is waited for by the load"
        );
        stop.store(true, Ordering::Relaxed);
        assert!(wait_for_start(&receiver, &stop).is_none());
        stop.store(false, Ordering::Relaxed);
        drop(orders);
        assert!(wait_for_start(&receiver, &stop).is_none());
    }
}
