//! The rows that tables are loaded with (clause 4.3.3.1 of the specification).
//!
//! A row is a function of the seed and its number, so that a loading that was interrupted goes on with
//! the rows that are missing, in any process.

use std::sync::Arc;

use super::random::{Constants, between, happens, put_digits, put_letters};
use super::{DISTRICTS, Sizes, put_decimal, put_last_name};
use crate::{Rng, Value, seeded};

/// The time in the rows at which they were made: the same time in each loading.
const LOADED_AT: &[u8] = b"2026-01-01 00:00:00";
/// Amount that a customer has paid before, cents.
const PAID: i64 = 1_000;
/// Of which part of items and stocks the data say that they are original, percent.
const ORIGINAL_PERCENT: u64 = 10;
/// Of which part of the customers the credit is bad, percent.
const BAD_CREDIT_PERCENT: u64 = 10;
/// The stream of random numbers from which on districts draw the order of their customers.
const ORDER_STREAM: u64 = 1 << 60;

/// Table of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Warehouse,
    District,
    Customer,
    History,
    Item,
    Stock,
    Orders,
    NewOrder,
    OrderLine,
}

/// Makes the rows of a table.
#[derive(Debug, Clone)]
pub struct Maker {
    relation: Relation,
    sizes: Sizes,
    /// Of order lines, how many are before each district, counted over all warehouses.
    lines_before: Arc<[u64]>,
}

/// Data that rows of the same district share, for one seed.
#[derive(Debug)]
pub(crate) struct Cursor {
    seed: u64,
    district: Option<District>,
}

/// A district's orders.
#[derive(Debug)]
struct District {
    number: u64,
    /// Customer of each order.
    customers: Vec<u32>,
    /// Lines of each.
    lines: Vec<u32>,
    /// The order that the last row was a line of, from 0, and the lines before it.
    order: (usize, u64),
}

impl District {
    fn new(number: u64, sizes: &Sizes, seed: u64) -> Self {
        let mut rng = seeded(seed, ORDER_STREAM + number);
        let mut customers: Vec<_> = (1..=sizes.customers).collect();
        // Fisher and Yates.
        for last in (1..customers.len()).rev() {
            customers.swap(last, rng.below(last as u64 + 1) as usize);
        }
        Self {
            number,
            customers,
            lines: sizes.lines(number).collect(),
            order: (0, 0),
        }
    }

    /// The order, from 0, that line `line` of the district belongs to, and which of its lines it is; both from 0.
    fn order_of(&mut self, line: u64) -> (usize, u64) {
        if line < self.order.1 {
            self.order = (0, 0);
        }
        let (mut order, mut before) = self.order;
        while line >= before + u64::from(self.lines[order]) {
            before += u64::from(self.lines[order]);
            order += 1;
        }
        self.order = (order, before);
        (order, line - before)
    }
}

impl Cursor {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            district: None,
        }
    }

    fn district(&mut self, number: u64, sizes: &Sizes) -> &mut District {
        let kept = self.district.take().filter(|kept| kept.number == number);
        self.district
            .insert(kept.unwrap_or_else(|| District::new(number, sizes, self.seed)))
    }
}

impl Maker {
    pub(super) fn new(relation: Relation, sizes: Sizes) -> Self {
        let mut lines_before = Vec::new();
        if relation == Relation::OrderLine {
            let mut sum = 0;
            lines_before.push(sum);
            for district in 0..sizes.districts() {
                sum += sizes.lines(district).map(u64::from).sum::<u64>();
                lines_before.push(sum);
            }
        }
        Self {
            relation,
            sizes,
            lines_before: lines_before.into(),
        }
    }

    /// Returns the number of rows before those of warehouse `warehouse`, from 0; of all warehouses, if there are not
    /// as many. Of items there are as many with any number of warehouses.
    pub(super) fn rows_before(&self, warehouse: u32) -> u64 {
        let Sizes {
            items, customers, ..
        } = self.sizes;
        let districts = u64::from(warehouse) * u64::from(DISTRICTS);
        match self.relation {
            Relation::Item => u64::from(items),
            Relation::Warehouse => u64::from(warehouse),
            Relation::District => districts,
            Relation::Stock => u64::from(warehouse) * u64::from(items),
            Relation::Customer | Relation::History | Relation::Orders => {
                districts * u64::from(customers)
            }
            Relation::NewOrder => districts * u64::from(customers - self.sizes.delivered()),
            Relation::OrderLine => self.lines_before[districts as usize],
        }
    }

