//! Evidence of rules: a design with its drives, or a result with its runs sorted.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{
    Cell, Comparison, DataChange, DriveProfile, Plan, RunRecord, RunResult, ServerUrl,
    ServerVariables, ServerVersion, StudyResult,
};
use weir_stats::{NoiseFloor, RatioEstimate};
use weir_variables::{meaning, shown_names};

use crate::cell_index::CellIndex;
use crate::cell_settings::CellSettings;
use crate::claim_contrasts::claimed;
use crate::compare::contrasts;
use crate::contrast::Contrast;
use crate::measured::RunsByCell;
use crate::settings_preview::SettingsPreview;

/// A study before it runs, with all that is worked out once for all rules.
#[derive(Debug)]
pub(crate) struct Design<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) drives: &'a [DriveProfile],
    pub(crate) index: CellIndex<'a>,
    pub(crate) contrasts: Vec<Contrast>,
    pub(crate) settings: CellSettings,
    /// Variables of each cell's server, as far as it was asked; else its settings.
    variables: Vec<ServerVariables<'a>>,
    preview: &'a SettingsPreview,
    /// Baseline and level of every pair of cells that a claim speaks of.
    pub(crate) claimed: BTreeSet<(usize, usize)>,
}

impl<'a> Design<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        drives: &'a [DriveProfile],
        preview: &'a SettingsPreview,
    ) -> Self {
        let variables = plan.cells.iter().enumerate().map(|(index, cell)| {
            let node = cell.spec.primary();
            let flavor = node.server.flavor;
            match preview.cell(index) {
                Some(preview) => ServerVariables::said(flavor, &preview.values),
                None => ServerVariables::written(flavor, &node.variables),
            }
        });
        let index = CellIndex::new(plan);
        Self {
            plan,
            drives,
            variables: variables.collect(),
            preview,
            contrasts: contrasts(plan, &index),
            settings: CellSettings::new(plan),
            claimed: claimed(plan, &index),
            index,
        }
    }

    /// Both cells of `contrast`, the baseline first.
    pub(super) fn cells(&self, contrast: &Contrast) -> (&'a Cell, &'a Cell) {
        let cell = |index: usize| &self.plan.cells[index];
        (cell(contrast.baseline_cell), cell(contrast.level_cell))
    }

    /// Settings in which the cells of `contrast` differ.
    pub(super) fn differing(&self, contrast: &Contrast) -> BTreeSet<String> {
        let (baseline, level) = (contrast.baseline_cell, contrast.level_cell);
        self.settings.differing(baseline, level)
    }

    pub(super) fn profile(&self, cell: &Cell) -> Option<&'a DriveProfile> {
        profile(self.drives, cell)
    }

    /// The variables of a cell before anything runs.
    pub(super) fn variables(&self, cell: usize) -> &ServerVariables<'a> {
        &self.variables[cell]
    }

    /// The version of a cell's server, if its program was asked.
    pub(super) fn version(&self, cell: usize) -> Option<ServerVersion> {
        self.preview.cell(cell).map(|preview| preview.version)
    }
}

/// A result under judgement.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) result: &'a StudyResult,
    /// The design that the result came from.
    pub(crate) design: Design<'a>,
    pub(crate) runs: &'a RunsByCell<'a>,
    /// Spread between identical runs.
    pub(crate) noise: Option<NoiseFloor>,
    /// Factor -> the largest shift where it can do nothing.
    pub(crate) controls: BTreeMap<String, RatioEstimate>,
}

/// Runs that something is true of, in the words of a finding.
pub(super) struct RunList {
    /// As "3 of 12 runs".
    pub(super) count: String,
    /// The first of them, as "repetition 1 of pool 4G".
    pub(super) first: String,
}

impl<'a> Evidence<'a> {
    /// `None` without any `runs`.
    pub(super) fn named(&self, runs: &[&RunResult]) -> Option<RunList> {
        let record = &runs.first()?.record;
        Some(RunList {
            count: format!("{} of {} runs", runs.len(), self.result.runs.len()),
            first: self.name(record),
        })
    }

