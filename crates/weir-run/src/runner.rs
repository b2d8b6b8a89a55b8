//! From a plan to a stored result: run after run, until nothing remains.

mod failed_runs;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weir_judge::{Next, RESULT_FILE, RunKinds, evaluate};
use weir_model::{JudgedResult, Plan, PlannedRun, Probe, RunRecord, RunResult, StudyResult};
use weir_process::{PathError, Registry, sweep};
use weir_store::Store;
use weir_store::progress::Event;

use self::failed_runs::FailedRuns;
use crate::cancel::{Cancel, Control};
use crate::loader::Program;
use crate::session::RunSession;
use crate::study_targets::StudyTargets;
use crate::target::{Description, Targets};
use crate::{RunError, RunOptions, host, profile};

/// A study that was run, or as much of it as there was time for.
#[derive(Debug)]
pub struct RunOutcome {
    /// The result, judged.
    pub result: JudgedResult,
    /// File of the result.
    pub file: PathBuf,
    /// True if `stop` ended it before the last run.
    pub stopped: bool,
    /// Remarks on parts of the user's servers that could not be looked at, a line each.
    pub remarks: Vec<String>,
    /// Runs that a script failed in, which the result does not have: which and why, a line each.
    pub failed: Vec<String>,
}

/// Runs `plan`. When `stop` becomes true, the run in flight is dropped and what is complete kept.
///
/// # Errors
///
/// [`RunError::Interrupted`] if `stop` came before a run was complete; whatever keeps a run from being made.
/// Runs that are complete are kept.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<RunOutcome, RunError> {
    // What a killed study left behind would take memory and space from this one.
    sweep(&Registry::open()?)?;
    let open = || StudyTargets::open(plan, options, Cancel::on(stop));
    run_on(open, plan, options, Control::new(stop, on_event))
}

/// Runs `plan` on the targets that `open` gives, once it is clear that their runs can be kept.
fn run_on<T: Targets>(
    open: impl FnOnce() -> Result<T, RunError>,
    plan: &Plan,
    options: &RunOptions,
    mut control: Control<'_>,
) -> Result<RunOutcome, RunError> {
    let file = options.out.join(RESULT_FILE);
    let (store, plan, runs) = match stored_result(plan, &file, options.resume)? {
        Some((store, result)) => (Some(store), result.plan, result.runs),
        None => (None, plan.clone(), Vec::new()),
    };
    let mut study = RunningStudy {
        session: None,
        targets: open()?,
        plan,
        options,
        store,
        file,
        kinds: runs.iter().filter_map(kinds).collect(),
        records: runs.into_iter().map(|run| run.record).collect(),
        failed: FailedRuns::default(),
    };
    let stopped = match study.run_all(&mut control) {
        Ok(()) => false,
        Err(RunError::Interrupted) => true,
        Err(error) => return Err(error),
    };
    let Some(store) = study.store else {
        return Err(study.failed.into_first().unwrap_or(RunError::Interrupted));
    };
    Ok(RunOutcome {
        result: evaluate(store.read()?)?,
        file: study.file,
        stopped,
        remarks: study.targets.remarks(),
        failed: study.failed.into_reasons(),
    })
}

/// A study between its first run and its last.
struct RunningStudy<'a, T> {
    // The server and the drive go down before the data that they stand on.
    session: Option<RunSession>,
    targets: T,
    /// The plan; a search adds cells to it.
    plan: Plan,
    options: &'a RunOptions,
    /// There is no result before there is a run to put into it.
    store: Option<Store>,
    file: PathBuf,
    /// Complete runs, and all that decides the next.
    records: Vec<RunRecord>,
    /// Kinds of statements in those of a replay.
    kinds: Vec<RunKinds>,
    failed: FailedRuns,
}

fn kinds(run: &RunResult) -> Option<RunKinds> {
    Some(RunKinds::new(&run.record, run.replay.as_ref()?))
}

