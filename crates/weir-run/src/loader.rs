//! Loader of a run's server: the load engine in this process, a script in a process of its own, or agents. The engine
//! sends a workload or a capture.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use weir_agent::{AgentError, AgentPool};
use weir_load::{LoadError, LoadOutcome, LoadPlan, Progress};
use weir_model::{Endpoint, LoadHost, ReplayRecord, RunSpec, WorkloadSpec};
use weir_mysql::Gate;
use weir_script::{OnInterval, ScriptProcess};

use crate::capture_load::CaptureLoad;

/// Loader of a run's server.
pub(crate) struct Loader<'a> {
    spec: &'a RunSpec,
    gate: Gate,
    script: Option<ScriptProcess>,
    capture: Option<CaptureLoad<'a>>,
    crew: Option<AgentPool>,
    /// Of the last load.
    hosts: Vec<LoadHost>,
}

/// The program that makes the runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program<'a> {
    /// File of the program, which a script's process is started from.
    pub(crate) path: &'a Path,
    /// Commit of the program, which agents must have, too.
    pub(crate) commit: &'a str,
}

impl<'a> Loader<'a> {
    /// The one of this run. A script's process is started; the bus of agents is joined.
    pub(crate) fn new(
        spec: &'a RunSpec,
        gate: Gate,
        program: Program<'_>,
    ) -> Result<Self, LoadError> {
        let has_agents = spec.load.agents > 0;
        if has_agents && spec.load.replay.is_some() {
            return Err(LoadError::Agents(format!(
                "agents = {} (agents send no captures); leave out agents",
                spec.load.agents
            )));
        }
        let script = match &spec.workload {
            // Agents start theirs on their hosts.
            WorkloadSpec::Lua(_) if spec.load.replay.is_none() && !has_agents => {
                Some(ScriptProcess::start(program.path)?)
            }
            _ => None,
        };
        let capture = spec.load.replay.as_ref();
        let capture = capture.map(|replay| CaptureLoad::open(spec, replay));
        let crew = has_agents
            .then(|| AgentPool::join(&AgentPool::usual_file(), program.commit))
            .transpose()
            .map_err(of_agents)?;
        Ok(Self {
            spec,
            gate,
            script,
            capture: capture.transpose()?,
            crew,
            hosts: Vec::new(),
        })
    }

    /// The process whose use of this machine is the client's.
    pub(crate) fn pid(&self) -> u32 {
        let script = self.script.as_ref();
        script.map_or_else(std::process::id, ScriptProcess::pid)
    }

    /// Returns each host's share of the last load, if several shared it.
    pub(crate) fn hosts(&mut self) -> Vec<LoadHost> {
        std::mem::take(&mut self.hosts)
    }

    /// Loads the server as planned, until `stop` at most. Calls `on_began` when the measurement begins.
    pub(crate) fn run(
        &mut self,
        plan: &LoadPlan,
        stop: &AtomicBool,
        on_began: &dyn Fn(Instant),
        on_interval: OnInterval<'_>,
    ) -> Result<LoadOutcome, LoadError> {
        if let Some(capture) = &mut self.capture {
            return capture.run(plan, &self.gate, stop, on_began, on_interval);
        }
        if let Some(script) = &mut self.script {
            let is_own = self.gate.is_own();
            return script.run(plan, is_own, stop, on_began, on_interval);
        }
        let mut on_progress = |progress: Progress<'_>| match progress {
            Progress::Began(measured_from) => on_began(measured_from),
            Progress::Interval(interval) => on_interval(&interval.record, interval.concurrency),
            Progress::Warning(_) | Progress::Checkpoint(_) => {}
        };
        match &self.crew {
            Some(crew) => {
                let agents = self.spec.load.agents;
                let writes_replicas = self.gate.is_own();
                let conducted = crew.run(plan, agents, writes_replicas, stop, &mut on_progress);
                let conducted = conducted.map_err(of_agents)?;
                self.hosts = conducted.shares;
                Ok(conducted.outcome)
            }
            None => weir_load::run_observed(plan, &self.gate, stop, &mut on_progress),
        }
    }

    /// Returns the record of the capture, if one was sent.
    pub(crate) fn into_replay(self, endpoint: &Endpoint) -> Option<ReplayRecord> {
        self.capture?.into_record(endpoint, &self.gate)
    }
}

fn of_agents(error: AgentError) -> LoadError {
    match error {
        AgentError::Load(error) => error,
        error => LoadError::Agents(error.to_string()),
    }
}
