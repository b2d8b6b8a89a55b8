//! From the study file to the plan: defaults filled in, factors multiplied out, sizes scaled.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use weir_model::{
    Bytes, Cell, DataPlan, Flavor, LoadSettings, Plan, Scale, ServerSettings, WorkloadName,
};

use crate::declared::{ClaimSection, NegativeControlSection};
use crate::file::{OneOrMore, StudyFile};
use crate::{StudyError, order, server_defaults};

/// Sizes that shrink with the data, so that their ratios to the data stay.
const SCALED_VARIABLES: [&str; 3] = [
    "innodb_buffer_pool_size",
    "innodb_redo_log_capacity",
    "innodb_log_file_size",
];

/// What the command line changes in a study.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Flavour or path of a server program, instead of `server.flavor`.
    pub server: Option<String>,
    /// Seed, where the study file gives none.
    pub seed: u64,
}

/// Resolves `file`, read from `name`. `flavor_of` tells the flavour of a server program.
pub fn resolve(
    name: &str,
    file: &StudyFile,
    overrides: &Overrides,
    flavor_of: &dyn Fn(&Path) -> Result<Flavor, StudyError>,
) -> Result<Plan, StudyError> {
    let resolver = Resolver { name, file };
    resolver.check()?;
    let scale = file.data.scale.each();
    let wanted = overrides.server.as_deref().unwrap_or(&file.server.flavor);
    let (flavor, binary) = resolver.server(wanted, flavor_of)?;
    let cells = resolver.cells(scale.data)?;
    let mut variables = resolver.shared_variables(scale.data)?;
    let threads_max = cells.iter().map(|cell| cell.threads).max().unwrap_or(1);
    server_defaults::add(&mut variables, flavor, threads_max, file.data.tables);
    let seed = file.repeat.seed.unwrap_or(overrides.seed);
    Ok(Plan {
        title: file.study.title.clone(),
        question: file.study.question.clone(),
        seed,
        server: ServerSettings {
            flavor,
            binary,
            variables,
        },
        data: DataPlan {
            workload: resolver.workload()?,
            tables: file.data.tables,
            rows: scale.data.apply(file.data.rows),
            data_scale: scale.data,
            drive_scale: scale.drive,
        },
        load: LoadSettings {
            warmup: file.load.warmup,
            measure: file.load.measure,
            distribution: file.load.distribution,
        },
        runs: order::interleaved(cells.len(), file.repeat.runs, seed),
        cells,
        claims: file.claims.iter().map(ClaimSection::resolve).collect(),
        negative_controls: file
            .negative_controls
            .iter()
            .map(NegativeControlSection::resolve)
            .collect(),
        prices: file.prices.clone(),
    })
}

/// The file with its name, for errors that say where.
struct Resolver<'a> {
    name: &'a str,
    file: &'a StudyFile,
}

