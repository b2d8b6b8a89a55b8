//! A question for low stocks (clause 2.8 of the specification).

use weir_mysql::WireRows;
use weir_workload::order_entry::{Query, StockLevel};

use super::arguments::Arguments;
use super::{Flow, InconsistentAnswer};

/// Orders that are looked at.
const LAST_ORDERS: i64 = 20;

const NO_DISTRICT: InconsistentAnswer = InconsistentAnswer {
    table: "district",
    why: "has no row of the district that is asked for",
};

/// A question for low stocks.
#[derive(Debug)]
pub(super) struct StockLevelFlow {
    input: StockLevel,
    next_order: i64,
}

impl StockLevelFlow {
    pub(super) fn new(input: StockLevel) -> Self {
        Self {
            input,
            next_order: 0,
        }
    }

    pub(super) fn enter(&mut self, input: StockLevel) {
        self.input = input;
    }
}

impl Flow for StockLevelFlow {
    fn next(&mut self, last: Query, rows: &WireRows) -> Result<Query, InconsistentAnswer> {
        Ok(match last {
            Query::Begin => Query::NextOrder,
            Query::NextOrder => {
                let mut row = rows.row(0).ok_or(NO_DISTRICT)?;
                self.next_order = row.integer().ok_or(NO_DISTRICT)?;
                Query::LowStock
            }
            _ => Query::Commit,
        })
    }

    fn put(&self, query: Query, arguments: &mut Arguments<'_>) {
        let StockLevel {
            warehouse,
            district,
            threshold,
        } = self.input;
        arguments.integers([warehouse, district]);
        if query == Query::LowStock {
            arguments.integers([self.next_order - LAST_ORDERS, self.next_order]);
            arguments.integers([warehouse, threshold]);
        }
    }
}
