//! Which transactions of a capture write, found by reading it once: only its end says of what kind a transaction is.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use weir_capture::{CaptureError, CaptureReader, Command, Happening, Template, TransactionStep};
use weir_model::ReplayFilter;

use crate::ReplayOptions;
use crate::transaction::TransactionState;

/// Verbs that change tables.
const WRITING: [&str; 13] = [
    "insert", "update", "delete", "replace", "load", "create", "alter", "drop", "truncate",
    "rename", "call", "optimize", "analyze",
];

/// Returns true if a statement changes tables, by the first word of its fingerprint.
pub(crate) fn writes(fingerprint: &str) -> bool {
    let verb = fingerprint.split_ascii_whitespace().next();
    verb.is_some_and(|verb| WRITING.contains(&verb.to_ascii_lowercase().as_str()))
}

/// Returns true if a statement says how its session is from now on: no filter leaves it out.
pub(crate) fn is_of_session(template: &Template) -> bool {
    template.fingerprint().starts_with("set ")
}

/// The writing transactions of a capture: session, and which of its transactions, from 1.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Writers(HashSet<(u32, u32)>);

impl Writers {
    /// Those of a capture; none where the filter does not ask.
    pub(crate) fn read(path: &Path, options: &ReplayOptions) -> Result<Self, CaptureError> {
        let mut writers = Self::default();
        if options.filter == ReplayFilter::All {
            return Ok(writers);
        }
        let mut live: HashMap<u32, Transactions> = HashMap::new();
        let mut reader = CaptureReader::open(path)?;
        while let Some(record) = reader.next_record()? {
            let session = record.session;
            match record.happening {
                Happening::Opened(_) => drop(live.insert(session, Transactions::default())),
                Happening::Closed => drop(live.remove(&session)),
                Happening::Started(started) => {
                    let Some(transactions) = live.get_mut(&session) else {
                        continue;
                    };
                    let template = started.template.as_deref();
                    let asked = match started.command {
                        Command::Query
                            if template.is_some_and(|found| found.class().uses_schema) =>
                        {
                            None
                        }
                        Command::Query => Some(template.map(asked).unwrap_or_default()),
                        Command::Prepare => {
                            transactions
                                .preparing
                                .push(template.map(asked).unwrap_or_default());
                            None
                        }
                        Command::Execute => {
                            let prepared = transactions.prepared.get(&started.handle);
                            Some(prepared.copied().unwrap_or_default())
                        }
                        Command::Reset | Command::ChangeUser => {
                            Some((TransactionStep::AutocommitOn, false))
                        }
                        _ => None,
                    };
                    if started.command != Command::Close {
                        transactions
                            .is_preparing
                            .push(started.command == Command::Prepare);
                    }
                    if let Some((step, writes)) = asked {
                        transactions.take(step);
                        if writes {
                            writers.0.insert((session, transactions.number));
                        }
                    }
                }
                Happening::Ended(ended) => {
                    if let Some(transactions) = live.get_mut(&session) {
                        transactions.ended(ended.handle);
                    }
                }
            }
        }
        Ok(writers)
    }

    /// Returns true if a transaction is sent.
    pub(crate) fn take(&self, filter: ReplayFilter, session: u32, number: u32) -> bool {
        match filter {
            ReplayFilter::All => true,
            ReplayFilter::Reads => !self.0.contains(&(session, number)),
            ReplayFilter::Writes => self.0.contains(&(session, number)),
        }
    }
}

fn asked(template: &Template) -> (TransactionStep, bool) {
    (template.class().transaction, writes(template.fingerprint()))
}

/// The transactions of a session.
#[derive(Debug, Default)]
struct Transactions {
    state: TransactionState,
    number: u32,
    prepared: HashMap<u32, (TransactionStep, bool)>,
    /// True for each command that has not ended if it prepares.
    is_preparing: Vec<bool>,
    preparing: Vec<(TransactionStep, bool)>,
}

impl Transactions {
    /// Follows a statement.
    fn take(&mut self, step: TransactionStep) {
        if !self.state.is_in {
            self.number += 1;
        }
        self.state.follow(step);
    }

    fn ended(&mut self, handle: Option<u32>) {
        if self.is_preparing.is_empty() || !self.is_preparing.remove(0) {
            return;
        }
        if self.preparing.is_empty() {
            return;
        }
        let asked = self.preparing.remove(0);
        if let Some(handle) = handle {
            self.prepared.insert(handle, asked);
        }
    }
}
