//! Repetitions: how many, until when.

use weir_model::{RepeatUntil, Repetition};

use super::Resolver;
use crate::StudyError;
use crate::file::OrderWithin;

/// Default number of blocks.
const RUNS: u32 = 3;

/// Blocks before an interval may end a study: with fewer, a few alike by chance end it too early
/// (see the simulation beside `weir_stats::is_settled`).
const RUNS_UNTIL: u32 = weir_stats::SETTLED_PAIRS_MIN as u32;

/// Blocks before a study may end with a decision.
const RUNS_DECIDED: u32 = weir_stats::DECIDED_PAIRS_MIN as u32;

/// Default of the largest number of blocks, and of those of a decision: what ten do not tell from none is small.
const RUNS_AT_MOST: u32 = 30;
const RUNS_AT_MOST_DECIDED: u32 = 10;

impl Resolver<'_> {
    pub(super) fn repetition(&self) -> Result<Repetition, StudyError> {
        let repeat = &self.file.repeat;
        let until = match &repeat.until {
            Some(text) => Some(read_until(text).ok_or_else(|| {
                let why = "must be `decided`, or an interval of the effect, such as `effect +-5 %`";
                self.error("repeat.until", format!("`{text}`"), why)
            })?),
            None => None,
        };
        if until.is_none() {
            let useless = [
                (
                    "repeat.at_most",
                    repeat.at_most.map(|most| most.to_string()),
                ),
                (
                    "repeat.budget",
                    repeat.budget.map(|budget| budget.to_string()),
                ),
            ];
            if let Some((key, Some(value))) = useless.into_iter().find(|(_, value)| value.is_some())
            {
                return Err(self.error(key, value, "means nothing without repeat.until"));
            }
        }
        let (fewest, most) = match until {
            None => (RUNS, None),
            Some(RepeatUntil::Narrow(_)) => (RUNS_UNTIL, Some(RUNS_AT_MOST)),
            Some(RepeatUntil::Word(_)) => (RUNS_DECIDED, Some(RUNS_AT_MOST_DECIDED)),
        };
        let runs = repeat.runs.unwrap_or(fewest);
        if until.is_some() && runs < fewest {
            let why = format!("with this repeat.until there must be at least {fewest}");
            return Err(self.error("repeat.runs", runs, why));
        }
        let most = most.map(|most| repeat.at_most.unwrap_or(most.max(runs)));
        let at_most = most.unwrap_or(runs);
        if at_most < runs {
            return Err(self.error("repeat.at_most", at_most, format!("less than {runs} runs")));
        }
        Ok(Repetition {
            runs,
            until,
            at_most,
            budget: repeat.budget,
            keeps_order_within: repeat.order_within == OrderWithin::AsWritten,
        })
    }
}

fn read_until(text: &str) -> Option<RepeatUntil> {
    if text.trim() == "decided" {
        return Some(RepeatUntil::DECIDED);
    }
    half_width(text).map(RepeatUntil::Narrow)
}

/// The 0.05 of `effect +-5 %`.
fn half_width(text: &str) -> Option<f64> {
    let rest = text.trim().strip_prefix("effect")?.trim();
    let rest = rest
        .strip_prefix("+-")
        .or_else(|| rest.strip_prefix("\u{b1}"))?;
    super::search::share(rest).filter(|share| *share < 1.0)
}

#[cfg(test)]
mod tests {
    use super::half_width;

    #[test]
    fn widths_are_read() {
        assert_eq!(half_width("effect +-5 %"), Some(0.05));
        assert_eq!(half_width("effect \u{b1}2.5%"), Some(0.025));
        for wrong in [
            "5 %",
            "effect 5 %",
            "effect +-5",
            "effect +-0 %",
            "effect +-100 %",
        ] {
            assert_eq!(half_width(wrong), None, "{wrong}");
        }
    }
}
