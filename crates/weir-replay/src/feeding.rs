//! What a captured session's records become: items of the slot that it has.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use weir_capture::{Command, Ended, Started, Template, TransactionStep};

use crate::executed::Reader;
use crate::item::{Action, Ask, Item, Reason, Statement, judged};
use crate::slot::Stage;
use crate::survey::schema_of_use;
use crate::window::{Selection, Window};
use crate::writers::{is_of_session, writes};

/// Variables that are set again for a session of which only a part is sent.
const SETTINGS_MAX: usize = 100;

/// A captured session that is being read.
#[derive(Debug)]
pub(crate) struct Feeding {
    /// Its number in the capture.
    session: u32,
    /// None before the replay's part of the capture.
    slot: Option<usize>,
    schema: String,
    window: Window,
    /// Variables that it has set before that part.
    settings: Vec<Vec<u8>>,
    prepared: HashMap<u32, Arc<Statement>>,
    /// Commands that have not ended.
    open: VecDeque<Open>,
    /// When the last command ended.
    ended_us: Option<u64>,
    /// Its open transaction has written.
    has_written: bool,
}

#[derive(Debug)]
enum Open {
    /// A statement of this number, and whether a writing transaction ends with it.
    Statement(u64, bool),
    /// A preparation, which is sent when the capture's number of it is known.
    Prepare(u64, Arc<Statement>, Option<u64>),
    /// A change of the schema, to this one unless the server refuses.
    Schema(String),
    /// Nothing that is sent.
    Nothing,
}

/// What all sessions share.
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
    /// Writing transactions that have ended so far.
    pub(crate) commits: u64,
}

impl Numbers {
    fn of(&self, template: Option<&Arc<Template>>) -> usize {
        let found = template.and_then(|template| self.fingerprints.get(template.fingerprint()));
        found.copied().unwrap_or(self.others)
    }

    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl Feeding {
    pub(crate) fn new(session: u32, schema: String) -> Self {
        Self {
            session,
            slot: None,
            schema,
            window: Window::default(),
            settings: Vec::new(),
            prepared: HashMap::new(),
            open: VecDeque::new(),
            ended_us: None,
            has_written: false,
        }
    }

    /// Its slot, once it has one.
    pub(crate) fn slot(&self) -> Option<usize> {
        self.slot
    }

    /// Whether a transaction that is sent has not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.window.is_open()
    }

    /// The session connects, in this slot; what it has set before is set again.
    pub(crate) fn open(&mut self, slot: usize, at_us: u64, stage: &Stage) {
        self.slot = Some(slot);
        stage.push(slot, Item::Open { at_us });
        for text in std::mem::take(&mut self.settings) {
            let judged = String::from_utf8_lossy(&text).into_owned();
            let action = Action::Restore { text, judged };
            self.push(at_us, None, (0, 0), TransactionStep::None, action, 0, stage);
        }
    }

    /// Remembers a variable that is set before the replay's part.
    fn remember(&mut self, started: &Started) {
        let is_set = started
            .template
            .as_ref()
            .is_some_and(|template| template.fingerprint().starts_with("set "));
        if is_set && !started.is_unusable && self.settings.len() < SETTINGS_MAX {
            self.settings.push(started.text());
        }
    }

    /// A command began.
    #[allow(clippy::too_many_lines, reason = "one arm for each command")]
    pub(crate) fn started(
        &mut self,
        at_us: u64,
        started: Started,
        numbers: &mut Numbers,
        stage: &Stage,
    ) {
        let think_us = self
            .ended_us
            .take()
            .map(|ended_us| at_us.saturating_sub(ended_us));
        match started.command {
            Command::Query => {
                let class = started
                    .template
                    .as_ref()
                    .map(|template| template.class())
                    .unwrap_or_default();
                if class.uses_schema {
                    let schema = schema_of_use(&started.text());
                    self.open.push_back(Open::Schema(schema));
                    return;
                }
                let template = started.template.as_deref();
                let of = (self.session, template.is_some_and(is_of_session));
                if !self
                    .window
                    .take(at_us, class.transaction, of, &numbers.selection)
                {
                    if self.slot.is_none() {
                        self.remember(&started);
                    }
                    self.open.push_back(Open::Nothing);
                    return;
                }
                let fingerprint = numbers.of(started.template.as_ref());
                let is_other = self.is_other(numbers);
                let ends = self.ends_writing(template.is_some_and(writes));
                let action = query(&started, is_other, numbers.reader);
                self.ask(
                    at_us,
                    think_us,
                    fingerprint,
                    (class.transaction, ends),
                    action,
                    numbers,
                    stage,
                );
            }
            Command::Execute => {
                let statement = self.prepared.get(&started.handle).map(Arc::clone);
                let fingerprint = statement
                    .as_ref()
                    .map_or(numbers.others, |statement| statement.fingerprint);
                let transaction = statement
                    .as_ref()
                    .map_or(TransactionStep::None, |statement| statement.transaction);
                let of = (self.session, false);
                if !self.window.take(at_us, transaction, of, &numbers.selection) {
                    self.open.push_back(Open::Nothing);
                    return;
                }
                let ends = self.ends_writing(statement.as_ref().is_some_and(|found| found.writes));
                let action = execution(started, statement.as_ref(), self.is_other(numbers));
                self.ask(
                    at_us,
                    think_us,
                    fingerprint,
                    (transaction, ends),
                    action,
                    numbers,
                    stage,
                );
            }
            Command::Prepare => {
                let template = started.template.as_ref();
                let class = template
                    .map(|template| template.class())
                    .unwrap_or_default();
                let statement = Statement {
                    fingerprint: numbers.of(template),
                    is_unusable: started.is_unusable,
                    asks_for_file: class.asks_for_file,
                    transaction: class.transaction,
                    writes: template.is_some_and(|template| writes(template)),
                    text: read_by(numbers.reader, started.text()),
                };
                self.open
                    .push_back(Open::Prepare(at_us, Arc::new(statement), think_us));
            }
            Command::Close => {
                // It has no end: what ended before it counts for what follows.
                self.ended_us = think_us.map(|think_us| at_us.saturating_sub(think_us));
                self.prepared.remove(&started.handle);
                let action = Action::Forget {
                    handle: started.handle,
                };
                self.push(at_us, None, (0, 0), TransactionStep::None, action, 0, stage);
            }
            Command::UseSchema => {
                let schema = String::from_utf8_lossy(&started.text()).into_owned();
                self.open.push_back(Open::Schema(schema));
            }
            Command::Reset => {
                self.prepared.clear();
                let step = TransactionStep::AutocommitOn;
                let of = (self.session, true);
                if self.window.take(at_us, step, of, &numbers.selection) {
                    self.push(at_us, think_us, (0, 0), step, Action::Reset, 0, stage);
                }
                self.open.push_back(Open::Nothing);
            }
            Command::Other => self.open.push_back(Open::Nothing),
        }
    }

