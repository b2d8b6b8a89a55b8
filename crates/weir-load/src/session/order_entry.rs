//! The order-entry workload: a terminal, whose transactions depend on what they read.
//!
//! A [`Flow`] says which statement follows an answer, and with which values; what the statements are is
//! `weir_workload::order_entry`'s. Nothing is allocated on the way of a query.

mod arguments;
mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use weir_model::OrderEntryWorkload;
use weir_mysql::{ExpectedReply, Reply, Row, ServerError, WireRows};
use weir_workload::order_entry::{Constants, Query, Sizes, Terminal, TransactionKind};
use weir_workload::{Rng, seeded};

use super::compiled::Templates;
use super::statements::Statements;
use super::{Session, SessionKinds, Step, Turn};
use crate::LoadError;

use arguments::Arguments;
use delivery::DeliveryFlow;
use new_order::NewOrderFlow;
use order_status::OrderStatusFlow;
use payment::PaymentFlow;
use stock_level::StockLevelFlow;

/// The server has already undone the whole transaction (`ER_LOCK_DEADLOCK`).
const DEADLOCK: u16 = 1213;
/// First stream of random numbers for terminals: above those of connections.
const TERMINAL_STREAM: u64 = 1 << 62;
/// Name in reports of new orders that were rolled back.
const ROLLED_BACK: &str = "new_order rolled back";

/// Data that all terminals of a run share.
#[derive(Debug)]
pub(crate) struct OrderEntry {
    workload: OrderEntryWorkload,
    constants: Constants,
    seed: u64,
}

impl OrderEntry {
    /// Those of a run of this seed.
    pub(crate) fn new(workload: OrderEntryWorkload, seed: u64) -> Self {
        Self {
            workload,
            constants: Constants::of_run(seed),
            seed,
        }
    }

    /// The terminal of connection `number`.
    pub(crate) fn session(
        &self,
        number: u32,
        templates: Arc<Templates>,
        statements: Statements,
    ) -> OrderEntrySession {
        let sizes = Sizes::new(&self.workload);
        let is_fixed = self.workload.fixed_warehouses;
        let terminal = Terminal {
            sizes,
            constants: self.constants,
            place: is_fixed.then(|| Terminal::place_of(number, &sizes)),
        };
        let rng = seeded(self.seed, TERMINAL_STREAM + u64::from(number));
        let waits = self.workload.keying_and_think_time;
        OrderEntrySession::new(terminal, waits, rng, templates, statements)
    }

    /// Returns the names of its kinds.
    pub(crate) fn kinds() -> SessionKinds {
        let transactions = TransactionKind::ALL.into_iter();
        let names = transactions.map(|kind| kind.name().to_owned());
        let statements = Query::ALL.into_iter().map(|query| query.name().to_owned());
        SessionKinds {
            transactions: names.chain([ROLLED_BACK.to_owned()]).collect(),
            statements: statements.collect(),
            ..SessionKinds::default()
        }
    }
}

/// An answer that the tables of the workload cannot give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InconsistentAnswer {
    table: &'static str,
    why: &'static str,
}

/// A transaction of one kind, statement by statement.
trait Flow {
    /// The statement after `last`, which was answered with `rows`; after [`Query::Commit`] or
    /// [`Query::Rollback`] it is not asked.
    fn next(&mut self, last: Query, rows: &WireRows) -> Result<Query, InconsistentAnswer>;

    /// The values of a statement.
    fn put(&self, query: Query, arguments: &mut Arguments<'_>);

    /// Lines of its order.
    fn lines(&self) -> usize {
        0
    }
}

/// The transactions of a terminal.
#[derive(Debug)]
struct Flows {
    new_order: NewOrderFlow,
    payment: PaymentFlow,
    order_status: OrderStatusFlow,
    delivery: DeliveryFlow,
    stock_level: StockLevelFlow,
}

impl Flows {
    fn flow(&mut self, kind: TransactionKind) -> &mut dyn Flow {
        match kind {
            TransactionKind::NewOrder => &mut self.new_order,
            TransactionKind::Payment => &mut self.payment,
            TransactionKind::OrderStatus => &mut self.order_status,
            TransactionKind::Delivery => &mut self.delivery,
            TransactionKind::StockLevel => &mut self.stock_level,
        }
    }

