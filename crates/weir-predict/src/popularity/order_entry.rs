//! Pages that order entry asks for: by the statements of its transactions and the specification's uneven numbers.
//!
//! **Not validated by runs.** Orders, their lines and payments come to the ends of their tables or districts, and
//! deliveries go through them in order: these are always a few pages. That tables grow is left out.

use weir_model::{Flavor, OrderEntryWorkload};

use super::groups::{LeafGroup, merged};
use super::workload::{BESIDE_LEAF, UndoLogs};
use super::{PageGroup, Popularity};

const DISTRICTS: f64 = 10.0;
/// Shares of the five transactions.
const NEW_ORDER: f64 = 0.45;
const PAYMENT: f64 = 0.43;
const ORDER_STATUS: f64 = 0.04;
const DELIVERY: f64 = 0.04;
const STOCK_LEVEL: f64 = 0.04;
/// Lines of an order, on average.
const LINES: f64 = 10.0;
/// Items that a question for low stocks looks at: the lines of 20 orders.
const LOOKED_AT: f64 = 20.0 * LINES;
/// Share of customers that are named by the last name, and customers of a name.
const BY_NAME: f64 = 0.6;
const NAMESAKES: f64 = 3.0;
/// Bits of the constant A of customers and of items (clause 2.1.6).
const CUSTOMER_BITS: u32 = 10;
const ITEM_BITS: u32 = 13;
/// Leaves below a page of the upper levels.
const BELOW_UPPER: f64 = 1000.0;

/// Rows that a leaf holds as loaded, from `innodb_index_stats` of `MariaDB` 10.11 with one warehouse.
mod rows_of_leaf {
    pub(super) const CUSTOMER: f64 = 26.3;
    pub(super) const CUSTOMER_NAME: f64 = 330.0;
    pub(super) const ITEM: f64 = 171.0;
    pub(super) const STOCK: f64 = 47.0;
    pub(super) const ORDERS: f64 = 375.0;
    pub(super) const ORDERS_CUSTOMER: f64 = 600.0;
    pub(super) const ORDER_LINE: f64 = 220.0;
    pub(super) const HISTORY: f64 = 231.0;
    pub(super) const NEW_ORDER: f64 = 550.0;
    pub(super) const DISTRICT: f64 = 130.0;
    pub(super) const WAREHOUSE: f64 = 150.0;
}

/// Number of reads and changes of a table's rows by one path, per transaction.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    reads: f64,
    changes: f64,
}

/// The popularity of the pages that the workload asks for.
pub fn order_entry_popularity(workload: &OrderEntryWorkload, flavor: Flavor) -> Popularity {
    let mut tables = Tables::default();
    let warehouses = f64::from(workload.warehouses);
    by_number(&mut tables, workload);
    small(&mut tables, warehouses);
    orders(&mut tables, warehouses, f64::from(workload.customers));
    tables.groups.push(UndoLogs::for_flavor(flavor).group());
    Popularity::new(tables.groups).with_upper_pages(tables.upper_pages)
}

/// The groups of all indexes so far.
#[derive(Debug, Default)]
struct Tables {
    groups: Vec<PageGroup>,
    upper_pages: f64,
}

impl Tables {
    /// An index of `copies` parts that are used alike, each of these leaves.
    fn index(&mut self, copies: f64, leaves: &[LeafGroup], uneven: Use, even: Use) {
        let count: f64 = leaves.iter().map(|group| group.leaves).sum();
        self.groups.extend(leaves.iter().map(|group| {
            let share = |uneven: f64, even: f64| (uneven * group.share + even / count) / copies;
            PageGroup {
                pages: group.leaves * copies,
                rate: share(uneven.reads + uneven.changes, even.reads + even.changes),
                write_rate: share(uneven.changes, even.changes),
            }
        }));
        self.upper_pages += 1.0 + count * copies / BELOW_UPPER;
    }

    /// An index whose leaves are used alike, and some of which `often` more: those at the ends of districts.
    fn ends(&mut self, leaves: f64, even: Use, ends: &[(f64, Use)]) {
        let often: f64 = ends.iter().map(|(pages, _)| pages).sum();
        let rest = PageGroup {
            pages: (leaves - often).max(0.0),
            rate: (even.reads + even.changes) / leaves,
            write_rate: even.changes / leaves,
        };
        self.groups.push(rest);
        self.groups
            .extend(ends.iter().map(|(pages, used)| PageGroup {
                pages: *pages,
                rate: rest.rate + (used.reads + used.changes) / pages,
                write_rate: rest.write_rate + used.changes / pages,
            }));
        self.upper_pages += 1.0 + leaves / BELOW_UPPER;
    }
}

