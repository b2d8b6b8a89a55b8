//! Pages that earn their memory.
//!
//! A page that is read again and again keeps a share of a drive busy; kept in memory it takes a share of that. The
//! two cost the same at one interval between uses (Gray and Putzolu, "The 5 minute rule for trading memory for
//! disc accesses", SIGMOD 1987).

use crate::{GIBIBYTE, OperatingPoint, PAGE_BYTES, PredictError};

const ROUNDS_MAX: u32 = 30;
/// Pools that differ by less agree.
const AGREED: f64 = 1e-3;

/// Prices in one currency and for the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// For a GiB of memory.
    pub memory_gib: f64,
    /// For the drive.
    pub drive: f64,
}

impl OperatingPoint<'_> {
    /// Seconds between two uses of a page at which keeping it and reading it again cost the same.
    pub fn break_even_s(&self, prices: Prices) -> f64 {
        let reads_per_s = 1.0 / self.drive.busy_s(1.0, 0.0, 0.0);
        let page = prices.memory_gib * PAGE_BYTES / GIBIBYTE;
        prices.drive / reads_per_s / page
    }

    /// The pages that are used more often than that by a server whose pool holds just them.
    ///
    /// # Errors
    ///
    /// As [`Self::at`].
    pub fn economic_pool(&self, prices: Prices) -> Result<f64, PredictError> {
        let break_even_s = self.break_even_s(prices);
        let popularity = &self.system.popularity;
        let earning = |per_s: f64| {
            let earns = |rate: f64| rate * per_s * break_even_s > 1.0;
            popularity.sum(|group| f64::from(u8::from(earns(group.rate))))
        };
        // Fewer pages in memory mean fewer transactions, and these that fewer pages earn it: from all
        // pages down, the first pool that agrees is the largest.
        let mut pages = popularity.pages();
        for _ in 0..ROUNDS_MAX {
            let fewer = earning(self.at(pages.max(1.0))?.transactions_per_s);
            if pages - fewer <= AGREED * pages {
                break;
            }
            pages = fewer;
        }
        Ok(pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operating_point::tests::{ability, system};
    use crate::{PageGroup, Popularity};

    #[test]
    fn a_page_earns_its_memory_by_how_often_it_is_used() {
        let (mut system, drive) = (system(), ability("intel-p4610"));
        let hot = PageGroup {
            pages: 1_000.0,
            rate: 9.0 / 1_000.0,
            write_rate: 0.0,
        };
        let cold = PageGroup {
            pages: 9_000.0,
            rate: 1.0 / 9_000.0,
            write_rate: 0.0,
        };
        system.popularity = Popularity::new([hot, cold]);
        let place = OperatingPoint {
            system: &system,
            drive: &drive,
            connections: 16,
        };
        let prices = |drive| Prices {
            memory_gib: 4.0,
            drive,
        };
        // Twice the price of the drive, twice the time that a page may stay unused.
        let each = place.break_even_s(prices(1_000.0));
        assert!((place.break_even_s(prices(2_000.0)) / each - 2.0).abs() < 1e-9);
        // A hot page is used every 1/(0.009 X) s, a cold one 81 times more rarely.
        let per_s = place.at(1_000.0).unwrap().transactions_per_s;
        let worth = |interval_s: f64| interval_s / each * 1_000.0;
        let between = worth((1.0 / (hot.rate * per_s) * (1.0 / (cold.rate * per_s))).sqrt());
        let pages = place.economic_pool(prices(between)).unwrap();
        assert!((pages - 1_000.0).abs() < 1e-6, "{pages}");
        let dear = worth(10.0 / (cold.rate * per_s));
        let pages = place.economic_pool(prices(dear)).unwrap();
        assert!((pages - 10_000.0).abs() < 1e-6, "{pages}");
        let cheap = worth(0.01 / (hot.rate * per_s));
        assert!(place.economic_pool(prices(cheap)).unwrap() < 1e-6);
    }
}
