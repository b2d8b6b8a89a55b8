//! Entries of users at terminals (clauses 2.4.1 to 2.8.1 of the specification), and their times
//! (5.2.5).

use super::random::{Constants, between, happens};
use super::{DISTRICTS, Sizes};
use crate::Rng;

/// Lines of an order, at most.
pub const LINES_MAX: usize = 15;
const LINES_MIN: usize = 5;
/// Of how many new orders the last item does not exist, percent.
const ROLLBACK_PERCENT: u64 = 1;
/// Of how many lines another warehouse supplies the item, percent.
const REMOTE_LINE_PERCENT: u64 = 1;
/// Of how many payments the customer is another warehouse's, percent.
const REMOTE_PAYMENT_PERCENT: u64 = 15;
/// Share of customers that are named by the last name, percent.
const BY_NAME_PERCENT: u64 = 60;
/// A think time is no longer than so many means.
const THINK_MEANS_MAX: f64 = 10.0;
const SECOND_NS: f64 = 1e9;

/// A kind of transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionKind {
    /// A customer orders.
    NewOrder,
    /// A customer pays.
    Payment,
    /// A customer asks for the last order.
    OrderStatus,
    /// The oldest orders of all districts are delivered.
    Delivery,
    /// Items that are about to run out are counted.
    StockLevel,
}

impl TransactionKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::NewOrder,
        Self::Payment,
        Self::OrderStatus,
        Self::Delivery,
        Self::StockLevel,
    ];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "new_order",
            Self::Payment => "payment",
            Self::OrderStatus => "order_status",
            Self::Delivery => "delivery",
            Self::StockLevel => "stock_level",
        }
    }

    /// Returns its share of the transactions, percent. The specification has the least of the last four.
    pub fn percent(self) -> u64 {
        match self {
            Self::NewOrder => 45,
            Self::Payment => 43,
            Self::OrderStatus | Self::Delivery | Self::StockLevel => 4,
        }
    }

    /// The kind of the next transaction.
    pub fn draw(rng: &mut Rng) -> Self {
        let mut point = rng.below(100);
        for kind in Self::ALL {
            match point.checked_sub(kind.percent()) {
                Some(rest) => point = rest,
                None => return kind,
            }
        }
        Self::NewOrder
    }

    /// Returns the time to enter it, nanoseconds.
    pub fn keying_ns(self) -> u64 {
        let seconds = match self {
            Self::NewOrder => 18.0,
            Self::Payment => 3.0,
            Self::OrderStatus | Self::Delivery | Self::StockLevel => 2.0,
        };
        (seconds * SECOND_NS) as u64
    }

    /// Draws the time for which the user looks at its result, nanoseconds: exponentially
    /// distributed.
    pub fn think_ns(self, rng: &mut Rng) -> u64 {
        let mean_s = match self {
            Self::NewOrder | Self::Payment => 12.0,
            Self::OrderStatus => 10.0,
            Self::Delivery | Self::StockLevel => 5.0,
        };
        // The argument of the logarithm is in (0, 1].
        let means = -(1.0 - rng.unit()).ln();
        (means.min(THINK_MEANS_MAX) * mean_s * SECOND_NS) as u64
    }
}

/// A customer, as the user names one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// By number.
    Id(u32),
    /// By the number of a last name.
    LastName(u32),
}

/// A line of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    /// The item.
    pub item: u32,
    /// The warehouse that supplies it.
    pub warehouse: u32,
    /// Quantity of the item.
    pub quantity: u32,
}

/// A new order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOrder {
    /// The warehouse that is asked.
    pub warehouse: u32,
    /// District of the order.
    pub district: u32,
    /// The customer.
    pub customer: u32,
    /// The lines; those after `count` are none.
    pub lines: [Line; LINES_MAX],
    /// Number of lines.
    pub count: usize,
}

impl NewOrder {
    /// The lines that there are.
    pub fn lines(&self) -> &[Line] {
        &self.lines[..self.count]
    }

    /// Returns true if its own warehouse supplies all of them.
    pub fn is_local(&self) -> bool {
        self.lines()
            .iter()
            .all(|line| line.warehouse == self.warehouse)
    }
}

/// A payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payment {
    /// The warehouse that is paid.
    pub warehouse: u32,
    /// District of the payment.
    pub district: u32,
    /// The customer's warehouse.
    pub customer_warehouse: u32,
    /// The customer's district.
    pub customer_district: u32,
    /// The customer.
    pub who: Who,
    /// Amount, cents.
    pub amount_cents: i64,
}

