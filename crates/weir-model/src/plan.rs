//! A resolved study: what will be run, with every default filled in.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Claim, CrashTest, DataChange, Factor, Repetition, RunSpec, ScreenPart, ScreenPlace, ScreenPlan,
    SearchPlan,
};

/// A study with nothing left to decide. It is stored with the result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The study's title.
    pub title: String,
    /// The question it answers.
    pub question: String,
    /// Seed of the order of runs. A study seeds the load of its cells with the same number.
    pub seed: u64,
    /// Factors of the study; empty in results of Weir 0.1 before there were factors of every kind.
    pub factors: Vec<Factor>,
    /// Combinations of factor levels, in the order of the study file, or rows of a screen; after them the places
    /// where a search or a confirmation measured.
    pub cells: Vec<Cell>,
    /// The runs that are made in any case, in their order. [`Plan::repeat`] may add blocks, a
    /// search has none.
    pub runs: Vec<PlannedRun>,
    /// Number and kind of repetitions of a run.
    pub repeat: Repetition,
    /// Search in each of the cells.
    pub search: Option<SearchPlan>,
    /// Screen of many settings, in place of all combinations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<ScreenPlan>,
    /// Published claims that the study tests.
    pub claims: Vec<Claim>,
    /// Places where a factor cannot have an effect.
    pub negative_controls: Vec<NegativeControl>,
    /// Prices of levels: `intel-p4610` -> its price.
    pub prices: BTreeMap<String, Price>,
    /// Power-cut tests that the study relies on.
    pub crash_tests: Vec<CrashTest>,
}

impl Plan {
    /// Cells of the design, without those that earlier runs asked for.
    pub fn designed(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| cell.is_designed())
    }

    /// The plan as it was before anything ran: without what runs have added to it.
    #[must_use]
    pub fn as_designed(&self) -> Self {
        let mut designed = self.clone();
        designed.cells.retain(Cell::is_designed);
        if let Some(screen) = &mut designed.screen {
            screen.winners.clear();
        }
        designed
    }

    /// Gives the order of runs and the load of all cells another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.seed = seed;
        for cell in &mut self.cells {
            cell.spec_mut().seed = seed;
        }
    }

    /// Returns true if `cell` is served by the same process as `other` would be: they differ in
    /// factors that do not need another start.
    pub fn shares_server(&self, cell: usize, other: usize) -> bool {
        let outer = |cell: usize| {
            let factors = self.factors.iter().filter(|factor| !factor.within_server);
            let level = |factor: &Factor| self.cells[cell].levels.get(&factor.name);
            factors.map(level).collect::<Vec<_>>()
        };
        self.factors.iter().any(|factor| factor.within_server) && outer(cell) == outer(other)
    }
}

/// One combination of factor levels: a run, as often as it is repeated.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Factor -> level, as written in the study file.
    pub levels: BTreeMap<String, String>,
    /// The run that they make, complete.
    pub spec: Arc<RunSpec>,
    /// Place where a search put it; `None`: it is of the study's design.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Place in a screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screened: Option<ScreenPlace>,
}

/// The place of a search that a cell measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Probe {
    /// Index of the cell of the design in which is searched.
    pub of_cell: usize,
    /// The searched quantity: a rate per second, connections, or bytes.
    pub place: u64,
    /// Not to find the answer but to measure it once it was found.
    pub confirms: bool,
}

impl Cell {
    /// The cell of `place` in `screen`, named `label` in the factor `factor`; this one is without candidates.
    #[must_use]
    pub fn in_screen(
        &self,
        screen: &ScreenPlan,
        place: ScreenPlace,
        (factor, label): (&str, &str),
    ) -> Self {
        let mut cell = self.clone();
        let indices = place.candidates.iter();
        let candidates: Vec<_> = indices.map(|&index| &screen.candidates[index]).collect();
        if !screen.changes.is_empty() {
            let is_made = |change: &&DataChange| {
                let mut made = candidates.iter();
                self.spec.data.before.contains(change)
                    || made.any(|candidate| candidate.change.as_ref() == Some(&change.name))
            };
            let changes = screen.changes.iter().filter(is_made);
            cell.spec_mut().data.before = changes.cloned().collect();
        }
        for candidate in candidates {
            for node in cell.spec_mut().topology.nodes_mut() {
                for (name, value) in &candidate.variables {
                    match value {
                        Some(value) => node.variables.insert(name.clone(), value.clone()),
                        None => node.variables.remove(name),
                    };
                }
            }
        }
        cell.levels = BTreeMap::from([(factor.to_owned(), label.to_owned())]);
        cell.screened = Some(place);
        cell
    }

    /// Returns true for a cell that there is before anything ran: not a place of a search, nor a screen's confirmation.
    pub fn is_designed(&self) -> bool {
        let confirms = |screened: &ScreenPlace| screened.part == ScreenPart::Confirmation;
        self.probe.is_none() && !self.screened.as_ref().is_some_and(confirms)
    }

    /// The run, to be changed: cells that shared it keep theirs as it was.
    pub fn spec_mut(&mut self) -> &mut RunSpec {
        Arc::make_mut(&mut self.spec)
    }

    /// The levels as one phrase: `drive intel-p4610, innodb_doublewrite OFF`.
    pub fn label(&self) -> String {
        let parts: Vec<_> = self
            .levels
            .iter()
            .map(|(name, level)| format!("{name} {level}"))
            .collect();
        if parts.is_empty() {
            "all".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

/// One run to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedRun {
    /// Index into [`Plan::cells`].
    pub cell: usize,
    /// Repetition, from 1. Runs of one repetition form a block and are compared with each other.
    pub repetition: u32,
}

/// A place where a factor cannot have an effect: a shift there is the study's own error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NegativeControl {
    /// The factor.
    pub factor: String,
    /// Levels of other factors where it can do nothing.
    #[serde(rename = "where")]
    pub at: BTreeMap<String, String>,
}

/// Price of a level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Amount of money.
    pub amount: f64,
    /// In which currency, and for how long if it is a rent: `USD`, `EUR per month`.
    pub currency: String,
    /// Date of the price: `2026-11-20`.
    pub date: String,
}
