//! Requests of a script, with their parameters drawn.
//!
//! One set of templates serves all connections of a reactor: only the numbers of the statements
//! differ between them.

use std::fmt::Display;

use weir_model::ThinkTime;

use super::Place;
use super::statements::{Statements, positions};
use crate::LoadError;
use crate::driver::Reconnector;
use crate::parameter::parameter_kinds;
use crate::plan::Tolerated;
use weir_mysql::{
    ClientError, Codec, Compression, ExecuteTemplate, Malformed, Request, ServerError,
};
use weir_workload::{
    BulkText, Drawer, Execution, Parameter, Rng, Script, Sending, Statement, Step, Value,
    ValueKind, between_marks, table_name,
};

/// What the connections of one reactor share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// What the reactor is to send.
    pub(super) outgoing: Vec<u8>,
    pub(super) requests: Requests,
    pub(super) link: Link,
    pub(super) tolerated: Tolerated,
    /// Makes connections again, if that is asked for.
    pub(super) reconnector: Option<Reconnector>,
    /// By how much each request and each reply is delayed.
    pub(super) half_rtt_ns: u64,
    pub(super) think: ThinkTime,
    /// Packs requests and unpacks replies, if connections are compressed.
    pub(super) codec: Option<Codec>,
}

impl Shared {
    /// Buffers and templates for `script` at `address`.
    pub(crate) fn new(
        script: Script,
        address: &impl Display,
        tolerated: Tolerated,
        reconnector: Option<Reconnector>,
        half_rtt_ns: u64,
        think: ThinkTime,
        compression: Option<Compression>,
    ) -> Self {
        Self {
            outgoing: Vec::new(),
            requests: Requests::new(script),
            link: Link {
                address: address.to_string(),
            },
            tolerated,
            reconnector,
            half_rtt_ns,
            think,
            codec: compression.map(Codec::new),
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
        LoadError::Client(ClientError::Lost {
            address: self.address.clone(),
            why,
        })
    }

    pub(super) fn malformed(&self, malformed: Malformed) -> LoadError {
        LoadError::Client(ClientError::Protocol {
            address: self.address.clone(),
            why: malformed.to_string(),
        })
    }

    pub(super) fn refused(&self, statement: &str, error: ServerError) -> LoadError {
        LoadError::Client(ClientError::refused(self.address.clone(), statement, error))
    }
}

/// Templates of all requests.
#[derive(Debug)]
pub(super) struct Requests {
    script: Script,
    forms: Vec<Form>,
    /// Where a value is put together that has several parts.
    scratch: Vec<u8>,
}

/// A statement, ready to be sent.
#[derive(Debug)]
struct Form {
    /// Position of its first handle.
    first_handle: usize,
    execute: ExecuteTemplate,
    /// For each table, the texts between the parameters.
    pieces: Vec<Vec<Vec<u8>>>,
}

impl Form {
    fn new(statement: &Statement, first_handle: usize) -> Self {
        let pieces = |table| {
            let sql = statement.sql(table);
            // Without parameters, a question mark is only a question mark.
            if statement.parameters.is_empty() {
                vec![sql.into_bytes()]
            } else {
                let pieces = between_marks(&sql).into_iter();
                pieces.map(|piece| piece.as_bytes().to_vec()).collect()
            }
        };
        let is_ever_text = statement.sending == Sending::Text || statement.parameters.is_empty();
        let tables = if is_ever_text { statement.tables } else { 0 };
        Self {
            first_handle,
            execute: ExecuteTemplate::new(&parameter_kinds(&statement.kinds())),
            pieces: (0..tables).map(pieces).collect(),
        }
    }
}

impl Requests {
    fn new(script: Script) -> Self {
        let (first_handles, _) = positions(&script);
        let forms = script.statements.iter().zip(first_handles);
        Self {
            forms: forms
                .map(|(statement, first_handle)| Form::new(statement, first_handle))
                .collect(),
            script,
            scratch: Vec::new(),
        }
    }

    /// The kind of the next transaction.
    pub(super) fn choose(&self, rng: &mut Rng) -> usize {
        self.script.choose(rng)
    }

    /// Steps of a kind of transaction.
    pub(super) fn steps(&self, transaction: usize) -> usize {
        self.script.transactions[transaction].steps.len()
    }

    /// The statement of a step, as its position in the script.
    pub(super) fn statement(&self, transaction: usize, step: usize) -> Option<usize> {
        match &self.script.transactions[transaction].steps[step] {
            Step::Execute(execution) => Some(execution.statement),
            Step::Bulk => None,
        }
    }

