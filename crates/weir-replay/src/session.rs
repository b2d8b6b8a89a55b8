//! A slot of the replay as a session of the load engine: one captured session after the other.

use std::collections::HashMap;
use std::sync::Arc;

use weir_capture::TransactionStep;
use weir_load::{LoadError, Session, SessionKinds, SessionSource, Step, Turn};
use weir_mysql::{AnswerDigest, Reply, Row, ServerError};

use crate::item::{Action, Ask, Item, Reason};
use crate::settings::Settings;
use crate::slot::Stage;
use crate::tally::ReplayedStatement;
use crate::transaction::TransactionState;
use weir_model::ReplayPace;

/// Interval at which a statement that waits for other sessions looks whether it may go, nanoseconds.
const HELD_LOOK_NS: u64 = 200_000;
/// Longest wait of such a statement, nanoseconds.
const HELD_MAX_NS: u64 = 2_000_000_000;

/// The slots of a replay.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) stage: Arc<Stage>,
    /// Which of the engine's kinds a fingerprint is.
    pub(crate) kinds: Arc<Vec<Option<usize>>>,
    pub(crate) names: Vec<String>,
    pub(crate) only_reads: bool,
}

impl SessionSource for Source {
    fn session(&self, connection: u32) -> Box<dyn Session> {
        Box::new(ReplaySession {
            stage: Arc::clone(&self.stage),
            kinds: Arc::clone(&self.kinds),
            slot: connection as usize,
            doing: Doing::Nothing,
            link: Link::Away,
            transaction: TransactionState::default(),
            waits_for_transaction: false,
            handles: HashMap::new(),
            settings: Settings::default(),
            held_since_ns: None,
            is_let_go: false,
            was_held: false,
            digest: AnswerDigest::default(),
            replied_ns: 0,
            now_ns: 0,
        })
    }

    fn kinds(&self) -> SessionKinds {
        SessionKinds {
            transactions: Vec::new(),
            statements: self.names.clone(),
            ..SessionKinds::default()
        }
    }

    fn joins(&self) -> bool {
        true
    }

    fn only_reads(&self) -> bool {
        self.only_reads
    }
}

/// Kind of the outstanding request.
#[derive(Debug)]
enum Doing {
    Nothing,
    /// A statement of this number and fingerprint.
    Statement(u64, usize, TransactionStep),
    /// A preparation of the capture's statement of this number.
    Prepare(u32),
    /// A preparation before this execution, of which it is the first on this connection.
    PrepareFor(Ask),
    Reset,
    /// A statement that the session had set before the replay's part.
    Restore,
}

/// State of the captured session's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Away,
    Connected,
    /// The server did not let it in: its statements are passed over.
    Refused,
}

/// One captured session after the other.
#[derive(Debug)]
struct ReplaySession {
    stage: Arc<Stage>,
    kinds: Arc<Vec<Option<usize>>>,
    slot: usize,
    doing: Doing,
    link: Link,
    transaction: TransactionState,
    /// The connection was lost: the rest of its transaction is passed over.
    waits_for_transaction: bool,
    /// The server's numbers of prepared statements, by the capture's.
    handles: HashMap<u32, u32>,
    /// Settings of the session.
    settings: Settings,
    /// Since when its next statement waits for transactions of other sessions.
    held_since_ns: Option<u64>,
    /// It does not wait any longer.
    is_let_go: bool,
    /// The statement that is sent has waited so.
    was_held: bool,
    /// Of the rows of the answer that comes.
    digest: AnswerDigest,
    /// When the last answer came.
    replied_ns: u64,
    now_ns: u64,
}

