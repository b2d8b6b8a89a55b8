//! Questions that are asked of predictions: which pool does it take, what is a drive worth in
//! memory, and what becomes of it when the data grow.

use crate::{DriveAbility, PredictError, Prediction, System};

/// Steps of the search for a pool; each halves the bracket.
const STEPS: u32 = 14;
/// The smallest pool that is looked at, as a share of the pages.
const SMALLEST: f64 = 1e-3;

/// A system with one drive and number of connections.
#[derive(Debug, Clone, Copy)]
pub struct OperatingPoint<'a> {
    /// The workload and its server.
    pub system: &'a System,
    /// The drive.
    pub drive: &'a DriveAbility,
    /// Connections.
    pub connections: u32,
}

impl OperatingPoint<'_> {
    /// The prediction for a pool with frames for `pages`.
    ///
    /// # Errors
    ///
    /// Beyond 1.5 times the connections that were measured.
    pub fn at(&self, pages: f64) -> Result<Prediction, PredictError> {
        let pool = self.system.pool(pages);
        self.system.predict(&pool, self.drive, self.connections)
    }

    /// The smallest pool, pages, that reaches `transactions_per_s`; `None` where no pool does.
    ///
    /// # Errors
    ///
    /// As [`Self::at`].
    pub fn smallest_pool(&self, transactions_per_s: f64) -> Result<Option<f64>, PredictError> {
        let all_fit = self.system.popularity.pages();
        if self.at(all_fit)?.transactions_per_s < transactions_per_s {
            return Ok(None);
        }
        let (mut low, mut high) = (all_fit * SMALLEST, all_fit);
        for _ in 0..STEPS {
            let middle = low.midpoint(high);
            if self.at(middle)?.transactions_per_s < transactions_per_s {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Some(high))
    }

    /// The pool, pages, with which this drive does what `other` does with a pool of `pages`: what
    /// the other drive is worth in memory. `None` where no memory makes up for it.
    ///
    /// # Errors
    ///
    /// As [`Self::at`].
    pub fn memory_equivalent(
        &self,
        other: &DriveAbility,
        pages: f64,
    ) -> Result<Option<f64>, PredictError> {
        let faster = OperatingPoint {
            drive: other,
            ..*self
        };
        // A pool in which all fits reads nothing; drives differ by their writes only then.
        let wanted = faster.at(pages)?.transactions_per_s;
        self.smallest_pool(wanted)
    }

    /// The predictions for a pool of `pages` when the data are `1 + growth` times as many after
    /// each of `months` months and used alike; the first is that of today.
    ///
    /// # Errors
    ///
    /// As [`Self::at`].
    pub fn growth(
        &self,
        pages: f64,
        growth: f64,
        months: u32,
    ) -> Result<Vec<Prediction>, PredictError> {
        let after = |month: u32| {
            let mut system = self.system.clone();
            system.popularity = system
                .popularity
                .grown((1.0 + growth).powf(f64::from(month)));
            OperatingPoint {
                system: &system,
                ..*self
            }
            .at(pages)
        };
        (0..=months).map(after).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use weir_drive::profiles;

    use super::*;
    use crate::{Demands, Flushing, PageGroup, PoolUse, Popularity, WriteSettings};

    const DRIVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");

    pub(crate) fn ability(name: &str) -> DriveAbility {
        let profile = profiles::load(name, Some(Path::new(DRIVES))).unwrap();
        DriveAbility::from_profile(&profile, 1.0).unwrap()
    }

    /// 10,000 pages, asked for alike, ten a transaction.
    pub(crate) fn system() -> System {
        System {
            popularity: Popularity::new([PageGroup {
                pages: 10_000.0,
                rate: 10.0 / 10_000.0,
                write_rate: 0.0,
            }]),
            writes: WriteSettings {
                redo_capacity_bytes: 1e9,
                redo_bytes: 0.0,
                doublewrite: true,
                durable_commits: true,
                flushing: Flushing::MYSQL,
            },
            pool_use: PoolUse::MYSQL,
            old_blocks_time_s: 0.0,
            discrepancy: crate::Discrepancy::default(),
            demands: Demands {
                cores: 2,
                cpu_s: 0.0005,
                cpu_s_per_miss: 10e-6,
                emulation_s: 0.0,
                wait_s: 0.0,
                connections_max: 16,
            },
        }
    }

    #[test]
    fn a_pool_is_found_for_a_throughput_and_for_a_drive() {
        let (system, disks, fast) = (
            system(),
            ability("raid10-8x15k-bbu"),
            ability("intel-p4610"),
        );
        let place = OperatingPoint {
            system: &system,
            drive: &disks,
            connections: 16,
        };
        let most = place.at(10_000.0).unwrap().transactions_per_s;
        assert_eq!(place.smallest_pool(most * 1.01).unwrap(), None);
        let half = place.smallest_pool(most / 2.0).unwrap().unwrap();
        let found = place.at(half).unwrap().transactions_per_s;
        assert!((found / most - 0.5).abs() < 0.01, "{found} of {most}");
        // Disks need nearly all data in memory for what the fast drive does with half of them.
        let worth = place.memory_equivalent(&fast, 5_000.0).unwrap().unwrap();
        assert!(worth > 9_000.0 && worth < 10_000.0, "{worth}");
        // A drive is worth itself.
        let same = place.memory_equivalent(&disks, 5_000.0).unwrap().unwrap();
        assert!((same / 5_000.0 - 1.0).abs() < 0.01, "{same}");
    }

    #[test]
    fn data_that_outgrow_the_pool_cost_throughput() {
        let (system, disks) = (system(), ability("raid10-8x15k-bbu+disks.sorted=1"));
        let place = OperatingPoint {
            system: &system,
            drive: &disks,
            connections: 16,
        };
        let months = place.growth(11_000.0, 0.1, 3).unwrap();
        // 10,000 and 11,000 pages fit, 12,100 and 13,310 do not.
        assert!(months[1].reads < 1e-9, "{:?}", months[1]);
        let expected = 10.0 * (1.0 - 11_000.0 / 12_100.0);
        assert!((months[2].reads - expected).abs() < 0.01, "{:?}", months[2]);
        assert!(months[3].transactions_per_s < months[2].transactions_per_s);
        assert!(months[2].transactions_per_s < 0.7 * months[1].transactions_per_s);
    }
}
