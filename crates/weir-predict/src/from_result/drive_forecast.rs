//! One drive and number of connections: a table of pools.

use crate::{Cliffs, DriveAbility, ListState, PoolModel, Prediction, REACHED, cliffs};
use serde::Serialize;
use weir_model::{Bytes, DriveProfile};
use weir_report::{PredictedDrive, PredictedPoint, connections, table};

use crate::from_result::ForecastError;
use crate::from_result::calibrated_model::CalibratedModel;
use crate::from_result::data_model::DataModel;
use crate::from_result::growth::Growth;
use crate::from_result::latency::simulate_latency;
use crate::from_result::pools::{pool_or_none, whole_mebibytes};
use crate::from_result::prices::BreakEven;
use crate::from_result::query::Query;

/// One drive and number of connections.
#[derive(Debug, Serialize)]
pub struct DriveForecast {
    pub(crate) drive: String,
    pub(crate) connections: u32,
    points: Vec<Point>,
    cliffs: Cliffs,
    /// The drive in whose memory this one's worth is counted: the first.
    beside: Option<String>,
    growth: Option<Growth>,
    break_even: Option<BreakEven>,
}

/// One pool.
#[derive(Debug, Serialize)]
struct Point {
    pool_bytes: u64,
    share_of_data: f64,
    #[serde(flatten)]
    prediction: Prediction,
    /// Between which the throughput is likely, by how far off the result's own places are.
    transactions_per_s_likely: Option<[f64; 2]>,
    latency_us_p99: Option<f64>,
    /// Average of the result's own runs of this place.
    measured_transactions_per_s: Option<f64>,
    measured_miss_ratio: Option<f64>,
    /// The pool that does the same on the first drive; `None` where none does, and on that drive.
    equivalent_pool_bytes: Option<u64>,
    /// Premium of this drive over the first: the price of the memory that makes up for it.
    worth: Option<f64>,
    /// Price of the pool and the drive / transactions per second.
    price_per_transaction_per_s: Option<f64>,
}

/// A column of the table: its title, and what stands in it.
type Column = (String, fn(&Point) -> String);

impl DriveForecast {
    /// Drive and connections.
    pub fn title(&self) -> String {
        format!("{}, {}", self.drive, connections(self.connections))
    }

    /// The pools, a line each.
    pub fn table(&self) -> String {
        let columns = self.columns();
        let header: Vec<_> = columns.iter().map(|(title, _)| title.as_str()).collect();
        let row = |point: &Point| columns.iter().map(|(_, text)| text(point)).collect();
        let rows: Vec<Vec<String>> = self.points.iter().map(row).collect();
        table(&header, &rows)
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        let mut add = |title: &str, text: fn(&Point) -> String| {
            columns.push((title.to_owned(), text));
        };
        add("pool", |point| Bytes(point.pool_bytes).to_string());
        add("of data", |point| {
            format!("{:.0} %", point.share_of_data * 100.0)
        });
        add("misses", |point| {
            format!("{:.4}", point.prediction.miss_ratio)
        });
        if self.has(|point| point.measured_miss_ratio.is_some()) {
            add("measured", |point| {
                let measured = point.measured_miss_ratio;
                or_dash(measured.map(|ratio| format!("{ratio:.4}")))
            });
        }
        add("reads/tx", |point| format!("{:.3}", point.prediction.reads));
        add("tx/s", |point| {
            format!("{:.0}", point.prediction.transactions_per_s)
        });
        if self.has(|point| point.transactions_per_s_likely.is_some()) {
            add("likely", |point| {
                let range = point.transactions_per_s_likely;
                or_dash(range.map(|[low, high]| format!("{low:.0} to {high:.0}")))
            });
        }
        if self.has(|point| point.measured_transactions_per_s.is_some()) {
            add("measured", |point| {
                let measured = point.measured_transactions_per_s;
                or_dash(measured.map(|per_s| format!("{per_s:.0}")))
            });
        }
        add("mean ms", |point| {
            format!("{:.2}", point.prediction.response_s * 1e3)
        });
        add("p99 ms", |point| {
            or_dash(point.latency_us_p99.map(|us| format!("{:.2}", us / 1e3)))
        });
        add("limited by", Point::limit);
        if let Some(first) = &self.beside {
            add(&format!("{first} needs"), |point| {
                pool_or_none(point.equivalent_pool_bytes)
            });
        }
        if self.has(|point| point.worth.is_some()) {
            add("may cost more", |point| amount(point.worth));
        }
        if self.has(|point| point.price_per_transaction_per_s.is_some()) {
            add("price per tx/s", |point| {
                amount(point.price_per_transaction_per_s)
            });
        }
        columns
    }

    fn has(&self, what: fn(&Point) -> bool) -> bool {
        self.points.iter().any(what)
    }

    /// The line of the report's figure.
    pub(crate) fn figure(&self) -> PredictedDrive {
        PredictedDrive {
            drive: self.drive.clone(),
            points: self.points.iter().map(Point::of_figure).collect(),
        }
    }

    /// Returns the effect of growing data, if that was asked.
    pub fn growth(&self) -> Option<String> {
        self.growth.as_ref().map(Growth::line)
    }

