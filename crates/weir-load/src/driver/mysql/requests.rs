//! Requests of a script, with their parameters drawn and patched in.
//!
//! One set of templates serves all connections of a reactor: only the numbers of the statements
//! differ between them.

use std::fmt::Display;

use super::Place;
use super::statements::Statements;
use crate::LoadError;
use crate::codec::{ExecuteTemplate, Malformed, Patch, ServerError, TextRequest, text_request};
use crate::driver::Reconnector;
use crate::plan::Tolerated;
use crate::workload::{
    BulkText, C_BYTES, PAD_BYTES, Rng, Rows, Script, Statement, Step, put_decimal, table_name,
    write_groups,
};

/// What the connections of one reactor share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// What the reactor is to send.
    pub(super) outgoing: Vec<u8>,
    pub(super) requests: Requests,
    pub(super) link: Link,
    pub(super) tolerated: Tolerated,
    /// Makes lost connections again, if that is asked for.
    pub(super) reconnector: Option<Reconnector>,
    /// By how much each request and each reply is delayed.
    pub(super) half_rtt_ns: u64,
}

impl Shared {
    /// Buffers and templates for `script` on `rows` at `address`.
    pub(crate) fn new(
        script: Script,
        rows: Rows,
        address: &impl Display,
        tolerated: Tolerated,
        reconnector: Option<Reconnector>,
        half_rtt_ns: u64,
    ) -> Self {
        Self {
            outgoing: Vec::new(),
            requests: Requests::new(script, rows),
            link: Link {
                address: address.to_string(),
            },
            tolerated,
            reconnector,
            half_rtt_ns,
        }
    }
}

/// The server's address, for errors.
#[derive(Debug)]
pub(super) struct Link {
    address: String,
}

impl Link {
    pub(super) fn lost(&self, error: &std::io::Error) -> LoadError {
        let why = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "the server closed it".to_owned(),
            _ => error.to_string().to_lowercase(),
        };
        LoadError::ConnectionLost {
            address: self.address.clone(),
            why,
        }
    }

    pub(super) fn malformed(&self, malformed: Malformed) -> LoadError {
        LoadError::Protocol {
            address: self.address.clone(),
            why: malformed.to_string(),
        }
    }

    pub(super) fn refused(&self, statement: String, error: ServerError) -> LoadError {
        LoadError::Statement {
            address: self.address.clone(),
            statement,
            code: error.code,
            message: error.message,
        }
    }
}

/// Templates of all requests.
#[derive(Debug)]
pub(super) struct Requests {
    script: Script,
    rows: Rows,
    templates: Vec<ExecuteTemplate>,
    bare: ExecuteTemplate,
    begin: Vec<u8>,
    commit: Vec<u8>,
    rollback: Vec<u8>,
    text: TextRequest,
}

impl Requests {
    fn new(script: Script, rows: Rows) -> Self {
        Self {
            templates: Statement::ALL
                .iter()
                .map(|statement| ExecuteTemplate::new(&statement.parameters(&script.mix)))
                .collect(),
            script,
            rows,
            text: TextRequest::default(),
            bare: ExecuteTemplate::new(&[]),
            begin: text_request("BEGIN"),
            commit: text_request("COMMIT"),
            rollback: text_request("ROLLBACK"),
        }
    }

    pub(super) fn steps(&self) -> usize {
        self.script.steps.len()
    }

    pub(super) fn is_bulk(&self) -> bool {
        self.script.is_bulk()
    }

    pub(super) fn is_transaction(&self) -> bool {
        self.script.is_transaction()
    }

    pub(super) fn rollback(&self) -> &[u8] {
        &self.rollback
    }

    /// The text of a step, for an error.
    pub(super) fn sql(&self, step: usize, table: u32) -> String {
        match self.script.steps[step] {
            Step::Begin => "BEGIN".to_owned(),
            Step::Commit => "COMMIT".to_owned(),
            Step::Table { statement, .. } => {
                statement.sql(&table_name(table + 1), &self.script.mix)
            }
            Step::Append | Step::Bulk => format!("INSERT INTO {}", table_name(table + 1)),
        }
    }