/// A question for an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderStatus {
    /// The customer's warehouse.
    pub warehouse: u32,
    /// The customer's district.
    pub district: u32,
    /// The customer.
    pub who: Who,
}

/// A delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// The warehouse.
    pub warehouse: u32,
    /// Carrier of the orders.
    pub carrier: u32,
}

/// A question for low stocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockLevel {
    /// The warehouse.
    pub warehouse: u32,
    /// The district.
    pub district: u32,
    /// Below how many a stock is low.
    pub threshold: u32,
}

/// Terminal of a user, and its entries.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Sizes of the tables.
    pub sizes: Sizes,
    /// The run's constants.
    pub constants: Constants,
    /// The warehouse and the district that the user is at; otherwise each transaction is at others.
    pub place: Option<(u32, u32)>,
}

impl Terminal {
    /// The place of connection `connection`, from 0, among connections that are spread over all warehouses.
    pub fn place_of(connection: u32, sizes: &Sizes) -> (u32, u32) {
        let warehouse = connection % sizes.warehouses + 1;
        (warehouse, connection / sizes.warehouses % DISTRICTS + 1)
    }

    /// The next new order.
    pub fn new_order(&self, rng: &mut Rng) -> NewOrder {
        let warehouse = self.warehouse(rng);
        let mut order = NewOrder {
            warehouse,
            district: any_district(rng),
            customer: self.constants.customer(rng, self.sizes.customers),
            lines: [Line::default(); LINES_MAX],
            count: between(rng, LINES_MIN as u64, LINES_MAX as u64) as usize,
        };
        for line in &mut order.lines[..order.count] {
            *line = Line {
                item: self.constants.item(rng, self.sizes.items),
                warehouse: self.supplier(warehouse, REMOTE_LINE_PERCENT, rng),
                quantity: between(rng, 1, 10) as u32,
            };
        }
        if happens(rng, ROLLBACK_PERCENT) {
            order.lines[order.count - 1].item = self.sizes.items + 1;
        }
        order
    }

    /// The next payment.
    pub fn payment(&self, rng: &mut Rng) -> Payment {
        let (warehouse, district) = (self.warehouse(rng), any_district(rng));
        let customer_warehouse = self.supplier(warehouse, REMOTE_PAYMENT_PERCENT, rng);
        let customer_district = if customer_warehouse == warehouse {
            district
        } else {
            any_district(rng)
        };
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            who: self.who(rng),
            amount_cents: between(rng, 100, 500_000).cast_signed(),
        }
    }

    /// The next question for an order.
    pub fn order_status(&self, rng: &mut Rng) -> OrderStatus {
        OrderStatus {
            warehouse: self.warehouse(rng),
            district: any_district(rng),
            who: self.who(rng),
        }
    }

    /// The next delivery.
    pub fn delivery(&self, rng: &mut Rng) -> Delivery {
        Delivery {
            warehouse: self.warehouse(rng),
            carrier: between(rng, 1, 10) as u32,
        }
    }

    /// The next question for low stocks.
    pub fn stock_level(&self, rng: &mut Rng) -> StockLevel {
        StockLevel {
            warehouse: self.warehouse(rng),
            district: match self.place {
                Some((_, district)) => district,
                None => any_district(rng),
            },
            threshold: between(rng, 10, 20) as u32,
        }
    }

    fn warehouse(&self, rng: &mut Rng) -> u32 {
        match self.place {
            Some((warehouse, _)) => warehouse,
            None => between(rng, 1, self.sizes.warehouses.into()) as u32,
        }
    }

    /// This warehouse or, in so many of a hundred cases, another one if there is one.
    fn supplier(&self, warehouse: u32, percent: u64, rng: &mut Rng) -> u32 {
        let is_remote = happens(rng, percent);
        if !is_remote || self.sizes.warehouses == 1 {
            return warehouse;
        }
        let other = between(rng, 1, u64::from(self.sizes.warehouses) - 1) as u32;
        if other < warehouse { other } else { other + 1 }
    }

    fn who(&self, rng: &mut Rng) -> Who {
        if happens(rng, BY_NAME_PERCENT) {
            Who::LastName(self.constants.last_name(rng, self.sizes.customers))
        } else {
            Who::Id(self.constants.customer(rng, self.sizes.customers))
        }
    }
}