    /// Returns the pages that earn their memory, if prices were given.
    pub fn break_even(&self) -> Option<String> {
        self.break_even.as_ref().map(BreakEven::line)
    }

    /// The places that have names, in one line.
    pub fn places(&self) -> String {
        let size = |pages: f64| whole_mebibytes(pages).to_string();
        let reach = REACHED.iter().zip(self.cliffs.reach).enumerate();
        let reach: Vec<_> = reach
            .map(|(at, (share, pages))| {
                let unit = if at == 0 { " of A's throughput" } else { "" };
                format!("{:.0} %{unit} at {}", share * 100.0, size(pages))
            })
            .collect();
        format!(
            "A (all fits) {}, B (2 % short) {}, C (a third) {}; cliff: {}",
            size(self.cliffs.all_fit),
            size(self.cliffs.first_spill),
            size(self.cliffs.third),
            reach.join(", ")
        )
    }
}

impl Point {
    fn of_figure(&self) -> PredictedPoint {
        PredictedPoint {
            pool_bytes: self.pool_bytes,
            transactions_per_s: self.prediction.transactions_per_s,
            likely: self.transactions_per_s_likely,
            measured_transactions_per_s: self.measured_transactions_per_s,
            latency_ms_p99: self.latency_us_p99.map(|us| us / 1e3),
            miss_ratio: self.prediction.miss_ratio,
            limit: self.prediction.limit.as_str().to_owned(),
        }
    }

    fn limit(&self) -> String {
        let list = match self.prediction.list {
            ListState::Frozen => " (pool frozen)",
            ListState::NearFreezing => " (pool near freezing)",
            ListState::AllFit | ListState::LeastRecentUse | ListState::Promoting => "",
        };
        format!("{}{list}", self.prediction.limit.as_str())
    }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

fn amount(amount: Option<f64>) -> String {
    or_dash(amount.map(|amount| format!("{amount:.2}")))
}

/// One drive, asked about all pools and numbers of connections.
pub(crate) struct DriveQuery<'a> {
    pub(crate) data: &'a DataModel,
    pub(crate) calibrated: &'a CalibratedModel,
    pub(crate) profile: &'a DriveProfile,
    pub(crate) drive: &'a DriveAbility,
    /// The first drive, unless this is it.
    pub(crate) beside: Option<&'a DriveAbility>,
    pub(crate) query: &'a Query,
}

impl DriveQuery<'_> {
    /// A part for each number of connections.
    pub(crate) fn parts(
        &self,
        pools: &[(Bytes, PoolModel<'_>)],
    ) -> Result<Vec<DriveForecast>, ForecastError> {
        let threads = &self.calibrated.threads;
        let parts = threads.iter().map(|connections| self.part(*connections));
        let mut parts = parts.collect::<Result<Vec<_>, ForecastError>>()?;
        for (pool, model) in pools {
            let system = &self.calibrated.system;
            let found = system.predict_each(model, self.drive, threads)?;
            for (part, prediction) in parts.iter_mut().zip(found) {
                part.points.push(self.point(*pool, prediction)?);
            }
        }
        Ok(parts)
    }

    /// A part without its points.
    fn part(&self, connections: u32) -> Result<DriveForecast, ForecastError> {
        let place = self.calibrated.place(self.drive, connections);
        let growth = |percent| Growth::predict(&place, self.data, percent);
        Ok(DriveForecast {
            drive: self.drive.name.clone(),
            connections,
            points: Vec::new(),
            cliffs: cliffs(&place)?,
            beside: self.beside.map(|first| first.name.clone()),
            growth: self.query.growth.map(growth).transpose()?,
            break_even: self.query.prices.break_even(&place)?,
        })
    }

    fn point(&self, pool: Bytes, prediction: Prediction) -> Result<Point, ForecastError> {
        let frames = self.data.frames(pool);
        let equivalent = |first| {
            let place = self.calibrated.place(first, prediction.connections);
            place.memory_equivalent(self.drive, frames)
        };
        let equivalent = self.beside.map(equivalent).transpose()?.flatten();
        let equivalent = equivalent.map(|pages| whole_mebibytes(self.data.pages_of_pool(pages)).0);
        let connections = prediction.connections;
        let measured = self
            .calibrated
            .measured(&self.drive.name, pool, connections);
        let price = self.query.prices.of_both(&self.drive.name, pool.0);
        Ok(Point {
            pool_bytes: pool.0,
            share_of_data: pool.0 as f64 / self.data.data_bytes,
            transactions_per_s_likely: self
                .calibrated
                .agreement
                .map(|found| found.range(prediction.transactions_per_s)),
            latency_us_p99: simulate_latency(self.calibrated, self.profile, &prediction)
                .latencies
                .quantile_us(0.99)
                .map(|latency_us| latency_us / prediction.corrected_by),
            measured_transactions_per_s: measured.map(|measured| measured.transactions_per_s),
            measured_miss_ratio: measured.and_then(|measured| measured.miss_ratio),
            equivalent_pool_bytes: equivalent,
            worth: equivalent.and_then(|larger| self.query.prices.of_memory(pool.0, larger)),
            price_per_transaction_per_s: price.map(|price| price / prediction.transactions_per_s),
            prediction,
        })
    }
}
