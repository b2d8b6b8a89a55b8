//! From the study file to the plan: defaults filled in, factors multiplied out, sizes scaled.

mod cells;
mod repeat;
mod search;
mod spellings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Display;

use weir_model::{DataPlan, LoadSettings, Plan, Repetition, ServerSettings, option_spelling};

use crate::declared::{ClaimSection, NegativeControlSection};
use crate::file::{Setting, StudyFile};
use crate::target::{self, FlavorOf};
use crate::{StudyError, order, server_defaults};

pub(crate) use search::probe_cell;

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
    flavor_of: FlavorOf<'_>,
) -> Result<Plan, StudyError> {
    let resolver = Resolver {
        name,
        file,
        flavor_of,
    };
    resolver.check()?;
    resolver.check_spellings()?;
    let mut plan = resolver.shared(overrides)?;
    let within = &file.repeat.within_server;
    plan.factors = resolver.factors(within)?;
    plan.cells = resolver.cells(&plan)?;
    plan.repeat = resolver.repetition()?;
    plan.search = resolver.search(&plan)?;
    server_defaults::add(&mut plan);
    resolver.check_options(&plan)?;
    if plan.search.is_none() {
        plan.runs = order::interleaved(&plan);
    }
    Ok(plan)
}

/// The file with its name, for errors that say where.
struct Resolver<'a> {
    name: &'a str,
    file: &'a StudyFile,
    flavor_of: FlavorOf<'a>,
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
        let counts = [
            ("data.tables", u64::from(self.file.data.tables)),
            ("data.rows", self.file.data.rows),
            ("repeat.runs", u64::from(self.file.repeat.runs.unwrap_or(1))),
        ];
        if let Some((key, value)) = counts.into_iter().find(|(_, value)| *value == 0) {
            return Err(self.error(key, value, "must be at least 1"));
        }
        if self.file.load.measure.0.is_zero() {
            return Err(self.error("load.measure", "0s", "must be longer than nothing"));
        }
        let (least, most) = self.file.load.warmup.bounds();
        match most {
            Some(most) if most < least => {
                let why = format!("must be no less than the {least} of at_least");
                Err(self.error("load.warmup.at_most", most, why))
            }
            _ => Ok(()),
        }
    }

    /// Everything but factors, cells, repetitions and runs.
    fn shared(&self, overrides: &Overrides) -> Result<Plan, StudyError> {
        let file = self.file;
        let scale = file.data.scale.each();
        let wanted = overrides.server.as_deref().unwrap_or(&file.server.flavor);
        let server = target::server(wanted, self.flavor_of)
            .map_err(|why| self.error("server.flavor", format!("`{wanted}`"), why))?;
        let workload = target::workload(&file.data.workload)
            .map_err(|why| self.error("data.workload", format!("`{}`", file.data.workload), why))?;
        Ok(Plan {
            title: file.study.title.clone(),
            question: file.study.question.clone(),
            seed: file.repeat.seed.unwrap_or(overrides.seed),
            server: ServerSettings {
                flavor: server.flavor,
                version: server.version,
                binary: server.binary,
                given: server.given,
                variables: self.shared_variables()?,
                deployment: file.server.deployment(),
            },
            data: DataPlan {
                workload,
                tables: file.data.tables,
                rows: scale.data.apply(file.data.rows),
                data_scale: scale.data,
                drive_scale: scale.drive,
            },
            load: self.shared_load()?,
            factors: Vec::new(),
            cells: Vec::new(),
            runs: Vec::new(),
            repeat: Repetition::default(),
            search: None,
            claims: file.claims.iter().map(ClaimSection::resolve).collect(),
            negative_controls: file
                .negative_controls
                .iter()
                .map(NegativeControlSection::resolve)
                .collect(),
            prices: file.prices.clone(),
            crash_tests: file.crash_tests.clone(),
        })
    }

    fn shared_load(&self) -> Result<LoadSettings, StudyError> {
        let load = &self.file.load;
        let (warmup, warmup_max) = load.warmup.bounds();
        let rate = load.rate.as_ref().map(Setting::text);
        let rate_per_s = match &rate {
            Some(rate) => target::rate(rate).map_err(|why| self.error("load.rate", rate, why))?,
            None => None,
        };
        let option = |(name, value): (&String, &Setting)| (name.clone(), value.text());
        Ok(LoadSettings {
            warmup,
            warmup_max,
            measure: load.measure,
            distribution: load.distribution,
            rate_per_s,
            rtt: load.rtt,
            options: load.options.iter().map(option).collect(),
        })
    }

    fn shared_variables(&self) -> Result<BTreeMap<String, String>, StudyError> {
        let scale = self.file.data.scale.each().data;
        let scaled = |(variable, value): (&String, &Setting)| {
            let text = value.text();
            let name = option_spelling(variable);
            let value = target::scaled(&name, text.trim(), scale);
            let key = || format!("server.config.{variable}");
            let value = value.map_err(|why| self.error(&key(), &text, why))?;
            Ok((name, value))
        };
        self.file.server.config.iter().map(scaled).collect()
    }

    /// Every cell's options of its workload must be understood by the load engine.
    fn check_options(&self, plan: &Plan) -> Result<(), StudyError> {
        for cell in &plan.cells {
            let (data, load) = (plan.data_of(cell), plan.load_of(cell));
            if let Err(error) = crate::workload::settings(data.workload, load) {
                let place = if cell.load.is_some() {
                    "factors"
                } else {
                    "load.options"
                };
                return Err(self.error(place, cell.label(), error));
            }
        }
        Ok(())
    }
}