fn any_district(rng: &mut Rng) -> u32 {
    between(rng, 1, DISTRICTS.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeded;

    const SIZES: Sizes = Sizes {
        warehouses: 4,
        items: 100_000,
        customers: 3_000,
    };
    const DRAWS: u32 = 40_000;

    fn terminal(place: Option<(u32, u32)>) -> Terminal {
        Terminal {
            sizes: SIZES,
            constants: Constants::of_run(5),
            place,
        }
    }

    /// Asserts that `count` of `of` is about so many percent: within five standard deviations.
    #[track_caller]
    fn assert_share(count: u32, of: u32, percent: f64) {
        let (p, n) = (percent / 100.0, f64::from(of));
        let deviation = (p * (1.0 - p) * n).sqrt();
        let off = (f64::from(count) - p * n).abs();
        assert!(off < 5.0 * deviation, "{count} of {of} is not {percent} %");
    }

    #[test]
    fn transactions_come_in_their_mix() {
        let mut rng = seeded(1, 0);
        let mut counts = [0; 5];
        for _ in 0..DRAWS {
            counts[TransactionKind::draw(&mut rng) as usize] += 1;
        }
        for (kind, count) in TransactionKind::ALL.into_iter().zip(counts) {
            assert_share(count, DRAWS, kind.percent() as f64);
        }
    }

    #[test]
    fn orders_are_as_specified() {
        let (mut rng, terminal) = (seeded(2, 0), terminal(None));
        let (mut lines, mut remote, mut rolled_back, mut at_first) = (0, 0, 0, 0);
        for _ in 0..DRAWS {
            let order = terminal.new_order(&mut rng);
            assert!((1..=10).contains(&order.district));
            assert!((1..=3_000).contains(&order.customer));
            assert!((5..=15).contains(&order.lines().len()));
            lines += order.count as u32;
            let others = order
                .lines()
                .iter()
                .filter(|l| l.warehouse != order.warehouse);
            remote += others.count() as u32;
            assert!(order.lines().iter().all(|l| (1..=10).contains(&l.quantity)));
            assert!(order.lines().iter().all(|l| (1..=4).contains(&l.warehouse)));
            let (last, before) = order.lines().split_last().unwrap();
            assert!(before.iter().all(|l| (1..=100_000).contains(&l.item)));
            rolled_back += u32::from(last.item == 100_001);
            at_first += u32::from(order.warehouse == 1);
            let is_local = order.lines().iter().all(|l| l.warehouse == order.warehouse);
            assert_eq!(order.is_local(), is_local);
        }
        assert_share(remote, lines, 1.0);
        assert_share(rolled_back, DRAWS, 1.0);
        assert_share(at_first, DRAWS, 25.0);
        // The mean of 5 to 15.
        assert_share(lines, 20 * DRAWS, 50.0);
    }

    #[test]
    fn payments_are_as_specified() {
        let (mut rng, terminal) = (seeded(3, 0), terminal(Some((2, 7))));
        let (mut remote, mut by_name) = (0, 0);
        for _ in 0..DRAWS {
            let payment = terminal.payment(&mut rng);
            assert_eq!(payment.warehouse, 2);
            assert!((100..=500_000).contains(&payment.amount_cents));
            if payment.customer_warehouse == 2 {
                assert_eq!(payment.customer_district, payment.district);
            } else {
                remote += 1;
            }
            by_name += u32::from(matches!(payment.who, Who::LastName(_)));
        }
        assert_share(remote, DRAWS, 15.0);
        assert_share(by_name, DRAWS, 60.0);
        assert_eq!(terminal.stock_level(&mut rng).district, 7);
        assert_eq!(terminal.delivery(&mut rng).warehouse, 2);
    }

    #[test]
    fn terminals_are_spread_over_warehouses_and_districts() {
        let places: Vec<_> = (0..40).map(|n| Terminal::place_of(n, &SIZES)).collect();
        assert_eq!(&places[..5], &[(1, 1), (2, 1), (3, 1), (4, 1), (1, 2)]);
        assert_eq!(places[39], (4, 10));
        assert_eq!(Terminal::place_of(40, &SIZES), (1, 1));
    }

    #[test]
    fn users_think_as_long_as_specified() {
        let mut rng = seeded(4, 0);
        let all: f64 = (0..DRAWS)
            .map(|_| TransactionKind::Delivery.think_ns(&mut rng) as f64 / 1e9)
            .sum();
        let mean_s = all / f64::from(DRAWS);
        // 5 s with a standard deviation of 5 s / 200.
        assert!((4.87..5.13).contains(&mean_s), "{mean_s}");
        assert_eq!(TransactionKind::NewOrder.keying_ns(), 18_000_000_000);
    }
}
