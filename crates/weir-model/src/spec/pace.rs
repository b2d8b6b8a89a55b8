//! Pace of transactions, as options of a load set it: a closed loop with or without think time, or a rate.

use super::{ClosedLoop, Pace, Rate, RateRamp};

/// The word for a load without a rate.
pub(super) const CLOSED_LOOP: &str = "closed";

/// The word for a rate without a ramp.
pub(super) const NO_RAMP: &str = "none";

const RATE_AND_CLOSED_LOOP: &str =
    "a rate says already when transactions begin; leave one of both out";

impl Pace {
    /// Transactions per second; `closed` is a closed loop.
    pub(super) fn set_rate(&mut self, value: &str) -> Result<(), String> {
        if value == CLOSED_LOOP {
            if let Self::Open(_) = self {
                *self = Self::default();
            }
            return Ok(());
        }
        let per_s = value
            .parse()
            .map_err(|_| "must be transactions per second")?;
        self.opened(per_s)?.per_s = per_s;
        Ok(())
    }

    /// `100..5000:60s` is a rate that changes for a minute, warm-up included, and then stays; `none`: the rate as it
    /// is.
    pub(super) fn set_ramp(&mut self, value: &str) -> Result<(), String> {
        if value == NO_RAMP {
            if let Self::Open(rate) = self {
                rate.ramp = None;
            }
            return Ok(());
        }
        let (ramp, per_s) = RateRamp::parse(value)?;
        let rate = self.opened(per_s)?;
        rate.per_s = per_s;
        rate.ramp = Some(ramp);
        Ok(())
    }

    /// The rate that an option belongs to.
    pub(super) fn rate_mut(&mut self) -> Result<&mut Rate, String> {
        match self {
            Self::Open(rate) => Ok(rate),
            Self::Closed(_) => Err("needs a rate; add `rate`".to_owned()),
        }
    }

    /// Changes the closed loop; an open one may only be given what changes nothing.
    pub(super) fn set_closed(
        &mut self,
        change: impl FnOnce(&mut ClosedLoop),
    ) -> Result<(), String> {
        let mut changed = self.closed_loop();
        change(&mut changed);
        match self {
            Self::Closed(closed) => *closed = changed,
            Self::Open(_) if changed.asks_at_once() => {}
            Self::Open(_) => return Err(RATE_AND_CLOSED_LOOP.to_owned()),
        }
        Ok(())
    }

    /// The rate of an open loop; a closed one becomes one with `per_s`.
    fn opened(&mut self, per_s: f64) -> Result<&mut Rate, String> {
        if let Self::Closed(closed) = self {
            if !closed.asks_at_once() {
                return Err(RATE_AND_CLOSED_LOOP.to_owned());
            }
            *self = Self::open(per_s);
        }
        self.rate_mut()
    }
}
