//! The session of a compiled workload: its script as bytes, with its parameters drawn.
//!
//! One set of templates serves all connections of a run: only the numbers of the statements
//! differ between them. Nothing is allocated on the way of a query.

use std::sync::Arc;

use weir_mysql::{ExecuteTemplate, Reply, Request, Row, ServerError, StatementText};
use weir_workload::{
    BulkText, Drawer, Execution, Parameter, Rng, Script, Statement, StatementProtocol, Value,
    ValueKind, table_name,
};

use super::place::Place;
use super::statements::{Statements, positions};
use super::{Session, Step, Turn};
use crate::parameter::parameter_kinds;

/// The server has already undone the whole transaction (`ER_LOCK_DEADLOCK`).
const DEADLOCK: u16 = 1213;

/// A connection that runs the transactions of a script.
#[derive(Debug)]
pub(crate) struct CompiledSession {
    templates: Arc<Templates>,
    statements: Statements,
    place: Place,
    at: At,
}

/// Step of the outstanding request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// This step of the transaction.
    Step(usize),
    /// Undoing a transaction that failed.
    Rollback,
}

impl CompiledSession {
    /// The session of connection `number`, from 0, on which `statements` are prepared.
    pub(crate) fn new(templates: Arc<Templates>, statements: Statements, number: u32) -> Self {
        let slots = templates.script.slots;
        Self {
            templates,
            statements,
            place: Place::new(number, slots),
            at: At::Step(0),
        }
    }

    /// Goes on on a new connection.
    pub(crate) fn renew(&mut self, statements: Statements) {
        self.statements = statements;
    }

    /// Leaves the request of a step.
    fn request(&mut self, step: usize, turn: &mut Turn<'_>) -> Step {
        self.at = At::Step(step);
        let rows_permitted = self.place.rows;
        let Self {
            templates,
            statements,
            place,
            ..
        } = self;
        templates.step(step, statements, place, turn);
        // A bulk insert has as many rows as fit.
        turn.meter.return_permits(rows_permitted - place.rows);
        Step::Request {
            kind: templates.statement(place.transaction, step),
        }
    }
}

impl Session for CompiledSession {
    fn begin(&mut self, turn: &mut Turn<'_>) -> Step {
        self.place.transaction = self.templates.script.choose(turn.rng);
        if self.templates.script.is_bulk() {
            // The rows after those that were sent before, as many as fit and may still be sent.
            let place = &mut self.place;
            place.first_row = place.first_row.wrapping_add(place.rows as u32);
            place.rows = 1 + turn.meter.permit_more(BulkText::ROWS_MAX - 1);
        }
        self.request(0, turn)
    }

    fn again(&mut self, turn: &mut Turn<'_>) -> Step {
        self.request(0, turn)
    }

    fn replied(&mut self, _: &Reply, _: &[Row], turn: &mut Turn<'_>) -> Step {
        let At::Step(step) = self.at else {
            return Step::Retry { keeps_start: false };
        };
        let transaction = self.place.transaction;
        if step + 1 < self.templates.steps(transaction) {
            return self.request(step + 1, turn);
        }
        Step::Done {
            transactions: self.place.rows.max(1),
            kind: self.templates.has_choice().then_some(transaction),
        }
    }

    fn refused(&mut self, error: &ServerError, turn: &mut Turn<'_>) -> Step {
        let is_open = self.templates.is_explicit(self.place.transaction)
            && self.at != At::Rollback
            && error.code != DEADLOCK;
        if !is_open {
            return Step::Retry { keeps_start: false };
        }
        self.at = At::Rollback;
        let mut request = Request::query(turn.out);
        request.sql().extend_from_slice(b"ROLLBACK");
        request.finish();
        Step::Request { kind: None }
    }

    fn sql(&self) -> String {
        match self.at {
            At::Step(step) => self.templates.sql(step, &self.place),
            At::Rollback => "ROLLBACK".to_owned(),
        }
    }
}

