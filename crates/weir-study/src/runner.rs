//! Makes the runs of a plan: the only part of this crate that touches servers and drives.
//!
//! Every run starts from nothing but the snapshot: data restored, drive mounted, server started
//! cold, loaded, and all of it thrown away. What remains is the stored result.

mod bench;
mod commands;
mod data;
mod host;
mod place;
mod single_run;
mod usage;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use weir_model::{Analysis, Bytes, Plan, PlannedRun, Provenance, RunResult, StudyResult};
use weir_process::{Registry, sweep};
use weir_store::Store;

use self::bench::Bench;
use crate::evaluate::RESULT_FILE;
use crate::{Event, StudyError, evaluate};
use weir_process::PathError;

/// Where and how a study runs.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Folder of the result; made if need be.
    pub out: PathBuf,
    /// Go on with the result in `out` if there is one.
    pub resume: bool,
    /// Where data directories and mounts are put; by default in memory if they fit.
    pub work: Option<PathBuf>,
    /// The `weir` program, which the drives run in.
    pub weir: PathBuf,
    /// Emulate drives also below this machine's FUSE floor.
    pub below_floor: bool,
    /// What the result says of where it comes from.
    pub provenance: Provenance,
}

/// A study that was run, or as much of it as there was time for.
#[derive(Debug)]
pub struct RunOutcome {
    /// The result, judged.
    pub result: StudyResult,
    /// Its file.
    pub file: PathBuf,
    /// Whether `stop` ended it before the last run.
    pub stopped: bool,
}

/// Runs `plan`. When `stop` becomes true, the run in flight is dropped and what is complete kept.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<RunOutcome, StudyError> {
    // What a killed study left behind would take memory and space from this one.
    sweep(&Registry::open()?)?;
    let file = options.out.join(RESULT_FILE);
    let mut store = resumed_store(plan, &file, options.resume)?;
    let bench = Bench::new(plan, options)?;
    let Some(data) = data::prepare(&bench, stop, on_event)? else {
        return Err(StudyError::StoppedBeforeFirstRun);
    };
    bench.check_capacity(data.directory)?;
    let completed = store.as_ref().map_or(Ok(Vec::new()), Store::completed)?;
    let mut stopped = false;
    for (index, planned) in plan.runs.iter().enumerate() {
        if completed.contains(&(planned.cell, planned.repetition)) {
            continue;
        }
        let position = Position {
            index,
            planned: *planned,
        };
        let Some(run) = make_run(&bench, &data, position, stop, on_event)? else {
            stopped = true;
            break;
        };
        // There is no result before there is a run to put into it.
        let store = match &mut store {
            Some(store) => store,
            None => store.insert(create_store(&bench, &options.out, &file, data.tables)?),
        };
        store.append(&run)?;
        position.finished(&bench, &run, on_event);
    }
    let Some(store) = store else {
        return Err(StudyError::StoppedBeforeFirstRun);
    };
    Ok(RunOutcome {
        result: evaluate(store.read()?)?,
        file,
        stopped,
    })
}

/// A run and where it stands in the plan.
#[derive(Clone, Copy)]
struct Position {
    index: usize,
    planned: PlannedRun,
}

impl Position {
    fn finished(self, bench: &Bench<'_>, run: &RunResult, on_event: &mut dyn FnMut(&Event<'_>)) {
        on_event(&Event::RunFinished {
            position: self.index + 1,
            total: bench.plan.runs.len(),
            label: &bench.plan.cells[self.planned.cell].label(),
            record: &run.record,
        });
    }
}

/// Makes one run; `None` if it was stopped.
fn make_run(
    bench: &Bench<'_>,
    data: &data::PreparedData,
    position: Position,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<Option<RunResult>, StudyError> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    on_event(&Event::RunStarted {
        position: position.index + 1,
        total: bench.plan.runs.len(),
        label: &bench.plan.cells[position.planned.cell].label(),
        repetition: position.planned.repetition,
    });
    single_run::make(bench, data, position.planned, stop, on_event)
}

/// The store of an earlier run of the same plan; `None` if there is nothing to resume.
fn resumed_store(plan: &Plan, file: &Path, resume: bool) -> Result<Option<Store>, StudyError> {
    if !file.exists() {
        return Ok(None);
    }
    if !resume {
        return Err(weir_store::StoreError::Exists {
            path: file.to_owned(),
        }
        .into());
    }
    let store = Store::open(file)?;
    if store.header()?.plan == *plan {
        Ok(Some(store))
    } else {
        Err(StudyError::OtherPlan {
            path: file.to_owned(),
        })
    }
}

fn create_store(
    bench: &Bench<'_>,
    out: &Path,
    file: &Path,
    tables: Bytes,
) -> Result<Store, StudyError> {
    fs::create_dir_all(out).map_err(PathError::on("create", out))?;
    let header = StudyResult {
        plan: bench.plan.clone(),
        started_at: jiff::Timestamp::now().to_string(),
        weir_version: env!("CARGO_PKG_VERSION").to_owned(),
        flavor: bench.server.flavor,
        server_version: bench.server.version,
        host: host::describe(),
        drives: bench.drives.values().cloned().collect(),
        data_bytes: tables.0,
        runs: Vec::new(),
        comparisons: Vec::new(),
        analysis: Analysis::default(),
        findings: Vec::new(),
        provenance: bench.options.provenance.clone(),
    };
    Ok(Store::create(file, &header)?)
}
