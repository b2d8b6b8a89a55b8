//! A capture as the load of a run.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use weir_load::{LoadError, LoadOutcome, LoadPlan, Progress};
use weir_model::{DataSource, Duration, Endpoint, ReplayRecord, ReplaySpec, RunSpec};
use weir_mysql::Gate;
use weir_replay::{CapturePart, ReplayError, ReplayOptions, Survey};
use weir_script::OnInterval;

use crate::query_plans;

/// The capture of a run, and what came of its replay.
pub(crate) struct CaptureLoad<'a> {
    spec: &'a ReplaySpec,
    options: ReplayOptions,
    survey: Survey,
    record: Option<ReplayRecord>,
    /// The schema of the tables, where it is the capture's own.
    schema: Option<String>,
}

impl<'a> CaptureLoad<'a> {
    /// Reads the capture of a run; it must be the one that the plan was made with.
    pub(crate) fn open(run: &RunSpec, spec: &'a ReplaySpec) -> Result<Self, LoadError> {
        let digest = weir_capture::content_digest(&spec.path);
        if digest.map_err(|error| failed(ReplayError::from(error)))? != spec.digest {
            return Err(LoadError::Host {
                what: "replay the capture",
                why: format!(
                    "{} is not the file that the study was planned with; put that one back, or begin anew",
                    spec.path.display()
                ),
            });
        }
        let load = &run.load;
        let length = Duration(load.warmup.least().0 + load.measure.0);
        let options = ReplayOptions::of_spec(spec, Some(length));
        let survey = Survey::read(&spec.path, &options).map_err(failed)?;
        let schema = options
            .schema
            .clone()
            .or_else(|| survey.schema().map(str::to_owned));
        let is_snapshot = matches!(run.data.source, DataSource::Snapshot { .. });
        Ok(Self {
            spec,
            schema: schema.filter(|_| is_snapshot),
            options,
            survey,
            record: None,
        })
    }

    /// Sends it. A server of the user's is only read.
    pub(crate) fn run(
        &mut self,
        plan: &LoadPlan,
        gate: &Gate,
        stop: &AtomicBool,
        on_began: &dyn Fn(Instant),
        on_interval: OnInterval<'_>,
    ) -> Result<LoadOutcome, LoadError> {
        let reading = Gate::reading();
        let (gate, allows_writes) = if gate.is_own() {
            (gate, true)
        } else {
            (&reading, false)
        };
        let plan = self.plan(plan);
        let outcome = weir_replay::replay(
            &plan,
            CapturePart {
                path: &self.spec.path,
                survey: &self.survey,
                options: &self.options,
            },
            (gate, allows_writes),
            stop,
            &mut |progress| match progress {
                Progress::Began(measured_from) => on_began(measured_from),
                Progress::Interval(interval) => {
                    on_interval(&interval.record, interval.concurrency);
                }
                Progress::Warning(_) | Progress::Checkpoint(_) => {}
            },
        );
        let outcome = outcome.map_err(failed)?;
        self.record = Some(outcome.record);
        Ok(outcome.load)
    }

    /// The plan with the schema that the tables are in.
    fn plan(&self, plan: &LoadPlan) -> LoadPlan {
        let mut plan = plan.clone();
        plan.endpoint = self.endpoint(&plan.endpoint);
        plan
    }

    fn endpoint(&self, endpoint: &Endpoint) -> Endpoint {
        let mut endpoint = endpoint.clone();
        if let Some(schema) = &self.schema {
            endpoint.database.clone_from(schema);
        }
        endpoint
    }

    /// Returns its record, with the present plan of each kind of statement.
    pub(crate) fn into_record(self, endpoint: &Endpoint, gate: &Gate) -> Option<ReplayRecord> {
        let endpoint = self.endpoint(endpoint);
        let mut record = self.record?;
        query_plans::add(&mut record, &self.survey.examples, &endpoint, gate);
        Some(record)
    }
}

fn failed(error: ReplayError) -> LoadError {
    match error {
        ReplayError::Load(error) => error,
        error => LoadError::Host {
            what: "replay the capture",
            why: error.to_string(),
        },
    }
}
