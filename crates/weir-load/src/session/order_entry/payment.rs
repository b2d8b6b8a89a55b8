//! A payment (clause 2.5 of the specification).

use weir_mysql::WireRows;
use weir_workload::order_entry::{
    LAST_NAME_BYTES_MAX, Payment, Query, Who, put_decimal, put_last_name,
};
use weir_workload::put_integer;

use super::arguments::Arguments;
use super::{Flow, InconsistentAnswer};

const NO_WAREHOUSE: InconsistentAnswer = InconsistentAnswer {
    table: "warehouse",
    why: "has no row of the warehouse that is paid",
};
const NO_DISTRICT: InconsistentAnswer = InconsistentAnswer {
    table: "district",
    why: "has no row of the district that is paid",
};
const NO_CUSTOMER: InconsistentAnswer = InconsistentAnswer {
    table: "customer",
    why: "has no row of a customer who pays",
};

/// A payment.
#[derive(Debug)]
pub(super) struct PaymentFlow {
    input: Payment,
    customer: u32,
    last_name: Vec<u8>,
    /// Text of the payment in the history.
    history: Vec<u8>,
    /// Text of the payment in the data of a customer with bad credit.
    note: Vec<u8>,
}

impl PaymentFlow {
    pub(super) fn new(input: Payment) -> Self {
        let mut flow = Self {
            input,
            customer: 0,
            last_name: Vec::with_capacity(LAST_NAME_BYTES_MAX),
            history: Vec::new(),
            note: Vec::new(),
        };
        flow.enter(input);
        flow
    }

    pub(super) fn enter(&mut self, input: Payment) {
        self.input = input;
        self.last_name.clear();
        match input.who {
            Who::Id(customer) => self.customer = customer,
            Who::LastName(number) => put_last_name(&mut self.last_name, number),
        }
    }

    /// Customer, district and warehouse of both, and the amount.
    fn write_note(&mut self) {
        let Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            amount_cents,
            ..
        } = self.input;
        self.note.clear();
        for number in [
            self.customer,
            customer_district,
            customer_warehouse,
            district,
            warehouse,
        ] {
            put_integer(&mut self.note, number.into());
            self.note.push(b' ');
        }
        put_decimal(&mut self.note, amount_cents, 2);
        self.note.push(b' ');
    }
}

/// The customer in the middle of those of a name, who are ordered by their first names.
pub(super) fn middle(rows: &WireRows) -> Option<u32> {
    let middle = rows.count().checked_sub(1)? / 2;
    let number = rows.row(middle)?.integer()?;
    u32::try_from(number).ok()
}

impl Flow for PaymentFlow {
    fn next(&mut self, last: Query, rows: &WireRows) -> Result<Query, InconsistentAnswer> {
        Ok(match last {
            Query::Begin => Query::PayWarehouse,
            Query::PayWarehouse => Query::Warehouse,
            Query::Warehouse => {
                let mut row = rows.row(0).ok_or(NO_WAREHOUSE)?;
                self.history.clear();
                self.history
                    .extend_from_slice(row.text().ok_or(NO_WAREHOUSE)?);
                Query::PayDistrict
            }
            Query::PayDistrict => Query::District,
            Query::District => {
                let mut row = rows.row(0).ok_or(NO_DISTRICT)?;
                self.history.extend_from_slice(b"    ");
                self.history
                    .extend_from_slice(row.text().ok_or(NO_DISTRICT)?);
                match self.input.who {
                    Who::Id(_) => Query::Payer,
                    Who::LastName(_) => Query::PayersByName,
                }
            }
            Query::PayersByName => {
                self.customer = middle(rows).ok_or(NO_CUSTOMER)?;
                Query::Payer
            }
            Query::Payer => {
                let mut row = rows.row(0).ok_or(NO_CUSTOMER)?;
                if row.text().ok_or(NO_CUSTOMER)? == b"BC" {
                    self.write_note();
                    Query::PayBadCredit
                } else {
                    Query::PayCustomer
                }
            }
            Query::PayCustomer | Query::PayBadCredit => Query::InsertHistory,
            _ => Query::Commit,
        })
    }

    fn put(&self, query: Query, arguments: &mut Arguments<'_>) {
        let Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            amount_cents,
            ..
        } = self.input;
        let customer = [customer_warehouse, customer_district, self.customer];
        match query {
            Query::PayWarehouse => {
                arguments.cents(amount_cents);
                arguments.integer(warehouse);
            }
            Query::Warehouse => arguments.integer(warehouse),
            Query::PayDistrict => {
                arguments.cents(amount_cents);
                arguments.integers([warehouse, district]);
            }
            Query::District => arguments.integers([warehouse, district]),
            Query::PayersByName => {
                arguments.integers([customer_warehouse, customer_district]);
                arguments.text(&self.last_name);
            }
            Query::Payer => arguments.integers(customer),
            Query::PayCustomer | Query::PayBadCredit => {
                arguments.cents(amount_cents);
                arguments.cents(amount_cents);
                if query == Query::PayBadCredit {
                    arguments.text(&self.note);
                }
                arguments.integers(customer);
            }
            _ => {
                arguments.integers([self.customer, customer_district, customer_warehouse]);
                arguments.integers([district, warehouse]);
                arguments.cents(amount_cents);
                arguments.text(&self.history);
            }
        }
    }
}
