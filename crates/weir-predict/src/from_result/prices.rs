//! Prices of memory and drives, and their consequences.

use std::collections::BTreeMap;

use crate::{GIBIBYTE, OperatingPoint, Prices};
use serde::Serialize;
use weir_model::{Bytes, Plan};

use crate::from_result::ForecastError;
use crate::from_result::pools::whole_mebibytes;

/// The name under which `--price` has memory, for each GiB.
const MEMORY: &str = "memory";

/// Amounts in one currency: those of `--price`, and of the study's `[prices]` where it names drives.
#[derive(Debug, Default)]
pub struct PriceList {
    memory_gib: Option<f64>,
    drives: BTreeMap<String, f64>,
}

impl PriceList {
    /// `given` names memory or a drive and has its price; `drives` are those that are asked about.
    ///
    /// # Errors
    ///
    /// A price of something else.
    pub fn new(
        plan: &Plan,
        given: &[(String, f64)],
        drives: &[&str],
    ) -> Result<Self, ForecastError> {
        let mut list = Self::default();
        for drive in drives {
            if let Some(price) = plan.prices.get(*drive) {
                list.drives.insert((*drive).to_owned(), price.amount);
            }
        }
        for (name, amount) in given {
            if name == MEMORY {
                list.memory_gib = Some(*amount);
            } else if drives.contains(&name.as_str()) {
                list.drives.insert(name.clone(), *amount);
            } else {
                return Err(ForecastError::Price {
                    name: name.clone(),
                    drives: drives.join(", "),
                });
            }
        }
        Ok(list)
    }

    /// Returns the price of more memory than `pool`, up to `larger`: the premium of a drive with the smaller one.
    pub(crate) fn of_memory(&self, pool: u64, larger: u64) -> Option<f64> {
        Some(self.memory_gib? * (larger as f64 - pool as f64) / GIBIBYTE)
    }

    /// Of memory and drive together.
    pub(crate) fn of_both(&self, drive: &str, pool: u64) -> Option<f64> {
        Some(self.drives.get(drive)? + self.memory_gib? * pool as f64 / GIBIBYTE)
    }

    /// Returns the pages that earn their memory on a drive; `None` if its price or that of memory is not known.
    pub(crate) fn break_even(
        &self,
        place: &OperatingPoint<'_>,
    ) -> Result<Option<BreakEven>, ForecastError> {
        let (Some(memory_gib), Some(drive)) = (self.memory_gib, self.drives.get(&place.drive.name))
        else {
            return Ok(None);
        };
        let prices = Prices {
            memory_gib,
            drive: *drive,
        };
        let pages = place.economic_pool(prices)?;
        Ok(Some(BreakEven {
            memory_gib,
            drive: *drive,
            interval_s: place.break_even_s(prices),
            pool_bytes: whole_mebibytes(pages + place.system.popularity.upper_pages()).0,
        }))
    }
}

/// The interval between uses at which a page earns its memory, and the pool that holds such pages.
#[derive(Debug, Serialize)]
pub(crate) struct BreakEven {
    memory_gib: f64,
    drive: f64,
    interval_s: f64,
    pool_bytes: u64,
}

impl BreakEven {
    pub(crate) fn line(&self) -> String {
        format!(
            "with memory at {} a GiB and the drive at {}, a page earns its memory if it is used every {:.1} s or \
             more often; the pool of such pages: {}",
            self.memory_gib,
            self.drive,
            self.interval_s,
            Bytes(self.pool_bytes)
        )
    }
}
