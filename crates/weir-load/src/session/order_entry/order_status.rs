//! A question for a customer's last order (clause 2.6 of the specification).

use weir_mysql::WireRows;
use weir_workload::order_entry::{LAST_NAME_BYTES_MAX, OrderStatus, Query, Who, put_last_name};

use super::arguments::Arguments;
use super::payment::middle;
use super::{Flow, InconsistentAnswer};

const NO_CUSTOMER: InconsistentAnswer = InconsistentAnswer {
    table: "customer",
    why: "has no row of a customer who asks",
};
const NO_ORDER: InconsistentAnswer = InconsistentAnswer {
    table: "orders",
    why: "has no order of a customer who asks",
};

/// A question for an order.
#[derive(Debug)]
pub(super) struct OrderStatusFlow {
    input: OrderStatus,
    customer: u32,
    last_name: Vec<u8>,
    order: i64,
}

impl OrderStatusFlow {
    pub(super) fn new(input: OrderStatus) -> Self {
        let mut flow = Self {
            input,
            customer: 0,
            last_name: Vec::with_capacity(LAST_NAME_BYTES_MAX),
            order: 0,
        };
        flow.enter(input);
        flow
    }

    pub(super) fn enter(&mut self, input: OrderStatus) {
        self.input = input;
        self.last_name.clear();
        match input.who {
            Who::Id(customer) => self.customer = customer,
            Who::LastName(number) => put_last_name(&mut self.last_name, number),
        }
    }
}

impl Flow for OrderStatusFlow {
    fn next(&mut self, last: Query, rows: &WireRows) -> Result<Query, InconsistentAnswer> {
        Ok(match last {
            Query::Begin => match self.input.who {
                Who::Id(_) => Query::Customer,
                Who::LastName(_) => Query::CustomersByName,
            },
            Query::CustomersByName => {
                self.customer = middle(rows).ok_or(NO_CUSTOMER)?;
                Query::LastOrder
            }
            Query::Customer => {
                rows.row(0).ok_or(NO_CUSTOMER)?;
                Query::LastOrder
            }
            Query::LastOrder => {
                let mut row = rows.row(0).ok_or(NO_ORDER)?;
                self.order = row.integer().ok_or(NO_ORDER)?;
                Query::OrderLines
            }
            _ => Query::Commit,
        })
    }

    fn put(&self, query: Query, arguments: &mut Arguments<'_>) {
        arguments.integers([self.input.warehouse, self.input.district]);
        match query {
            Query::CustomersByName => arguments.text(&self.last_name),
            Query::OrderLines => arguments.integer(self.order),
            _ => arguments.integer(self.customer),
        }
    }
}