    /// A run in the words of a finding: "repetition 1 of pool 4G".
    pub(super) fn name(&self, record: &RunRecord) -> String {
        let cell = self.result.plan.cells[record.cell].label();
        format!("repetition {} of {cell}", record.repetition)
    }

    /// The user's own server of a run.
    pub(super) fn given(&self, record: &RunRecord) -> Option<&'a ServerUrl> {
        let node = self.cell(record.cell).spec.primary();
        node.server.given.as_ref()
    }

    /// The runs of both cells of a comparison.
    pub(super) fn runs_of(&self, comparison: &Comparison) -> impl Iterator<Item = &'a RunResult> {
        let baseline = self.runs.runs(comparison.baseline_cell).iter();
        baseline
            .chain(self.runs.runs(comparison.level_cell))
            .copied()
    }

    /// The first run of `cell`, which speaks for its server's variables.
    pub(super) fn first_run(&self, cell: usize) -> Option<&'a RunResult> {
        self.runs.runs(cell).first().copied()
    }

    /// Returns the variables of the server of `cell`.
    pub(super) fn variables(&self, cell: usize) -> Option<ServerVariables<'a>> {
        let run = self.first_run(cell)?;
        let server = &self.cell(cell).spec.primary().server;
        Some(ServerVariables::said(server.flavor, &run.variables))
    }

    /// The version of the server of `cell`, as it says itself.
    pub(super) fn version(&self, cell: usize) -> ServerVersion {
        let said = self
            .first_run(cell)
            .and_then(|run| run.variables.get("version"));
        let said = said.and_then(|version| version.parse().ok());
        said.unwrap_or(self.result.server_version)
    }

    /// Names under which the server of `cell` says what the setting `name` sets.
    pub(super) fn shown_names(&self, cell: usize, name: &str) -> BTreeSet<String> {
        let flavor = self.cell(cell).spec.primary().server.flavor;
        shown_names(flavor, self.version(cell), name)
    }

    /// Returns the value of the setting `name` in the server of `cell`, in one spelling for all that mean the same.
    pub(super) fn said(&self, cell: usize, name: &str) -> Option<String> {
        meaning(&self.variables(cell)?, self.version(cell), name)
    }

    pub(super) fn cell(&self, index: usize) -> &'a Cell {
        &self.result.plan.cells[index]
    }

    pub(super) fn profile(&self, cell: usize) -> Option<&'a DriveProfile> {
        profile(&self.result.drives, self.cell(cell))
    }

    /// Settings in which the cells of `comparison` were meant to differ.
    pub(super) fn declared(&self, comparison: &Comparison) -> BTreeSet<String> {
        let (baseline, level) = (comparison.baseline_cell, comparison.level_cell);
        self.design.settings.differing(baseline, level)
    }

    /// Settings in which two cells were meant to differ, under all names by which their servers say them.
    pub(super) fn declared_variables(&self, cells: [usize; 2]) -> BTreeSet<String> {
        let mut declared = self.design.settings.differing(cells[0], cells[1]);
        // Changes of the data may set variables.
        let changes = cells.map(|cell| &self.cell(cell).spec.data.before);
        let own = |one: usize| {
            changes[one]
                .iter()
                .filter(move |change| !changes[1 - one].contains(change))
        };
        declared.extend(own(0).chain(own(1)).flat_map(DataChange::variables));
        let named = declared
            .iter()
            .flat_map(|name| cells.map(|cell| self.shown_names(cell, name)));
        named.flatten().collect()
    }
}

fn profile<'a>(drives: &'a [DriveProfile], cell: &Cell) -> Option<&'a DriveProfile> {
    let name = cell.spec.drive_name()?;
    drives.iter().find(|drive| drive.name == name)
}

/// The first `count` of `items`, and how many more there are.
pub(super) fn some_of(items: impl IntoIterator<Item = String>, count: usize) -> String {
    let items: Vec<_> = items.into_iter().collect();
    let more = items.len().saturating_sub(count);
    let more = (more > 0).then(|| format!("{more} more"));
    let shown = items.into_iter().take(count);
    shown.chain(more).collect::<Vec<_>>().join(", ")
}