    /// Takes what the user enters next.
    fn enter(&mut self, kind: TransactionKind, terminal: &Terminal, rng: &mut Rng) {
        match kind {
            TransactionKind::NewOrder => self.new_order.enter(terminal.new_order(rng)),
            TransactionKind::Payment => self.payment.enter(terminal.payment(rng)),
            TransactionKind::OrderStatus => self.order_status.enter(terminal.order_status(rng)),
            TransactionKind::Delivery => self.delivery.enter(terminal.delivery(rng)),
            TransactionKind::StockLevel => self.stock_level.enter(terminal.stock_level(rng)),
        }
    }
}

/// A connection that runs the transactions of a terminal.
#[derive(Debug)]
pub(crate) struct OrderEntrySession {
    templates: Arc<Templates>,
    statements: Statements,
    terminal: Terminal,
    /// True if its user takes the time to enter and to think.
    waits: bool,
    rng: Rng,
    /// The kind of the current transaction, or of the next.
    kind: TransactionKind,
    flows: Flows,
    /// The outstanding statement.
    at: Query,
    /// It undoes a try that failed.
    is_retrying: bool,
    /// Time at which the user has entered the next transaction.
    due_ns: u64,
}

impl OrderEntrySession {
    fn new(
        terminal: Terminal,
        waits: bool,
        mut rng: Rng,
        templates: Arc<Templates>,
        statements: Statements,
    ) -> Self {
        let flows = Flows {
            new_order: NewOrderFlow::new(terminal.new_order(&mut rng)),
            payment: PaymentFlow::new(terminal.payment(&mut rng)),
            order_status: OrderStatusFlow::new(terminal.order_status(&mut rng)),
            delivery: DeliveryFlow::new(terminal.delivery(&mut rng)),
            stock_level: StockLevelFlow::new(terminal.stock_level(&mut rng)),
        };
        let kind = TransactionKind::draw(&mut rng);
        Self {
            templates,
            statements,
            terminal,
            waits,
            rng,
            kind,
            flows,
            at: Query::Begin,
            is_retrying: false,
            due_ns: kind.keying_ns(),
        }
    }

    /// Goes on on a new connection.
    pub(crate) fn renew(&mut self, statements: Statements) {
        self.statements = statements;
    }

    /// Leaves the request of a statement.
    fn ask(&mut self, query: Query, turn: &mut Turn<'_>) -> Step {
        self.at = query;
        let flow = self.flows.flow(self.kind);
        let statement = query.statement(flow.lines());
        let is_text = self.statements.at(statement).is_text;
        turn.expected = match (query.has_rows(), is_text) {
            (false, _) => ExpectedReply::Outcome,
            (true, true) => ExpectedReply::WireTextRows,
            (true, false) => ExpectedReply::WireTypedRows,
        };
        let (form, handle) = (
            self.templates.form(statement),
            self.statements.at(statement),
        );
        let mut arguments = Arguments::new(turn.out, form, handle);
        if !matches!(query, Query::Begin | Query::Commit | Query::Rollback) {
            flow.put(query, &mut arguments);
        }
        arguments.finish();
        Step::Request {
            kind: Some(query.kind()),
        }
    }

    fn done(&mut self, turn: &Turn<'_>) -> Step {
        let kind = match self.at {
            Query::Rollback => TransactionKind::ALL.len(),
            _ => self.kind as usize,
        };
        let think_ns = if self.waits {
            self.kind.think_ns(&mut self.rng)
        } else {
            0
        };
        self.kind = TransactionKind::draw(&mut self.rng);
        self.due_ns = turn.now_ns() + think_ns + self.kind.keying_ns();
        Step::Done {
            transactions: 1,
            kind: Some(kind),
        }
    }
}

impl Session for OrderEntrySession {
    fn needs_rows(&self) -> bool {
        self.at.has_rows()
    }

    fn due_ns(&mut self) -> Option<u64> {
        self.waits.then_some(self.due_ns)
    }

    fn begin(&mut self, turn: &mut Turn<'_>) -> Step {
        self.flows.enter(self.kind, &self.terminal, &mut self.rng);
        self.again(turn)
    }

    fn again(&mut self, turn: &mut Turn<'_>) -> Step {
        self.is_retrying = false;
        self.ask(Query::Begin, turn)
    }

    fn replied(&mut self, _: &Reply, _: &[Row], turn: &mut Turn<'_>) -> Step {
        if self.is_retrying {
            return Step::Retry { keeps_start: true };
        }
        if matches!(self.at, Query::Commit | Query::Rollback) {
            return self.done(turn);
        }
        let rows = turn.wire_rows;
        match self.flows.flow(self.kind).next(self.at, rows) {
            Ok(query) => self.ask(query, turn),
            Err(InconsistentAnswer { table, why }) => {
                turn.refusal = Some(LoadError::Table {
                    table: table.to_owned(),
                    why: why.to_owned(),
                });
                Step::End
            }
        }
    }

    fn refused(&mut self, error: &ServerError, turn: &mut Turn<'_>) -> Step {
        let is_open = self.at != Query::Begin && !self.is_retrying && error.code != DEADLOCK;
        if !is_open {
            return Step::Retry { keeps_start: true };
        }
        self.is_retrying = true;
        self.ask(Query::Rollback, turn)
    }

    fn sql(&self) -> String {
        let lines = match self.kind {
            TransactionKind::NewOrder => self.flows.new_order.lines(),
            _ => 0,
        };
        self.templates.text(self.at.statement(lines))
    }
}
