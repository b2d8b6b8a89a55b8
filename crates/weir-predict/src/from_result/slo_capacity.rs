//! The most transactions that keep a latency: "10 times at a p99 of 10 ms" is a question of its own.

use crate::CONNECTIONS_BEYOND;
use serde::Serialize;
use weir_model::{Bytes, Objective};
use weir_report::{connections, table};

use crate::from_result::ForecastError;
use crate::from_result::calibrated_model::CalibratedModel;
use crate::from_result::data_model::DataModel;
use crate::from_result::latency::simulate_latency;

/// The numbers of connections with the highest throughput that keep an objective.
#[derive(Debug, Serialize)]
pub(crate) struct SloCapacity {
    objective: Objective,
    connections_max: u32,
    drives: Vec<String>,
    pools: Vec<Row>,
}

/// One pool.
#[derive(Debug, Serialize)]
struct Row {
    pool_bytes: u64,
    /// For each drive; `None` where a single connection misses the objective.
    most: Vec<Option<Most>>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Most {
    connections: u32,
    transactions_per_s: f64,
}

impl SloCapacity {
    /// For all pools and drives that are asked about, up to the largest number of connections that is predicted.
    pub(crate) fn find(
        calibrated: &CalibratedModel,
        data: &DataModel,
        objective: Objective,
    ) -> Result<Self, ForecastError> {
        let measured = calibrated.system.demands.connections_max;
        let most = (f64::from(measured) * CONNECTIONS_BEYOND) as u32;
        if most == 0 {
            return Err(ForecastError::NoConnection);
        }
        let row = |pool: &Bytes| {
            let model = calibrated.system.pool(data.frames(*pool));
            let each: Vec<u32> = (1..=most).collect();
            let found = calibrated.drives.iter().map(|(profile, drive)| {
                let predictions = calibrated.system.predict_each(&model, drive, &each)?;
                // Latency rises with connections.
                let kept = predictions.partition_point(|prediction| {
                    objective.is_met(&simulate_latency(calibrated, profile, prediction).latency())
                });
                let last = kept.checked_sub(1).map(|last| &predictions[last]);
                Ok(last.map(|prediction| Most {
                    connections: prediction.connections,
                    transactions_per_s: prediction.transactions_per_s,
                }))
            });
            Ok(Row {
                pool_bytes: pool.0,
                most: found.collect::<Result<_, ForecastError>>()?,
            })
        };
        let drives = calibrated.drives.iter();
        Ok(Self {
            objective,
            connections_max: most,
            drives: drives.map(|(_, drive)| drive.name.clone()).collect(),
            pools: data
                .pools
                .iter()
                .map(row)
                .collect::<Result<_, ForecastError>>()?,
        })
    }

    pub(crate) fn title(&self) -> String {
        format!(
            "most transactions per second with {}, up to {} connections",
            self.objective, self.connections_max
        )
    }

    pub(crate) fn table(&self) -> String {
        let header: Vec<_> = ["pool"]
            .into_iter()
            .chain(self.drives.iter().map(String::as_str))
            .collect();
        let told = |most: &Option<Most>| match most {
            Some(most) => format!(
                "{:.0} ({})",
                most.transactions_per_s,
                connections(most.connections)
            ),
            None => "none".to_owned(),
        };
        let row = |row: &Row| {
            let pool = [Bytes(row.pool_bytes).to_string()];
            pool.into_iter().chain(row.most.iter().map(told)).collect()
        };
        let rows: Vec<Vec<String>> = self.pools.iter().map(row).collect();
        table(&header, &rows)
    }
}
