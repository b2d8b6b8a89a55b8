//! From the study file to the plan: defaults filled in, factors multiplied out, sizes scaled.

mod cells;
mod changes;
mod events;
mod repeat;
mod screen;
mod search;
mod spellings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;

use weir_model::{
    Cell, DataChange, DataSource, DataSpec, LOAD_OPTIONS, LoadSpec, Node, OrderEntryWorkload, Plan,
    REPLAY_OPTIONS, Repetition, RunSpec, ServerAgents, ServerUrl, SysbenchOptions, TimelineEvent,
    Topology, WorkloadSpec, option_spelling,
};

use crate::declared::{ClaimSection, NegativeControlSection, texts};
use crate::draft::Draft;
use crate::file::{StudyFile, Warmup};
use crate::hosting::refused_on_agent;
use crate::setting::Setting;
use crate::target::{self, Context, FlavorOf, NAME_SEPARATOR, NOTHING, Target};
use crate::{StudyError, server_defaults};

pub use search::probe_cell;

/// Changes of a study by the command line.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Flavour or path of a server program, instead of `server.flavor`.
    pub server: Option<String>,
    /// Seed, where the study file gives none.
    pub seed: u64,
}

/// Resolves the text of a study that stands in no file. `flavor`: that of each server program that it names.
///
/// # Errors
///
/// As [`resolve`], and a text that is no study.
pub fn plan_from_text(text: &str, flavor: weir_model::Flavor) -> Result<Plan, StudyError> {
    const NAME: &str = "study.toml";
    let file = StudyFile::parse(NAME, text)?;
    resolve(NAME, &file, &Overrides::default(), &|_| Ok(flavor))
}

/// Resolves `file`, read from `name`. `flavor_of` tells the flavour of a server program.
///
/// # Errors
/// If a value is missing or makes no sense, or a file that the study names cannot be read.
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
    let events = resolver.events()?;
    let changes = resolver.changes()?;
    let mut plan = resolver.plan(overrides);
    plan.factors = resolver.factors(&file.repeat.within_server)?;
    let shared = resolver.shared(overrides, plan.seed, (&events, &changes))?;
    plan.cells = resolver.cells(&shared, &plan.factors)?;
    resolver.check_data(&plan)?;
    resolver.check_options(&plan)?;
    resolver.check_events(&plan, &events)?;
    resolver.check_changes(&plan, &changes)?;
    plan.repeat = resolver.repetition()?;
    resolver.check_agent(&plan)?;
    plan.search = resolver.search(&plan)?;
    server_defaults::add(&mut plan);
    if resolver.is_screen() {
        resolver.screen(&mut plan)?;
    } else if plan.search.is_none() {
        plan.runs = weir_judge::interleaved(&plan);
    }
    Ok(plan)
}

/// A name in `[[events]]` or `[[data.before]]` must be one that levels can say, and stand there once.
fn check_name<'a>(
    name: &str,
    mut before: impl Iterator<Item = &'a str>,
) -> Result<(), &'static str> {
    if name.is_empty() || name == NOTHING || name.contains(NAME_SEPARATOR) {
        return Err("must be a name of its own, without ` + `");
    }
    if before.any(|known| known == name) {
        return Err("stands there twice; give each its own name");
    }
    Ok(())
}

/// The file with its name, for errors that say where.
struct Resolver<'a> {
    name: &'a str,
    file: &'a StudyFile,
    flavor_of: FlavorOf<'a>,
}

