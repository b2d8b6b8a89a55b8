//! Demands of a transaction on the host, from a result.
//!
//! Processor time is that of the server and the load engine. What an emulated drive takes of the cores is told
//! apart, since a real one takes none; what else the host did is not the transaction's. Runs that read different numbers of pages tell what a read costs; without them it is
//! assumed. What is left of a transaction's time when processor and drive have had theirs is its
//! wait: round trips, locks, the load engine. It is taken from the run with the shortest transactions, in
//! which what the model does not know of a busy drive has the least part.

use std::collections::BTreeMap;

use weir_model::variables::BUFFER_POOL_SIZE;
use weir_model::{
    Bytes, Cell, Doublewrite, Flavor, Metric, Plan, RedoFlush, RunResult, RunSpec, Series,
    ServerVariables, StudyResult, metrics,
};

use crate::cleaning::CleaningModel;
use crate::residency::find_root;
use crate::{
    Demands, Discrepancy, DriveAbility, Flushing, PoolUse, Popularity, PredictError, System,
    WriteSettings,
};

/// Processor time of a page read where it was not measured: 10 to 25 us on published hosts.
const CPU_S_PER_MISS: f64 = 15e-6;
/// By how many page reads, and by which share of them, runs must differ to tell what one takes.
const READS_APART: (f64, f64) = (0.2, 0.2);

/// Measured demands, and those that had to be assumed.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Calibration {
    /// The demands.
    pub demands: Demands,
    /// Redo of a transaction, bytes.
    pub redo_bytes: f64,
    /// Statements of a transaction.
    pub statements: f64,
    /// In words.
    pub assumed: Vec<String>,
}

/// A run in the terms of the model.
#[derive(Debug, Clone, Copy)]
struct RunMeasurement {
    cell: usize,
    connections: u32,
    per_s: f64,
    cpu_s: f64,
    misses: f64,
    page_writes: f64,
    /// Of the drive's emulation; 0 for a real drive.
    emulation_s: f64,
    redo_bytes: f64,
    statements: f64,
    /// Of its pool, for the pages in question.
    frames: f64,
}

impl Calibration {
    /// From the runs of `result`, which are all of one workload, with `popularity`, on one kind of server, with
    /// `pool_use`; `drive_of` knows the drive of a cell.
    ///
    /// # Errors
    ///
    /// Runs that lack what the model needs, or that contradict it.
    pub fn from_result<'a>(
        result: &StudyResult,
        popularity: &Popularity,
        pool_use: PoolUse,
        drive_of: &dyn Fn(&Cell) -> &'a DriveAbility,
    ) -> Result<Self, PredictError> {
        let cores: u32 = result
            .host
            .get("cores")
            .and_then(|cores| cores.parse().ok())
            .unwrap_or(1);
        let runs: Vec<RunMeasurement> = result
            .runs
            .iter()
            .filter_map(|run| RunMeasurement::from_run(&result.plan, popularity, pool_use, run))
            .collect();
        let Some(cached) = runs.iter().min_by(|a, b| a.misses.total_cmp(&b.misses)) else {
            return Err(PredictError::Outside {
                what: "result",
                value: result.plan.title.clone(),
                why: "it holds no run with throughput, processor time and pool reads",
                remedy: "run the study once",
            });
        };
        let mut assumed = Vec::new();
        let (cpu_s, cpu_s_per_miss) = processor_time(&runs, cached, &mut assumed);
        let quicker =
            |a: &&RunMeasurement, b: &&RunMeasurement| a.response_s().total_cmp(&b.response_s());
        let quickest = runs.iter().min_by(quicker).unwrap_or(cached);
        let mut system = System {
            popularity: popularity.clone(),
            writes: write_settings(result, quickest.redo_bytes)?,
            pool_use,
            old_blocks_time_s: old_blocks_time_s(of_first_cell(&result.plan)?),
            discrepancy: Discrepancy::default(),
            demands: Demands {
                cores,
                cpu_s,
                cpu_s_per_miss,
                emulation_s: emulation_s(&runs),
                wait_s: 0.0,
                connections_max: runs.iter().map(|run| run.connections).max().unwrap_or(1),
            },
        };
        let drive = drive_of(&result.plan.cells[quickest.cell]);
        system.demands.wait_s = wait_s(&system, drive, quickest);
        Ok(Self {
            demands: system.demands,
            redo_bytes: quickest.redo_bytes,
            statements: quickest.statements,
            assumed,
        })
    }
}

