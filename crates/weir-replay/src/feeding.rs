//! Conversion of a captured session's records to items of the slot that it has.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use weir_capture::{Command, CommandEnd, CommandStart, Login, Template, TransactionStep, Value};

use crate::charsets::{Charsets, LoginCharset, sets_charset};
use crate::executed::Reader;
use crate::item::{Action, Ask, Item, Moment, Reason, Statement, judged};
use crate::order::RowUse;
use crate::session_schema::SessionSchema;
use crate::slot::{CapturedOutcome, Stage};
use crate::survey::schema_of_use;
use crate::window::{Selection, Window};
use crate::writers::is_of_session;

/// Variables that are set again for a session of which only a part is sent.
const SETTINGS_MAX: usize = 100;

/// A captured session that is being read.
#[derive(Debug)]
pub(crate) struct Feeding {
    /// Number of the session in the capture.
    session: u32,
    /// None before the replay's part of the capture.
    slot: Option<usize>,
    /// True if what its account asks is sent.
    is_taken: bool,
    schema: SessionSchema,
    /// Way to set the character set of its login.
    charset: LoginCharset,
    /// The character set of now cannot be set on the replay's server.
    is_elsewhere: bool,
    window: Window,
    /// Variables that it has set before that part.
    settings: Vec<Vec<u8>>,
    prepared: HashMap<u32, Arc<Statement>>,
    /// Commands that have not ended.
    open: VecDeque<Open>,
    /// When the last command ended.
    ended_us: Option<u64>,
    /// True if its open transaction has written, or locked rows to read them.
    has_written: bool,
}

#[derive(Debug)]
enum Open {
    /// A statement that is sent.
    Statement(OpenStatement),
    /// A preparation, which is sent when the capture's number of it is known.
    Prepare(Moment, Arc<Statement>),
    /// A move to another schema.
    Use,
    /// A change of user, and whether it is within the replay's part.
    Change(Moment, bool),
    /// Nothing that is sent.
    Nothing,
}

/// A statement that has not ended in the capture.
#[derive(Debug, Clone, Copy)]
struct OpenStatement {
    number: u64,
    began_us: u64,
    effect: WriteEffect,
    /// The number of the writing transaction that ends with it, if it has one already.
    commit: Option<u64>,
}

/// Effect of a statement on writing transactions and their rows.
#[derive(Debug, Clone, Copy, Default)]
struct WriteEffect {
    /// A writing transaction ends with it.
    ends: bool,
    /// It may wait for rows that others have locked.
    wants_rows: bool,
}

/// Effect on the replay of a session that goes on with another account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// From now on, what it asks is sent.
    Joins,
    /// And not any more.
    Leaves,
}

/// Data that all sessions share.
#[derive(Debug)]
pub(crate) struct Numbers {
    pub(crate) fingerprints: HashMap<String, usize>,
    /// Where further ones are counted.
    pub(crate) others: usize,
    pub(crate) next: u64,
    /// The schema whose statements are sent.
    pub(crate) schema: String,
    /// Which transactions are.
    pub(crate) selection: Selection,
    /// Who reads comments that a server executes; `None`: no statement has one.
    pub(crate) reader: Option<Reader>,
    /// Writing transactions that have ended so far, or begun to commit.
    pub(crate) commits: u64,
    pub(crate) charsets: Charsets,
    /// A session that is reset has the character set of its login again: not so on `MySQL`.
    pub(crate) resets_to_login: bool,
}

impl Numbers {
    fn fingerprint(&self, template: Option<&Arc<Template>>) -> usize {
        let found = template.and_then(|template| self.fingerprints.get(template.fingerprint()));
        found.copied().unwrap_or(self.others)
    }

    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn next_commit(&mut self) -> u64 {
        self.commits += 1;
        self.commits
    }
}

