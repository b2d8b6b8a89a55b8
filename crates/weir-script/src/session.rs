//! A script's connection as a session of the load engine: its state is a coroutine that goes away whenever it
//! waits for the server or sleeps.

mod beside;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::lua::{
    CoroutineStep, Events, Failure, MovableState, PendingRequest, Reply, Request, ScriptError,
};
use weir_load::{Session, Step, Turn};
use weir_mysql::{Row, ServerError, StatementResult};

use crate::connect::{lost_during_query, refusal, value};
use crate::engine::Engine;
use crate::ready::Ready;
use crate::statement_kinds::StatementKinds;

/// A turn that takes longer holds the others up.
const LONG_TURN: Duration = Duration::from_millis(5);

/// A session of one connection.
pub(crate) struct ScriptSession(MovableState<Inner>);

impl std::fmt::Debug for ScriptSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScriptSession")
    }
}

struct Inner {
    ready: Ready,
    engine: Arc<Engine>,
    events: Option<Events>,
    /// Outstanding request.
    pending: Option<PendingRequest>,
    /// The same on a connection that the engine does not drive: which statement it is, and when it was asked.
    beside: Option<(Option<usize>, u64)>,
    results: Vec<StatementResult>,
    kinds: StatementKinds,
    /// There are no more events.
    is_over: bool,
}

impl ScriptSession {
    pub(crate) fn new(ready: MovableState<Ready>, engine: Arc<Engine>) -> Self {
        let kinds = StatementKinds::new(engine.world());
        Self(MovableState::new(Inner {
            ready: ready.into_inner(),
            engine,
            events: None,
            pending: None,
            beside: None,
            results: Vec::new(),
            kinds,
            is_over: false,
        }))
    }
}

impl Inner {
    /// Goes on from the beginning of an event, or from a sleep.
    fn go_on(&mut self, turn: &mut Turn<'_>) -> Step {
        let Some(events) = &mut self.events else {
            return Step::End;
        };
        let began = Instant::now();
        let turned = self.ready.state.go_on(events);
        self.turned(turned, began, turn)
    }

    /// Goes on with the server's answer.
    fn answered(&mut self, reply: Result<Reply, Failure>, turn: &mut Turn<'_>) -> Step {
        let (Some(events), Some(pending)) = (&mut self.events, self.pending.take()) else {
            return Step::End;
        };
        let began = Instant::now();
        // What the engine has sent, it counts itself.
        self.ready.part.borrow_mut().is_counted = !matches!(pending.request(), Request::Prepare(_));
        let turned = self.ready.state.replied(events, pending, reply);
        self.turned(turned, began, turn)
    }

    /// The answer's results, as the script's connection has them.
    fn take_results(&mut self) -> Result<Reply, Failure> {
        let results = std::mem::take(&mut self.results);
        let mut share = self.ready.part.borrow_mut();
        let driven = share.driven;
        let link = driven.and_then(|driven| share.links.get_mut(&driven));
        link.map_or(Err(Failure::Stopped), |link| link.take_results(results))
    }

    /// Does what the script has come to, until it has to wait.
    fn turned(&mut self, turned: CoroutineStep, began: Instant, turn: &mut Turn<'_>) -> Step {
        let mut turned = turned;
        let step = loop {
            turned = match turned {
                CoroutineStep::Asks(pending) if self.is_driven(&pending) => {
                    break self.ask_engine(pending, turn);
                }
                CoroutineStep::Asks(pending) => match self.ask_beside(pending, turn) {
                    Ok(turned) => turned,
                    Err(step) => break step,
                },
                CoroutineStep::Sleeps(seconds) => {
                    break Step::Sleep {
                        until_ns: turn.now_ns() + (seconds.max(0.0) * 1e9) as u64,
                    };
                }
                CoroutineStep::Event { ends_loop: false } => {
                    break Step::Done {
                        transactions: 1,
                        kind: None,
                    };
                }
                CoroutineStep::Event { ends_loop: true } | CoroutineStep::Ended => break Step::End,
                CoroutineStep::Failed(error) => break self.failed(&error),
            }
        };
        let length = began.elapsed();
        if length > LONG_TURN {
            self.engine.count_long_turn(length);
        }
        self.tell_counts(turn);
        step
    }

