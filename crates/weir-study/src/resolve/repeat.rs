//! Repetitions: how many, until when.

use weir_model::{Repetition, Until};

use super::Resolver;
use crate::StudyError;
use crate::file::OrderWithin;

/// Default number of blocks.
const RUNS: u32 = 3;

/// Blocks before an interval may end a study: with fewer, a few alike by chance end it too early
/// (see the simulation beside `weir_stats::is_settled`).
const RUNS_UNTIL: u32 = weir_stats::SETTLED_PAIRS_MIN as u32;

/// Default of the largest number of blocks.
const RUNS_AT_MOST: u32 = 30;

/// Fewest and most blocks of a study that ends at its verdict: for these its intervals are right.
const RUNS_VERDICT: u32 = weir_stats::DECIDED_PAIRS_MIN as u32;
const RUNS_VERDICT_MAX: u32 = weir_stats::DECIDED_PAIRS_MAX as u32;

impl Resolver<'_> {
    pub(super) fn repetition(&self) -> Result<Repetition, StudyError> {
        let repeat = &self.file.repeat;
        if self.is_screen() {
            return self.confirmations();
        }
        let until = match &repeat.until {
            Some(text) => Some(read_until(text).ok_or_else(|| {
                let why = "must be `verdict`, a margin of equality, such as `equal +-5 %`, or an interval of the effect, \
                           such as `effect +-5 %`";
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
        let (runs, at_most) = match until {
            None => {
                let runs = repeat.runs.unwrap_or(RUNS);
                (runs, runs)
            }
            Some(until) => self.blocks(until)?,
        };
        self.check_margin(until)?;
        Ok(Repetition {
            runs,
            until,
            at_most,
            budget: repeat.budget,
            metric: self.metric()?,
            keeps_order_within: repeat.order_within == OrderWithin::AsWritten,
        })
    }

    /// Repetitions of what a screen measures anew.
    fn confirmations(&self) -> Result<Repetition, StudyError> {
        Ok(Repetition {
            runs: RUNS_VERDICT,
            until: Some(Until::Verdict),
            at_most: RUNS_VERDICT_MAX,
            budget: self.file.repeat.budget,
            metric: self.metric()?,
            keeps_order_within: false,
        })
    }

    /// The metric of verdicts: one that a run's record has, since it decides which run comes next.
    fn metric(&self) -> Result<Option<String>, StudyError> {
        let Some(metric) = &self.file.repeat.metric else {
            return Ok(None);
        };
        let known = weir_judge::recorded_metrics();
        if known.contains(&metric.as_str()) {
            return Ok(Some(metric.clone()));
        }
        let why = format!("is no metric of a run; there are {}", known.join(", "));
        Err(self.error("repeat.metric", format!("`{metric}`"), why))
    }

    /// Kinds of statements are judged by one margin in all reports.
    fn check_margin(&self, until: Option<Until>) -> Result<(), StudyError> {
        match until {
            Some(Until::Equal(margin))
                if self.file.load.replay.is_some() && margin != Repetition::EQUAL_MARGIN =>
            {
                let why = "kinds of statements of a replay are judged to be equal within 5 %; write `equal +-5 %`";
                let value = self.file.repeat.until.clone().unwrap_or_default();
                Err(self.error("repeat.until", format!("`{value}`"), why))
            }
            _ => Ok(()),
        }
    }

    /// Fewest and most blocks of a study that repeats until its effects are known.
    fn blocks(&self, until: Until) -> Result<(u32, u32), StudyError> {
        let (fewest, most) = match until {
            Until::Within(_) => (RUNS_UNTIL, RUNS_AT_MOST),
            Until::Verdict | Until::Equal(_) => (RUNS_VERDICT, RUNS_VERDICT_MAX),
        };
        let runs = self.file.repeat.runs.unwrap_or(fewest);
        if runs < fewest {
            let why = format!("with this repeat.until there must be at least {fewest}");
            return Err(self.error("repeat.runs", runs, why));
        }
        let at_most = self.file.repeat.at_most.unwrap_or(most);
        if at_most < runs {
            return Err(self.error("repeat.at_most", at_most, format!("less than {runs} runs")));
        }
        if !matches!(until, Until::Within(_)) && at_most > most {
            let why = format!(
                "the intervals of a study that ends at its verdict hold for at most {most} repetitions; \
                 for more take `effect +-5 %`"
            );
            return Err(self.error("repeat.at_most", at_most, why));
        }
        Ok((runs, at_most))
    }
}

fn read_until(text: &str) -> Option<Until> {
    if text.trim() == "verdict" {
        return Some(Until::Verdict);
    }
    let equal = share_after("equal", text).map(Until::Equal);
    equal.or_else(|| share_after("effect", text).map(Until::Within))
}

/// The 0.05 of `effect +-5 %`, where `word` is `effect`.
fn share_after(word: &str, text: &str) -> Option<f64> {
    let rest = text.trim().strip_prefix(word)?.trim();
    let rest = rest
        .strip_prefix("+-")
        .or_else(|| rest.strip_prefix("\u{b1}"))?;
    super::search::share(rest).filter(|share| *share < 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_repetitions_are_read() {
        assert_eq!(read_until("verdict"), Some(Until::Verdict));
        assert_eq!(read_until("effect +-5 %"), Some(Until::Within(0.05)));
        assert_eq!(read_until("effect \u{b1}2.5%"), Some(Until::Within(0.025)));
        assert_eq!(read_until("equal +-5 %"), Some(Until::Equal(0.05)));
        assert_eq!(read_until("equal \u{b1}10%"), Some(Until::Equal(0.1)));
        for wrong in [
            "5 %",
            "effect 5 %",
            "effect +-5",
            "effect +-0 %",
            "effect +-100 %",
            "equal",
            "equal 5 %",
        ] {
            assert_eq!(read_until(wrong), None, "{wrong}");
        }
    }
}