impl Resolver<'_> {
    fn error(&self, key: &str, value: impl Display, why: impl Display) -> StudyError {
        let mut value = value.to_string();
        if ServerUrl::is_meant(&value) {
            value = ServerUrl::without_password(&value).into_owned();
        }
        StudyError::Value {
            file: self.name.to_owned(),
            key: key.to_owned(),
            value,
            why: why.to_string(),
        }
    }

    fn context(&self) -> Context<'_> {
        let folder = Path::new(self.name).parent();
        Context {
            flavor_of: self.flavor_of,
            folder: folder.unwrap_or(Path::new("")),
            modules: &self.file.data.modules,
        }
    }

    fn check(&self) -> Result<(), StudyError> {
        let data = &self.file.data;
        let is_factor = self.file.factors.contains_key("snapshot");
        let given = data.snapshot.as_deref();
        let snapshot = given.or_else(|| is_factor.then_some("factor"));
        if let (Some(name), Some(_)) = (snapshot, &data.workload) {
            let why = "stands for the tables that `workload` would make; leave one of both out";
            return Err(self.error("data.snapshot", name, why));
        }
        let counts = [
            ("data.tables", u64::from(self.file.data.tables.unwrap_or(1))),
            ("data.rows", self.file.data.rows.unwrap_or(1)),
            ("repeat.runs", u64::from(self.file.repeat.runs.unwrap_or(1))),
        ];
        if let Some((key, value)) = counts.into_iter().find(|(_, value)| *value == 0) {
            return Err(self.error(key, value, "must be at least 1"));
        }
        let load = &self.file.load;
        if load.measure.is_some_and(|measure| measure.0.is_zero()) {
            return Err(self.error("load.measure", "0s", "must be longer than nothing"));
        }
        let Some(warmup) = load.warmup.as_ref().map(Warmup::resolve) else {
            return Ok(());
        };
        let (least, most) = (warmup.least(), warmup.most());
        if most < least {
            let why = format!("must be no less than the {least} of at_least");
            return Err(self.error("load.warmup.at_most", most, why));
        }
        Ok(())
    }

    /// Keys about data that no cell has would mean nothing.
    fn check_data(&self, plan: &Plan) -> Result<(), StudyError> {
        let data = &self.file.data;
        let has_sbtest = |cell: &Cell| matches!(cell.spec.data.source, DataSource::Sysbench { .. });
        if !plan.cells.iter().any(has_sbtest) {
            let given = [
                ("data.rows", data.rows.map(|rows| rows.to_string())),
                ("data.tables", data.tables.map(|tables| tables.to_string())),
            ];
            for (key, value) in given {
                if let Some(value) = value {
                    let why = "the study's workloads say themselves how large their tables are; leave it out";
                    return Err(self.error(key, value, why));
                }
            }
        }
        let is_order_entry =
            |cell: &Cell| matches!(cell.spec.data.source, DataSource::OrderEntry { .. });
        if !plan.cells.iter().any(is_order_entry)
            && let Some((section, name, value)) = self.of_order_entry().next()
        {
            let why = "no workload of the study is `order_entry`; leave it out";
            return Err(self.error(&format!("{section}.{name}"), value, why));
        }
        let has_text = |cell: &Cell| cell.spec.workload.has_text();
        match &data.text_file {
            Some(book) if !plan.cells.iter().any(has_text) => {
                let why = "no workload of the study takes lines of it; leave it out";
                Err(self.error("data.text_file", format!("`{book}`"), why))
            }
            _ => Ok(()),
        }
    }

    /// The server of a run can be on the host of an agent only as far as the agent can make the run's server.
    fn check_agent(&self, plan: &Plan) -> Result<(), StudyError> {
        for cell in &plan.cells {
            let node = cell.spec.primary();
            if let Some(agents) = node.hosting_agents()
                && let Some(why) = refused_on_agent(&cell.spec)
            {
                return Err(self.error("server.agent", format!("`{agents}`"), why));
            }
            if let Some(agents) = node.several_agents()
                && let Some(why) = self.refused_of_several(node, agents, &plan.repeat)
            {
                return Err(self.error("server.agent", format!("`{agents}`"), why));
            }
        }
        Ok(())
    }

    /// Returns the reason that the repetitions cannot be on the hosts of several `agents`.
    fn refused_of_several(
        &self,
        node: &Node,
        agents: &ServerAgents,
        repeat: &Repetition,
    ) -> Option<&'static str> {
        if node.server.given.is_some() {
            Some("a server given by its URL is on one host; name its agent")
        } else if self.file.search.is_some() {
            Some("a search compares runs of different repetitions; name one agent")
        } else if (repeat.runs as usize) < agents.all().len() {
            Some("each host needs a repetition; raise repeat.runs or name fewer agents")
        } else {
            None
        }
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
            screen: None,
            claims: file.claims.iter().map(ClaimSection::resolve).collect(),
            negative_controls: controls.map(NegativeControlSection::resolve).collect(),
            prices: file.prices.clone(),
            crash_tests: file.crash_tests.clone(),
        }
    }

    /// Returns the settings of all cells before factors change them.
    fn shared(
        &self,
        overrides: &Overrides,
        seed: u64,
        (events, changes): (&[TimelineEvent], &[DataChange]),
    ) -> Result<Draft, StudyError> {
        let data = &self.file.data;
        let scale = data.scale.each();
        let spec = RunSpec {
            topology: self.topology(overrides)?,
            data: DataSpec {
                data_scale: scale.data,
                drive_scale: scale.drive,
                before: changes.to_vec(),
                ..DataSpec::default()
            },
            load: self.load()?,
            timeline: events.to_vec(),
            seed,
            ..RunSpec::default()
        };
        let mut draft = Draft {
            levels: BTreeMap::new(),
            spec,
            drive: None,
            drive_settings: BTreeMap::new(),
            replica_drive: self.file.server.replica_drive.clone(),
            missing: self.missing(),
            snapshot: data.snapshot.clone(),
            transactions: None,
            options: self.options(),
            distribution: self.file.load.distribution,
            text_file: None,
            tables: data.tables.unwrap_or(1),
            rows: data.rows.map(|rows| scale.data.apply(rows)),
            data_options: texts(&data.options),
            load_options: texts(&self.file.load.options),
            events: None,
            event_settings: BTreeMap::new(),
            order_entry: OrderEntryWorkload::default(),
            capture: None,
        };
        for (section, name, value) in self.written() {
            let target = Target::parse(name);
            let applied = target.apply(&mut draft, &value, self.context());
            applied.map_err(|why| self.error(&format!("{section}.{name}"), value, why))?;
        }
        Ok(draft)
    }

    /// Returns the keys that factors have to give, since neither `[load]` nor the search does.
    fn missing(&self) -> BTreeSet<&'static str> {
        let load = &self.file.load;
        let given = [
            (
                "threads",
                load.threads.is_some() || self.is_searched("threads"),
            ),
            ("warmup", load.warmup.is_some()),
            ("measure", load.measure.is_some()),
        ];
        let missing = given.into_iter().filter(|(_, is_given)| !is_given);
        missing.map(|(key, _)| key).collect()
    }

    /// Settings of all cells that are written as levels of factors are.
    fn written(&self) -> impl Iterator<Item = (&'static str, &'static str, String)> {
        let (data, load) = (&self.file.data, &self.file.load);
        let of_data = [
            ("workload", &data.workload),
            ("text_file", &data.text_file),
            ("table_options", &data.table_options),
        ];
        let of_data = of_data.into_iter().filter_map(|(name, value)| {
            let value = value.clone()?;
            Some(("data", name, value))
        });
        let of_load = LOAD_OPTIONS.iter().filter_map(|option| {
            let value = load.of_table.get(option.name)?;
            Some(("load", option.name, value.text()))
        });
        let replay = load.replay.iter();
        let replay = replay.map(|path| ("load", "replay", path.clone()));
        let of_replay = REPLAY_OPTIONS.iter().filter_map(|option| {
            let value = load.of_replay.get(option.name)?;
            Some(("load", option.name, value.text()))
        });
        of_data
            .chain(of_load)
            .chain(replay)
            .chain(of_replay)
            .chain(self.of_order_entry())
    }

    /// The keys of order entry.
    fn of_order_entry(&self) -> impl Iterator<Item = (&'static str, &'static str, String)> {
        let (data, load) = (&self.file.data, &self.file.load);
        let keying = &load.keying_and_think_time;
        let settings = [
            ("data", "warehouses", &data.warehouses),
            ("data", "items", &data.items),
            ("data", "customers", &data.customers),
            ("data", "foreign_keys", &data.foreign_keys),
            ("load", "keying_and_think_time", keying),
            ("load", "fixed_warehouses", &load.fixed_warehouses),
        ];
        let given = |(section, name, setting): (_, _, &Option<Setting>)| {
            Some((section, name, setting.as_ref()?.text()))
        };
        settings.into_iter().filter_map(given)
    }

    fn topology(&self, overrides: &Overrides) -> Result<Topology, StudyError> {
        let server = &self.file.server;
        let wanted = overrides.server.as_deref().unwrap_or(&server.flavor);
        let choice = target::server(wanted, self.context().flavor_of)
            .map_err(|why| self.error("server.flavor", format!("`{wanted}`"), why))?;
        let mut topology = Topology::single(Node {
            variables: self.variables()?,
            limits: server.limits(),
            pool: server.pool,
            agent: server.agent.clone(),
            ..Node::primary(choice)
        });
        topology.set_replicas(server.replicas);
        topology.replication = server.replication;
        topology.heartbeat = server.heartbeat;
        Ok(topology)
    }

    fn load(&self) -> Result<LoadSpec, StudyError> {
        let load = &self.file.load;
        let usual = LoadSpec::default();
        let threads = self.threads()?;
        Ok(LoadSpec {
            connections: threads.first().copied().unwrap_or(usual.connections),
            warmup: load.warmup.as_ref().map_or(usual.warmup, Warmup::resolve),
            measure: load.measure.unwrap_or(usual.measure),
            ..usual
        })
    }

    /// sysbench's options. Those of a script may have any name: they are looked at when no cell has one.
    fn options(&self) -> SysbenchOptions {
        let mut options = SysbenchOptions::default();
        for (name, value) in &self.file.load.options {
            // What is none of sysbench's is told by `check_options`.
            let _ = options.set(name, &value.text());
        }
        options
    }

    /// Checks options: a variable that is none would mean nothing.
    fn check_options(&self, plan: &Plan) -> Result<(), StudyError> {
        let is_script = |cell: &Cell| matches!(cell.spec.workload, WorkloadSpec::Lua(_));
        if plan.cells.iter().any(is_script) {
            return Ok(());
        }
        let data = &self.file.data;
        let options = data.options.iter().map(|(name, value)| {
            let key = format!("data.options.{name}");
            (key, value.text())
        });
        let modules = data.modules.iter();
        let modules = modules.map(|name| ("data.modules".to_owned(), name.clone()));
        if let Some((key, value)) = options.chain(modules).next() {
            let why = "no workload of the study is a Lua script; leave it out";
            return Err(self.error(&key, value, why));
        }
        let mut options = SysbenchOptions::default();
        for (name, value) in &self.file.load.options {
            let value = value.text();
            options
                .set(name, &value)
                .map_err(|why| self.error(&format!("load.options.{name}"), value, why))?;
        }
        Ok(())
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
