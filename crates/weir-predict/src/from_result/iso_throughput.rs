//! Pools and drives with which a server does the same: lines of equal throughput over memory and drives.

use serde::Serialize;
use weir_report::{connections, table};

use crate::from_result::ForecastError;
use crate::from_result::calibrated::Calibrated;
use crate::from_result::data_model::DataModel;
use crate::from_result::pools::{pool_or_none, whole_mebibytes};

/// Shares of the most that any of the drives does with all data in memory.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.95];

/// The smallest pools for some throughputs, for one number of connections.
#[derive(Debug, Serialize)]
pub(crate) struct IsoThroughput {
    connections: u32,
    drives: Vec<String>,
    lines: Vec<Line>,
}

/// One throughput.
#[derive(Debug, Serialize)]
struct Line {
    transactions_per_s: f64,
    /// A pool for each drive; `None` where no pool does it.
    pool_bytes: Vec<Option<u64>>,
}

impl IsoThroughput {
    pub(crate) fn of(
        calibrated: &Calibrated,
        data: &DataModel,
        connections: u32,
    ) -> Result<Self, ForecastError> {
        let drives = calibrated.drives.iter().map(|(_, drive)| drive);
        let places: Vec<_> = drives
            .map(|drive| calibrated.place(drive, connections))
            .collect();
        let all_fit = data.popularity.pages();
        let mut most = 0.0_f64;
        for place in &places {
            most = most.max(place.at(all_fit)?.transactions_per_s);
        }
        let line = |share: f64| {
            let pools = places.iter().map(|place| {
                let pages = place.smallest_pool(share * most)?;
                Ok(pages.map(|pages| whole_mebibytes(data.pages_of_pool(pages)).0))
            });
            Ok(Line {
                transactions_per_s: share * most,
                pool_bytes: pools.collect::<Result<_, ForecastError>>()?,
            })
        };
        Ok(Self {
            connections,
            drives: places
                .iter()
                .map(|place| place.drive.name.clone())
                .collect(),
            lines: SHARES
                .into_iter()
                .map(line)
                .collect::<Result<_, ForecastError>>()?,
        })
    }

    pub(crate) fn title(&self) -> String {
        format!(
            "the smallest pool for a throughput, {}",
            connections(self.connections)
        )
    }

    pub(crate) fn table(&self) -> String {
        let header: Vec<_> = ["tx/s"]
            .into_iter()
            .chain(self.drives.iter().map(String::as_str))
            .collect();
        let row = |line: &Line| {
            let per_s = [format!("{:.0}", line.transactions_per_s)];
            let pools = line.pool_bytes.iter().copied().map(pool_or_none);
            per_s.into_iter().chain(pools).collect()
        };
        let rows: Vec<Vec<String>> = self.lines.iter().map(row).collect();
        table(&header, &rows)
    }
}