impl Feeding {
    /// `is_taken`: what its account asks is sent.
    pub(crate) fn new(session: u32, login: Login, is_taken: bool, numbers: &Numbers) -> Self {
        let charset = numbers.charsets.of_login(login.collation);
        Self {
            session,
            slot: None,
            is_taken,
            schema: SessionSchema::new(login.schema),
            is_elsewhere: charset == LoginCharset::NotHere,
            charset,
            window: Window::default(),
            settings: Vec::new(),
            prepared: HashMap::new(),
            open: VecDeque::new(),
            ended_us: None,
            has_written: false,
        }
    }

    /// Returns the session's slot, once it has one.
    pub(crate) fn slot(&self) -> Option<usize> {
        self.slot
    }

    /// Returns true if what its account asks is sent.
    pub(crate) fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// The slot that it leaves.
    pub(crate) fn leave(&mut self) -> Option<usize> {
        self.slot.take()
    }

    /// Returns true if a transaction that is sent has not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.is_taken && self.window.is_open()
    }

    /// The session connects, in this slot; what it has set before is set again.
    pub(crate) fn open(&mut self, slot: usize, at_us: u64, stage: &Stage) {
        self.slot = Some(slot);
        stage.push(slot, Item::Open { at_us });
        let moment = Moment {
            at_us,
            think_us: None,
        };
        self.restore_charset(moment, stage);
        for text in std::mem::take(&mut self.settings) {
            let judged = String::from_utf8_lossy(&text).into_owned();
            self.push(Ask::new(moment, Action::Restore { text, judged }), stage);
        }
    }

    /// The connection gets the character set of the captured login.
    fn restore_charset(&self, moment: Moment, stage: &Stage) {
        if let LoginCharset::Names(names) = &self.charset {
            let action = Action::Restore {
                text: names.clone().into_bytes(),
                judged: names.clone(),
            };
            self.push(Ask::new(moment, action), stage);
        }
    }

    /// Remembers a variable that is set before the replay's part.
    fn remember(&mut self, started: &CommandStart) {
        let is_set = started
            .template
            .as_ref()
            .is_some_and(|template| template.fingerprint().starts_with("set "));
        if is_set && !started.is_unusable && self.settings.len() < SETTINGS_MAX {
            self.settings.push(started.text());
        }
    }

    /// A command began.
    pub(crate) fn started(
        &mut self,
        at_us: u64,
        started: CommandStart,
        numbers: &mut Numbers,
        stage: &Stage,
    ) {
        let ended_us = self.ended_us.take();
        let moment = Moment {
            at_us,
            think_us: ended_us.map(|ended_us| at_us.saturating_sub(ended_us)),
        };
        match started.command {
            Command::Query => self.start_query(moment, &started, numbers, stage),
            Command::Execute => self.start_execution(moment, started, numbers, stage),
            Command::Prepare => self.start_preparation(moment, &started, numbers),
            Command::Close => self.forget(moment, started.handle, stage),
            Command::UseSchema => {
                let schema = String::from_utf8_lossy(&started.text()).into_owned();
                self.schema.ask(schema);
                self.open.push_back(Open::Use);
            }
            Command::Reset => self.reset(moment, numbers, stage),
            Command::ChangeUser => self.start_change(moment, started.login, numbers),
            Command::Other => self.open.push_back(Open::Nothing),
        }
    }

    /// A statement's text is to be executed.
    fn start_query(
        &mut self,
        moment: Moment,
        started: &CommandStart,
        numbers: &mut Numbers,
        stage: &Stage,
    ) {
        let template = started.template.as_deref();
        let class = template.map(Template::class).unwrap_or_default();
        if class.uses_schema {
            self.schema.ask(schema_of_use(&started.text()));
            self.open.push_back(Open::Use);
            return;
        }
        if template.is_some_and(|template| sets_charset(template.fingerprint())) {
            let text = String::from_utf8_lossy(&started.text()).into_owned();
            self.is_elsewhere = !numbers.charsets.admits(&text);
        }
        let of = (self.session, template.is_some_and(is_of_session));
        let step = class.transaction;
        if !self.window.take(moment.at_us, step, of, &numbers.selection) || !self.is_taken {
            if self.slot.is_none() {
                self.remember(started);
            }
            self.open.push_back(Open::Nothing);
            return;
        }
        let effect = self.effect(template.map(RowUse::new).unwrap_or_default(), step);
        let action = self
            .skips(numbers, &started.text(), &[])
            .unwrap_or_else(|| query(started, numbers.reader));
        let ask = Ask {
            fingerprint: numbers.fingerprint(started.template.as_ref()),
            transaction: step,
            ..Ask::new(moment, action)
        };
        self.ask(ask, effect, numbers, stage);
    }

    /// A statement that was prepared is to be executed.
    fn start_execution(
        &mut self,
        moment: Moment,
        started: CommandStart,
        numbers: &mut Numbers,
        stage: &Stage,
    ) {
        let statement = self.prepared.get(&started.handle).map(Arc::clone);
        let fingerprint = statement
            .as_ref()
            .map_or(numbers.others, |statement| statement.fingerprint);
        let transaction = statement
            .as_ref()
            .map_or(TransactionStep::None, |statement| statement.transaction);
        let of = (self.session, false);
        let is_in = self
            .window
            .take(moment.at_us, transaction, of, &numbers.selection);
        if !is_in || !self.is_taken {
            self.open.push_back(Open::Nothing);
            return;
        }
        let rows = statement.as_ref().map(|found| found.rows);
        let effect = self.effect(rows.unwrap_or_default(), transaction);
        let text = statement.as_ref().map_or(&[][..], |found| &found.text);
        let action = self
            .skips(numbers, text, &started.values)
            .unwrap_or_else(|| execution(started, statement.as_ref()));
        let ask = Ask {
            fingerprint,
            transaction,
            ..Ask::new(moment, action)
        };
        self.ask(ask, effect, numbers, stage);
    }

    /// A statement is to be prepared; it is sent when the capture's number of it is known.
    fn start_preparation(&mut self, moment: Moment, started: &CommandStart, numbers: &Numbers) {
        let template = started.template.as_ref();
        let class = template
            .map(|template| template.class())
            .unwrap_or_default();
        let statement = Statement {
            fingerprint: numbers.fingerprint(template),
            is_unusable: started.is_unusable,
            asks_for_file: class.asks_for_file,
            transaction: class.transaction,
            rows: template.map(|found| RowUse::new(found)).unwrap_or_default(),
            text: read_by(numbers.reader, started.text()),
        };
        self.open
            .push_back(Open::Prepare(moment, Arc::new(statement)));
    }

    /// A prepared statement is closed.
    fn forget(&mut self, moment: Moment, handle: u32, stage: &Stage) {
        let Moment { at_us, think_us } = moment;
        // It has no end: what ended before it counts for what follows.
        self.ended_us = think_us.map(|think_us| at_us.saturating_sub(think_us));
        self.prepared.remove(&handle);
        let moment = Moment {
            at_us,
            think_us: None,
        };
        self.push(Ask::new(moment, Action::Forget { handle }), stage);
    }

    /// The session is to be as it was at its login.
    fn reset(&mut self, moment: Moment, numbers: &Numbers, stage: &Stage) {
        if self.forget_all(moment, numbers) {
            self.push_reset(moment, stage);
            if numbers.resets_to_login {
                self.restore_charset(moment, stage);
            }
        }
        self.is_elsewhere = numbers.resets_to_login && self.charset == LoginCharset::NotHere;
        self.open.push_back(Open::Nothing);
    }

    /// Forgets what the session has prepared and set; returns true if the replay's session is to be reset, too.
    fn forget_all(&mut self, moment: Moment, numbers: &Numbers) -> bool {
        self.prepared.clear();
        self.settings.clear();
        let step = TransactionStep::AutocommitOn;
        let of = (self.session, true);
        self.window.take(moment.at_us, step, of, &numbers.selection) && self.is_taken
    }

    fn push_reset(&self, moment: Moment, stage: &Stage) {
        let ask = Ask {
            transaction: TransactionStep::AutocommitOn,
            ..Ask::new(moment, Action::Reset)
        };
        self.push(ask, stage);
    }

    /// The session asks to go on with another login; the replay follows when the server has let it.
    fn start_change(&mut self, moment: Moment, login: Option<Login>, numbers: &Numbers) {
        self.schema.ask_login(login.unwrap_or_default());
        let is_in = self.forget_all(moment, numbers);
        self.open.push_back(Open::Change(moment, is_in));
    }

    /// The session has asked to go on with another login, and has become `login` if the server let it.
    fn end_change(
        &mut self,
        (moment, is_in): (Moment, bool),
        login: Option<&Login>,
        numbers: &Numbers,
        stage: &Stage,
    ) -> Option<Move> {
        let was_taken = self.is_taken;
        if let Some(login) = login {
            self.charset = numbers.charsets.of_login(login.collation);
            self.is_taken = stage.options.takes_user(&login.user);
        }
        self.is_elsewhere = self.charset == LoginCharset::NotHere;
        match (was_taken, self.is_taken) {
            (true, true) if is_in => {
                self.push_reset(moment, stage);
                self.restore_charset(moment, stage);
                None
            }
            (true, false) => Some(Move::Leaves),
            (false, true) => Some(Move::Joins),
            _ => None,
        }
    }

    /// The oldest command ended.
    pub(crate) fn ended(
        &mut self,
        at_us: u64,
        ended: CommandEnd,
        numbers: &mut Numbers,
        stage: &Stage,
    ) -> Option<Move> {
        self.ended_us = Some(at_us);
        match self.open.pop_front() {
            Some(Open::Statement(open)) => self.end_statement(at_us, open, ended, numbers, stage),
            Some(Open::Prepare(moment, statement)) => {
                self.end_preparation(moment, statement, &ended, numbers, stage);
            }
            Some(Open::Use) => drop(self.schema.ended(&ended)),
            Some(Open::Change(moment, is_in)) => {
                let login = self.schema.ended(&ended);
                return self.end_change((moment, is_in), login.as_ref(), numbers, stage);
            }
            Some(Open::Nothing) | None => {}
        }
        None
    }

    /// A statement ended.
    fn end_statement(
        &self,
        at_us: u64,
        open: OpenStatement,
        ended: CommandEnd,
        numbers: &mut Numbers,
        stage: &Stage,
    ) {
        let Some(slot) = self.slot else { return };
        // Commands behind it would wait with it, and others for these.
        let has_waited = open.effect.wants_rows && self.open.is_empty();
        let after = if has_waited { numbers.commits } else { 0 };
        let commit = open
            .commit
            .or_else(|| open.effect.ends.then(|| numbers.next_commit()));
        let captured = CapturedOutcome {
            ended,
            took_us: at_us.saturating_sub(open.began_us),
            commit,
            after,
        };
        stage.captured(slot, open.number, captured);
    }

    /// The session has gone: what it asked last has no end, and nothing waits for it any longer than for its answer.
    pub(crate) fn close(&mut self, stage: &Stage) {
        let Some(slot) = self.slot else { return };
        for open in self.open.drain(..) {
            if let Open::Statement(open) = open {
                let captured = CapturedOutcome {
                    ended: CommandEnd::default(),
                    took_us: 0,
                    commit: open.commit,
                    after: 0,
                };
                stage.captured(slot, open.number, captured);
            }
        }
    }

    /// A statement is prepared: the capture's number of it is known.
    fn end_preparation(
        &mut self,
        moment: Moment,
        statement: Arc<Statement>,
        ended: &CommandEnd,
        numbers: &Numbers,
        stage: &Stage,
    ) {
        let handle = ended.handle.unwrap_or(0);
        if handle != 0 {
            self.prepared.insert(handle, Arc::clone(&statement));
        }
        // Others are prepared when they are first executed.
        let is_sent = self.is_open() || stage.options.contains(moment.at_us);
        let is_skipped = self.skips(numbers, &statement.text, &[]).is_some();
        if !is_sent || is_skipped || statement.is_unusable || statement.asks_for_file {
            return;
        }
        let ask = Ask {
            fingerprint: statement.fingerprint,
            ..Ask::new(moment, Action::Prepare { handle, statement })
        };
        self.push(ask, stage);
    }

    /// Follows a statement that the window has taken.
    fn effect(&mut self, rows: RowUse, step: TransactionStep) -> WriteEffect {
        // Others that wanted rows that a read has locked waited for its transaction.
        let has_written = self.has_written || rows.writes || rows.locks;
        // Another one begins: the server ends the open one itself.
        let ends = has_written && (!self.window.is_in() || step == TransactionStep::Begins);
        self.has_written = has_written && !ends;
        WriteEffect {
            ends,
            wants_rows: rows.writes || rows.locks,
        }
    }

    /// Why a statement is not sent, by where its session is.
    fn skips(&self, numbers: &Numbers, text: &[u8], values: &[Value]) -> Option<Action> {
        if self.schema.name() != numbers.schema {
            return Some(Action::Skip(Reason::OtherSchema));
        }
        let is_plain = |value: &Value| match value {
            Value::Bytes(bytes) => bytes.is_ascii(),
            _ => true,
        };
        let is_elsewhere = self.is_elsewhere && !(text.is_ascii() && values.iter().all(is_plain));
        is_elsewhere.then_some(Action::Skip(Reason::CharacterSet))
    }

    /// Sends a statement, which gets its number and waits for the transactions that have ended so far.
    fn ask(&mut self, ask: Ask, effect: WriteEffect, numbers: &mut Numbers, stage: &Stage) {
        let number = numbers.next();
        let began_us = ask.moment.at_us;
        let after = numbers.commits;
        // A statement that waits for the rows of a transaction may be seen to end before the commit is: it comes after the
        // commit's begin. Other statements end a transaction of their own at their end.
        let commits = effect.ends && !effect.wants_rows && self.slot.is_some();
        let commit = commits.then(|| numbers.next_commit());
        self.open.push_back(Open::Statement(OpenStatement {
            number,
            began_us,
            effect,
            commit,
        }));
        let ask = Ask {
            number,
            after,
            wants_rows: effect.wants_rows,
            ..ask
        };
        self.push(ask, stage);
    }

    fn push(&self, ask: Ask, stage: &Stage) {
        if let Some(slot) = self.slot {
            stage.push(slot, Item::Ask(ask));
        }
    }
}