/// Returns the settings of the first cell of `plan`. Predictions are made of cells that differ in pool, drive and
/// connections alone.
fn of_first_cell(plan: &Plan) -> Result<&RunSpec, PredictError> {
    let cell = plan.cells.first().ok_or_else(|| PredictError::Outside {
        what: "study",
        value: plan.title.clone(),
        why: "it has no cell",
        remedy: "give it one",
    })?;
    Ok(&cell.spec)
}

/// Returns the write settings of the result's first run, with so much redo for a transaction.
///
/// # Errors
///
/// A result without runs, or with a variable that is no number.
pub fn write_settings(
    result: &StudyResult,
    redo_bytes: f64,
) -> Result<WriteSettings, PredictError> {
    let spec = of_first_cell(&result.plan)?;
    let first = result.runs.first();
    let nothing = BTreeMap::new();
    let variables = first.map_or(&nothing, |run| &*run.variables);
    let flavor = spec.primary().server.flavor;
    let variables = ServerVariables::said(flavor, variables);
    let number = |name: &str| variables.number(name);
    let default = Flushing::MYSQL;
    let is_mysql = spec.primary().server.flavor == Flavor::Mysql;
    let share = |name: &str| number(name).map(|percent| percent / 100.0);
    let dirty_low_water =
        share("innodb_max_dirty_pages_pct_lwm").unwrap_or(default.dirty_low_water);
    Ok(WriteSettings {
        redo_capacity_bytes: first
            .and_then(RunResult::redo_log_capacity)
            .map_or(100.0 * 1_048_576.0, |capacity| capacity.0 as f64),
        redo_bytes,
        doublewrite: variables.doublewrite().unwrap_or(Doublewrite::Repairs)
            == Doublewrite::Repairs,
        durable_commits: variables.redo_flush().unwrap_or(RedoFlush::EachCommit)
            == RedoFlush::EachCommit,
        flushing: Flushing {
            io_capacity: number("innodb_io_capacity").unwrap_or(default.io_capacity),
            io_capacity_max: number("innodb_io_capacity_max").unwrap_or(default.io_capacity_max),
            dirty_low_water,
            dirty_max: share("innodb_max_dirty_pages_pct").unwrap_or(default.dirty_max),
            log_low_water: if is_mysql || dirty_low_water > 0.0 {
                share("innodb_adaptive_flushing_lwm").unwrap_or(default.log_low_water)
            } else {
                Flushing::LOG_UNASKED
            },
            batch_pages: number("innodb_doublewrite_pages").unwrap_or(default.batch_pages),
            averaged: averaged(spec, number("innodb_flushing_avg_loops").unwrap_or(30.0)),
            drops: is_mysql,
        },
    })
}

/// Returns the nearness, 0 to 1, of the page cleaner's averages over so many seconds, in the middle of a run's
/// measurement.
fn averaged(spec: &RunSpec, averages_s: f64) -> f64 {
    let load = &spec.load;
    let middle_s = (load.warmup.most().0 + load.measure.0 / 2).as_secs_f64();
    match spec.primary().server.flavor {
        Flavor::Mysql => Flushing::averaged_after(middle_s / averages_s),
        Flavor::Mariadb => 1.0,
    }
}

/// `innodb_old_blocks_time` of a run's server, seconds.
pub fn old_blocks_time_s(spec: &RunSpec) -> f64 {
    let value = spec.variable("innodb_old_blocks_time");
    value
        .and_then(|text| text.parse::<f64>().ok())
        .unwrap_or(1000.0)
        / 1000.0
}

impl RunMeasurement {
    /// Mean time of a transaction, seconds.
    fn response_s(&self) -> f64 {
        f64::from(self.connections) / self.per_s
    }

    /// `None` for a run that lacks a figure.
    fn from_run(
        plan: &Plan,
        popularity: &Popularity,
        pool_use: PoolUse,
        run: &RunResult,
    ) -> Option<Self> {
        let record = &run.record;
        let per_s = record.transactions_per_s;
        let per_transaction = |metric| per_transaction(run, metric);
        let pool: Bytes = run.variables.get(BUFFER_POOL_SIZE)?.parse().ok()?;
        let cell = plan.cells.get(record.cell)?;
        Some(Self {
            cell: record.cell,
            connections: cell.spec.load.connections,
            per_s,
            cpu_s: processor_s(run)?,
            misses: per_transaction(metrics::STATUS_POOL_READS)?,
            page_writes: per_transaction(metrics::STATUS_PAGES_WRITTEN).unwrap_or(0.0),
            emulation_s: per_transaction(metrics::DRIVE_CPU).unwrap_or(0.0),
            redo_bytes: per_transaction(metrics::STATUS_REDO_WRITTEN).unwrap_or(0.0),
            statements: (record.queries_per_s / per_s).max(1.0),
            frames: pool_use.frames(pool, popularity),
        })
    }
}

