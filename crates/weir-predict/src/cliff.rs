//! Pool sizes at which a smaller pool begins to cost: the points on the curve that have names.
//!
//! A: all pages that are used fit. B: the first two in a hundred do not. C: a third fits. Between
//! them, the pools at which throughput reaches 50, 90 and 97 % of that of A.

use crate::{OperatingPoint, PredictError};

/// Share of the pages that no longer fit at the first spill.
const FIRST_SPILL: f64 = 0.02;

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
///
/// # Errors
///
/// As [`OperatingPoint::at`].
pub fn cliffs(place: &OperatingPoint<'_>) -> Result<Cliffs, PredictError> {
    let all_fit = place.system.popularity.pages();
    let most = place.at(all_fit)?.transactions_per_s;
    let mut reach = [all_fit; REACHED.len()];
    for (pool, share) in reach.iter_mut().zip(REACHED) {
        *pool = place.smallest_pool(share * most)?.unwrap_or(all_fit);
    }
    Ok(Cliffs {
        all_fit,
        first_spill: (1.0 - FIRST_SPILL) * all_fit,
        third: all_fit / 3.0,
        reach,
    })
}