    /// Tells what was counted beside the requests of the engine's connection.
    fn tell_counts(&self, turn: &mut Turn<'_>) {
        let mut share = self.ready.part.borrow_mut();
        if self.is_over {
            // A thread's last words do not count.
            share.forget_counts();
        }
        turn.count(std::mem::take(&mut share.counted));
        for error in share.failed.drain(..) {
            turn.failed(error);
        }
        if std::mem::take(&mut share.has_waited) {
            turn.waited();
        }
    }

    /// Leaves a request to the engine.
    fn ask_engine(&mut self, pending: PendingRequest, turn: &mut Turn<'_>) -> Step {
        for statement in self.ready.part.borrow_mut().forgotten.drain(..) {
            turn.close(statement);
        }
        let Some(permit) = turn.script_permit() else {
            return Step::End;
        };
        match pending.request() {
            Request::Query(sql) => turn.query_results(permit, sql),
            Request::Prepare(sql) => turn.prepare_text(permit, sql),
            Request::Execute {
                statement, values, ..
            } => {
                let values: Vec<_> = values.iter().map(value).collect();
                turn.execute_results(statement, &values);
            }
            Request::Close(_) | Request::NextResult => {}
        }
        let kind = self.kinds.of_request(&pending.request());
        self.pending = Some(pending);
        Step::Request { kind }
    }

    fn start(&mut self, events: Result<Events, ScriptError>, turn: &mut Turn<'_>) -> Step {
        match events {
            Ok(events) => {
                self.events = Some(events);
                self.go_on(turn)
            }
            Err(error) => self.failed(&error),
        }
    }

    /// Ends the run, unless the thread has failed in its last words: sysbench tells these and goes on.
    fn failed(&mut self, error: &ScriptError) -> Step {
        if std::mem::replace(&mut self.is_over, true) {
            self.engine.world().log.fatal(&error.to_string());
        } else {
            self.engine.fail(error);
        }
        Step::End
    }
}

impl Session for ScriptSession {
    fn needs_rows(&self) -> bool {
        true
    }

    fn judges_errors(&self) -> bool {
        true
    }

    fn begin(&mut self, turn: &mut Turn<'_>) -> Step {
        let inner = self.0.get();
        if inner.events.is_some() {
            return inner.go_on(turn);
        }
        inner.engine.started();
        let mut share = inner.ready.part.borrow_mut();
        // What a thread does before its events does not count.
        share.forget_counts();
        share.is_running = true;
        drop(share);
        let events = inner.ready.state.events(inner.ready.thread);
        inner.start(events, turn)
    }

    /// On a new connection: the script hears that the one before was lost.
    fn again(&mut self, turn: &mut Turn<'_>) -> Step {
        let inner = self.0.get();
        if inner.pending.is_none() {
            return inner.go_on(turn);
        }
        inner.ready.part.borrow_mut().is_renewed = true;
        inner.answered(Err(lost_during_query()), turn)
    }

    fn results(&mut self, results: Vec<StatementResult>) {
        self.0.get().results = results;
    }

    fn replied(&mut self, reply: &weir_mysql::Reply, _: &[Row], turn: &mut Turn<'_>) -> Step {
        let inner = self.0.get();
        let reply = match reply {
            weir_mysql::Reply::Prepared { id, parameters } => Ok(Reply::Prepared {
                statement: *id,
                parameters: *parameters,
            }),
            _ => inner.take_results(),
        };
        inner.answered(reply, turn)
    }

    fn refused(&mut self, error: &ServerError, turn: &mut Turn<'_>) -> Step {
        let inner = self.0.get();
        inner.results.clear();
        inner.answered(Err(Failure::Refused(refusal(error.clone()))), turn)
    }

    fn woken(&mut self, turn: &mut Turn<'_>) -> Step {
        self.0.get().go_on(turn)
    }

    fn ready(&mut self, turn: &mut Turn<'_>) -> Step {
        self.0.get().go_on_beside(turn)
    }

    fn finish(&mut self, turn: &mut Turn<'_>) -> Step {
        let inner = self.0.get();
        if inner.events.is_some() {
            let in_place = std::mem::take(&mut inner.ready.part.borrow_mut().waited_in_place);
            inner.engine.count_waits_in_place(in_place);
        }
        if inner.is_over || !inner.ready.state.has_function("thread_done") {
            return Step::End;
        }
        inner.is_over = true;
        let events = inner.ready.state.last_words(inner.ready.thread);
        inner.start(events, turn)
    }

    fn completes_sleeping(&self) -> bool {
        true
    }

    fn sql(&self) -> String {
        "a statement of the script".to_owned()
    }
}
