//! The search of a study.

use std::path::Path;

use weir_model::variables::BUFFER_POOL_SIZE;
use weir_model::{Bytes, Cell, Plan, Probe, SearchGoal, SearchPlan};

use super::Resolver;
use crate::StudyError;
use crate::draft::Draft;
use crate::file::{Find, SearchSection};
use crate::levels;
use crate::target::{Context, Target};

/// Shares at which a memory sweep stops paying, where it begins to hurt, and deep in its cliff.
/// They are the points A, B and C of the published study of memory against drives.
const SHARES: [f64; 3] = [0.97, 0.9, 0.5];

/// Default of the relative distance of neighbours.
const TOLERANCE: f64 = 0.05;

/// Default of the runs at the answer, which is measured anew.
const CONFIRM: u32 = 3;

impl Resolver<'_> {
    pub(super) fn search(&self, plan: &Plan) -> Result<Option<SearchPlan>, StudyError> {
        let Some(search) = &self.file.search else {
            return Ok(None);
        };
        if plan.repeat.until.is_some() || self.file.repeat.runs.is_some() {
            let why = "a search repeats by itself; use search.runs and search.confirm";
            return Err(self.error("repeat", "runs or until", why));
        }
        if !self.file.repeat.within_server.is_empty() {
            let why = "a search starts every run from restored data";
            return Err(self.error("repeat.within_server", "[...]", why));
        }
        let goal = self.goal(search)?;
        let factor = self.searched(search, plan)?;
        let wrong = |why: String| self.error("search.range", format!("`{}`", search.range), why);
        let (low, high, _) = levels::ends(&search.range).map_err(wrong)?;
        if low == 0 || high <= low {
            return Err(wrong("must begin above 0 and rise".to_owned()));
        }
        let found = SearchPlan {
            goal,
            factor,
            low,
            high,
            tolerance: self.tolerance(search)?,
            runs: search.runs.unwrap_or(1).max(1),
            confirm: search.confirm.unwrap_or(CONFIRM),
        };
        for (of_cell, cell) in plan.cells.iter().enumerate() {
            let probe = Probe {
                of_cell,
                place: low,
                confirms: false,
            };
            try_probe_cell(cell, &found, probe)
                .map_err(|why| self.error("search.factor", &found.factor, why))?;
        }
        Ok(Some(found))
    }

    /// Returns true if the search gives `key`.
    pub(super) fn is_searched(&self, key: &str) -> bool {
        self.file
            .search
            .as_ref()
            .is_some_and(|search| name(search) == key)
    }

    fn goal(&self, search: &SearchSection) -> Result<SearchGoal, StudyError> {
        if search.find != Find::Knee && search.shares.is_some() {
            return Err(self.error("search.shares", "[...]", "belongs to find = \"knee\""));
        }
        match (search.find, &search.objective) {
            (Find::Rate | Find::Threads, Some(objective)) => {
                let parsed = objective.parse();
                let wrong =
                    |why: String| self.error("search.objective", format!("`{objective}`"), why);
                let objective = parsed.map_err(wrong)?;
                Ok(match search.find {
                    Find::Rate => SearchGoal::Rate { objective },
                    _ => SearchGoal::Threads { objective },
                })
            }
            (Find::Rate | Find::Threads, None) => {
                let why = "needs search.objective, such as `p99 <= 10ms`";
                Err(self.error("search.find", format!("`{}`", name(search)), why))
            }
            (_, Some(_)) => {
                let why = "belongs to find = \"rate\" and \"threads\"";
                Err(self.error("search.objective", "...", why))
            }
            (Find::Peak, None) => Ok(SearchGoal::Peak),
            (Find::Knee, None) => {
                let shares = search.shares.clone().unwrap_or_else(|| SHARES.to_vec());
                let valid = |share: &f64| *share > 0.0 && *share < 1.0;
                match shares.iter().find(|share| !valid(share)) {
                    Some(share) => Err(self.error("search.shares", share, "must be in 0 to 1")),
                    None => Ok(SearchGoal::Knee { shares }),
                }
            }
        }
    }

    /// Returns the variable of the search: the rate, the threads, or a variable that holds a size
    /// or number.
    fn searched(&self, search: &SearchSection, plan: &Plan) -> Result<String, StudyError> {
        let factor = Target::name_of(name(search));
        let target = Target::parse(&factor);
        let fits = match search.find {
            Find::Rate => matches!(target, Target::Load(option) if option.name == "rate"),
            Find::Threads => matches!(target, Target::Threads),
            Find::Peak | Find::Knee => matches!(target, Target::Threads | Target::Variable(_)),
        };
        if !fits {
            let why = "is not what this search can vary: `rate` by its rate, `threads` by threads, `peak` and `knee` by \
                       threads or a server variable";
            return Err(self.error("search.factor", &factor, why));
        }
        let moved = |other: &&weir_model::Factor| other.settings.contains(&factor);
        match plan.factors.iter().find(moved) {
            Some(other) => {
                let why = format!("is a factor too (`{}`); search it or list it", other.name);
                Err(self.error("search.factor", &factor, why))
            }
            None => Ok(factor),
        }
    }

    fn tolerance(&self, search: &SearchSection) -> Result<f64, StudyError> {
        let Some(text) = &search.tolerance else {
            return Ok(TOLERANCE);
        };
        share(text).ok_or_else(|| {
            self.error(
                "search.tolerance",
                format!("`{text}`"),
                "must be a share such as `5 %`",
            )
        })
    }
}

/// Returns the variable of a search, as it is written.
fn name(search: &SearchSection) -> &str {
    let default = match search.find {
        Find::Rate => "rate",
        Find::Peak | Find::Threads => "threads",
        Find::Knee => BUFFER_POOL_SIZE,
    };
    search.factor.as_deref().unwrap_or(default)
}

/// The 0.05 of `5 %`, above 0.
pub(super) fn share(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number / 100.0)
}

/// The cell of a design with the searched quantity at `place`.
pub fn probe_cell(plan: &Plan, search: &SearchPlan, probe: Probe) -> Cell {
    let cell = try_probe_cell(&plan.cells[probe.of_cell], search, probe);
    cell.expect("invariant: each cell was tried when the study was resolved")
}

/// An error says why `cell` cannot be searched in.
fn try_probe_cell(cell: &Cell, search: &SearchPlan, probe: Probe) -> Result<Cell, String> {
    let mut draft = Draft::from_cell(cell);
    let target = Target::parse(&search.factor);
    let value = probe.place.to_string();
    let context = Context {
        flavor_of: &|_| unreachable!("a search does not vary servers"),
        folder: Path::new(""),
        modules: &[],
    };
    target.apply(&mut draft, &value, context)?;
    let mut cell = draft.finish().map_err(|error| error.to_string())?;
    let label = match target {
        Target::Variable(_) => Bytes(probe.place).to_string(),
        _ => value,
    };
    let again = if probe.confirms { " again" } else { "" };
    cell.levels.insert(search.factor.clone(), label + again);
    cell.probe = Some(probe);
    Ok(cell)
}
