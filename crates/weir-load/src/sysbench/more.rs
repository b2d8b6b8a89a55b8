//! Options that sysbench has no counterpart of: pace, text and what is loaded where.

use std::path::PathBuf;
use std::time::Duration;
use weir_model::{RateRamp, ThinkKind, ThinkTime};

use super::value::{UsageError, Value};
use crate::plan::{BinaryLog, LoadPlan, PreparePlan};

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
        plan.text_file.clone_from(&self.text_file);
        prepare.text_file = self.text_file;
        prepare.binary_log = self.binary_log;
    }
}

/// `FROM..TO:TIME`.
pub(super) fn rate_ramp(value: Value<'_>) -> Result<(RateRamp, f64), UsageError> {
    let wrong =
        || value.wrong("must be like 100..5000:60s: rates per second and the ramp's length");
    let text = value.text()?;
    let (rates, length) = text.split_once(':').ok_or_else(wrong)?;
    let (from, to) = rates.split_once("..").ok_or_else(wrong)?;
    let length = length
        .parse::<weir_model::Duration>()
        .map_err(|_| wrong())?;
    let rate = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
    let ramp = RateRamp {
        from_per_s: rate(from)?,
        length,
    };
    Ok((ramp, rate(to)?))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_has_two_rates_and_a_length() {
        let name = "rate-ramp";
        let text = |text| Value {
            name,
            text: Some(text),
        };
        let (ramp, to) = rate_ramp(text("100..5000:60s")).unwrap();
        assert_eq!((ramp.from_per_s, to), (100.0, 5_000.0));
        assert_eq!(ramp.length.0, Duration::from_mins(1));
        for wrong in ["100..5000", "100:60s", "a..b:1s", "1..2:3x", ""] {
            assert!(rate_ramp(text(wrong)).is_err(), "{wrong}");
        }
    }
}
