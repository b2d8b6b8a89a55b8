//! Sizes of the tables.

use weir_model::OrderEntryWorkload;

use crate::{Rng, seeded};

/// Districts of a warehouse.
pub const DISTRICTS: u32 = 10;
/// Lines of an order, at least.
const LINES_MIN: u64 = 5;
/// Number of different numbers of lines: 5 to 15.
const LINES_CHOICES: u64 = 11;
/// The numbers of lines are the same with every seed, so that the number of rows is known before a seed is.
const LINES_SEED: u64 = 0x6F72_6465_7273;

/// Parameters that the numbers of rows follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Warehouses.
    pub warehouses: u32,
    /// Items, and rows of stock of a warehouse.
    pub items: u32,
    /// Customers of a district, and its orders when it is loaded.
    pub customers: u32,
}

impl Sizes {
    /// Those of a workload.
    pub fn new(workload: &OrderEntryWorkload) -> Self {
        let OrderEntryWorkload {
            warehouses,
            items,
            customers,
            ..
        } = *workload;
        Self {
            warehouses,
            items,
            customers,
        }
    }

    /// Orders of a district that are delivered when it is loaded: 2,100 of 3,000.
    pub fn delivered(&self) -> u32 {
        self.customers * 7 / 10
    }

    /// Districts of all warehouses.
    pub(super) fn districts(&self) -> u64 {
        u64::from(self.warehouses) * u64::from(DISTRICTS)
    }

    /// Numbers of lines of the orders of a district, which is counted from 0 over all warehouses.
    pub(super) fn lines(&self, district: u64) -> impl Iterator<Item = u32> + use<> {
        let mut rng: Rng = seeded(LINES_SEED, district);
        (0..self.customers).map(move |_| (LINES_MIN + rng.below(LINES_CHOICES)) as u32)
    }
}
