//! Verdict of all judged states.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cut::Moment;
use crate::ground_truth::GroundTruth;
use crate::judge::{Judgement, Recovery};

/// One judged crash state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateResult {
    /// Number from 1: the name by which it is replayed.
    pub state: u32,
    /// Activity at the cut.
    pub moment: Moment,
    /// Number of the first event of the recording that did not happen any more.
    pub position: u64,
    /// Number of outcomes of the cut there, where all are tried; `None`: this one was drawn.
    pub outcomes: Option<u32>,
    /// CRC-32C over all files of the state, as proof that a replay has the same bytes.
    pub digest: u32,
    /// Facts that the drive knows.
    pub truth: GroundTruth,
    /// Findings.
    pub judgement: Judgement,
}

impl StateResult {
    /// Returns true if the state speaks against the setting. Lost commits do only where the server
    /// promises to lose none.
    pub fn has_failed(&self, lost_is_failure: bool) -> bool {
        self.judgement.is_damaged() || (lost_is_failure && self.judgement.ledger.commits_lost > 0)
    }
}

/// The answer of a crash test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// No state failed, and the control shows that failures would have been seen.
    Held {
        /// States judged.
        states: u32,
        /// With 95 % confidence fewer than this share of all states fail.
        at_most: f64,
    },
    /// At least one state failed.
    Failed {
        /// The first of them.
        state: u32,
        /// Number of states that did.
        #[serde(default)]
        failed: u32,
    },
    /// Nothing failed, nor did the control, in which something had to: the test could not see.
    Blind,
}

impl Verdict {
    pub(crate) fn new(
        states: &[StateResult],
        control: Option<&Tally>,
        lost_is_failure: bool,
    ) -> Self {
        let mut failed = states
            .iter()
            .filter(|state| state.has_failed(lost_is_failure));
        if let Some(first) = failed.next() {
            return Self::Failed {
                state: first.state,
                failed: 1 + failed.count() as u32,
            };
        }
        if control.is_none_or(|control| control.damaged.states == 0) {
            return Self::Blind;
        }
        let states = states.len() as u32;
        Self::Held {
            states,
            at_most: Rate::new(0, states).at_most,
        }
    }
}

/// The count of an outcome with the most that its true rate can be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// States with the outcome.
    pub states: u32,
    /// Of so many.
    pub of: u32,
    /// Upper end of the one-sided 95 % interval of the rate.
    pub at_most: f64,
}

/// All states of a test, counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// States whose database is damaged.
    pub damaged: Rate,
    /// States that lost an acknowledged commit.
    pub commits_lost: Rate,
    /// States in which the drive tore at least one page.
    pub torn: u32,
    /// States in which it left records that are marked as deleted and that purge has not removed.
    #[serde(default)]
    pub with_garbage: u32,
    /// Counts of states by the way in which the server came up: clean, refused, crashed, hung.
    pub recovery: BTreeMap<String, u32>,
    /// Places at which the recording was cut.
    pub places: u32,
    /// Of these, places of which every possible outcome was judged.
    pub places_exhausted: u32,
    /// States by moment, and of these the damaged ones.
    pub by_moment: BTreeMap<Moment, (u32, u32)>,
}

impl Tally {
    /// Counts `results`.
    pub fn count(results: &[StateResult]) -> Self {
        let count = |which: fn(&StateResult) -> bool| {
            results.iter().filter(|result| which(result)).count() as u32
        };
        let rate = |states| Rate::new(states, results.len() as u32);
        let mut places: BTreeMap<u64, (Option<u32>, u32)> = BTreeMap::new();
        let mut recovery = BTreeMap::new();
        let mut by_moment: BTreeMap<Moment, (u32, u32)> = BTreeMap::new();
        for result in results {
            let outcome = match result.judgement.recovery {
                Recovery::Clean => "clean",
                Recovery::Refused(_) => "refused",
                Recovery::Crashed(_) => "crashed",
                Recovery::Hung(_) => "hung",
            };
            *recovery.entry(outcome.to_owned()).or_default() += 1;
            let place = places.entry(result.position).or_default();
            *place = (result.outcomes, place.1 + 1);
            let of_moment = by_moment.entry(result.moment).or_default();
            of_moment.0 += 1;
            of_moment.1 += u32::from(result.judgement.is_damaged());
        }
        Self {
            damaged: rate(count(|result| result.judgement.is_damaged())),
            commits_lost: rate(count(|result| result.judgement.ledger.commits_lost > 0)),
            torn: count(|result| !result.truth.torn_pages.is_empty()),
            with_garbage: count(|result| result.judgement.garbage_entries > 0),
            places: places.len() as u32,
            places_exhausted: places
                .values()
                .filter(|(outcomes, judged)| *outcomes == Some(*judged))
                .count() as u32,
            recovery,
            by_moment,
        }
    }
}

impl Rate {
    fn new(states: u32, of: u32) -> Self {
        Self {
            states,
            of,
            at_most: weir_stats::proportion_at_most(states.into(), of.into(), 0.95),
        }
    }
}