impl ReplaySession {
    /// When the next item is due.
    fn next_due_ns(&self) -> u64 {
        let options = &self.stage.options;
        let due = self
            .stage
            .peek(self.slot, |item| match (options.pace, item) {
                (ReplayPace::Fast, _) | (ReplayPace::Think, Item::Close { .. }) => 0,
                (ReplayPace::Think, Item::Ask(ask)) => match ask.moment.think_us {
                    Some(think_us) => self.replied_ns + options.scaled_ns(think_us),
                    None => options.scaled_ns(ask.moment.at_us),
                },
                (_, Item::Open { at_us } | Item::Close { at_us }) => options.due_ns(*at_us),
                (_, Item::Ask(ask)) => options.due_ns(ask.moment.at_us),
            });
        match due {
            Some(due_ns) if !self.is_let_go && self.stage.holds_next(self.slot) => {
                due_ns.max(self.now_ns + HELD_LOOK_NS)
            }
            Some(due_ns) => due_ns,
            None if self.stage.is_fed() => 0,
            None => self.stage.look_ns(self.now_ns),
        }
    }

    /// Does what is next.
    fn go_on(&mut self, turn: &mut Turn<'_>) -> Step {
        self.tick(turn);
        while let Some(setting) = self.settings.next_missing() {
            if turn.try_query(&setting.judged, &setting.text) {
                self.doing = Doing::Restore;
                return Step::Request { kind: None };
            }
        }
        loop {
            let due_ns = self.next_due_ns();
            if due_ns > self.now_ns {
                self.hold(due_ns);
                return self.wait(due_ns);
            }
            self.was_held = self.held_since_ns.take().is_some();
            self.is_let_go = false;
            let opens = self
                .stage
                .peek(self.slot, |item| matches!(item, Item::Open { .. }));
            match opens {
                None if self.stage.is_fed() => {
                    // It may have come between both looks.
                    match self.stage.pop(self.slot) {
                        None => return Step::End,
                        Some(item) => match self.take(item, due_ns, turn) {
                            Some(step) => return step,
                            None => continue,
                        },
                    }
                }
                None => return self.wait(self.stage.look_ns(self.now_ns)),
                Some(true) if self.link == Link::Away => return Step::Join,
                Some(_) => {}
            }
            if let Some(item) = self.stage.pop(self.slot)
                && let Some(step) = self.take(item, due_ns, turn)
            {
                return step;
            }
        }
    }

    /// Notes that the next statement waits for transactions of other sessions, until it has waited long enough.
    fn hold(&mut self, until_ns: u64) {
        let is_held = until_ns == self.now_ns + HELD_LOOK_NS && self.stage.holds_next(self.slot);
        match self.held_since_ns {
            _ if !is_held => {}
            None => {
                self.held_since_ns = Some(self.now_ns);
                self.stage.tally().fidelity.order_waits += 1;
            }
            Some(since_ns) if self.now_ns >= since_ns + HELD_MAX_NS => {
                self.is_let_go = true;
                self.stage.tally().fidelity.order_given_up += 1;
            }
            Some(_) => {}
        }
    }

    /// Waits within a transaction, or for the next one.
    fn wait(&self, until_ns: u64) -> Step {
        if self.transaction.is_in {
            return Step::Sleep { until_ns };
        }
        Step::Done {
            transactions: 0,
            kind: None,
        }
    }

    /// Does one item; `None`: it was done without the server.
    fn take(&mut self, item: Item, due_ns: u64, turn: &mut Turn<'_>) -> Option<Step> {
        match item {
            Item::Open { .. } => {
                if self.link == Link::Connected {
                    self.stage.tally().fidelity.sessions_joined += 1;
                }
                None
            }
            Item::Close { .. } => {
                self.transaction = TransactionState::default();
                self.waits_for_transaction = false;
                self.handles.clear();
                self.settings.clear();
                let link = std::mem::replace(&mut self.link, Link::Away);
                (link == Link::Connected).then_some(Step::Leave)
            }
            Item::Ask(ask) => self.ask(ask, due_ns, turn),
        }
    }

