//! What loads the server of a run: the load engine in this process, or a script in one of its own.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use weir_load::{LoadError, LoadOutcome, LoadPlan, Progress};
use weir_model::{RunSpec, WorkloadSpec};
use weir_mysql::Gate;
use weir_script::{OnInterval, ScriptProcess};

/// What loads the server of a run.
pub(crate) struct Loader<'a> {
    spec: &'a RunSpec,
    gate: Gate,
    script: Option<ScriptProcess>,
}

impl<'a> Loader<'a> {
    /// The one of this run; `weir` is the program. A script's process is started.
    pub(crate) fn of(spec: &'a RunSpec, gate: Gate, weir: &Path) -> Result<Self, LoadError> {
        let script = match &spec.workload {
            WorkloadSpec::Lua(_) => Some(start(weir)?),
            _ => None,
        };
        Ok(Self { spec, gate, script })
    }

    /// The process whose use of this machine is the client's.
    pub(crate) fn pid(&self) -> u32 {
        let script = self.script.as_ref();
        script.map_or_else(std::process::id, ScriptProcess::pid)
    }

    /// Loads the server as planned, until `stop` at most. `on_began` is told when the measurement begins.
    pub(crate) fn run(
        &mut self,
        plan: &LoadPlan,
        stop: &AtomicBool,
        on_began: &dyn Fn(Instant),
        on_interval: OnInterval<'_>,
    ) -> Result<LoadOutcome, LoadError> {
        match &mut self.script {
            Some(script) => {
                let is_own = self.gate.is_own();
                script.run(self.spec, plan, is_own, stop, on_began, on_interval)
            }
            None => {
                weir_load::run_observed(plan, &self.gate, stop, &mut |progress| match progress {
                    Progress::Began(measured_from) => on_began(measured_from),
                    Progress::Interval(interval) => {
                        on_interval(&interval.record, interval.concurrency);
                    }
                    Progress::Warning(_) | Progress::Checkpoint(_) => {}
                })
            }
        }
    }
}

/// The process of a script.
pub(crate) fn start(weir: &Path) -> Result<ScriptProcess, LoadError> {
    ScriptProcess::start(weir).map_err(|error| LoadError::Host {
        what: "start the process of a script",
        why: error.to_string().to_lowercase(),
    })
}
