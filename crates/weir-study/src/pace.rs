//! When transactions begin, as studies write it: a closed loop with or without think time, or a rate.

use std::str::FromStr;

use weir_model::{ArrivalKind, Duration, Pace, Rate, RateRamp, ThinkKind, ThinkTime, UnitError};

/// The word for a load without a rate.
const CLOSED_LOOP: &str = "closed";

/// The word for a rate without a ramp.
const NO_RAMP: &str = "none";

/// Transactions per second; `closed` is a closed loop.
pub(crate) fn set_rate(pace: &mut Pace, value: &str) -> Result<(), String> {
    if value == CLOSED_LOOP {
        if let Pace::Open(_) = pace {
            *pace = Pace::default();
        }
        return Ok(());
    }
    let number = value.parse().ok();
    let per_s = number
        .filter(|rate: &f64| *rate > 0.0 && rate.is_finite())
        .ok_or_else(|| format!("must be transactions per second, or `{CLOSED_LOOP}`"))?;
    open(pace, per_s)?.per_s = per_s;
    Ok(())
}

/// `poisson` or `constant`.
pub(crate) fn set_arrivals(pace: &mut Pace, value: &str) -> Result<(), String> {
    rate(pace)?.arrivals = match value {
        "poisson" => ArrivalKind::Poisson,
        "constant" => ArrivalKind::Constant,
        _ => return Err("must be `poisson` or `constant`".to_owned()),
    };
    Ok(())
}

/// `100..5000:60s` is a rate that changes for a minute, warm-up included, and then stays; `none`: the rate as it is.
pub(crate) fn set_ramp(pace: &mut Pace, value: &str) -> Result<(), String> {
    if value == NO_RAMP {
        if let Pace::Open(rate) = pace {
            rate.ramp = None;
        }
        return Ok(());
    }
    let (ramp, per_s) = RateRamp::parse(value)?;
    let rate = open(pace, per_s)?;
    rate.per_s = per_s;
    rate.ramp = Some(ramp);
    Ok(())
}

/// The mean pause after a transaction.
pub(crate) fn set_think_time(pace: &mut Pace, value: &str) -> Result<(), String> {
    let mean = Duration::from_str(value).map_err(|error: UnitError| error.to_string())?;
    match pace {
        Pace::Closed { think } => think.mean = mean,
        Pace::Open(_) if mean.0.is_zero() => {}
        Pace::Open(_) => return Err(RATE_AND_THINK_TIME.to_owned()),
    }
    Ok(())
}

/// `constant` or `exponential`.
pub(crate) fn set_think_kind(pace: &mut Pace, value: &str) -> Result<(), String> {
    let kind = match value {
        "constant" => ThinkKind::Constant,
        "exponential" => ThinkKind::Exponential,
        _ => return Err("must be `constant` or `exponential`".to_owned()),
    };
    if let Pace::Closed { think } = pace {
        *think = ThinkTime { kind, ..*think };
    }
    Ok(())
}

const RATE_AND_THINK_TIME: &str = "a rate says already when transactions begin; leave think_time out, or move both \
                                   in one factor";

/// The rate of an open loop; a closed one becomes one with `per_s`.
fn open(pace: &mut Pace, per_s: f64) -> Result<&mut Rate, String> {
    if let Pace::Closed { think } = pace {
        if !think.mean.0.is_zero() {
            return Err(RATE_AND_THINK_TIME.to_owned());
        }
        *pace = Pace::open(per_s);
    }
    rate(pace)
}

fn rate(pace: &mut Pace) -> Result<&mut Rate, String> {
    match pace {
        Pace::Open(rate) => Ok(rate),
        Pace::Closed { .. } => Err("needs a rate; add `rate`".to_owned()),
    }
}