/// A text without the comments that the server executes.
fn read_by(reader: Option<Reader>, text: Vec<u8>) -> Vec<u8> {
    reader.and_then(|reader| reader.read(&text)).unwrap_or(text)
}

fn query(started: &CommandStart, reader: Option<Reader>) -> Action {
    let class = started
        .template
        .as_ref()
        .map(|template| template.class())
        .unwrap_or_default();
    if started.is_unusable {
        return Action::Skip(Reason::Unusable);
    }
    if class.asks_for_file {
        return Action::Skip(Reason::AsksForFile);
    }
    let text = started.text();
    if let Some(text) = reader.and_then(|reader| reader.read(&text)) {
        let judged = String::from_utf8_lossy(&text).into_owned();
        return Action::Query { text, judged };
    }
    let judged = match &started.template {
        Some(template) => judged(template, &started.literals, &text),
        None => String::new(),
    };
    Action::Query { text, judged }
}

fn execution(started: CommandStart, statement: Option<&Arc<Statement>>) -> Action {
    let reason = match statement {
        None => Reason::NotPrepared,
        Some(statement) if statement.is_unusable || started.is_unusable => Reason::Unusable,
        Some(statement) if statement.asks_for_file => Reason::AsksForFile,
        Some(statement) => {
            return Action::Execute {
                handle: started.handle,
                statement: Arc::clone(statement),
                values: started.values,
            };
        }
    };
    Action::Skip(reason)
}
