//! Forecast of a year of growing data for a server whose memory and drive stay as they are.

use std::fmt::Write as _;

use crate::{OperatingPoint, Prediction};
use serde::Serialize;
use weir_model::Bytes;

use crate::from_result::ForecastError;
use crate::from_result::data_model::DataModel;

const MONTHS: u32 = 12;
/// Months that the line names.
const TOLD: [usize; 4] = [1, 3, 6, 12];
/// The share of today's throughput at which the line says that memory or drive have to follow.
const TOO_LITTLE: f64 = 0.5;

/// Predictions of a year, month by month.
#[derive(Debug, Serialize)]
pub(crate) struct Growth {
    percent_a_month: f64,
    pool_bytes: u64,
    /// Today's first, then one for each month.
    months: Vec<Prediction>,
}

impl Growth {
    pub(crate) fn predict(
        place: &OperatingPoint<'_>,
        data: &DataModel,
        percent: f64,
    ) -> Result<Self, ForecastError> {
        let pool = data.pool_today;
        let months = place.growth(data.frames(pool), percent / 100.0, MONTHS)?;
        Ok(Self {
            percent_a_month: percent,
            pool_bytes: pool.0,
            months,
        })
    }

    pub(crate) fn line(&self) -> String {
        let per_s = |month: usize| self.months[month].transactions_per_s;
        let mut line = format!(
            "data grow by {} % a month, pool {}: {:.0} transactions per second today",
            self.percent_a_month,
            Bytes(self.pool_bytes),
            per_s(0)
        );
        for month in TOLD {
            let share = per_s(month) / per_s(0) * 100.0;
            let _ = write!(line, ", {share:.0} % of that in month {month}");
        }
        let low = (1..self.months.len()).find(|month| per_s(*month) < TOO_LITTLE * per_s(0));
        if let Some(month) = low {
            let _ = write!(line, "; below half in month {month}");
        }
        line
    }
}