    fn ask(&mut self, ask: Ask, due_ns: u64, turn: &mut Turn<'_>) -> Option<Step> {
        if self.waits_for_transaction && self.begins(&ask) {
            self.waits_for_transaction = false;
        }
        if self.link != Link::Connected || self.waits_for_transaction {
            self.transaction.follow(ask.transaction);
            return self.pass_over(&ask, Reason::NoConnection);
        }
        let kind = self.kinds[ask.fingerprint];
        match &ask.action {
            Action::Skip(reason) => {
                let reason = *reason;
                return self.pass_over(&ask, reason);
            }
            Action::Query { text, judged } => {
                if !turn.try_query(judged, text) {
                    return self.pass_over(&ask, Reason::NotAllowed);
                }
                self.settings.note(text, judged);
            }
            Action::Prepare { handle, statement } => {
                if !turn.try_prepare(&statement.text) {
                    return None;
                }
                self.doing = Doing::Prepare(*handle);
                return Some(Step::Request { kind: None });
            }
            Action::Execute {
                handle,
                statement,
                values,
            } => match self.handles.get(handle) {
                Some(own) => turn.execute(*own, values),
                None if turn.try_prepare(&statement.text) => {
                    self.doing = Doing::PrepareFor(ask);
                    return Some(Step::Request { kind: None });
                }
                None => return self.pass_over(&ask, Reason::NotAllowed),
            },
            Action::Restore { text, judged } => {
                if !turn.try_query(judged, text) {
                    return None;
                }
                self.settings.note(text, judged);
                self.doing = Doing::Restore;
                return Some(Step::Request { kind: None });
            }
            Action::Forget { handle } => {
                if let Some(own) = self.handles.remove(handle) {
                    turn.close(own);
                }
                return None;
            }
            Action::Reset => {
                self.handles.clear();
                self.settings.clear();
                self.transaction = TransactionState::default();
                turn.reset();
                self.doing = Doing::Reset;
                return Some(Step::Request { kind: None });
            }
        }
        Some(self.send(&ask, due_ns, kind))
    }

    /// Notes that a statement was sent.
    fn send(&mut self, ask: &Ask, due_ns: u64, kind: Option<usize>) -> Step {
        // A session that is still being answered when a statement is due is late by the server's doing.
        let is_free = !self.was_held
            && (self.replied_ns <= due_ns || self.stage.options.pace != ReplayPace::Captured);
        let due_ns = if self.stage.options.pace == ReplayPace::Fast {
            self.now_ns
        } else {
            due_ns
        };
        let late_us = self.now_ns.saturating_sub(due_ns) / 1_000;
        self.stage
            .tally()
            .sent(ask.fingerprint, is_free.then_some(late_us));
        self.doing = Doing::Statement(ask.number, ask.fingerprint, ask.transaction);
        Step::Request { kind }
    }

    /// A statement is not sent.
    fn pass_over(&self, ask: &Ask, reason: Reason) -> Option<Step> {
        if ask.number > 0 {
            self.stage.tally().not_sent(reason);
            self.stage.replayed(self.slot, ask.number, None);
        }
        None
    }

    /// Returns true if a statement is the first of a transaction.
    fn begins(&self, ask: &Ask) -> bool {
        ask.transaction == TransactionStep::Begins || !self.transaction.is_in && ask.number > 0
    }

    fn tick(&mut self, turn: &Turn<'_>) {
        self.now_ns = turn.now_ns();
        self.stage.ticked(self.now_ns);
    }

