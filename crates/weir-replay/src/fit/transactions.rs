//! The transactions of a capture, one after the other as they end.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use weir_capture::{
    CaptureReader, Command, CommandEnd, CommandStart, Happening, Template, TransactionStep,
};

use crate::fit::FitError;
use crate::fit::datum::Datum;

/// Longest transaction that is looked at.
const CALLS_MAX: usize = 5_000;

/// A statement that was executed.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) template: Arc<Template>,
    /// Literals of the text; those of a prepared statement's text are those of its preparation.
    literals: Arc<Vec<Vec<u8>>>,
    values: Vec<weir_capture::Value>,
    pub(crate) at_us: u64,
    pub(crate) took_us: Option<u64>,
    pub(crate) insert_id: Option<u64>,
    has_failed: bool,
    is_unusable: bool,
}

impl Call {
    /// An execution of this text, without an outcome.
    pub(crate) fn from_text(sql: &[u8]) -> Self {
        let (template, literals) = Template::parse(sql);
        Self {
            template: Arc::new(template),
            literals: Arc::new(literals),
            values: Vec::new(),
            at_us: 0,
            took_us: None,
            insert_id: None,
            has_failed: false,
            is_unusable: false,
        }
    }

    /// The values of its marks, which are literals of the text (`true`) or parameters; `None` if they are not all there.
    pub(crate) fn data(&self, marks: &[bool]) -> Option<Vec<Datum>> {
        let mut literals = self.literals.iter();
        let mut values = self.values.iter();
        let data = marks.iter().map(|is_literal| {
            if *is_literal {
                literals.next().map(|literal| Datum::of_literal(literal))
            } else {
                values.next().map(Datum::of_value)
            }
        });
        data.collect()
    }

    /// The literal of a mark, as it stands in the text.
    pub(crate) fn literal(&self, marks: &[bool], mark: usize) -> Option<&[u8]> {
        let before = marks[..mark]
            .iter()
            .filter(|is_literal| **is_literal)
            .count();
        self.literals.get(before).map(Vec::as_slice)
    }
}

/// A transaction that has ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transaction {
    pub(crate) calls: Vec<Call>,
    /// It began without `BEGIN`, as `autocommit` was off.
    pub(crate) begins_itself: bool,
}

/// Counts of what was read, and of the part that is in no transaction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadCounts {
    pub(crate) sessions: u64,
    pub(crate) length_us: u64,
    pub(crate) transactions: u64,
    /// Transactions with a statement that failed.
    pub(crate) failed: u64,
    /// Those with a statement of which something is missing.
    pub(crate) unusable: u64,
    /// Those that had not ended.
    pub(crate) unfinished: u64,
    /// Bytes after the capture's last whole block, which are not read.
    pub(crate) cut_bytes: u64,
    /// Statements that no poll of the server saw.
    pub(crate) unseen: u64,
}

/// A prepared statement and the literals of its text.
type PreparedText = (Arc<Template>, Arc<Vec<Vec<u8>>>);

#[derive(Default)]
struct Live {
    prepared: HashMap<u32, PreparedText>,
    preparing: VecDeque<PreparedText>,
    open: Transaction,
    is_explicit: bool,
    autocommit_off: bool,
    /// Commands without an end: positions of calls, or of others.
    waiting: VecDeque<OpenCommand>,
    /// The transaction ends with the command that waits last.
    ends: bool,
}

enum OpenCommand {
    Call(usize),
    Prepare,
    Other,
}

/// Gives each whole transaction of a capture to `take`.
pub(crate) fn each_transaction(
    path: &Path,
    take: &mut dyn FnMut(&Transaction),
) -> Result<ReadCounts, FitError> {
    let mut reader = CaptureReader::open(path)?;
    let mut counts = ReadCounts::default();
    let mut live: HashMap<u32, Live> = HashMap::new();
    while let Some(record) = reader.next_record()? {
        counts.length_us = counts.length_us.max(record.at_us);
        match record.happening {
            Happening::Opened(_) => {
                counts.sessions += 1;
                live.insert(record.session, Live::default());
            }
            Happening::Closed => {
                if let Some(session) = live.remove(&record.session) {
                    counts.unfinished += u64::from(!session.open.calls.is_empty());
                }
            }
            Happening::Started(started) => {
                if let Some(session) = live.get_mut(&record.session) {
                    session.started(record.at_us, started);
                }
            }
            Happening::Ended(ended) => {
                if let Some(session) = live.get_mut(&record.session)
                    && let Some(transaction) = session.ended(record.at_us, ended)
                {
                    finish(&transaction, &mut counts, take);
                }
            }
        }
    }
    let open = live
        .values()
        .filter(|session| !session.open.calls.is_empty());
    counts.unfinished += open.count() as u64;
    counts.cut_bytes = reader.cut_bytes();
    counts.unseen = reader.tail().map_or(0, |tail| tail.losses.unseen);
    Ok(counts)
}