    /// The request of a step, its table, row and values drawn.
    pub(super) fn step(
        &mut self,
        step: usize,
        statements: &mut Statements,
        place: &mut Place,
        rng: &mut Rng,
    ) -> &[u8] {
        let (prepared, text) = match self.script.steps[step] {
            Step::Begin => (&mut statements.begin, &self.begin),
            Step::Commit => (&mut statements.commit, &self.commit),
            Step::Table {
                statement,
                new_table,
                new_key,
            } => {
                if new_table {
                    place.table = rng.below(u64::from(self.rows.tables)) as u32;
                }
                if new_key {
                    place.key = self.rows.key_of(place.connection, rng);
                }
                return self.on_table(statement, statements, *place, rng);
            }
            Step::Append => {
                place.table = rng.below(u64::from(self.rows.tables)) as u32;
                let k = self.rows.keys.next(rng);
                return append(&mut self.text, place.table + 1, k, rng);
            }
            Step::Bulk => {
                let out = self.text.begin();
                place.rows = BulkText::new(out, place.table + 1).fill(place.key, place.rows);
                return self.text.finish();
            }
        };
        match prepared {
            Some(handle) => self.bare.patch(handle.id, false).finish(),
            None => text,
        }
    }

    fn on_table(
        &mut self,
        statement: Statement,
        statements: &mut Statements,
        place: Place,
        rng: &mut Rng,
    ) -> &[u8] {
        let handle = statements.on_table(statement, place.table);
        let template = &mut self.templates[statement.number()];
        let mut patch = template.patch(handle.id, !handle.is_typed);
        handle.is_typed = true;
        match statement {
            Statement::PointSelect | Statement::UpdateIndex | Statement::Delete => {
                patch.integer(0, place.key);
            }
            Statement::SimpleRange
            | Statement::SumRange
            | Statement::OrderRange
            | Statement::DistinctRange => {
                patch.integer(0, place.key);
                patch.integer(1, last_of_range(place.key, self.script.mix.range_size));
            }
            Statement::UpdateNonIndex => {
                write_groups(rng, patch.text(0));
                patch.integer(1, place.key);
            }
            Statement::Insert => insert(&mut patch, place.key, self.rows.keys.next(rng), rng),
            Statement::RandomPoints => {
                patch.integer(0, place.key);
                for index in 1..self.script.mix.random_points as usize {
                    patch.integer(index, self.rows.key_of(place.connection, rng));
                }
            }
            Statement::RandomRanges => {
                let delta = self.script.mix.random_range_delta;
                let mut first = place.key;
                for index in 0..self.script.mix.random_ranges as usize {
                    if index > 0 {
                        first = self.rows.key_of(place.connection, rng);
                    }
                    patch.integer(2 * index, first);
                    patch.integer(2 * index + 1, last_of_range(first, delta.saturating_add(1)));
                }
            }
        }
        patch.finish()
    }
}

fn insert(patch: &mut Patch<'_>, id: u32, k: u32, rng: &mut Rng) {
    patch.integer(0, id);
    patch.integer(1, k);
    write_groups(rng, patch.text(2));
    write_groups(rng, patch.text(3));
}

/// The row of `oltp_insert`: key 0 is replaced by the table's next one.
fn append<'a>(text: &'a mut TextRequest, table: u32, k: u32, rng: &mut Rng) -> &'a [u8] {
    let out = text.begin();
    out.extend_from_slice(b"INSERT INTO sbtest");
    put_decimal(out, table);
    out.extend_from_slice(b" (id, k, c, pad) VALUES (0, ");
    put_decimal(out, k);
    for length in [C_BYTES, PAD_BYTES] {
        out.extend_from_slice(b", '");
        let start = out.len();
        out.resize(start + length, 0);
        write_groups(rng, &mut out[start..]);
        out.push(b'\'');
    }
    out.push(b')');
    text.finish()
}

/// The last key of a range; the parameter is a signed `INTEGER`.
fn last_of_range(first: u32, size: u32) -> u32 {
    first
        .saturating_add(size.saturating_sub(1))
        .min(i32::MAX as u32)
}

#[cfg(test)]
mod tests;
