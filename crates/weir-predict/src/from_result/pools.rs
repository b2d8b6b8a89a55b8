//! Sizes of pools: which are asked about, and how they are written.

use std::collections::BTreeSet;

use crate::PAGE_BYTES;
use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Bytes, Plan};

use crate::from_result::ForecastError;

/// Pools by default, as shares of the data.
const SHARES: [f64; 8] = [0.1, 0.2, 0.33, 0.5, 0.7, 0.85, 1.0, 1.2];
/// Doublings of a range of pools.
const DOUBLINGS_MAX: usize = 20;

/// The plan's own pools if it has several, else shares of the data.
pub(crate) fn default_pools(plan: &Plan, data_bytes: f64) -> Result<Vec<Bytes>, ForecastError> {
    let own = plan
        .cells
        .iter()
        .filter_map(|cell| cell.spec.variable(POOL));
    let own: BTreeSet<Bytes> = own.map(str::parse).collect::<Result<_, _>>()?;
    if own.len() > 1 {
        return Ok(own.into_iter().collect());
    }
    pools_or_shares(None, data_bytes / PAGE_BYTES)
}

/// The pools that were `given`, or else shares of so many pages.
pub(crate) fn pools_or_shares(
    given: Option<&str>,
    pages: f64,
) -> Result<Vec<Bytes>, ForecastError> {
    let shares = || {
        SHARES
            .iter()
            .map(|share| whole_mebibytes(pages * share))
            .collect()
    };
    given.map_or_else(|| Ok(shares()), pools)
}

/// `1G..64G`, or `1G,2G,3G`.
pub(crate) fn pools(text: &str) -> Result<Vec<Bytes>, ForecastError> {
    let Some((low, high)) = text.split_once("..") else {
        let sizes = text.split(',').map(str::parse::<Bytes>);
        return Ok(sizes.collect::<Result<_, _>>()?);
    };
    let (low, high): (Bytes, Bytes) = (low.parse()?, high.parse()?);
    if low.0 == 0 || high < low {
        return Err(ForecastError::PoolRange {
            text: text.to_owned(),
        });
    }
    let sizes = (0..DOUBLINGS_MAX).map(|step| Bytes(low.0 << step));
    Ok(sizes.take_while(|size| *size <= high).collect())
}

/// A pool as tables have it, or `none` where no pool does what is asked.
pub(crate) fn pool_or_none(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "none".to_owned(), |bytes| Bytes(bytes).to_string())
}

/// Bytes of so many pages, rounded up to what a pool's size is written in.
pub(crate) fn whole_mebibytes(pages: f64) -> Bytes {
    let mebibytes = (pages * PAGE_BYTES / 1_048_576.0).ceil() as u64;
    Bytes(mebibytes << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_a_range_or_a_list() {
        let sizes = |text| {
            pools(text)
                .unwrap()
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes("1G..8G"), ["1G", "2G", "4G", "8G"]);
        assert_eq!(sizes("128M,1G"), ["128M", "1G"]);
        assert!(pools("8G..1G").unwrap_err().to_string().contains("1G..64G"));
    }
}
