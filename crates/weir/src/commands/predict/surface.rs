//! The predictions of `weir predict` and their tables.

use serde::Serialize;
use weir_drive::Model;
use weir_model::{Bytes, DriveProfile, Scale};
use weir_predict::{
    Calibration, Cliffs, DriveAbility, ListState, PoolModel, Prediction, REACHED, Scenario, cliffs,
    frozen, midpoint, simulate,
};
use weir_report::table;

use super::calibrated::{Calibrated, stored_share};
use super::growth::Growth;
use super::{Subject, whole_mebibytes};

/// Transactions of a simulation: enough for a 99th percentile.
const SIMULATED: u64 = 20_000;
/// Capacity of a simulated drive; its fill is a share, so that a small one does.
const SIMULATED_BYTES: u64 = 512 << 20;

/// What a pool misses.
#[derive(Debug, Serialize)]
pub(super) struct Misses {
    pool_bytes: u64,
    share_of_data: f64,
    miss_ratio: f64,
    miss_ratio_frozen: f64,
    reads_per_transaction: f64,
}

impl Misses {
    pub(super) fn of(subject: &Subject, pool: Bytes) -> Self {
        let frames = subject.frames(pool).max(1.0);
        let promoting = midpoint(&subject.popularity, frames, 0.0);
        Self {
            pool_bytes: pool.0,
            share_of_data: pool.0 as f64 / subject.data_bytes,
            miss_ratio: promoting.miss_ratio,
            miss_ratio_frozen: frozen(&subject.popularity, frames).miss_ratio,
            reads_per_transaction: promoting.misses,
        }
    }

    pub(super) fn row(&self) -> Vec<String> {
        vec![
            Bytes(self.pool_bytes).to_string(),
            format!("{:.0} %", self.share_of_data * 100.0),
            format!("{:.4}", self.miss_ratio),
            format!("{:.4}", self.miss_ratio_frozen),
            format!("{:.3}", self.reads_per_transaction),
        ]
    }
}

/// Predictions for pools, drives and connections.
#[derive(Debug, Serialize)]
pub(super) struct Surface {
    calibration: Calibration,
    /// Cores of the host that is asked about.
    cores: u32,
    drive_scale: Scale,
    /// Stored bytes / written bytes on a drive that compresses.
    compressed_fraction: f64,
    parts: Vec<Part>,
}

/// One drive and number of connections.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    drive: String,
    connections: u32,
    points: Vec<Point>,
    cliffs: Cliffs,
    /// The drive in whose memory this one's worth is counted: the first.
    beside: Option<String>,
    growth: Option<Growth>,
}

/// One pool.
#[derive(Debug, Serialize)]
struct Point {
    pool_bytes: u64,
    share_of_data: f64,
    #[serde(flatten)]
    prediction: Prediction,
    latency_us_p99: Option<f64>,
    /// What the result's own runs of this place did, on average.
    measured_transactions_per_s: Option<f64>,
    /// The pool that does the same on the first drive; `None` where none does, and on that drive.
    equivalent_pool_bytes: Option<u64>,
}

impl Surface {
    pub(super) fn of(
        calibrated: &Calibrated,
        subject: &Subject,
        growth: Option<f64>,
    ) -> anyhow::Result<Self> {
        let pools = subject.pools.iter();
        let pools: Vec<_> = pools
            .map(|pool| (*pool, calibrated.system.pool(subject.frames(*pool))))
            .collect();
        let mut parts = Vec::new();
        for (number, (profile, drive)) in calibrated.drives.iter().enumerate() {
            let asked = Asked {
                subject,
                calibrated,
                profile,
                drive,
                beside: (number > 0).then(|| &calibrated.drives[0].1),
                growth,
            };
            parts.extend(asked.parts(&pools)?);
        }
        Ok(Self {
            calibration: calibrated.calibration.clone(),
            cores: calibrated.system.demands.cores,
            drive_scale: calibrated.scale,
            compressed_fraction: calibrated.compressed_fraction,
            parts,
        })
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What a reader has to know beside the figures.
    pub(super) fn assumed(&self) -> Vec<String> {
        let demands = &self.calibration.demands;
        let mut lines = vec![format!(
            "{} cores; a transaction takes {:.3} ms of processor time and {:.1} us more for each page \
             read, and waits {:.3} ms for neither (measured, up to {} connections)",
            self.cores,
            demands.cpu_s * 1e3,
            demands.cpu_s_per_miss * 1e6,
            demands.wait_s * 1e3,
            demands.connections_max
        )];
        lines.extend(self.calibration.assumed.iter().cloned());
        if self.drive_scale < Scale::FULL {
            lines.push(format!(
                "drives have {} of their throughput, as in the study",
                self.drive_scale
            ));
        }
        let data = if self.compressed_fraction < 1.0 {
            let percent = self.compressed_fraction * 100.0;
            format!("data that a drive stores in {percent:.0} % of their size if it compresses")
        } else {
            "data that do not compress".to_owned()
        };
        lines.push(format!(
            "steady state, independent keys, {data}, commits in groups, no time for the drive's emulation"
        ));
        lines
    }
}

impl Part {
    pub(super) fn title(&self) -> String {
        format!("{}, {} connections", self.drive, self.connections)
    }

    pub(super) fn table(&self) -> String {
        let worth = self.beside.as_ref();
        let worth = worth.map(|first| format!("pool on {first}"));
        let mut header = vec!["pool", "of data", "misses", "reads/tx", "tx/s"];
        header.extend(self.has_measured().then_some("measured"));
        header.extend(["mean ms", "p99 ms", "limited by"]);
        header.extend(worth.as_deref());
        let rows: Vec<_> = self.points.iter().map(|point| point.row(self)).collect();
        table(&header, &rows)
    }