/// Templates of all requests.
#[derive(Debug)]
pub(crate) struct Templates {
    pub(super) script: Script,
    forms: Vec<Form>,
}

/// A statement, ready to be sent.
#[derive(Debug)]
pub(super) struct Form {
    /// Position of its first handle.
    first_handle: usize,
    pub(super) execute: ExecuteTemplate,
    /// For each table, the texts between the parameters.
    pub(super) pieces: Vec<Vec<Vec<u8>>>,
}

impl Form {
    fn new(statement: &Statement, first_handle: usize) -> Self {
        let pieces = |table| {
            let sql = statement.sql(table);
            // Without parameters, a question mark is only a question mark.
            if statement.parameters.is_empty() {
                vec![sql.into_bytes()]
            } else {
                let text = StatementText::read(&sql);
                let pieces = text.pieces().into_iter();
                pieces.map(|piece| piece.as_bytes().to_vec()).collect()
            }
        };
        let is_ever_text =
            statement.sending == StatementProtocol::Text || statement.parameters.is_empty();
        let tables = if is_ever_text { statement.tables } else { 0 };
        Self {
            first_handle,
            execute: ExecuteTemplate::new(&parameter_kinds(&statement.kinds())),
            pieces: (0..tables).map(pieces).collect(),
        }
    }
}

impl Templates {
    pub(crate) fn new(script: Script) -> Self {
        let (first_handles, _) = positions(&script);
        let forms = script.statements.iter().zip(first_handles);
        Self {
            forms: forms
                .map(|(statement, first_handle)| Form::new(statement, first_handle))
                .collect(),
            script,
        }
    }

    /// A statement of one table, by its position in the script.
    pub(super) fn form(&self, statement: usize) -> &Form {
        &self.forms[statement]
    }

    /// The text of a statement of one table, for an error.
    pub(super) fn text(&self, statement: usize) -> String {
        self.script.statements[statement].sql(0)
    }

    /// Steps of a kind of transaction.
    fn steps(&self, transaction: usize) -> usize {
        self.script.transactions[transaction].steps.len()
    }

    /// The statement of a step, as its position in the script.
    fn statement(&self, transaction: usize, step: usize) -> Option<usize> {
        match &self.script.transactions[transaction].steps[step] {
            weir_workload::Step::Execute(execution) => Some(execution.statement),
            weir_workload::Step::Bulk => None,
        }
    }

    /// Returns true if there are several kinds of transactions.
    fn has_choice(&self) -> bool {
        self.script.transactions.len() > 1
    }

    /// Returns true if a kind of transaction is one of the server's, to be rolled back.
    fn is_explicit(&self, transaction: usize) -> bool {
        self.script.transactions[transaction].is_explicit
    }

    /// The text of a step, for an error.
    fn sql(&self, step: usize, place: &Place) -> String {
        match &self.script.transactions[place.transaction].steps[step] {
            weir_workload::Step::Execute(execution) => {
                self.script.statements[execution.statement].sql(place.table)
            }
            weir_workload::Step::Bulk => format!("INSERT INTO {}", table_name(place.table + 1)),
        }
    }

    /// Appends the request of a step, its table and values drawn.
    fn step(
        &self,
        step: usize,
        statements: &mut Statements,
        place: &mut Place,
        turn: &mut Turn<'_>,
    ) {
        match &self.script.transactions[place.transaction].steps[step] {
            weir_workload::Step::Execute(execution) => {
                let statement = &self.script.statements[execution.statement];
                let form = &self.forms[execution.statement];
                prepare_place(execution, statement.tables, place, turn.rng, turn.scratch);
                execute(statement, form, statements, place, turn);
            }
            weir_workload::Step::Bulk => {
                let mut request = Request::query(turn.out);
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
    turn: &mut Turn<'_>,
) {
    let Turn {
        out, rng, scratch, ..
    } = turn;
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