    /// Gives the values of row `row`, from 1, to `take`.
    pub(crate) fn row(
        &self,
        row: u64,
        cursor: &mut Cursor,
        rng: Rng,
        scratch: &mut Vec<u8>,
        take: &mut dyn FnMut(usize, Option<Value<'_>>),
    ) {
        let index = row - 1;
        let sizes = &self.sizes;
        let mut out = Out {
            position: 0,
            rng,
            scratch,
            take,
        };
        let of_district = |rows: u32| (index / u64::from(rows), (index % u64::from(rows)) as u32);
        match self.relation {
            Relation::Warehouse => warehouse(index, sizes, &mut out),
            Relation::District => district(index, sizes, &mut out),
            Relation::Item => item(row, &mut out),
            Relation::Stock => {
                let (warehouse, item) = of_district(sizes.items);
                stock(warehouse + 1, item + 1, &mut out);
            }
            Relation::Customer => {
                let (district, customer) = of_district(sizes.customers);
                self::customer(district, customer + 1, sizes, &mut out);
            }
            Relation::History => {
                let (district, customer) = of_district(sizes.customers);
                history(district, customer + 1, &mut out);
            }
            Relation::Orders => {
                let (number, order) = of_district(sizes.customers);
                let district = cursor.district(number, sizes);
                let (customer, lines) = (
                    district.customers[order as usize],
                    district.lines[order as usize],
                );
                orders(number, order + 1, (customer, lines), sizes, &mut out);
            }
            Relation::NewOrder => {
                let (district, order) = of_district(sizes.customers - sizes.delivered());
                out.integer(sizes.delivered() + order + 1);
                out.place(district);
            }
            Relation::OrderLine => {
                let after = self.lines_before.partition_point(|before| *before <= index);
                let number = after as u64 - 1;
                let line = index - self.lines_before[after - 1];
                let (order, line) = cursor.district(number, sizes).order_of(line);
                order_line(number, (order as u32 + 1, line + 1), sizes, &mut out);
            }
        }
    }
}

/// Destination of a row's values, one after the other.
struct Out<'a> {
    position: usize,
    rng: Rng,
    scratch: &'a mut Vec<u8>,
    take: &'a mut dyn FnMut(usize, Option<Value<'_>>),
}

impl Out<'_> {
    fn value(&mut self, value: Option<Value<'_>>) {
        (self.take)(self.position, value);
        self.position += 1;
    }

    fn integer(&mut self, number: impl Into<i64>) {
        self.value(Some(Value::Integer(number.into())));
    }

    fn text(&mut self, text: &[u8]) {
        self.value(Some(Value::Text(text)));
    }

    fn written(&mut self, write: impl FnOnce(&mut Rng, &mut Vec<u8>)) {
        self.scratch.clear();
        write(&mut self.rng, self.scratch);
        (self.take)(self.position, Some(Value::Text(self.scratch)));
        self.position += 1;
    }

    /// District and warehouse of a district that is counted from 0 over all warehouses.
    fn place(&mut self, district: u64) {
        self.integer((district % u64::from(DISTRICTS) + 1) as u32);
        self.integer((district / u64::from(DISTRICTS) + 1) as u32);
    }

    fn letters(&mut self, least: u64, most: u64) {
        self.written(|rng, out| {
            let length = between(rng, least, most) as usize;
            put_letters(rng, length, out);
        });
    }

    fn decimal(&mut self, units: i64, places: u32) {
        self.written(|_, out| put_decimal(out, units, places));
    }

    fn decimal_between(&mut self, least: u64, most: u64, places: u32) {
        let units = between(&mut self.rng, least, most);
        self.decimal(units.cast_signed(), places);
    }

    /// Two streets, a city, a state and a postal code.
    fn address(&mut self) {
        for _ in 0..3 {
            self.letters(10, 20);
        }
        self.letters(2, 2);
        self.written(|rng, out| {
            put_digits(rng, 4, out);
            out.extend_from_slice(b"11111");
        });
    }

    /// Data, of which some say that they are original.
    fn data(&mut self) {
        self.written(|rng, out| {
            let length = between(rng, 26, 50) as usize;
            put_letters(rng, length, out);
            if happens(rng, ORIGINAL_PERCENT) {
                let word = b"ORIGINAL";
                let start = rng.below((length - word.len() + 1) as u64) as usize;
                out[start..start + word.len()].copy_from_slice(word);
            }
        });
    }
}