    fn has_measured(&self) -> bool {
        let mut points = self.points.iter();
        points.any(|point| point.measured_transactions_per_s.is_some())
    }

    /// What becomes of it as the data grow, if that was asked.
    pub(super) fn growth(&self) -> Option<String> {
        self.growth.as_ref().map(Growth::line)
    }

    /// The places that have names, in one line.
    pub(super) fn places(&self) -> String {
        let size = |pages: f64| whole_mebibytes(pages).to_string();
        let reach = REACHED.iter().zip(self.cliffs.reach);
        let reach: Vec<_> = reach
            .map(|(share, pages)| format!("{:.0} % at {}", share * 100.0, size(pages)))
            .collect();
        format!(
            "A (all fits) {}, B (first spill) {}, C (a third) {}; of A's throughput: {}",
            size(self.cliffs.all_fit),
            size(self.cliffs.first_spill),
            size(self.cliffs.third),
            reach.join(", ")
        )
    }
}

impl Point {
    fn row(&self, part: &Part) -> Vec<String> {
        let found = &self.prediction;
        let p99 = self.latency_us_p99;
        let list = match found.list {
            ListState::Frozen => " (pool frozen)",
            ListState::NearFreezing => " (pool near freezing)",
            ListState::AllFit | ListState::LeastRecentUse | ListState::Promoting => "",
        };
        let mut row = vec![
            Bytes(self.pool_bytes).to_string(),
            format!("{:.0} %", self.share_of_data * 100.0),
            format!("{:.4}", found.miss_ratio),
            format!("{:.3}", found.reads),
            format!("{:.0}", found.transactions_per_s),
        ];
        if part.has_measured() {
            let measured = self.measured_transactions_per_s;
            row.push(measured.map_or_else(|| "-".to_owned(), |per_s| format!("{per_s:.0}")));
        }
        row.extend([
            format!("{:.2}", found.response_s * 1e3),
            p99.map_or_else(|| "-".to_owned(), |us| format!("{:.2}", us / 1e3)),
            format!("{}{list}", found.limit.as_str()),
        ]);
        if part.beside.is_some() {
            let pool = self.equivalent_pool_bytes;
            row.push(pool.map_or_else(|| "none".to_owned(), |pool| Bytes(pool).to_string()));
        }
        row
    }
}

/// One drive, asked about all pools and numbers of connections.
struct Asked<'a> {
    subject: &'a Subject,
    calibrated: &'a Calibrated,
    profile: &'a DriveProfile,
    drive: &'a DriveAbility,
    /// The first drive, unless this is it.
    beside: Option<&'a DriveAbility>,
    /// Growth of the data, percent a month.
    growth: Option<f64>,
}

impl Asked<'_> {
    /// A part for each number of connections.
    fn parts(&self, pools: &[(Bytes, PoolModel<'_>)]) -> anyhow::Result<Vec<Part>> {
        let threads = &self.calibrated.threads;
        let parts = threads.iter().map(|connections| self.part(*connections));
        let mut parts = parts.collect::<anyhow::Result<Vec<_>>>()?;
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
    fn part(&self, connections: u32) -> anyhow::Result<Part> {
        let place = self.calibrated.place(self.drive, connections);
        let growth = |percent| Growth::of(&place, self.subject, percent);
        Ok(Part {
            drive: self.drive.name.clone(),
            connections,
            points: Vec::new(),
            cliffs: cliffs(&place)?,
            beside: self.beside.map(|first| first.name.clone()),
            growth: self.growth.map(growth).transpose()?,
        })
    }

    fn point(&self, pool: Bytes, prediction: Prediction) -> anyhow::Result<Point> {
        let frames = self.subject.frames(pool);
        let equivalent = |first| {
            let place = self.calibrated.place(first, prediction.connections);
            place.memory_equivalent(self.drive, frames)
        };
        let equivalent = self.beside.map(equivalent).transpose()?.flatten();
        Ok(Point {
            pool_bytes: pool.0,
            share_of_data: pool.0 as f64 / self.subject.data_bytes,
            latency_us_p99: self.latency_us_p99(&prediction),
            measured_transactions_per_s: self.calibrated.measured(
                &self.drive.name,
                pool,
                prediction.connections,
            ),
            equivalent_pool_bytes: equivalent
                .map(|pages| whole_mebibytes(pages + self.subject.popularity.upper_pages()).0),
            prediction,
        })
    }

    fn latency_us_p99(&self, prediction: &Prediction) -> Option<f64> {
        let demands = &self.calibrated.system.demands;
        let writes = &self.calibrated.system.writes;
        let scenario = Scenario {
            connections: prediction.connections,
            cores: demands.cores,
            cpu_s: demands.cpu_s + prediction.reads * demands.cpu_s_per_miss,
            wait_s: demands.wait_s,
            reads: prediction.reads,
            page_writes: prediction.page_writes,
            doublewrite: writes.doublewrite,
            redo_bytes: writes.redo_bytes,
            durable_commits: writes.durable_commits,
            data_pages: SIMULATED_BYTES / 4 / 16_384,
            compressed_fraction: stored_share(self.profile, self.calibrated.compressed_fraction),
            transactions: SIMULATED,
            seed: 1,
        };
        let mut drive = Model::with_capacity(self.profile, self.calibrated.scale, SIMULATED_BYTES);
        simulate(&scenario, &mut drive).latencies.quantile_us(0.99)
    }
}
