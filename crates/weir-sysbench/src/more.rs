//! Options that sysbench has no counterpart of: pace, text and what is loaded where.

use std::path::PathBuf;
use std::time::Duration;

use weir_load::{BinaryLog, LoadPlan, PreparePlan};
use weir_model::{RateRamp, ThinkKind, ThinkTime};

use super::value::{UsageError, Value};

/// These options as given.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct More {
    /// A ramp and the rate that it ends at.
    pub(super) rate_ramp: Option<(RateRamp, f64)>,
    pub(super) think: ThinkTime,
    pub(super) connection_ramp: Duration,
    pub(super) idle_connections: u32,
    pub(super) text_file: Option<PathBuf>,
    pub(super) binary_log: BinaryLog,
    pub(super) allow_replica: bool,
    pub(super) dry_run: bool,
}

impl More {
    /// Completes the plans of a run and of its tables.
    pub(super) fn complete(self, plan: &mut LoadPlan, prepare: &mut PreparePlan) {
        plan.think = self.think;
        plan.connection_ramp = self.connection_ramp;
        plan.idle_connections = self.idle_connections;
        prepare.binary_log = self.binary_log;
    }
}

/// `FROM..TO:TIME`.
pub(super) fn rate_ramp(value: Value<'_>) -> Result<(RateRamp, f64), UsageError> {
    let wrong = "must be like 100..5000:60s: rates per second and the ramp's length";
    RateRamp::parse(&value.text()?).map_err(|_| value.wrong(wrong))
}

pub(super) fn think_kind(value: Value<'_>) -> Result<ThinkKind, UsageError> {
    match value.text {
        Some("constant") => Ok(ThinkKind::Constant),
        Some("exponential") => Ok(ThinkKind::Exponential),
        _ => Err(value.wrong("must be constant or exponential")),
    }
}

pub(super) fn binary_log(value: Value<'_>) -> Result<BinaryLog, UsageError> {
    match value.text {
        Some("on") => Ok(BinaryLog::On),
        Some("off") => Ok(BinaryLog::Off),
        _ => Err(value.wrong("must be on or off")),
    }
}
