//! Shares as per cent.

/// 0.05 as 5, to a thousandth.
pub(crate) fn percent(share: f64) -> f64 {
    (share * 1e5).round() / 1e3
}