    /// Whether there are several kinds of transactions.
    pub(super) fn has_choice(&self) -> bool {
        self.script.transactions.len() > 1
    }

    pub(super) fn is_bulk(&self) -> bool {
        self.script.is_bulk()
    }

    /// Whether a kind of transaction is one of the server's, to be rolled back.
    pub(super) fn is_explicit(&self, transaction: usize) -> bool {
        self.script.transactions[transaction].is_explicit
    }

    /// The text of a step, for an error.
    pub(super) fn sql(&self, step: usize, place: &Place) -> String {
        match &self.script.transactions[place.transaction].steps[step] {
            Step::Execute(execution) => {
                self.script.statements[execution.statement].sql(place.table)
            }
            Step::Bulk => format!("INSERT INTO {}", table_name(place.table + 1)),
        }
    }

    /// Appends the request that undoes a transaction.
    pub(super) fn rollback(out: &mut Vec<u8>) {
        let mut request = Request::query(out);
        request.sql().extend_from_slice(b"ROLLBACK");
        request.finish();
    }

    /// Appends the request of a step to `out`, its table and values drawn.
    pub(super) fn step(
        &mut self,
        step: usize,
        statements: &mut Statements,
        place: &mut Place,
        rng: &mut Rng,
        out: &mut Vec<u8>,
    ) {
        match &self.script.transactions[place.transaction].steps[step] {
            Step::Execute(execution) => {
                let statement = &self.script.statements[execution.statement];
                let form = &self.forms[execution.statement];
                prepare_place(execution, statement.tables, place, rng, &mut self.scratch);
                execute(
                    statement,
                    form,
                    statements,
                    place,
                    rng,
                    &mut self.scratch,
                    out,
                );
            }
            Step::Bulk => {
                let mut request = Request::query(out);
                let text = BulkText::new(request.sql(), place.table + 1);
                place.rows = text.fill(place.first_row, place.rows);
                request.finish();
            }
        }
    }
}

/// Chooses the table and draws the values that the statements from here on share.
fn prepare_place(
    execution: &Execution,
    tables: u32,
    place: &mut Place,
    rng: &mut Rng,
    scratch: &mut Vec<u8>,
) {
    if execution.new_table {
        place.table = rng.below(u64::from(tables)) as u32;
    }
    for (slot, generator) in &execution.draws {
        let value = generator.draw(drawer(place), rng, scratch);
        place.slots[*slot].set(value);
    }
}

fn drawer(place: &Place) -> Drawer {
    Drawer {
        connection: place.connection,
        row: 0,
    }
}

fn execute(
    statement: &Statement,
    form: &Form,
    statements: &mut Statements,
    place: &Place,
    rng: &mut Rng,
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) {
    let table = statement.handle(place.table);
    let handle = statements.at(form.first_handle + table);
    if handle.is_text {
        let mut request = Request::query(out);
        let pieces = &form.pieces[table];
        request.sql().extend_from_slice(&pieces[0]);
        for (parameter, piece) in statement.parameters.iter().zip(&pieces[1..]) {
            let value = value(parameter, place, rng, scratch);
            value.put_literal(request.sql());
            request.sql().extend_from_slice(piece);
        }
        return request.finish();
    }
    let mut request = Request::execute(out, &form.execute, handle.id, !handle.is_typed);
    handle.is_typed = true;
    for parameter in &statement.parameters {
        match (value(parameter, place, rng, scratch), parameter.kind()) {
            (Value::Integer(number), ValueKind::Integer) => request.integer(number as i32),
            (Value::Integer(number), _) => request.big_integer(number),
            (Value::Text(text), _) => request.text(text),
        }
    }
    request.finish();
}

fn value<'a>(
    parameter: &'a Parameter,
    place: &'a Place,
    rng: &mut Rng,
    scratch: &'a mut Vec<u8>,
) -> Value<'a> {
    match parameter {
        Parameter::Slot(slot, _) => place.slots[*slot].get(),
        Parameter::SlotPlus(slot, more) => match place.slots[*slot].get() {
            Value::Integer(first) => {
                Value::Integer((first + i64::from(*more)).min(i64::from(i32::MAX)))
            }
            text @ Value::Text(_) => text,
        },
        Parameter::Draw(generator) => generator.draw(drawer(place), rng, scratch),
    }
}

#[cfg(test)]
mod tests;