fn finish(transaction: &Transaction, counts: &mut ReadCounts, take: &mut dyn FnMut(&Transaction)) {
    counts.transactions += 1;
    if transaction.calls.iter().any(|call| call.has_failed) {
        counts.failed += 1;
    } else if transaction.calls.iter().any(|call| call.is_unusable) {
        counts.unusable += 1;
    } else {
        take(transaction);
    }
}

impl Live {
    fn started(&mut self, at_us: u64, started: CommandStart) {
        let (template, literals) = match started.command {
            Command::Query => match started.template {
                Some(template) => (template, Arc::new(started.literals)),
                None => return self.waiting.push_back(OpenCommand::Other),
            },
            Command::Prepare => {
                if let Some(template) = started.template {
                    self.preparing
                        .push_back((template, Arc::new(started.literals)));
                    self.waiting.push_back(OpenCommand::Prepare);
                } else {
                    self.waiting.push_back(OpenCommand::Other);
                }
                return;
            }
            Command::Execute => match self.prepared.get(&started.handle) {
                Some((template, literals)) => (Arc::clone(template), Arc::clone(literals)),
                None => return self.waiting.push_back(OpenCommand::Other),
            },
            Command::Close => {
                self.prepared.remove(&started.handle);
                return;
            }
            Command::Reset | Command::ChangeUser => {
                *self = Self::default();
                return self.waiting.push_back(OpenCommand::Other);
            }
            Command::UseSchema | Command::Other => {
                return self.waiting.push_back(OpenCommand::Other);
            }
        };
        self.step(template.class().transaction);
        self.waiting
            .push_back(OpenCommand::Call(self.open.calls.len()));
        self.open.calls.push(Call {
            template,
            literals,
            values: started.values,
            at_us,
            took_us: None,
            insert_id: None,
            has_failed: false,
            is_unusable: started.is_unusable,
        });
        if self.open.calls.len() > CALLS_MAX {
            self.open = Transaction::default();
            self.waiting.clear();
        }
    }

    /// Applies the effect of a statement on the transaction.
    fn step(&mut self, step: TransactionStep) {
        match step {
            TransactionStep::Begins => {
                self.is_explicit = true;
                self.ends = false;
            }
            TransactionStep::Ends => self.ends = true,
            TransactionStep::AutocommitOff => {
                self.autocommit_off = true;
                self.ends = true;
            }
            TransactionStep::AutocommitOn => {
                self.autocommit_off = false;
                self.ends = true;
            }
            TransactionStep::None => {
                self.ends = !self.is_explicit && !self.autocommit_off;
                if self.autocommit_off && !self.is_explicit && self.open.calls.is_empty() {
                    self.open.begins_itself = true;
                }
            }
        }
    }

    /// The oldest command ended; the transaction that ended with it.
    fn ended(&mut self, at_us: u64, ended: CommandEnd) -> Option<Transaction> {
        match self.waiting.pop_front()? {
            OpenCommand::Prepare => {
                let prepared = self.preparing.pop_front()?;
                self.prepared.insert(ended.handle?, prepared);
                None
            }
            OpenCommand::Other => None,
            OpenCommand::Call(position) => {
                let call = self.open.calls.get_mut(position)?;
                if ended != CommandEnd::default() {
                    call.took_us = Some(at_us.saturating_sub(call.at_us));
                }
                call.insert_id = ended.insert_id;
                call.has_failed = ended.error.is_some_and(|code| code != 0);
                if !self.ends || !self.waiting.is_empty() {
                    return None;
                }
                self.is_explicit = false;
                Some(std::mem::take(&mut self.open))
            }
        }
    }
}