    /// The oldest command ended.
    pub(crate) fn ended(&mut self, at_us: u64, ended: Ended, numbers: &mut Numbers, stage: &Stage) {
        self.ended_us = Some(at_us);
        match self.open.pop_front() {
            Some(Open::Statement(number, ends)) => {
                if let Some(slot) = self.slot {
                    numbers.commits += u64::from(ends);
                    let commit = ends.then_some(numbers.commits);
                    stage.captured(slot, number, ended, commit);
                }
            }
            Some(Open::Prepare(began_us, statement, think_us)) => {
                let handle = ended.handle.unwrap_or(0);
                if handle != 0 {
                    self.prepared.insert(handle, Arc::clone(&statement));
                }
                // Others are prepared when they are first executed.
                let is_sent = self.is_open() || stage.options.contains(began_us);
                if !is_sent
                    || self.is_other(numbers)
                    || statement.is_unusable
                    || statement.asks_for_file
                {
                    return;
                }
                let fingerprint = statement.fingerprint;
                let action = Action::Prepare { handle, statement };
                self.push(
                    began_us,
                    think_us,
                    (fingerprint, 0),
                    TransactionStep::None,
                    action,
                    0,
                    stage,
                );
            }
            Some(Open::Schema(schema)) => {
                if ended.error.unwrap_or(0) == 0 {
                    self.schema = schema;
                }
            }
            Some(Open::Nothing) | None => {}
        }
    }

    /// Follows a statement that the window has taken: whether a writing transaction ends with it.
    fn ends_writing(&mut self, writes: bool) -> bool {
        let has_written = self.has_written || writes;
        self.has_written = has_written && self.window.is_in();
        has_written && !self.window.is_in()
    }

    fn is_other(&self, numbers: &Numbers) -> bool {
        self.schema != numbers.schema
    }

    #[allow(clippy::too_many_arguments, reason = "each is a part of one statement")]
    fn ask(
        &mut self,
        at_us: u64,
        think_us: Option<u64>,
        fingerprint: usize,
        (transaction, ends): (TransactionStep, bool),
        action: Action,
        numbers: &mut Numbers,
        stage: &Stage,
    ) {
        let number = numbers.next();
        self.open.push_back(Open::Statement(number, ends));
        self.push(
            at_us,
            think_us,
            (fingerprint, numbers.commits),
            transaction,
            action,
            number,
            stage,
        );
    }

    #[allow(clippy::too_many_arguments, reason = "each is a part of one statement")]
    fn push(
        &self,
        at_us: u64,
        think_us: Option<u64>,
        (fingerprint, after): (usize, u64),
        transaction: TransactionStep,
        action: Action,
        number: u64,
        stage: &Stage,
    ) {
        let Some(slot) = self.slot else { return };
        stage.push(
            slot,
            Item::Ask(Ask {
                at_us,
                think_us,
                number,
                fingerprint,
                transaction,
                after,
                action,
            }),
        );
    }
}

/// A text without the comments that the server executes.
fn read_by(reader: Option<Reader>, text: Vec<u8>) -> Vec<u8> {
    reader.and_then(|reader| reader.read(&text)).unwrap_or(text)
}

fn query(started: &Started, is_other: bool, reader: Option<Reader>) -> Action {
    let class = started
        .template
        .as_ref()
        .map(|template| template.class())
        .unwrap_or_default();
    if is_other {
        return Action::Skip(Reason::OtherSchema);
    }
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

fn execution(started: Started, statement: Option<&Arc<Statement>>, is_other: bool) -> Action {
    let reason = match statement {
        _ if is_other => Reason::OtherSchema,
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
