//! Messages between a study or an agent and the process of its script: a line of JSON each.

use std::fmt;

use serde::{Deserialize, Serialize};
use weir_load::{Frame, LoadOutcome, LoadPlan, PlanMessage};
use weir_model::IntervalRecord;

/// An order to the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Do this.
    Work(Box<Job>),
    /// Begin the share that is ready.
    Begin(Begin),
    /// End the run that is under way.
    Stop,
}

/// Begin of a share of a run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Begin {
    /// By the monotonic clock, which all processes of a host share.
    pub(crate) at_ns: u64,
    /// Reporters of the shares before it.
    pub(crate) reporters_before: u32,
}

/// A command of a script.
#[derive(Serialize, Deserialize)]
pub(crate) struct Job {
    /// `prepare` or `run`.
    pub(crate) command: String,
    /// The script with its options, its load, and the server.
    plan: PlanMessage,
    /// The pipe between the two processes is theirs alone.
    password: String,
    /// A server of Weir's own.
    pub(crate) is_own: bool,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({})", self.command)
    }
}

impl Job {
    pub(crate) fn new(command: &str, plan: &LoadPlan, is_own: bool) -> Self {
        Self {
            command: command.to_owned(),
            plan: PlanMessage::new(plan, plan.share.clone()),
            password: plan.endpoint.password.reveal().to_owned(),
            is_own,
        }
    }

    /// Returns its plan; an error names the problem.
    #[cfg(feature = "lua")]
    pub(crate) fn plan(self) -> Result<LoadPlan, String> {
        self.plan.plan(weir_model::Secret::new(self.password))
    }
}

/// Message of the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProcessMessage<F = Frame> {
    /// The load begins, and its measurement in so many seconds.
    Began { in_s: f64 },
    /// An interval has ended.
    Interval {
        record: IntervalRecord,
        /// Transactions under way at its end.
        concurrency: u64,
    },
    /// The run is complete.
    Completed {
        outcome: Box<LoadOutcome>,
        /// Latencies, which the serialised outcome lacks.
        histogram: Vec<u8>,
        /// Begin of the measurement, seconds before this message.
        measured_from_s: f64,
    },
    /// A share of a run has its connections, and waits for its start.
    Ready {
        reporters: u32,
        warnings: Vec<String>,
    },
    /// Counts of a reporter of a share.
    Frame(F),
    /// A share is complete.
    ShareEnded {
        idle_connections: u64,
        began_late_ns: u64,
    },
    /// The command has ended with this exit code.
    Ended(u8),
    /// It could not begin.
    Refused(String),
}