impl<T: Targets> RunningStudy<'_, T> {
    /// Makes the data, then run after run, to the last.
    fn run_all(&mut self, control: &mut Control<'_>) -> Result<(), RunError> {
        self.targets.prepare(&self.plan.cells, control)?;
        while let Some(planned) = self.next()? {
            control.cancel.check()?;
            let position = self.records.len() + self.failed.runs().len() + 1;
            let total = weir_judge::total_runs(&self.plan, &self.records);
            let label = self.plan.cells[planned.cell].label();
            control.tell(&Event::RunStarted {
                position,
                total,
                label: &label,
                repetition: planned.repetition,
            });
            let run = match self.make(planned, control) {
                Ok(run) => run,
                Err(error) => {
                    let complete = self.records.len();
                    let why = self.failed.take(error, planned, &self.plan, complete)?;
                    control.tell(&Event::RunFailed {
                        position,
                        total,
                        why,
                    });
                    continue;
                }
            };
            self.keep(&run)?;
            control.tell(&Event::RunFinished {
                position,
                total,
                label: &label,
                record: &run.record,
            });
        }
        // What it changed is put back; where that fails, this is an error.
        self.session.take().map_or(Ok(()), RunSession::end)
    }

    /// Returns the next run.
    fn next(&mut self) -> Result<Option<PlannedRun>, RunError> {
        Ok(
            match weir_judge::next(&self.plan, &self.records, &self.kinds, self.failed.runs())? {
                Next::Done => None,
                Next::Run(planned) => Some(planned),
                Next::Probe(probe) => Some(self.first_run(probe)),
                Next::Confirm(winners) => {
                    weir_judge::confirm(&mut self.plan, winners);
                    return self.next();
                }
            },
        )
    }

    /// Adds the cell of a point where a search measures; its first run.
    fn first_run(&mut self, probe: Probe) -> PlannedRun {
        let search = self.plan.search.as_ref();
        let search = search.expect("invariant: only a search has probes");
        let cell = weir_study::probe_cell(&self.plan, search, probe);
        self.plan.cells.push(cell);
        PlannedRun {
            cell: self.plan.cells.len() - 1,
            repetition: 1,
        }
    }

    /// Makes one run. Whatever it started is gone when this returns, unless the next run of the plan goes on
    /// with the same server.
    fn make(
        &mut self,
        planned: PlannedRun,
        control: &mut Control<'_>,
    ) -> Result<RunResult, RunError> {
        let mut session = self.session_for(planned, control.cancel)?;
        let cell = &self.plan.cells[planned.cell];
        let run = match session.make(cell, planned, control) {
            Ok(run) => run,
            Err(error) => {
                // The error of the run tells more than one that follows from it.
                let _ = session.end();
                return Err(error);
            }
        };
        if self.plan.shares_server(planned.cell, planned.cell) {
            self.session = Some(session);
        } else {
            session.end()?;
        }
        Ok(run)
    }

    /// The session that the run before left, if `planned` goes on with it, else a new one.
    fn session_for(
        &mut self,
        planned: PlannedRun,
        cancel: Cancel<'_>,
    ) -> Result<RunSession, RunError> {
        match self.session.take() {
            Some(session) if session.serves(&self.plan, planned) => return Ok(session),
            Some(session) => session.end()?,
            None => {}
        }
        let cell = &self.plan.cells[planned.cell];
        let target = self.targets.begin(cell, planned.repetition, cancel)?;
        let runs_before = self.runs_on_server_of(planned);
        let program = Program {
            path: &self.options.weir,
            commit: &self.options.provenance.weir_commit,
        };
        Ok(RunSession::new(target, planned, runs_before, program))
    }

    /// Complete runs on the server of `planned`: none on one that has just been started.
    fn runs_on_server_of(&self, planned: PlannedRun) -> u32 {
        let server = |cell: usize| &self.plan.cells[cell].spec.primary().server;
        if server(planned.cell).given.is_none() {
            return 0;
        }
        let is_on_it = |record: &&RunRecord| server(record.cell) == server(planned.cell);
        self.records.iter().filter(is_on_it).count() as u32
    }

    /// Stores a complete run.
    fn keep(&mut self, run: &RunResult) -> Result<(), RunError> {
        let store = if let Some(store) = &mut self.store {
            store
        } else {
            let description = self.targets.describe(&self.plan.cells);
            let new = create_store(&self.plan, self.options, description, &self.file)?;
            self.store.insert(new)
        };
        if !self.plan.cells[run.record.cell].is_designed() {
            // Before its first run: a killed study leaves a cell without runs, never the reverse.
            store.set_plan(&self.plan)?;
        }
        store.append(run)?;
        profile::write_files(&self.options.out, &self.plan.cells[run.record.cell], run)?;
        self.records.push(run.record.clone());
        self.kinds.extend(kinds(run));
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
    if result.plan.as_designed() == *plan {
        Ok(Some((store, result)))
    } else {
        Err(RunError::OtherPlan {
            path: file.to_owned(),
        })
    }
}

fn create_store(
    plan: &Plan,
    options: &RunOptions,
    of: Description,
    file: &Path,
) -> Result<Store, RunError> {
    let out = &options.out;
    fs::create_dir_all(out).map_err(PathError::on("create", out))?;
    let header = StudyResult {
        plan: plan.clone(),
        started_at: jiff::Timestamp::now().to_string(),
        weir_version: env!("CARGO_PKG_VERSION").to_owned(),
        flavor: of.flavor,
        server_version: of.version,
        host: host::describe(of.data_place),
        drives: of.drives,
        data_bytes: of.tables.0,
        runs: Vec::new(),
        provenance: options.provenance.clone(),
    };
    Ok(Store::create(file, &header)?)
}

#[cfg(test)]
mod tests;