    /// The outstanding request was answered.
    fn answered(&mut self, reply: Result<&Reply, &ServerError>, turn: &mut Turn<'_>) -> Step {
        self.tick(turn);
        let digest = std::mem::take(&mut self.digest);
        let came = |fingerprint| ReplayedStatement {
            fingerprint,
            rows: match reply {
                Ok(Reply::Rows { rows }) => Some(*rows),
                _ => None,
            },
            affected: match reply {
                Ok(Reply::Done { affected_rows }) => Some(*affected_rows),
                _ => None,
            },
            error: reply.err().map_or(0, |error| error.code),
            digest,
        };
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Statement(number, fingerprint, transaction) => {
                self.replied_ns = self.now_ns;
                let came = came(fingerprint);
                self.stage.tally().came(came);
                self.stage.replayed(self.slot, number, Some(came));
                self.transaction.follow(transaction);
                if self.transaction.is_in {
                    return self.go_on(turn);
                }
                return Step::Done {
                    transactions: 1,
                    kind: None,
                };
            }
            Doing::Prepare(handle) => {
                self.replied_ns = self.now_ns;
                if let (Ok(Reply::Prepared { id, .. }), true) = (reply, handle != 0) {
                    self.handles.insert(handle, *id);
                }
            }
            Doing::PrepareFor(ask) => return self.prepared_for(&ask, reply, turn),
            Doing::Reset | Doing::Restore | Doing::Nothing => {}
        }
        self.go_on(turn)
    }

    /// Executes what was prepared for it.
    fn prepared_for(
        &mut self,
        ask: &Ask,
        reply: Result<&Reply, &ServerError>,
        turn: &mut Turn<'_>,
    ) -> Step {
        let Action::Execute { handle, values, .. } = &ask.action else {
            return self.go_on(turn);
        };
        match reply {
            Ok(Reply::Prepared { id, .. }) => {
                self.handles.insert(*handle, *id);
                turn.execute(*id, values);
                let kind = self.kinds[ask.fingerprint];
                self.send(ask, self.now_ns, kind)
            }
            Ok(_) => self.go_on(turn),
            Err(error) => {
                let mut tally = self.stage.tally();
                tally.sent_without_time(ask.fingerprint);
                let came = ReplayedStatement {
                    fingerprint: ask.fingerprint,
                    rows: None,
                    affected: None,
                    error: error.code,
                    digest: AnswerDigest::default(),
                };
                tally.came(came);
                drop(tally);
                self.stage.replayed(self.slot, ask.number, Some(came));
                self.go_on(turn)
            }
        }
    }
}

impl Session for ReplaySession {
    /// Returns true: the server's answers are compared with the capture.
    fn judges_errors(&self) -> bool {
        true
    }

    /// Returns true if the capture had the error, too. A prepare that was refused there has no handle; MySQL refuses
    /// that of BEGIN.
    fn expects_error(&self, error: &ServerError) -> bool {
        let number = match &self.doing {
            Doing::Prepare(handle) => return *handle == 0,
            Doing::Statement(number, ..) => *number,
            Doing::PrepareFor(ask) => ask.number,
            Doing::Reset | Doing::Restore | Doing::Nothing => return false,
        };
        self.stage.had_error(self.slot, number, error.code)
    }

    fn digests_rows(&self) -> bool {
        matches!(self.doing, Doing::Statement(..))
    }

    fn digested(&mut self, digest: AnswerDigest) {
        self.digest = digest;
    }

    fn due_ns(&mut self) -> Option<u64> {
        // 0: at once. Its latency counts from when it is sent.
        Some(self.next_due_ns()).filter(|due_ns| *due_ns > 0)
    }

    fn begin(&mut self, turn: &mut Turn<'_>) -> Step {
        self.go_on(turn)
    }

    /// On a new connection, in place of one that was lost.
    fn again(&mut self, turn: &mut Turn<'_>) -> Step {
        self.tick(turn);
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Statement(number, _, transaction) => {
                // Its outcome is unknown. If it began a transaction, the rest of that is not sent.
                self.stage.replayed(self.slot, number, None);
                self.transaction.follow(transaction);
            }
            Doing::PrepareFor(ask) => {
                self.transaction.follow(ask.transaction);
                self.pass_over(&ask, Reason::NoConnection);
            }
            Doing::Prepare(_) | Doing::Reset | Doing::Restore | Doing::Nothing => {}
        }
        self.settings.lost();
        self.stage.tally().fidelity.connections_lost += 1;
        self.waits_for_transaction = true;
        self.go_on(turn)
    }

    fn replied(&mut self, reply: &Reply, _: &[Row], turn: &mut Turn<'_>) -> Step {
        self.answered(Ok(reply), turn)
    }

    fn refused(&mut self, error: &ServerError, turn: &mut Turn<'_>) -> Step {
        self.answered(Err(error), turn)
    }

    fn woken(&mut self, turn: &mut Turn<'_>) -> Step {
        self.go_on(turn)
    }

    fn reconnected(&mut self) {
        self.link = Link::Connected;
        self.handles.clear();
    }

    fn not_joined(&mut self, why: &LoadError) {
        self.link = Link::Refused;
        let mut tally = self.stage.tally();
        let first = &mut tally.fidelity.not_joined_why;
        first.get_or_insert_with(|| why.to_string());
    }

    fn sql(&self) -> String {
        "a statement of the capture".to_owned()
    }
}
