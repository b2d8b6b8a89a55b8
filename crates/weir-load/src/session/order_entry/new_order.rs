//! A new order (clause 2.4 of the specification).

use weir_mysql::WireRows;
use weir_workload::order_entry::{LINES_MAX, Line, NewOrder, Query, read_decimal};

use super::arguments::Arguments;
use super::{Flow, InconsistentAnswer};

/// Bytes of what a stock says of a district.
const DISTRICT_BYTES: usize = 24;
/// Below so many, a stock is filled up.
const STOCK_MIN: i64 = 10;
/// By so many.
const FILLED_UP: i64 = 91;

const NO_DISTRICT: InconsistentAnswer = InconsistentAnswer {
    table: "district",
    why: "has no row of the order's district",
};
const NO_CUSTOMER: InconsistentAnswer = InconsistentAnswer {
    table: "customer",
    why: "has no row of the order's customer",
};
const NO_ITEM: InconsistentAnswer = InconsistentAnswer {
    table: "item",
    why: "has not the items that are asked for",
};
const NO_STOCK: InconsistentAnswer = InconsistentAnswer {
    table: "stock",
    why: "has no stock of an item that there is",
};

/// A line, with what was read for it.
#[derive(Debug, Clone, Copy, Default)]
struct PricedLine {
    line: Line,
    price_cents: i64,
    /// The stock that it is of.
    stock: usize,
    district: [u8; DISTRICT_BYTES],
}

/// A new order, line by line.
#[derive(Debug)]
pub(super) struct NewOrderFlow {
    input: NewOrder,
    number: i64,
    /// Lines whose item there is; all of them, unless the order is one that is rolled back.
    found: [PricedLine; LINES_MAX],
    count: usize,
    /// Quantities of the stocks that lines are taken from.
    quantities: [i64; LINES_MAX],
    /// The line whose stock is next.
    at: usize,
}

impl NewOrderFlow {
    pub(super) fn new(input: NewOrder) -> Self {
        Self {
            input,
            number: 0,
            found: [PricedLine::default(); LINES_MAX],
            count: 0,
            quantities: [0; LINES_MAX],
            at: 0,
        }
    }

    pub(super) fn enter(&mut self, input: NewOrder) {
        self.input = input;
    }

    fn found(&self) -> &[PricedLine] {
        &self.found[..self.count]
    }

    /// Returns true if an item does not exist, so that the user has to correct the order.
    fn is_wrong(&self) -> bool {
        self.count < self.input.count
    }

    fn read_items(&mut self, rows: &WireRows) -> Result<(), InconsistentAnswer> {
        self.count = 0;
        for line in self.input.lines() {
            let price_cents = price_of(line.item, rows)?;
            let Some(price_cents) = price_cents else {
                break;
            };
            self.found[self.count] = PricedLine {
                line: *line,
                price_cents,
                ..PricedLine::default()
            };
            self.count += 1;
        }
        // Only the last line may be of no item.
        if self.count + 1 < self.input.count {
            return Err(NO_ITEM);
        }
        Ok(())
    }

    fn read_stocks(&mut self, rows: &WireRows) -> Result<(), InconsistentAnswer> {
        self.at = 0;
        let Self {
            found,
            count,
            quantities,
            ..
        } = self;
        let found = &mut found[..*count];
        for line in found.iter_mut() {
            line.stock = usize::MAX;
        }
        for index in 0..rows.count() {
            let mut row = rows.row(index).ok_or(NO_STOCK)?;
            let warehouse = row.integer().ok_or(NO_STOCK)? as u32;
            let item = row.integer().ok_or(NO_STOCK)? as u32;
            let quantity = row.integer().ok_or(NO_STOCK)?;
            row.skip();
            let district = row.text().ok_or(NO_STOCK)?;
            *quantities.get_mut(index).ok_or(NO_STOCK)? = quantity;
            for line in found.iter_mut() {
                if (line.line.warehouse, line.line.item) == (warehouse, item) {
                    line.stock = index;
                    line.district = [b' '; DISTRICT_BYTES];
                    let length = district.len().min(DISTRICT_BYTES);
                    line.district[..length].copy_from_slice(&district[..length]);
                }
            }
        }
        if found.iter().any(|line| line.stock == usize::MAX) {
            return Err(NO_STOCK);
        }
        self.take();
        Ok(())
    }