/// Returns the increase of a counter per transaction of `run`; `None` where it was not sampled, or nothing ran.
pub fn per_transaction(run: &RunResult, metric: Metric) -> Option<f64> {
    let record = &run.record;
    let per_s = Series::find(&run.series, metric)?.rate(0.0, record.measured_s)?;
    (record.transactions_per_s > 0.0).then(|| per_s / record.transactions_per_s)
}

/// Processor time of a transaction of `run`, of server and load engine, seconds; `None` where it was not sampled.
pub fn processor_s(run: &RunResult) -> Option<f64> {
    Some(per_transaction(run, metrics::SERVER_CPU)? + per_transaction(run, metrics::CLIENT_CPU)?)
}

/// Processor time of a transaction without reads, and of a read: that of the runs that read least, and least squares
/// through their mean. Each transaction counts as much as any other, so quick runs count most, which are those that the
/// processors limit.
fn processor_time(
    runs: &[RunMeasurement],
    cached: &RunMeasurement,
    assumed: &mut Vec<String>,
) -> (f64, f64) {
    let least: Vec<&RunMeasurement> = runs
        .iter()
        .filter(|run| run.misses <= cached.misses + READS_APART.0)
        .collect();
    let per_s: f64 = least.iter().map(|run| run.per_s).sum();
    let mean = |of: fn(&RunMeasurement) -> f64| {
        least.iter().map(|run| run.per_s * of(run)).sum::<f64>() / per_s
    };
    let (misses, cpu_s) = (mean(|run| run.misses), mean(|run| run.cpu_s));
    let weighed = |of: &dyn Fn(&RunMeasurement) -> f64| -> f64 {
        runs.iter().map(|run| run.per_s * of(run)).sum()
    };
    let spread = weighed(&|run| (run.misses - misses).powi(2));
    let together = weighed(&|run| (run.misses - misses) * (run.cpu_s - cpu_s));
    let apart = runs.iter().map(|run| run.misses).fold(0.0, f64::max) - cached.misses;
    if apart < READS_APART.0.max(READS_APART.1 * cached.misses) || together <= 0.0 {
        assumed.push(format!(
            "a page read takes {:.0} us of processor time: the runs read about the same",
            CPU_S_PER_MISS * 1e6
        ));
        let without_s = (cpu_s - misses * CPU_S_PER_MISS).max(cpu_s / 2.0);
        return (without_s, CPU_S_PER_MISS);
    }
    let each_s = together / spread;
    ((cpu_s - each_s * misses).max(cpu_s / 10.0), each_s)
}

/// Processor time of the drive's emulation for a page that is read or written, over all runs: those that read and
/// write most say most.
fn emulation_s(runs: &[RunMeasurement]) -> f64 {
    let per_s =
        |of: fn(&RunMeasurement) -> f64| runs.iter().map(|run| run.per_s * of(run)).sum::<f64>();
    let pages = per_s(|run| run.misses + run.page_writes);
    if pages > 0.0 {
        per_s(|run| run.emulation_s) / pages
    } else {
        0.0
    }
}

/// The wait with which the model has the throughput that `run` had with what it read.
fn wait_s(system: &System, drive: &DriveAbility, run: &RunMeasurement) -> f64 {
    let pool = system.pool(run.frames);
    let changed = system
        .writes
        .changed_pages(&system.popularity, pool.pages(), pool.promoting());
    let slower = |wait_s: f64| {
        let mut system = system.clone();
        system.demands.wait_s = wait_s;
        let cleaning = CleaningModel::new(system.queues(drive, run.misses), run.connections);
        let pace = |writes| cleaning.pace(writes, run.connections);
        1.0 - pace(changed.writes(pace)).transactions_per_s / run.per_s
    };
    if slower(0.0) >= 0.0 {
        return 0.0;
    }
    let response_s = run.response_s();
    find_root(response_s * 1e-6, response_s, slower)
}
