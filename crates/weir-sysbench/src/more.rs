//! Options that sysbench has no counterpart of: pace, text and what is loaded where.

use std::path::PathBuf;
use std::time::Duration;

use weir_load::{BinaryLog, LoadPlan, PreparePlan};
use weir_model::{OrderEntryWorkload, Pace, Rate, RateRamp, ThinkKind, ThinkTime};

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
    pub(super) order_entry: OrderEntryWorkload,
}

impl More {
    /// When transactions begin: at a rate, or when the user has thought.
    pub(super) fn pace(&self, rate: Option<Rate>) -> Result<Pace, UsageError> {
        let mean = self.think.mean;
        match rate {
            Some(_) if !mean.0.is_zero() => Err(UsageError::Value {
                name: "think-time".to_owned(),
                value: mean.to_string(),
                expected: "a rate says already when transactions begin; leave one of both out",
            }),
            Some(rate) => Ok(Pace::Open(rate)),
            None => Ok(self.think.into()),
        }
    }

    /// Completes the plans of a run and of its tables.
    pub(super) fn complete(self, plan: &mut LoadPlan, prepare: &mut PreparePlan) {
        plan.load.connection_ramp = self.connection_ramp.into();
        plan.load.idle_connections = self.idle_connections;
        prepare.binary_log = self.binary_log;
    }
}

/// An option of order entry.
pub(super) fn order_entry(
    order_entry: &mut OrderEntryWorkload,
    value: Value<'_>,
) -> Result<(), UsageError> {
    let name = value.name.replace('-', "_");
    // A bare switch is on.
    let text = value.text.unwrap_or("on");
    let set = order_entry.set(&name, text);
    set.map_err(|why| UsageError::OrderEntry {
        name: value.name.to_owned(),
        why,
    })
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
