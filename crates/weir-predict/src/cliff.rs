//! Where a smaller pool begins to cost: the places on the curve that have names.
//!
//! A: all pages that are used fit. B: the first two in a hundred do not. C: a third fits. Between
//! them, the pools at which throughput reaches 50, 90 and 97 % of that of A.

use crate::{DriveAbility, PredictError, System};

/// Share of the pages that no longer fit at the first spill.
const FIRST_SPILL: f64 = 0.02;
/// Steps of the search for a pool; each halves the bracket.
const STEPS: u32 = 14;

/// Pools in pages.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Cliffs {
    /// A: the pages that are used at all.
    pub all_fit: f64,
    /// B: the first spill.
    pub first_spill: f64,
    /// C: the data are three times the pool.
    pub third: f64,
    /// Smallest pools with 50, 90 and 97 % of the throughput of A.
    pub reach: [f64; 3],
}

/// Shares of the throughput that [`Cliffs::reach`] is about.
pub const REACHED: [f64; 3] = [0.5, 0.9, 0.97];

/// The places for one drive and number of connections.
pub fn cliffs(
    system: &System,
    drive: &DriveAbility,
    connections: u32,
) -> Result<Cliffs, PredictError> {
    let all_fit = system.popularity.pages();
    let per_s = |pages: f64| -> Result<f64, PredictError> {
        let found = system.predict(&system.pool(pages), drive, connections)?;
        Ok(found.transactions_per_s)
    };
    let most = per_s(all_fit)?;
    let mut reach = [0.0; REACHED.len()];
    for (place, share) in reach.iter_mut().zip(REACHED) {
        let (mut low, mut high) = (all_fit / 1000.0, all_fit);
        for _ in 0..STEPS {
            let middle = low.midpoint(high);
            if per_s(middle)? < share * most {
                low = middle;
            } else {
                high = middle;
            }
        }
        *place = high;
    }
    Ok(Cliffs {
        all_fit,
        first_spill: (1.0 - FIRST_SPILL) * all_fit,
        third: all_fit / 3.0,
        reach,
    })
}