fn warehouse(index: u64, sizes: &Sizes, out: &mut Out<'_>) {
    out.integer(index as u32 + 1);
    out.letters(6, 10);
    out.address();
    out.decimal_between(0, 2_000, 4);
    // What its customers have paid.
    let customers = i64::from(DISTRICTS) * i64::from(sizes.customers);
    out.decimal(customers * PAID, 2);
}

fn district(index: u64, sizes: &Sizes, out: &mut Out<'_>) {
    out.place(index);
    out.letters(6, 10);
    out.address();
    out.decimal_between(0, 2_000, 4);
    out.decimal(i64::from(sizes.customers) * PAID, 2);
    out.integer(sizes.customers + 1);
}

fn item(number: u64, out: &mut Out<'_>) {
    out.integer(number as u32);
    let image = between(&mut out.rng, 1, 10_000) as u32;
    out.integer(image);
    out.letters(14, 24);
    out.decimal_between(100, 10_000, 2);
    out.data();
}

fn stock(warehouse: u64, item: u32, out: &mut Out<'_>) {
    out.integer(item);
    out.integer(warehouse as u32);
    let quantity = between(&mut out.rng, 10, 100) as u32;
    out.integer(quantity);
    for _ in 0..DISTRICTS {
        out.letters(24, 24);
    }
    // Sold, ordered, ordered from elsewhere.
    for _ in 0..3 {
        out.integer(0);
    }
    out.data();
}

fn customer(district: u64, customer: u32, sizes: &Sizes, out: &mut Out<'_>) {
    out.integer(customer);
    out.place(district);
    out.letters(8, 16);
    out.text(b"OE");
    out.written(|rng, text| {
        let number = match customer {
            ..=super::random::LAST_NAMES => customer - 1,
            _ => Constants::LOADED.last_name(rng, sizes.customers),
        };
        put_last_name(text, number);
    });
    out.address();
    out.written(|rng, text| put_digits(rng, 16, text));
    out.text(LOADED_AT);
    let is_bad = happens(&mut out.rng, BAD_CREDIT_PERCENT);
    out.text(if is_bad { b"BC" } else { b"GC" });
    out.decimal(5_000_000, 2);
    out.decimal_between(0, 5_000, 4);
    out.decimal(-PAID, 2);
    out.decimal(PAID, 2);
    // Payments and deliveries.
    out.integer(1);
    out.integer(0);
    out.letters(300, 500);
}

fn history(district: u64, customer: u32, out: &mut Out<'_>) {
    out.integer(customer);
    out.place(district);
    out.place(district);
    out.text(LOADED_AT);
    out.decimal(PAID, 2);
    out.letters(12, 24);
}

fn orders(
    district: u64,
    order: u32,
    (customer, lines): (u32, u32),
    sizes: &Sizes,
    out: &mut Out<'_>,
) {
    out.integer(order);
    out.place(district);
    out.integer(customer);
    out.text(LOADED_AT);
    if order <= sizes.delivered() {
        let carrier = between(&mut out.rng, 1, 10) as u32;
        out.integer(carrier);
    } else {
        out.value(None);
    }
    out.integer(lines);
    // All of them from its own warehouse.
    out.integer(1);
}

fn order_line(district: u64, (order, line): (u32, u64), sizes: &Sizes, out: &mut Out<'_>) {
    let is_delivered = order <= sizes.delivered();
    out.integer(order);
    out.place(district);
    out.integer(line as u32);
    let item = between(&mut out.rng, 1, sizes.items.into()) as u32;
    out.integer(item);
    out.integer((district / u64::from(DISTRICTS) + 1) as u32);
    out.value(is_delivered.then_some(Value::Text(LOADED_AT)));
    out.integer(5);
    if is_delivered {
        out.decimal(0, 2);
    } else {
        out.decimal_between(1, 999_999, 2);
    }
    out.letters(24, 24);
}

#[cfg(test)]
mod tests;
