//! A connection's transactions: when the next begins, and what its session says comes next.

use weir_model::ThinkKind;
use weir_mysql::{ExpectedReply, Reply, ServerError};

use super::{DriverState, MysqlDriver, ReactorResources};
use crate::LoadError;
use crate::driver::Next;
use crate::meter::{Counts, Kind, Meter, Phase};
use crate::session::{Step, Turn};

/// Reason for the session's turn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call<'a> {
    Begin,
    Again,
    Wake,
    Replied(&'a Reply),
    Refused(&'a ServerError),
    /// A socket of the session's own is ready.
    Ready,
    /// There are no more transactions.
    Finish,
}

/// Next step of a session.
#[derive(Debug, Clone, Copy)]
struct Decision {
    step: Step,
    /// Reply that the request of the step expects.
    expected: ExpectedReply,
    /// It has waited within its turn.
    has_waited: bool,
}

impl MysqlDriver {
    /// Turns to the next transaction: begins it or waits until it is due.
    pub(super) fn next(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let Some(due_ns) = meter.claim() else {
            return self.finish(shared, meter);
        };
        let due_ns = self.session.due_ns().unwrap_or(due_ns);
        let due_ns = due_ns.saturating_add(self.pause_ns(shared));
        let mut due_ns = due_ns.max(self.paced_ns(shared));
        if std::mem::take(&mut self.asks_nothing) {
            // Others have their turn before a session that would go on for ever.
            due_ns = due_ns.max(meter.last_now() + 1);
        }
        self.timing.intended_start_ns = due_ns;
        self.turned_ns = Some(due_ns);
        if due_ns > meter.last_now() {
            self.doing = DriverState::Waiting;
            return Ok(Next::Due(due_ns));
        }
        self.begin(true, shared, meter)
    }

    /// Returns the pause before the transaction that it turns to: until it begins at all, or while
    /// its user thinks.
    fn pause_ns(&mut self, shared: &ReactorResources) -> u64 {
        let begins_ns = std::mem::take(&mut self.begins_ns);
        let think = shared.closed_loop.think;
        let think_ns = think.mean.0.as_nanos() as u64;
        if begins_ns > 0 || think_ns == 0 || self.timing.last_attempt_ns == 0 {
            return begins_ns;
        }
        match think.kind {
            ThinkKind::Constant => think_ns,
            // The inverse of the exponential distribution; the argument is in (0, 1].
            ThinkKind::Exponential => (-(1.0 - self.rng.unit()).ln() * think_ns as f64) as u64,
        }
    }

    /// Returns the time at which this connection may begin again, by its pacing. That counts from when the last
    /// transaction was to begin: a late one does not move those that follow.
    fn paced_ns(&self, shared: &ReactorResources) -> u64 {
        let pacing_ns = shared.closed_loop.pacing.0.as_nanos() as u64;
        match self.turned_ns {
            Some(turned_ns) if pacing_ns > 0 => turned_ns.saturating_add(pacing_ns),
            _ => 0,
        }
    }

    pub(super) fn begin(
        &mut self,
        has_waited: bool,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        if self.has_served(shared) {
            return Ok(self.leave(shared));
        }
        self.timing = meter.begin(self.timing.intended_start_ns, has_waited);
        self.turn(Call::Begin, shared, meter)
    }

    /// Begins the same transaction again; `keeps_start`: as the same sample of latency.
    pub(super) fn retry(
        &mut self,
        keeps_start: bool,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        if !meter.may_begin(true) {
            meter.give_up();
            return self.finish(shared, meter);
        }
        self.timing = meter.retry(self.timing, keeps_start);
        self.turn(Call::Again, shared, meter)
    }

    /// Begins the transaction that has become due, or that waited for a new connection (`has_waited`).
    pub(super) fn due(
        &mut self,
        has_waited: bool,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        meter.now();
        if !meter.may_begin(true) {
            return self.finish(shared, meter);
        }
        self.begin(has_waited, shared, meter)
    }

    /// Goes on with the transaction in which the session slept, unless the measurement is over.
    pub(super) fn wake(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        meter.now();
        if meter.phase() == Phase::Drain && !self.session.completes_sleeping() {
            meter.give_up();
            return self.finish(shared, meter);
        }
        self.turn(Call::Wake, shared, meter)
    }

    /// Lets the session look at its own socket.
    pub(super) fn ready(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        meter.reply_received(None);
        self.turn(Call::Ready, shared, meter)
    }

    /// Lets the session act and does what it says.
    pub(super) fn turn(
        &mut self,
        call: Call<'_>,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let decision = self.decide(call, shared, meter)?;
        let goes_on = matches!(
            decision.step,
            Step::Request { .. } | Step::Sleep { .. } | Step::Await(_)
        );
        // A session that does its last things may still ask and wait. All else would begin something new.
        if self.is_finishing && !goes_on {
            return Ok(self.quit(shared));
        }
        self.follow(call, decision, shared, meter)
    }

    /// Lets the session act; the meter gets what it did beside its step.
    #[inline]
    fn decide(
        &mut self,
        call: Call<'_>,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Decision, LoadError> {
        // The next request makes the parser forget what it kept of the last reply: the session gets it before.
        if let (Call::Replied(_) | Call::Refused(_), true) = (call, self.parser.has_results()) {
            self.session.results(self.parser.take_results());
        }
        if let Call::Replied(_) = call {
            self.session.digested(self.parser.answer_digest());
        }
        let server = self.number as usize % shared.links.len();
        let turn = &mut Turn::new(
            &mut shared.outgoing,
            &mut self.rng,
            &mut shared.scratch,
            meter,
            (&shared.links[server].address, &shared.gate),
            self.parser.wire_rows(),
        );
        let session = &mut self.session;
        let step = match call {
            Call::Finish => session.finish(turn),
            Call::Begin => session.begin(turn),
            Call::Again => session.again(turn),
            Call::Wake => session.woken(turn),
            Call::Replied(reply) => session.replied(reply, self.parser.rows(), turn),
            Call::Refused(error) => session.refused(error, turn),
            Call::Ready => session.ready(turn),
        };
        if let Some(refusal) = turn.refusal.take() {
            return Err(refusal);
        }
        let decision = Decision {
            step,
            expected: turn.expected,
            has_waited: turn.has_waited,
        };
        // The turn borrows the meter, so it ends before the meter gets what was counted. Empty lists own no memory.
        let counted = turn.counted;
        let completed = std::mem::take(&mut turn.completed);
        let failed = std::mem::take(&mut turn.failed);
        for (kind, asked_ns) in completed {
            meter.completed(Kind::Statement(kind), asked_ns);
        }
        for error in &failed {
            meter.failed_try(error);
        }
        if counted != Counts::default() {
            meter.add(&counted);
        }
        Ok(decision)
    }

    /// Does what the session has decided.
    #[inline]
    fn follow(
        &mut self,
        call: Call<'_>,
        decision: Decision,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        match decision.step {
            Step::Request { kind } => {
                self.expect_reply(decision.expected);
                self.kind = kind;
                self.doing = DriverState::Session;
                Ok(self.send(shared, meter))
            }
            Step::Sleep { until_ns } => {
                self.doing = DriverState::Sleeping;
                self.wake_ns = until_ns;
                Ok(Next::Due(until_ns))
            }
            Step::Await(socket) => {
                self.doing = DriverState::Awaiting(socket);
                Ok(Next::Socket(socket))
            }
            Step::Done { transactions, kind } => {
                let has_asked = matches!(call, Call::Replied(_) | Call::Refused(_) | Call::Ready);
                self.asks_nothing = !has_asked;
                // The transaction ends now: the reply that the meter knows came before the session waited, or is of
                // another transaction.
                if self.asks_nothing || decision.has_waited {
                    meter.reply_received_at(u64::MAX);
                }
                self.done(transactions, kind, shared, meter)
            }
            Step::Retry { keeps_start } => self.retry(keeps_start, shared, meter),
            Step::Join => self.join(shared, meter),
            Step::Leave => self.disconnect(shared, meter),
            Step::End => {
                meter.give_up();
                self.finish(shared, meter)
            }
        }
    }

    /// Prepares the parser for the reply to the request that the session has made.
    #[inline]
    fn expect_reply(&mut self, expected: ExpectedReply) {
        self.parser.digest_rows(self.session.digests_rows());
        // Rows that the session does not look at are skipped, which is what makes reading them cheap. The reply to a
        // prepare has a form of its own and is always read.
        let skips = expected != ExpectedReply::Statement && !self.session.needs_rows();
        self.parser.expect(if skips {
            ExpectedReply::Outcome
        } else {
            expected
        });
    }

    /// Lets the session do its last things before the connection is closed.
    pub(super) fn finish(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        if std::mem::replace(&mut self.is_finishing, true) {
            return Ok(self.quit(shared));
        }
        self.turn(Call::Finish, shared, meter)
    }

    /// Counts a transaction that is complete and turns to the next.
    pub(super) fn done(
        &mut self,
        transactions: u64,
        kind: Option<usize>,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        if transactions == 0 {
            meter.give_up();
            return self.next(shared, meter);
        }
        self.served += transactions;
        meter.transactions(transactions, self.timing);
        if let Some(kind) = kind {
            meter.completed(Kind::Transaction(kind), self.timing.intended_start_ns);
        }
        if meter.phase() == Phase::Measure {
            self.counters.transactions += transactions;
            self.counters.busy_ns += meter
                .reply_received_ns()
                .saturating_sub(self.timing.last_attempt_ns);
        }
        self.next(shared, meter)
    }
}