/// Customers, items and stocks: by uneven numbers, in the order of which their rows stand.
fn by_number(tables: &mut Tables, workload: &OrderEntryWorkload) {
    let warehouses = f64::from(workload.warehouses);
    let lookup = |rows: f64, capacity: f64| rows * (1.0 + BESIDE_LEAF / capacity);
    let (items, stocks) = (rows_of_leaf::ITEM, rows_of_leaf::STOCK);
    let leaves = |count, bits, capacity| leaf_groups(&uneven(count, bits), capacity);
    tables.index(
        1.0,
        &leaves(workload.items, ITEM_BITS, items),
        Use {
            reads: lookup(NEW_ORDER * LINES, items),
            changes: 0.0,
        },
        Use::default(),
    );
    tables.index(
        warehouses,
        &leaves(workload.items, ITEM_BITS, stocks),
        Use {
            reads: lookup(NEW_ORDER * LINES + STOCK_LEVEL * LOOKED_AT, stocks),
            changes: NEW_ORDER * LINES,
        },
        Use::default(),
    );
    let by_status = ORDER_STATUS * (1.0 - BY_NAME + BY_NAME * NAMESAKES);
    let customers = rows_of_leaf::CUSTOMER;
    tables.index(
        warehouses * DISTRICTS,
        &leaves(workload.customers, CUSTOMER_BITS, customers),
        Use {
            reads: lookup(NEW_ORDER + PAYMENT + by_status, customers),
            changes: PAYMENT,
        },
        // The customers of orders that are delivered.
        Use {
            reads: 0.0,
            changes: DELIVERY * DISTRICTS,
        },
    );
    let names = warehouses * DISTRICTS * f64::from(workload.customers);
    let by_name = Use {
        reads: BY_NAME * (PAYMENT + ORDER_STATUS),
        changes: 0.0,
    };
    let leaves = (names / rows_of_leaf::CUSTOMER_NAME).ceil();
    tables.ends(leaves, by_name, &[]);
}

/// Warehouses and districts: few pages, in each transaction.
fn small(tables: &mut Tables, warehouses: f64) {
    let warehouse = Use {
        reads: NEW_ORDER + PAYMENT,
        changes: PAYMENT,
    };
    let leaves = (warehouses / rows_of_leaf::WAREHOUSE).ceil();
    tables.ends(leaves, warehouse, &[]);
    let district = Use {
        reads: NEW_ORDER + PAYMENT + STOCK_LEVEL,
        changes: NEW_ORDER + PAYMENT,
    };
    let leaves = (warehouses * DISTRICTS / rows_of_leaf::DISTRICT).ceil();
    tables.ends(leaves, district, &[]);
}

/// Orders, their lines, and payments.
fn orders(tables: &mut Tables, warehouses: f64, customers: f64) {
    let districts = warehouses * DISTRICTS;
    let leaves = |rows: f64, capacity: f64| (districts * rows / capacity).ceil();
    let entered = |rows: f64| Use {
        reads: 0.0,
        changes: NEW_ORDER * rows,
    };
    let delivered = |reads: f64, rows: f64| Use {
        reads: DELIVERY * DISTRICTS * reads,
        changes: DELIVERY * DISTRICTS * rows,
    };
    let asked = Use {
        reads: ORDER_STATUS,
        changes: 0.0,
    };
    let per_district = |leaves: f64| districts.min(leaves / 2.0).max(0.5);
    let order_leaves = leaves(customers, rows_of_leaf::ORDERS);
    let ends = per_district(order_leaves);
    let parts = [(ends, entered(1.0)), (ends, delivered(1.0, 1.0))];
    tables.ends(order_leaves, asked, &parts);
    let by_customer = Use {
        reads: ORDER_STATUS,
        changes: NEW_ORDER,
    };
    let leaves_by_customer = leaves(customers, rows_of_leaf::ORDERS_CUSTOMER);
    tables.ends(leaves_by_customer, by_customer, &[]);
    let new_leaves = leaves(customers * 0.3, rows_of_leaf::NEW_ORDER);
    let ends = per_district(new_leaves);
    let parts = [(ends, entered(1.0)), (ends, delivered(1.0, 1.0))];
    tables.ends(new_leaves, Use::default(), &parts);
    let line_leaves = leaves(customers * LINES, rows_of_leaf::ORDER_LINE);
    let ends = per_district(line_leaves);
    let last = Use {
        reads: STOCK_LEVEL,
        ..entered(LINES)
    };
    let parts = [(ends, last), (ends, delivered(1.0, LINES))];
    tables.ends(line_leaves, asked, &parts);
    let paid = Use {
        reads: 0.0,
        changes: PAYMENT,
    };
    let history_leaves = leaves(customers, rows_of_leaf::HISTORY);
    tables.ends(history_leaves, Use::default(), &[(1.0, paid)]);
}

