//! From a plan to a stored result: run after run, until nothing remains.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use weir_model::{Analysis, Bytes, Plan, PlannedRun, RunRecord, RunResult, StudyResult};
use weir_process::{PathError, Registry, sweep};
use weir_store::Store;

use crate::context::StudyContext;
use crate::data::DataSets;
use crate::session::RunSession;
use crate::{RunError, RunOptions, host};
use weir_judge::{Next, RESULT_FILE, evaluate};
use weir_progress::Event;

/// A study that was run, or as much of it as there was time for.
#[derive(Debug)]
pub struct RunOutcome {
    /// The result, judged.
    pub result: StudyResult,
    /// Its file.
    pub file: PathBuf,
    /// Whether `stop` ended it before the last run.
    pub stopped: bool,
    /// What could not be looked at on servers that the user gives, a line each.
    pub remarks: Vec<String>,
}

/// Runs `plan`. When `stop` becomes true, the run in flight is dropped and what is complete kept.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<RunOutcome, RunError> {
    // What a killed study left behind would take memory and space from this one.
    sweep(&Registry::open()?)?;
    let file = options.out.join(RESULT_FILE);
    let stored = stored_result(plan, &file, options.resume)?;
    let (store, plan, records) = match stored {
        Some((store, result)) => {
            let records = result.runs.into_iter().map(|run| run.record).collect();
            (Some(store), result.plan, records)
        }
        None => (None, plan.clone(), Vec::new()),
    };
    let context = StudyContext::new(plan, options)?;
    let Some(data) = DataSets::prepare(&context, stop, on_event)? else {
        return Err(RunError::StoppedBeforeFirstRun);
    };
    let mut study = RunningStudy {
        context,
        data,
        store,
        file,
        records,
        session: None,
    };
    let stopped = study.run_all(stop, on_event)?;
    let Some(store) = study.store else {
        return Err(RunError::StoppedBeforeFirstRun);
    };
    Ok(RunOutcome {
        result: evaluate(store.read()?)?,
        file: study.file,
        stopped,
        remarks: study.context.remarks(),
    })
}

/// A study between its first run and its last.
struct RunningStudy<'a> {
    // The server and the drive go down before the context that they stand on.
    session: Option<RunSession>,
    context: StudyContext<'a>,
    data: DataSets,
    /// There is no result before there is a run to put into it.
    store: Option<Store>,
    file: PathBuf,
    /// What is complete, and all that decides what comes next.
    records: Vec<RunRecord>,
}

impl RunningStudy<'_> {
    /// Makes run after run; whether `stop` ended it before the last.
    fn run_all(
        &mut self,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event<'_>),
    ) -> Result<bool, RunError> {
        loop {
            let planned = match weir_judge::next(&self.context.plan, &self.records)? {
                Next::Done => return Ok(false),
                Next::Run(planned) => planned,
                Next::Probe(probe) => PlannedRun {
                    cell: self.context.add_probe(probe),
                    repetition: 1,
                },
            };
            if stop.load(Ordering::Relaxed) {
                return Ok(true);
            }
            let position = self.records.len() + 1;
            let total = weir_judge::total_runs(&self.context.plan, &self.records);
            let label = self.context.plan.cells[planned.cell].label();
            on_event(&Event::RunStarted {
                position,
                total,
                label: &label,
                repetition: planned.repetition,
            });
            let Some(run) = self.make(planned, stop, on_event)? else {
                return Ok(true);
            };
            self.keep(&run)?;
            on_event(&Event::RunFinished {
                position,
                total,
                label: &label,
                record: &run.record,
            });
        }
    }

    /// Makes one run; `None` if it was stopped. Whatever it started is gone when this returns,
    /// unless the next run of the plan goes on with the same server.
    fn make(
        &mut self,
        planned: PlannedRun,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event<'_>),
    ) -> Result<Option<RunResult>, RunError> {
        let kept = self.session.take();
        let kept = match kept {
            Some(session) if !session.serves(&self.context.plan, planned) => {
                session.take_down()?;
                None
            }
            kept => kept,
        };
        let session = if kept.is_some() {
            kept
        } else {
            let runs_before = self.runs_on_server_of(planned);
            RunSession::set(&self.context, &self.data, planned, runs_before, stop)?
        };
        let Some(mut session) = session else {
            return Ok(None);
        };
        let Some(run) = session.make(&self.context, planned, stop, on_event)? else {
            return Ok(None);
        };
        if self.context.plan.shares_server(planned.cell, planned.cell) {
            self.session = Some(session);
        } else {
            session.take_down()?;
        }
        Ok(Some(run))
    }

    /// Complete runs on the server of `planned`.
    fn runs_on_server_of(&self, planned: PlannedRun) -> u32 {
        let plan = &self.context.plan;
        let server = |cell: usize| &plan.cells[cell].spec.primary().server;
        let is_on_it = |record: &&RunRecord| server(record.cell) == server(planned.cell);
        self.records.iter().filter(is_on_it).count() as u32
    }

    /// Stores a complete run.
    fn keep(&mut self, run: &RunResult) -> Result<(), RunError> {
        let plan = &self.context.plan;
        let store = if let Some(store) = &mut self.store {
            store
        } else {
            let tables = self.data.tables(&self.context);
            let new = create_store(&self.context, &self.file, tables)?;
            self.store.insert(new)
        };
        if plan.cells[run.record.cell].probe.is_some() {
            // Before its first run: a killed study leaves a cell without runs, never the reverse.
            store.set_plan(plan)?;
        }
        store.append(run)?;
        self.records.push(run.record.clone());
        Ok(())
    }
}

/// The result of an earlier run of the same plan; `None` if there is nothing to resume.
fn stored_result(
    plan: &Plan,
    file: &Path,
    resume: bool,
) -> Result<Option<(Store, StudyResult)>, RunError> {
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
    // Before a run is made that could not be kept.
    store.check_current()?;
    let result = store.read()?;
    let mut design = result.plan.clone();
    design.cells.retain(|cell| cell.probe.is_none());
    if design == *plan {
        Ok(Some((store, result)))
    } else {
        Err(RunError::OtherPlan {
            path: file.to_owned(),
        })
    }
}

fn create_store(context: &StudyContext<'_>, file: &Path, tables: Bytes) -> Result<Store, RunError> {
    let out = &context.options.out;
    fs::create_dir_all(out).map_err(PathError::on("create", out))?;
    let (flavor, server_version) = context.version_of(&context.plan.cells[0]);
    let header = StudyResult {
        plan: context.plan.clone(),
        started_at: jiff::Timestamp::now().to_string(),
        weir_version: env!("CARGO_PKG_VERSION").to_owned(),
        flavor,
        server_version,
        host: host::describe(),
        drives: context.drives.profiles(),
        data_bytes: tables.0,
        runs: Vec::new(),
        comparisons: Vec::new(),
        analysis: Analysis::default(),
        findings: Vec::new(),
        searches: Vec::new(),
        provenance: context.options.provenance.clone(),
    };
    Ok(Store::create(file, &header)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_an_earlier_schema_is_refused_before_anything_runs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(RESULT_FILE);
        let earlier = "../weir-store/fixtures/schema-4.sqlite";
        let earlier = Path::new(env!("CARGO_MANIFEST_DIR")).join(earlier);
        fs::copy(earlier, &file).unwrap();
        let plan = Store::open(&file).unwrap().read().unwrap().plan;
        let refused = stored_result(&plan, &file, true).unwrap_err().to_string();
        assert!(refused.contains("can be read only"), "{refused}");
    }
}
