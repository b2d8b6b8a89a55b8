//! Questions beside throughput and latency.

use weir_model::Objective;

use crate::from_result::prices::PriceList;

/// Questions of a forecast beside throughput and latency.
#[derive(Debug, Default)]
pub struct Query {
    /// Growth of the data, percent a month.
    pub growth: Option<f64>,
    /// A latency to keep.
    pub objective: Option<Objective>,
    /// Prices of memory and drives.
    pub prices: PriceList,
}