    /// Takes the quantity of the line that is next from its stock.
    fn take(&mut self) {
        let PricedLine { line, stock, .. } = self.found[self.at];
        let rest = self.quantities[stock] - i64::from(line.quantity);
        self.quantities[stock] = if rest >= STOCK_MIN {
            rest
        } else {
            rest + FILLED_UP
        };
    }
}

/// The price of an item, if there is one of this number.
fn price_of(item: u32, rows: &WireRows) -> Result<Option<i64>, InconsistentAnswer> {
    for index in 0..rows.count() {
        let mut row = rows.row(index).ok_or(NO_ITEM)?;
        if row.integer().ok_or(NO_ITEM)? == i64::from(item) {
            let price = row.text().and_then(|text| read_decimal(text, 2));
            return price.map(Some).ok_or(NO_ITEM);
        }
    }
    Ok(None)
}

impl Flow for NewOrderFlow {
    fn next(&mut self, last: Query, rows: &WireRows) -> Result<Query, InconsistentAnswer> {
        Ok(match last {
            Query::Begin => Query::LockDistrict,
            Query::LockDistrict => {
                let mut row = rows.row(0).ok_or(NO_DISTRICT)?;
                self.number = row.integer().ok_or(NO_DISTRICT)?;
                Query::AdvanceDistrict
            }
            Query::AdvanceDistrict => Query::Buyer,
            Query::Buyer => {
                rows.row(0).ok_or(NO_CUSTOMER)?;
                Query::InsertOrder
            }
            Query::InsertOrder => Query::InsertNewOrder,
            Query::InsertNewOrder => Query::Items,
            Query::Items => {
                self.read_items(rows)?;
                Query::Stocks
            }
            Query::Stocks => {
                self.read_stocks(rows)?;
                Query::UpdateStock
            }
            Query::UpdateStock if self.at + 1 < self.count => {
                self.at += 1;
                self.take();
                Query::UpdateStock
            }
            Query::UpdateStock => Query::InsertLines,
            _ if self.is_wrong() => Query::Rollback,
            _ => Query::Commit,
        })
    }

    fn put(&self, query: Query, arguments: &mut Arguments<'_>) {
        let NewOrder {
            warehouse,
            district,
            customer,
            count,
            ..
        } = self.input;
        match query {
            Query::LockDistrict => arguments.integers([warehouse, district]),
            Query::AdvanceDistrict => {
                arguments.integer(self.number + 1);
                arguments.integers([warehouse, district]);
            }
            Query::Buyer => arguments.integers([warehouse, district, customer]),
            Query::InsertOrder => {
                arguments.integer(self.number);
                arguments.integers([district, warehouse, customer, count as u32]);
                arguments.integer(self.input.is_local());
            }
            Query::InsertNewOrder => {
                arguments.integer(self.number);
                arguments.integers([district, warehouse]);
            }
            Query::Items => {
                // A number of parameters is fixed; the last line fills it up.
                let lines = self.input.lines();
                let all = (0..LINES_MAX).map(|index| lines[index.min(lines.len() - 1)]);
                arguments.integers(all.map(|line| line.item));
            }
            Query::Stocks => {
                arguments.integer(district);
                let lines = self.found();
                for index in 0..LINES_MAX {
                    let line = lines[index.min(lines.len() - 1)].line;
                    arguments.integers([line.warehouse, line.item]);
                }
            }
            Query::UpdateStock => {
                let PricedLine { line, stock, .. } = self.found[self.at];
                arguments.integer(self.quantities[stock]);
                arguments.integer(line.quantity);
                arguments.integer(line.warehouse != warehouse);
                arguments.integers([line.warehouse, line.item]);
            }
            _ => {
                for (number, found) in (1_u32..).zip(self.found()) {
                    let line = found.line;
                    arguments.integer(self.number);
                    arguments.integers([district, warehouse, number, line.item]);
                    arguments.integers([line.warehouse, line.quantity]);
                    arguments.cents(found.price_cents * i64::from(line.quantity));
                    arguments.text(&found.district);
                }
            }
        }
    }

    fn lines(&self) -> usize {
        self.count
    }
}