/// The leaves of rows that are asked for by these shares, in the order of their numbers.
fn leaf_groups(shares: &[f64], capacity: f64) -> Vec<LeafGroup> {
    let leaves = shares.chunks((capacity.round() as usize).max(1));
    let leaves = leaves.map(|rows| LeafGroup {
        leaves: 1.0,
        share: rows.iter().sum(),
    });
    merged(leaves.collect())
}

/// Returns the probability of each number of the specification's `NURand(A, 1, count)`, of `bits` bits in A and C = 0.
///
/// It is the bitwise OR of two uniform numbers, of which one has the low bits alone. In each block of numbers that
/// agree in the others, how many pairs give a number is a convolution by OR: sums over subsets of bits make it a product.
fn uneven(count: u32, bits: u32) -> Vec<f64> {
    let (count, block) = (count as usize, 1_usize << bits);
    let pairs = block as f64 * count as f64;
    let mut shares = vec![0.0; count];
    for first in (0..=count).step_by(block) {
        let is_drawn = |low: usize| (1..=count).contains(&(first + low));
        let mut sums: Vec<f64> = (0..block)
            .map(|low| f64::from(u8::from(is_drawn(low))))
            .collect();
        over_subsets(&mut sums, bits, 1.0);
        for (low, sum) in sums.iter_mut().enumerate() {
            *sum *= f64::from(low.count_ones()).exp2();
        }
        over_subsets(&mut sums, bits, -1.0);
        for (low, sum) in sums.iter().enumerate() {
            // The remainder is counted from 1.
            shares[(first + low) % count] += sum / pairs;
        }
    }
    shares
}

/// Adds to each number the sums of the numbers whose bits are among its own, or takes them away.
fn over_subsets(sums: &mut [f64], bits: u32, sign: f64) {
    for bit in 0..bits {
        for number in 0..sums.len() {
            if number & (1 << bit) != 0 {
                sums[number] += sign * sums[number ^ (1 << bit)];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uneven_numbers_are_as_probable_as_counted() {
        let (count, bits) = (37_u32, 3_u32);
        let mut counted = vec![0.0; count as usize];
        for number in 1..=count {
            for low in 0..1 << bits {
                counted[((number | low) % count) as usize] += 1.0;
            }
        }
        let pairs = f64::from(count) * 8.0;
        for (share, count) in uneven(count, bits).into_iter().zip(counted) {
            assert!((share - count / pairs).abs() < 1e-12);
        }
    }

    #[test]
    fn pages_are_those_of_the_tables_and_are_asked_for_as_often_at_any_size() {
        let popularity = |warehouses| {
            let workload = OrderEntryWorkload {
                warehouses,
                ..OrderEntryWorkload::default()
            };
            order_entry_popularity(&workload, Flavor::Mariadb)
        };
        let (one, ten) = (popularity(1), popularity(10));
        // One warehouse as loaded by MariaDB: 1140 + 91 leaves of customers, 584 of items, 2128 of stocks, 1356 of lines,
        // 80 + 50 of orders, 130 of payments, and undo logs.
        let leaves = one.pages() + one.unused_pages();
        assert!((5_500.0..6_100.0).contains(&leaves), "{leaves}");
        let references = [one.references(), ten.references()];
        assert!(
            (references[0] / references[1] - 1.0).abs() < 0.01,
            "{references:?}"
        );
        // An order alone changes ten stocks and ten lines.
        assert!(one.changes() > 9.0 && one.changes() < one.references());
        // Few pages get most of what is asked for.
        let often = |least: f64| -> f64 {
            let groups = ten.groups().iter().filter(|group| group.rate > least);
            groups.map(|group| group.pages * group.rate).sum()
        };
        assert!(often(0.01) > 0.3 * ten.references());
    }
}