impl Resolver<'_> {
    fn error(&self, key: &str, value: impl Display, why: impl Display) -> StudyError {
        StudyError::Value {
            file: self.name.to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
            why: why.to_string(),
        }
    }

    fn check(&self) -> Result<(), StudyError> {
        let positive = "must be at least 1";
        let counts = [
            ("data.tables", u64::from(self.file.data.tables)),
            ("data.rows", self.file.data.rows),
            ("repeat.runs", u64::from(self.file.repeat.runs)),
        ];
        if let Some((key, value)) = counts.into_iter().find(|(_, value)| *value == 0) {
            return Err(self.error(key, value, positive));
        }
        if self.file.load.measure.0.is_zero() {
            return Err(self.error("load.measure", "0s", "must be longer than nothing"));
        }
        let empty = self
            .file
            .factors
            .iter()
            .find(|(_, levels)| levels.is_empty());
        match empty {
            Some((factor, _)) => Err(self.error(
                &format!("factors.{factor}"),
                "[]",
                "needs at least one level",
            )),
            None => Ok(()),
        }
    }

    fn server(
        &self,
        wanted: &str,
        flavor_of: &dyn Fn(&Path) -> Result<Flavor, StudyError>,
    ) -> Result<(Flavor, Option<PathBuf>), StudyError> {
        if wanted.contains('/') {
            let path = PathBuf::from(wanted);
            return Ok((flavor_of(&path)?, Some(path)));
        }
        let flavor = Flavor::from_str(wanted).map_err(|_| {
            self.error(
                "server.flavor",
                format!("`{wanted}`"),
                "must be `mysql`, `mariadb` or the path of a server program",
            )
        })?;
        Ok((flavor, None))
    }

    fn workload(&self) -> Result<WorkloadName, StudyError> {
        let text = &self.file.data.workload;
        let error = |why: String| self.error("data.workload", format!("`{text}`"), why);
        match WorkloadName::from_str(text).map_err(error)? {
            // It fills tables of its own until the time is over: no run starts from equal data.
            WorkloadName::BulkInsert => Err(error(
                "a study restores loaded tables; use `weir load bulk_insert`".to_owned(),
            )),
            workload => Ok(workload),
        }
    }

    fn shared_variables(&self, scale: Scale) -> Result<BTreeMap<String, String>, StudyError> {
        let scaled = |(variable, value): (&String, &crate::file::Setting)| {
            let key = format!("server.config.{variable}");
            let value = self.scaled(&key, variable, value.text(), scale)?;
            Ok((variable.clone(), value))
        };
        self.file.server.config.iter().map(scaled).collect()
    }

    /// Shrinks a size that belongs to the data; passes every other value through.
    fn scaled(
        &self,
        key: &str,
        variable: &str,
        value: String,
        scale: Scale,
    ) -> Result<String, StudyError> {
        if !SCALED_VARIABLES.contains(&variable) {
            return Ok(value);
        }
        let size =
            Bytes::from_str(&value).map_err(|why| self.error(key, &value, why.to_string()))?;
        Ok(scale.apply(size.0).to_string())
    }

    /// The full factorial, in the order of the factors' names and of the levels in the file.
    fn cells(&self, scale: Scale) -> Result<Vec<Cell>, StudyError> {
        let threads = self.threads()?;
        let mut cells = vec![Cell {
            levels: BTreeMap::new(),
            drive: None,
            variables: BTreeMap::new(),
            threads: threads[0],
        }];
        let mut factors: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, levels) in &self.file.factors {
            factors.insert(
                name.clone(),
                levels.iter().map(crate::file::Setting::text).collect(),
            );
        }
        if threads.len() > 1 {
            let levels = threads.iter().map(ToString::to_string).collect();
            if factors.insert("threads".to_owned(), levels).is_some() {
                let why = "stands in [load] and in [factors]; write it once";
                return Err(self.error("threads", "a list", why));
            }
        }
        for (factor, levels) in &factors {
            let mut seen = BTreeSet::new();
            if let Some(twice) = levels.iter().find(|level| !seen.insert(*level)) {
                let why = "stands there twice; write each level once";
                return Err(self.error(&format!("factors.{factor}"), twice, why));
            }
            let mut multiplied = Vec::with_capacity(cells.len() * levels.len());
            for cell in &cells {
                for level in levels {
                    multiplied.push(self.with_level(cell, factor, level, scale)?);
                }
            }
            cells = multiplied;
        }
        Ok(cells)
    }

    fn with_level(
        &self,
        cell: &Cell,
        factor: &str,
        level: &str,
        scale: Scale,
    ) -> Result<Cell, StudyError> {
        let key = format!("factors.{factor}");
        let mut cell = cell.clone();
        match factor {
            "drive" => cell.drive = Some(level.to_owned()),
            "threads" => {
                let threads = level.parse().ok().filter(|threads| *threads > 0);
                cell.threads = threads
                    .ok_or_else(|| self.error(&key, level, "must be a number of connections"))?;
            }
            variable => {
                let value = self.scaled(&key, variable, level.to_owned(), scale)?;
                cell.variables.insert(variable.to_owned(), value);
            }
        }
        cell.levels.insert(factor.to_owned(), level.to_owned());
        Ok(cell)
    }

    fn threads(&self) -> Result<Vec<u32>, StudyError> {
        let threads = match &self.file.load.threads {
            OneOrMore::One(threads) => vec![*threads],
            OneOrMore::More(threads) => threads.clone(),
        };
        if threads.is_empty() || threads.contains(&0) {
            return Err(self.error("load.threads", format!("{threads:?}"), "must be at least 1"));
        }
        Ok(threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = r#"
        [study]
        title = "T"
        question = "Q?"
        [server]
        config = { innodb_buffer_pool_size = "8G", innodb_flush_method = "O_DIRECT" }
        [data]
        workload = "oltp_write_only"
        tables = 2
        rows = 1_000_000
        scale = { data = "1/100", drive = "1/25" }
        [load]
        threads = 32
        warmup = "5s"
        measure = "10s"
        [factors]
        innodb_doublewrite = ["ON", "OFF"]
        drive = ["a", "b"]
        [repeat]
        runs = 3
        seed = 7
    "#;

    fn resolved(text: &str) -> Result<Plan, StudyError> {
        let file = StudyFile::parse("s.toml", text)?;
        resolve("s.toml", &file, &Overrides::default(), &|_| {
            Ok(Flavor::Mariadb)
        })
    }

    fn message(text: &str) -> String {
        let message = resolved(text).unwrap_err().to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
        message
    }

    #[test]
    fn a_study_becomes_a_full_factorial_in_blocks() {
        let plan = resolved(STUDY).unwrap();
        let labels: Vec<_> = plan.cells.iter().map(Cell::label).collect();
        assert_eq!(
            labels,
            [
                "drive a, innodb_doublewrite ON",
                "drive a, innodb_doublewrite OFF",
                "drive b, innodb_doublewrite ON",
                "drive b, innodb_doublewrite OFF"
            ]
        );
        assert_eq!(plan.runs.len(), 12);
        assert_eq!(plan.seed, 7);
        assert_eq!(plan.data.rows, 10_000);
        assert_eq!(plan.server.variables["innodb_buffer_pool_size"], "85899346");
        assert_eq!(plan.server.variables["innodb_flush_method"], "O_DIRECT");
    }

    #[test]
    fn several_thread_counts_are_a_factor() {
        let plan = resolved(&STUDY.replace("threads = 32", "threads = [2, 32]")).unwrap();
        assert_eq!(plan.cells.len(), 8);
        assert!(
            plan.cells
                .iter()
                .all(|cell| cell.levels["threads"] == cell.threads.to_string())
        );
    }

    #[test]
    fn a_path_is_a_server_program() {
        let path = "flavor = \"/opt/db/bin/mariadbd\"\n        config";
        let plan = resolved(&STUDY.replace("config", path)).unwrap();
        assert_eq!(plan.server.flavor, Flavor::Mariadb);
        assert_eq!(plan.server.binary, Some("/opt/db/bin/mariadbd".into()));
    }

    #[test]
    fn mistakes_are_named_with_file_place_and_remedy() {
        let cases = [
            (
                "threads = 32",
                "thread = 32",
                "s.toml: line 13: unknown field `thread`",
            ),
            (
                "oltp_write_only",
                "oltp_writeonly",
                "did you mean `oltp_write_only`?",
            ),
            (
                "oltp_write_only",
                "bulk_insert",
                "use `weir load bulk_insert`",
            ),
            (
                "rows = 1_000_000",
                "rows = 0",
                "`data.rows` = 0 (must be at least 1)",
            ),
            (
                "\"8G\"",
                "\"8X\"",
                "`server.config.innodb_buffer_pool_size` = 8X",
            ),
            (
                "[\"a\", \"b\"]",
                "[]",
                "`factors.drive` = [] (needs at least one level)",
            ),
            ("[\"a\", \"b\"]", "[\"a\", \"a\"]", "write each level once"),
            ("\"5s\"", "5", "s.toml: line 14"),
            ("\"1/25\"", "\"25\"", "not a scale"),
            ("title", "titel", "did you mean `title`?"),
            (
                "threads = 32",
                "threads = 0",
                "`load.threads` = [0] (must be at least 1)",
            ),
        ];
        for (right, wrong, expected) in cases {
            let found = message(&STUDY.replace(right, wrong));
            assert!(found.contains(expected), "{wrong}: {found}");
        }
    }
}
