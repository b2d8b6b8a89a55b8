//! The server of a study on this host: steps of one conductor, done in a thread of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use async_nats::Subject;
use tokio::sync::mpsc::UnboundedSender;
use weir_model::Secret;

use super::job::Event;
use super::lease::CONDUCTOR_PATIENCE;
use super::watch::Watch;
use crate::messages::{Answer, ServeOrder, json};
use crate::server_role::{RowsMade, ServerRole, ServerWork};

/// The bus may be away for so long: it is started again, and the conductor comes back.
const BUS_PATIENCE: Duration = Duration::from_mins(1);

/// Session of a conductor with servers on this host.
pub(super) struct HostedSession {
    pub(super) session: String,
    /// `None`: it is ending.
    steps: Option<Sender<ServerWork>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    heard: Instant,
    bus_was_away: bool,
    /// The latest step, from 1.
    number: u64,
    /// Answer to the latest step, which is given again to one that asks again.
    answer: Option<Vec<u8>>,
    rows: RowsMade,
    /// Waiter for the answer, or for the end.
    waiting: Option<Subject>,
    /// Of the server that runs.
    pub(super) watches: Vec<Watch>,
}

/// Tells that the thread is over, however that came.
struct AtEnd {
    session: String,
    events: UnboundedSender<Event>,
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        let session = self.session.clone();
        let _ = self.events.send(Event::ServingEnded { session });
    }
}

/// Reply to the conductor.
pub(super) enum StepReply {
    Now(Vec<u8>),
    /// The answer comes when there is one.
    Later,
}

impl HostedSession {
    /// Begins to serve the conductor of this session.
    pub(super) fn start(
        session: String,
        role: Arc<dyn ServerRole>,
        events: UnboundedSender<Event>,
    ) -> Result<Self, String> {
        let (steps, receiver) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let own_stop = Arc::clone(&stop);
        let at_end = AtEnd {
            session: session.clone(),
            events,
        };
        let thread = std::thread::Builder::new()
            .name("weir-server-host".to_owned())
            .spawn(move || {
                let _at_end = at_end;
                role.serve(&receiver, &own_stop);
            })
            .map_err(|error| error.to_string())?;
        Ok(Self {
            session,
            steps: Some(steps),
            stop,
            thread: Some(thread),
            heard: Instant::now(),
            bus_was_away: false,
            number: 0,
            answer: None,
            rows: RowsMade::default(),
            waiting: None,
            watches: Vec::new(),
        })
    }

    pub(super) fn hear(&mut self) {
        self.heard = Instant::now();
    }

    /// Takes a step. One that came before is not done again: its answer is given again.
    pub(super) fn take(
        &mut self,
        order: ServeOrder,
        (password, client): (Option<Secret>, Option<u32>),
        reply: Option<Subject>,
        events: &UnboundedSender<Event>,
    ) -> StepReply {
        self.hear();
        let refused = |why: &str| {
            let why = why.to_owned();
            StepReply::Now(json(&Answer::Refused { why }))
        };
        if order.number == self.number {
            if let Some(answer) = &self.answer {
                return StepReply::Now(answer.clone());
            }
            self.waiting = reply;
            return StepReply::Later;
        }
        if self.number > 0 && self.answer.is_none() {
            return refused("the step before is not done yet");
        }
        let Some(steps) = &self.steps else {
            return refused("the server is being ended");
        };
        let (number, session) = (order.number, self.session.clone());
        let events = events.clone();
        self.rows = RowsMade::default();
        let work = ServerWork::new(
            order.step,
            (password, client),
            self.rows.clone(),
            move |outcome| {
                let _ = events.send(Event::Served {
                    session,
                    number,
                    outcome,
                });
            },
        );
        if steps.send(work).is_err() {
            return refused("the server is being ended");
        }
        (self.number, self.answer, self.waiting) = (number, None, reply);
        StepReply::Later
    }

    /// The answer to a step; who waits for it. Once the end was asked for, the waiter waits for that alone.
    pub(super) fn done(&mut self, number: u64, answer: Vec<u8>) -> Option<(Subject, Vec<u8>)> {
        if number != self.number || self.answer.is_some() || self.is_ending() {
            return None;
        }
        self.answer = Some(answer.clone());
        Some((self.waiting.take()?, answer))
    }

    /// Ends what was started; `reply` hears when all is gone.
    pub(super) fn end(&mut self, reply: Option<Subject>) {
        self.hear();
        self.stop.store(true, Ordering::Relaxed);
        self.steps = None;
        self.waiting = reply.or(self.waiting.take());
    }

    pub(super) fn is_ending(&self) -> bool {
        self.steps.is_none()
    }

    /// Returns the waiter, and an answer that keeps the wait alive.
    pub(super) fn still_working(&mut self) -> Option<(Subject, Answer)> {
        let (rows, rows_total) = self.rows.get();
        let waiting = self.waiting.take()?;
        Some((waiting, Answer::Working { rows, rows_total }))
    }

    /// Returns true if the conductor is gone.
    pub(super) fn is_alone(&mut self, has_bus: bool) -> bool {
        if !has_bus {
            self.bus_was_away = true;
            return self.heard.elapsed() > BUS_PATIENCE;
        }
        if self.bus_was_away {
            // It, too, has to find the bus again.
            self.bus_was_away = false;
            self.hear();
        }
        self.heard.elapsed() > CONDUCTOR_PATIENCE
    }

    /// Returns the waiter for the end.
    pub(super) fn ended(mut self) -> Option<Subject> {
        self.join();
        self.waiting.take()
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic there was told by its thread.
            let _ = thread.join();
        }
    }
}

impl Drop for HostedSession {
    /// Waits until whatever was started is gone.
    fn drop(&mut self) {
        self.end(None);
        self.join();
    }
}
