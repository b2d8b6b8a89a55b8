//! Factors and their combinations.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Cell, Factor, nearest};

use super::Resolver;
use crate::StudyError;
use crate::draft::Draft;
use crate::file::{LevelList, LevelSetting, Threads};
use crate::levels::{Level, levels};
use crate::setting::Setting;
use crate::target::Target;

/// Cells of one study at most: more is a mistake.
const CELLS_MAX: usize = 10_000;

impl Resolver<'_> {
    /// The factors in the order of their names, with what each moves.
    pub(super) fn factors(&self, within_server: &[String]) -> Result<Vec<Factor>, StudyError> {
        let lists = self.lists()?;
        let mut owners: BTreeMap<String, &String> = BTreeMap::new();
        let mut factors = Vec::new();
        for (name, list) in &lists {
            let levels = self.levels(name, list)?;
            let settings: BTreeSet<String> = levels
                .iter()
                .flat_map(|level| level.settings.iter())
                .map(|(setting, _)| Target::name_of(setting))
                .collect();
            for setting in &settings {
                if let Some(other) = owners.insert(setting.clone(), name) {
                    let why = format!("is moved by factor `{other}` too; leave it to one of them");
                    return Err(self.error(&format!("factors.{name}"), setting, why));
                }
            }
            factors.push(Factor {
                name: name.clone(),
                settings: settings.into_iter().collect(),
                levels: levels.into_iter().map(|level| level.label).collect(),
                within_server: within_server.contains(name),
            });
        }
        self.check_within_server(&factors, within_server)?;
        Ok(factors)
    }

    /// The combinations of all levels, without those that are excluded.
    pub(super) fn cells(
        &self,
        shared: &Draft,
        factors: &[Factor],
    ) -> Result<Vec<Cell>, StudyError> {
        if self.is_screen() {
            return self.finished(self.screen_drafts(shared)?);
        }
        let mut cells = vec![shared.clone()];
        for (name, list) in &self.lists()? {
            let levels = self.levels(name, list)?;
            if cells.len() * levels.len() > CELLS_MAX {
                let why = format!("makes more than {CELLS_MAX} combinations; use fewer levels");
                return Err(self.error(&format!("factors.{name}"), levels.len(), why));
            }
            let mut multiplied = Vec::with_capacity(cells.len() * levels.len());
            for cell in &cells {
                for level in &levels {
                    multiplied.push(self.with_level(cell, name, level)?);
                }
            }
            cells = multiplied;
        }
        self.finished(self.without_excluded(cells, factors)?)
    }

    fn finished(&self, cells: Vec<Draft>) -> Result<Vec<Cell>, StudyError> {
        let finish = |cell: Draft| {
            let levels = cell.levels.clone();
            cell.finish().map_err(|why| StudyError::Cell {
                file: self.name.to_owned(),
                levels: Cell {
                    levels,
                    ..Cell::default()
                }
                .label(),
                why: why.to_string(),
            })
        };
        cells.into_iter().map(finish).collect()
    }

    pub(super) fn with_level(
        &self,
        cell: &Draft,
        factor: &str,
        level: &Level,
    ) -> Result<Draft, StudyError> {
        let mut cell = cell.clone();
        for (setting, value) in &level.settings {
            Target::parse(setting)
                .apply(&mut cell, value, self.context())
                .map_err(|why| self.error(&format!("factors.{factor}"), value, why))?;
        }
        cell.levels.insert(factor.to_owned(), level.label.clone());
        Ok(cell)
    }

    /// `[factors]`, and several thread counts of `[load]`, which are a factor too.
    pub(super) fn lists(&self) -> Result<BTreeMap<String, LevelList>, StudyError> {
        let mut lists = self.file.factors.clone();
        let threads = if let Some(Threads::Range(range)) = &self.file.load.threads {
            LevelList::Range(range.clone())
        } else {
            let threads = self.threads()?;
            if threads.len() < 2 {
                return Ok(lists);
            }
            let level = |threads: u32| LevelSetting::One(Setting::Integer(threads.into()));
            LevelList::List(threads.into_iter().map(level).collect())
        };
        match lists.insert("threads".to_owned(), threads) {
            Some(_) => {
                let why = "stands in [load] and in [factors]; write it once";
                Err(self.error("threads", "a list", why))
            }
            None => Ok(lists),
        }
    }

    pub(super) fn levels(&self, name: &str, list: &LevelList) -> Result<Vec<Level>, StudyError> {
        let key = format!("factors.{name}");
        let levels = levels(name, list).map_err(|(value, why)| self.error(&key, value, why))?;
        if levels.is_empty() {
            return Err(self.error(&key, "[]", "needs at least one level"));
        }
        if levels.iter().any(|level| level.settings.is_empty()) {
            return Err(self.error(&key, "{}", "a level must set something"));
        }
        let mut seen = BTreeSet::new();
        match levels.iter().find(|level| !seen.insert(&level.label)) {
            Some(twice) => {
                let why = "stands there twice; write each level once";
                Err(self.error(&key, &twice.label, why))
            }
            None => Ok(levels),
        }
    }

    /// The thread counts of `[load]`, none if a factor gives them; of a range only the first, it stands for a factor.
    pub(super) fn threads(&self) -> Result<Vec<u32>, StudyError> {
        let Some(threads) = &self.file.load.threads else {
            return Ok(Vec::new());
        };
        let threads = match threads {
            Threads::One(threads) => vec![*threads],
            Threads::More(threads) => threads.clone(),
            Threads::Range(_) => vec![1],
        };
        if threads.is_empty() || threads.contains(&0) {
            return Err(self.error("load.threads", format!("{threads:?}"), "must be at least 1"));
        }
        Ok(threads)
    }

    fn without_excluded(
        &self,
        cells: Vec<Draft>,
        factors: &[Factor],
    ) -> Result<Vec<Draft>, StudyError> {
        let exclusions: Vec<BTreeMap<&str, String>> = self
            .file
            .exclude
            .iter()
            .map(|exclusion| self.exclusion(exclusion, factors))
            .collect::<Result<_, _>>()?;
        let is_excluded = |cell: &Draft| {
            let holds = |(factor, level): (&&str, &String)| cell.levels[*factor] == *level;
            exclusions
                .iter()
                .any(|exclusion| exclusion.iter().all(holds))
        };
        let left: Vec<_> = cells
            .into_iter()
            .filter(|cell| !is_excluded(cell))
            .collect();
        if left.is_empty() {
            let why = "leaves nothing to run; exclude less";
            return Err(self.error("exclude", format!("{} tables", exclusions.len()), why));
        }
        Ok(left)
    }

    /// An exclusion must name factors and levels that there are: a misspelt one would exclude
    /// nothing, silently.
    fn exclusion<'a>(
        &self,
        exclusion: &'a BTreeMap<String, Setting>,
        factors: &[Factor],
    ) -> Result<BTreeMap<&'a str, String>, StudyError> {
        let mut levels = BTreeMap::new();
        for (name, level) in exclusion {
            let known = factors.iter().map(|factor| factor.name.as_str());
            let Some(factor) = factors.iter().find(|factor| factor.name == *name) else {
                return Err(self.error("exclude", name, no_such("factor", nearest(name, known))));
            };
            let level = level.text();
            if !factor.levels.contains(&level) {
                let known = factor.levels.iter().map(String::as_str);
                let why = no_such("level", nearest(&level, known));
                return Err(self.error(&format!("exclude.{name}"), &level, why));
            }
            levels.insert(name.as_str(), level);
        }
        if levels.is_empty() {
            return Err(self.error("exclude", "{}", "would exclude everything; name a level"));
        }
        Ok(levels)
    }

    fn check_within_server(&self, factors: &[Factor], names: &[String]) -> Result<(), StudyError> {
        for name in names {
            let known = factors.iter().map(|factor| factor.name.as_str());
            let Some(factor) = factors.iter().find(|factor| factor.name == *name) else {
                let why = no_such("factor", nearest(name, known));
                return Err(self.error("repeat.within_server", name, why));
            };
            let stays = |setting: &String| Target::parse(setting).is_of_the_load();
            if !factor.settings.iter().all(stays) {
                let why = "needs a restart of the server; only factors of the load can vary inside one: \
                           what stands in [load]";
                return Err(self.error("repeat.within_server", name, why));
            }
        }
        Ok(())
    }
}

fn no_such(what: &str, nearest: Option<&str>) -> String {
    match nearest {
        Some(name) => format!("no such {what}; did you mean `{name}`?"),
        None => format!("no such {what} in [factors]"),
    }
}
