//! A delivery of the oldest new order of each district (clause 2.7 of the specification), all in one
//! transaction and at once, not queued.

use weir_mysql::WireRows;
use weir_workload::order_entry::{DISTRICTS, Delivery, Query, read_decimal};

use super::arguments::Arguments;
use super::{Flow, InconsistentAnswer};

const NO_ORDER: InconsistentAnswer = InconsistentAnswer {
    table: "orders",
    why: "has no row of a new order",
};
const NO_LINES: InconsistentAnswer = InconsistentAnswer {
    table: "order_line",
    why: "has no lines of a new order",
};

/// A delivery, district by district.
#[derive(Debug)]
pub(super) struct DeliveryFlow {
    input: Delivery,
    district: u32,
    order: i64,
    customer: i64,
    amount_cents: i64,
}

impl DeliveryFlow {
    pub(super) fn new(input: Delivery) -> Self {
        Self {
            input,
            district: 1,
            order: 0,
            customer: 0,
            amount_cents: 0,
        }
    }

    pub(super) fn enter(&mut self, input: Delivery) {
        self.input = input;
    }

    fn next_district(&mut self) -> Query {
        if self.district == DISTRICTS {
            return Query::Commit;
        }
        self.district += 1;
        Query::OldestNewOrder
    }
}

impl Flow for DeliveryFlow {
    fn next(&mut self, last: Query, rows: &WireRows) -> Result<Query, InconsistentAnswer> {
        Ok(match last {
            Query::Begin => {
                self.district = 1;
                Query::OldestNewOrder
            }
            Query::OldestNewOrder => match rows.row(0) {
                Some(mut row) => {
                    self.order = row.integer().ok_or(NO_ORDER)?;
                    Query::DeleteNewOrder
                }
                // All orders of the district are delivered.
                None => self.next_district(),
            },
            Query::DeleteNewOrder => Query::SetCarrier,
            Query::SetCarrier => Query::OrderCustomer,
            Query::OrderCustomer => {
                let mut row = rows.row(0).ok_or(NO_ORDER)?;
                self.customer = row.integer().ok_or(NO_ORDER)?;
                Query::DeliverLines
            }
            Query::DeliverLines => Query::OrderAmount,
            Query::OrderAmount => {
                let mut row = rows.row(0).ok_or(NO_LINES)?;
                let amount = row.text().and_then(|text| read_decimal(text, 2));
                self.amount_cents = amount.ok_or(NO_LINES)?;
                Query::ChargeCustomer
            }
            _ => self.next_district(),
        })
    }

    fn put(&self, query: Query, arguments: &mut Arguments<'_>) {
        match query {
            Query::SetCarrier => arguments.integer(self.input.carrier),
            Query::ChargeCustomer => arguments.cents(self.amount_cents),
            _ => {}
        }
        arguments.integers([self.input.warehouse, self.district]);
        match query {
            Query::OldestNewOrder => {}
            Query::ChargeCustomer => arguments.integer(self.customer),
            _ => arguments.integer(self.order),
        }
    }
}
