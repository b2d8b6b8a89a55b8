//! From the study file to the plan: defaults filled in, factors multiplied out, sizes scaled.

mod cells;
mod repeat;
mod search;
mod spellings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Display;

use weir_model::{
    DataSpec, LoadSpec, Node, Plan, Repetition, RunSpec, SysbenchOptions, Topology, option_spelling,
};

use crate::declared::{ClaimSection, NegativeControlSection};
use crate::draft::{Draft, Transactions};
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
    let mut plan = resolver.plan(overrides);
    plan.factors = resolver.factors(&file.repeat.within_server)?;
    let shared = resolver.shared(overrides, plan.seed)?;
    plan.cells = resolver.cells(&shared, &plan.factors)?;
    plan.repeat = resolver.repetition()?;
    plan.search = resolver.search(&plan)?;
    server_defaults::add(&mut plan);
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
        let warmup = self.file.load.warmup.resolve();
        let (least, most) = (warmup.least(), warmup.most());
        if most < least {
            let why = format!("must be no less than the {least} of at_least");
            return Err(self.error("load.warmup.at_most", most, why));
        }
        Ok(())
    }

    /// Everything but factors, cells, repetitions and runs.
    fn plan(&self, overrides: &Overrides) -> Plan {
        let file = self.file;
        let controls = file.negative_controls.iter();
        Plan {
            title: file.study.title.clone(),
            question: file.study.question.clone(),
            seed: file.repeat.seed.unwrap_or(overrides.seed),
            factors: Vec::new(),
            cells: Vec::new(),
            runs: Vec::new(),
            repeat: Repetition::default(),
            search: None,
            claims: file.claims.iter().map(ClaimSection::resolve).collect(),
            negative_controls: controls.map(NegativeControlSection::resolve).collect(),
            prices: file.prices.clone(),
            crash_tests: file.crash_tests.clone(),
        }
    }

    /// What all cells have before factors change it.
    fn shared(&self, overrides: &Overrides, seed: u64) -> Result<Draft, StudyError> {
        let data = &self.file.data;
        let scale = data.scale.each();
        let spec = RunSpec {
            topology: self.topology(overrides)?,
            data: DataSpec {
                data_scale: scale.data,
                drive_scale: scale.drive,
                ..DataSpec::default()
            },
            load: self.load()?,
            seed,
            ..RunSpec::default()
        };
        let workload = target::workload(&data.workload)
            .map_err(|why| self.error("data.workload", format!("`{}`", data.workload), why))?;
        Ok(Draft {
            levels: BTreeMap::new(),
            spec,
            drive: None,
            drive_settings: BTreeMap::new(),
            transactions: Transactions::Sysbench(workload.into()),
            options: self.options()?,
            distribution: self.file.load.distribution,
            text_file: None,
            tables: data.tables,
            rows: scale.data.apply(data.rows),
        })
    }

    fn topology(&self, overrides: &Overrides) -> Result<Topology, StudyError> {
        let server = &self.file.server;
        let wanted = overrides.server.as_deref().unwrap_or(&server.flavor);
        let choice = target::server(wanted, self.flavor_of)
            .map_err(|why| self.error("server.flavor", format!("`{wanted}`"), why))?;
        let mut topology = Topology::single(Node {
            variables: self.variables()?,
            limits: server.limits(),
            pool: server.pool,
            ..Node::primary(choice)
        });
        topology.set_replicas(server.replicas);
        topology.replication = server.replication;
        Ok(topology)
    }

    fn load(&self) -> Result<LoadSpec, StudyError> {
        let load = &self.file.load;
        let mut spec = LoadSpec {
            connections: self.threads()?[0],
            warmup: load.warmup.resolve(),
            measure: load.measure,
            rtt: load.rtt,
            ..LoadSpec::default()
        };
        if let Some(rate) = load.rate.as_ref().map(Setting::text) {
            target::set_rate(&mut spec.pace, &rate)
                .map_err(|why| self.error("load.rate", rate, why))?;
        }
        Ok(spec)
    }

    fn options(&self) -> Result<SysbenchOptions, StudyError> {
        let mut options = SysbenchOptions::default();
        for (name, value) in &self.file.load.options {
            let value = value.text();
            options
                .set(name, &value)
                .map_err(|why| self.error(&format!("load.options.{name}"), value, why))?;
        }
        Ok(options)
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, StudyError> {
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
}
