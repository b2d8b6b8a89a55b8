//! What a captured session's records become: items of the slot that it has.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use weir_capture::{Command, Ended, Started, Template, TransactionStep};

use crate::item::{Action, Ask, Item, Reason, Statement, judged};
use crate::slot::Stage;

/// A captured session that is being read.
#[derive(Debug)]
pub(crate) struct Feeding {
    pub(crate) slot: usize,
    schema: String,
    prepared: HashMap<u32, Arc<Statement>>,
    /// Commands that have not ended.
    open: VecDeque<Open>,
    /// When the last command ended.
    ended_us: Option<u64>,
}

#[derive(Debug)]
enum Open {
    /// A statement of this number.
    Statement(u64),
    /// A preparation, which is sent when the capture's number of it is known.
    Prepare(u64, Arc<Statement>, Option<u64>),
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
    pub(crate) fn new(slot: usize, schema: String) -> Self {
        Self {
            slot,
            schema,
            prepared: HashMap::new(),
            open: VecDeque::new(),
            ended_us: None,
        }
    }

    /// A command began.
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
                    self.use_schema(&started.text());
                    self.open.push_back(Open::Nothing);
                    return;
                }
                let fingerprint = numbers.of(started.template.as_ref());
                let is_other = self.is_other(numbers);
                let action = query(&started, is_other);
                self.ask(
                    at_us,
                    think_us,
                    fingerprint,
                    class.transaction,
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
                let action = execution(started, statement.as_ref(), self.is_other(numbers));
                self.ask(
                    at_us,
                    think_us,
                    fingerprint,
                    transaction,
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
                    text: started.text(),
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
                self.push(at_us, None, 0, TransactionStep::None, action, 0, stage);
            }
            Command::UseSchema => {
                self.schema = String::from_utf8_lossy(&started.text()).into_owned();
                self.open.push_back(Open::Nothing);
            }
            Command::Reset => {
                self.prepared.clear();
                self.push(
                    at_us,
                    think_us,
                    0,
                    TransactionStep::AutocommitOn,
                    Action::Reset,
                    0,
                    stage,
                );
                self.open.push_back(Open::Nothing);
            }
            Command::Other => self.open.push_back(Open::Nothing),
        }
    }

    /// The oldest command ended.
    pub(crate) fn ended(&mut self, at_us: u64, ended: Ended, numbers: &Numbers, stage: &Stage) {
        self.ended_us = Some(at_us);
        match self.open.pop_front() {
            Some(Open::Statement(number)) => stage.captured(self.slot, number, ended),
            Some(Open::Prepare(began_us, statement, think_us)) => {
                let handle = ended.handle.unwrap_or(0);
                if handle != 0 {
                    self.prepared.insert(handle, Arc::clone(&statement));
                }
                if self.is_other(numbers) || statement.is_unusable || statement.asks_for_file {
                    return;
                }
                let fingerprint = statement.fingerprint;
                let action = Action::Prepare { handle, statement };
                self.push(
                    began_us,
                    think_us,
                    fingerprint,
                    TransactionStep::None,
                    action,
                    0,
                    stage,
                );
            }
            Some(Open::Nothing) | None => {}
        }
    }

    fn is_other(&self, numbers: &Numbers) -> bool {
        self.schema != numbers.schema
    }

    /// `USE name`.
    fn use_schema(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let name = text.split_ascii_whitespace().nth(1).unwrap_or_default();
        name.trim_matches([';', '`']).clone_into(&mut self.schema);
    }

    #[allow(clippy::too_many_arguments, reason = "each is a part of one statement")]
    fn ask(
        &mut self,
        at_us: u64,
        think_us: Option<u64>,
        fingerprint: usize,
        transaction: TransactionStep,
        action: Action,
        numbers: &mut Numbers,
        stage: &Stage,
    ) {
        let number = numbers.next();
        self.open.push_back(Open::Statement(number));
        self.push(
            at_us,
            think_us,
            fingerprint,
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
        fingerprint: usize,
        transaction: TransactionStep,
        action: Action,
        number: u64,
        stage: &Stage,
    ) {
        stage.push(
            self.slot,
            Item::Ask(Ask {
                at_us,
                think_us,
                number,
                fingerprint,
                transaction,
                action,
            }),
        );
    }
}

fn query(started: &Started, is_other: bool) -> Action {
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
