//! The screen of a study: from its factors to the rows that are run.

use weir_model::{Candidate, Cell, Factor, Plan, ScreenPart, ScreenPlace, ScreenPlan};
use weir_stats::{SCREENED_FACTORS_MAX, plackett_burman};

use super::Resolver;
use crate::StudyError;
use crate::draft::Draft;
use crate::levels::Level;
use crate::target::{CHANGE_KEY, Target, WITHOUT};

/// With fewer factors all their combinations take no more runs.
const FACTORS_MIN: usize = 4;

/// Factor whose levels name the cells of a screen.
const ROW: &str = "row";

impl Resolver<'_> {
    pub(super) fn is_screen(&self) -> bool {
        self.file.design.is_some()
    }

    /// The present configuration, one with each candidate alone, and one with all of them. A factor of one level, such
    /// as the drive, has it in all of them.
    pub(super) fn screen_drafts(&self, shared: &Draft) -> Result<Vec<Draft>, StudyError> {
        let mut shared = shared.clone();
        let mut factors: Vec<(String, [Level; 2])> = Vec::new();
        for (name, list) in &self.lists()? {
            let levels = self.levels(name, list)?;
            match levels.as_slice() {
                [only] => shared = self.with_level(&shared, name, only)?,
                _ => factors.push((name.clone(), self.two_levels(name, levels)?)),
            }
        }
        self.check_screen(factors.len())?;
        let with = |has: &dyn Fn(usize) -> bool| {
            let mut draft = shared.clone();
            for (index, (name, levels)) in factors.iter().enumerate() {
                draft = self.with_level(&draft, name, &levels[usize::from(has(index))])?;
            }
            Ok(draft)
        };
        let alone = (0..factors.len()).map(|one| with(&|index| index == one));
        let present = std::iter::once(with(&|_| false));
        present.chain(alone).chain([with(&|_| true)]).collect()
    }

    fn two_levels(&self, name: &str, levels: Vec<Level>) -> Result<[Level; 2], StudyError> {
        let key = format!("factors.{name}");
        let is_screened = |level: &Level| {
            let mut settings = level.settings.iter();
            settings.all(|(setting, _)| match Target::parse(setting) {
                Target::Variable(_) => true,
                Target::Change(change) => name.strip_prefix(CHANGE_KEY) == Some(change.as_str()),
                _ => false,
            })
        };
        if let Some(other) = levels.iter().find(|level| !is_screened(level)) {
            let why = "a screen varies server variables and changes of the data (`before.NAME`), each in a factor of \
                       its own; give everything else one value";
            return Err(self.error(&key, &other.label, why));
        }
        if name.starts_with(CHANGE_KEY) && levels[0].label != WITHOUT {
            let why = "a screen adds changes: write [\"without\", \"with\"]";
            return Err(self.error(&key, &levels[0].label, why));
        }
        levels.try_into().map_err(|levels: Vec<Level>| {
            let why = "a screen needs two levels: the present one and a candidate";
            self.error(&key, format!("{} levels", levels.len()), why)
        })
    }

    fn check_screen(&self, factors: usize) -> Result<(), StudyError> {
        if !(FACTORS_MIN..=SCREENED_FACTORS_MAX).contains(&factors) {
            let why = format!(
                "a screen takes {FACTORS_MIN} to {SCREENED_FACTORS_MAX} factors; with fewer, leave [design] out and run all \
                 combinations; with more, let settings of one subsystem move together"
            );
            return Err(self.error("design.kind", format!("{factors} factors"), why));
        }
        let repeat = &self.file.repeat;
        let is_given = [
            ("exclude", !self.file.exclude.is_empty()),
            ("search", self.file.search.is_some()),
            ("repeat.runs", repeat.runs.is_some()),
            ("repeat.until", repeat.until.is_some()),
            ("repeat.at_most", repeat.at_most.is_some()),
            ("repeat.within_server", !repeat.within_server.is_empty()),
        ];
        match is_given.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                let why = "a screen has its own runs and repetitions; leave it out";
                Err(self.error(key, "...", why))
            }
            None => Ok(()),
        }
    }

    /// Gives `plan`, whose cells are those of [`Self::screen_drafts`], the rows of its screen.
    pub(super) fn screen(&self, plan: &mut Plan) -> Result<(), StudyError> {
        let (present, alone) = (&plan.cells[0], &plan.cells[1..]);
        let screened = plan.factors.iter().filter(|factor| factor.levels.len() > 1);
        let candidates: Vec<_> = screened
            .zip(alone)
            .map(|(factor, cell)| candidate(factor, present, cell))
            .collect();
        let together = plan.cells.last();
        let screen = ScreenPlan {
            candidates,
            changes: together.map_or_else(Vec::new, |cell| cell.spec.data.before.clone()),
            winners: Vec::new(),
        };
        let rows =
            plackett_burman(screen.candidates.len()).expect("invariant: their number was checked");
        let mut cells = rows_of(&screen, present, &rows);
        let all = ScreenPlace {
            candidates: (0..screen.candidates.len()).collect(),
            part: ScreenPart::Row,
        };
        let together = present.in_screen(&screen, all, (ROW, ""));
        let drafted = plan.cells.last();
        if drafted.is_some_and(|drafted| drafted.spec != together.spec) {
            let why = "the settings of one factor change those of another; let both move together in one factor";
            return Err(self.error("design.kind", "`screen`", why));
        }
        std::mem::swap(&mut plan.cells, &mut cells);
        plan.screen = Some(screen);
        plan.runs = weir_judge::screen_order(plan);
        Ok(())
    }
}

/// The rows of both halves, then the present configuration.
fn rows_of(screen: &ScreenPlan, present: &Cell, rows: &[Vec<bool>]) -> Vec<Cell> {
    let half = rows.len() / 2;
    let of_row = |(index, row): (usize, &Vec<bool>)| {
        let (part, label) = if index < half {
            (ScreenPart::Row, format!("{}", index + 1))
        } else {
            let label = format!("{} mirrored", index - half + 1);
            (ScreenPart::MirroredRow, label)
        };
        let has = row.iter().enumerate().filter(|(_, has)| **has);
        let candidates = has.map(|(candidate, _)| candidate).collect();
        present.in_screen(screen, ScreenPlace { candidates, part }, (ROW, &label))
    };
    let repeated = ScreenPlace {
        candidates: Vec::new(),
        part: ScreenPart::Repeated,
    };
    let repeated = present.in_screen(screen, repeated, (ROW, "present"));
    rows.iter()
        .enumerate()
        .map(of_row)
        .chain([repeated])
        .collect()
}

fn candidate(factor: &Factor, present: &Cell, with: &Cell) -> Candidate {
    let [from, to] = [present, with].map(|cell| &cell.spec.primary().variables);
    let names = from.keys().chain(to.keys());
    let differing = names.filter(|name| from.get(*name) != to.get(*name));
    Candidate {
        factor: factor.name.clone(),
        present: factor.levels[0].clone(),
        level: factor.levels[1].clone(),
        variables: differing
            .map(|name| (name.clone(), to.get(name).cloned()))
            .collect(),
        change: factor.name.strip_prefix(CHANGE_KEY).map(str::to_owned),
    }
}
