//! A run as names and values, and what differs between two runs: the evidence for "one factor
//! differs" (rules R1 and R9).
//!
//! Structs are taken apart by all of their fields, so that what is added to a spec and has no name
//! here does not compile; a load has the names of its options. Names are those of a study's factors.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::ServerVariables;

use super::{
    DataSource, DataSpec, DriveSpec, FileWorkload, LOAD_OPTIONS, LoadSpec, LuaWorkload, Mix, Node,
    REPLAY_OPTIONS, RateRamp, RunSpec, SysbenchWorkload, TimelineEvent, Topology, Warmup,
    WorkloadSpec,
};

/// Names of a run's events.
const EVENT: &str = "event";
/// Changes of the data before a run.
const BEFORE: &str = "before";
/// Prefix of the key of an event.
const EVENT_KEY: &str = "event.";

/// Name -> value.
pub type Settings = BTreeMap<String, String>;

impl RunSpec {
    /// Everything that the run is set to, by the names of factors. The seed is not a setting.
    pub fn settings(&self) -> Settings {
        let Self {
            topology,
            data,
            workload,
            load,
            timeline,
            seed: _,
        } = self;
        let mut settings = Writer::default();
        settings.topology(topology);
        settings.data(data);
        settings.workload(workload);
        settings.load(load);
        settings.timeline(timeline);
        settings.0
    }

    /// Names of the settings that differ between this run and `other`.
    pub fn differences(&self, other: &Self) -> BTreeSet<String> {
        differing(&self.settings(), &other.settings())
    }
}

/// Names that only one of both has, or that have another value in each. Another event is one difference: its settings
/// are its own.
pub fn differing(first: &Settings, second: &Settings) -> BTreeSet<String> {
    let names = first.keys().chain(second.keys());
    let mut names: BTreeSet<String> = names
        .filter(|name| first.get(*name) != second.get(*name))
        .cloned()
        .collect();
    if names.contains(EVENT) {
        names.retain(|name| !name.starts_with(EVENT_KEY));
    }
    names
}

#[derive(Default)]
struct Writer(Settings);

impl Writer {
    fn put(&mut self, name: &str, value: &impl ToString) {
        self.0.insert(name.to_owned(), value.to_string());
    }

    fn put_text(&mut self, name: &str, value: &impl Serialize) {
        if let Ok(value) = serde_json::to_value(value) {
            self.put(name, &text(&value));
        }
    }

    /// Each field of `mix` that is not as usual, under its own name: a workload without a mix differs
    /// from one with the usual mix in its name alone.
    fn mix(&mut self, mix: &Mix) {
        let fields = |mix: &Mix| match serde_json::to_value(mix) {
            Ok(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let usual = fields(&Mix::default());
        for (name, value) in fields(mix) {
            if usual.get(&name) != Some(&value) {
                self.put(&name, &text(&value));
            }
        }
    }

    fn topology(&mut self, topology: &Topology) {
        let primary = topology.primary();
        self.node(primary);
        self.put("replicas", &topology.replicas().len());
        self.put_text("replication", &topology.replication);
        if topology.heartbeat {
            self.put("heartbeat", &true);
        }
        if let Some(drive) = topology
            .replicas()
            .iter()
            .find_map(|node| node.drive.as_ref())
        {
            self.put("replica_drive", &drive.name());
        }
        for replica in topology.replicas() {
            self.replica(primary, replica);
        }
    }

    fn node(&mut self, node: &Node) {
        let Node {
            name: _,
            role: _,
            server,
            variables,
            drive,
            limits,
            pool,
            // Who looks is no setting.
            agent: _,
        } = node;
        // By name and in one spelling of each value: two ways to write the same are the same.
        let variables = ServerVariables::written(server.flavor, variables);
        for name in variables.values().keys() {
            if let Some(value) = variables.meant(name) {
                self.put(name, &value);
            }
        }
        self.put_text("server", server);
        if let Some(DriveSpec { profile, settings }) = drive {
            self.put("drive", profile);
            for (key, value) in settings {
                self.put(&format!("drive.{key}"), value);
            }
        }
        if let Some(cpus) = &limits.cpus {
            self.put("cpus", cpus);
        }
        if let Some(memory) = &limits.memory {
            self.put("memory", memory);
        }
        self.put_text("pool", pool);
    }

    /// Writes the differences of a replica from its primary; a replica as usual is a replica more, no setting.
    fn replica(&mut self, primary: &Node, replica: &Node) {
        let mut usual = Topology::single(primary.clone());
        usual.set_replicas(1);
        let of = |node: &Node| {
            let mut own = Self::default();
            own.node(node);
            own.0
        };
        usual.set_replica_drive(replica.drive.as_ref());
        let (usual, own) = (of(&usual.replicas()[0]), of(replica));
        for name in differing(&usual, &own) {
            let value = own.get(&name).cloned().unwrap_or_default();
            self.put(&format!("{}: {name}", replica.name), &value);
        }
    }

    fn data(&mut self, data: &DataSpec) {
        let DataSpec {
            source,
            data_scale,
            drive_scale,
            table_options,
            before,
        } = data;
        match source {
            DataSource::Sysbench { tables, rows } => {
                self.put("tables", tables);
                self.put("rows", rows);
            }
            DataSource::File { sizes } => self.put_text("tables", sizes),
            DataSource::Snapshot { name } => self.put("snapshot", name),
            // They follow from the script or the workload's options, which are settings of their own.
            DataSource::Lua | DataSource::OrderEntry { sizes: _ } => {}
        }
        self.put("data_scale", data_scale);
        self.put("drive_scale", drive_scale);
        // Tables as usual have none, as those of earlier results.
        if !table_options.is_empty() {
            self.put("table_options", table_options);
        }
        if !before.is_empty() {
            let changes = before.iter();
            let changes: Vec<_> = changes
                .map(|change| format!("{}: {}", change.name, change.statement))
                .collect();
            self.put(BEFORE, &changes.join("; "));
        }
    }

    fn workload(&mut self, workload: &WorkloadSpec) {
        match workload {
            WorkloadSpec::Sysbench(SysbenchWorkload {
                shares: _,
                mix,
                distribution,
                text_file,
            }) => {
                self.put("workload", workload);
                self.mix(mix);
                self.put_text("distribution", distribution);
                if let Some(text_file) = text_file {
                    self.put("text_file", &text_file.display());
                }
            }
            // Where the file lies makes no difference.
            WorkloadSpec::File(FileWorkload {
                path: _,
                text,
                distribution,
            }) => {
                self.put("workload", text);
                self.put_text("distribution", distribution);
            }
            WorkloadSpec::Lua(lua) => self.lua(lua),
            WorkloadSpec::OrderEntry(order_entry) => {
                self.put("workload", workload);
                for (name, value) in order_entry.unusual() {
                    self.put(name, &value);
                }
            }
        }
    }

    /// A script and its modules are one setting.
    fn lua(&mut self, lua: &LuaWorkload) {
        let LuaWorkload {
            path: _,
            text: _,
            modules: _,
            data_options,
            options,
            distribution,
        } = lua;
        self.put("workload", &lua.whole_text());
        self.put_text("distribution", distribution);
        for (name, value) in data_options {
            self.put(&format!("data.options.{name}"), value);
        }
        for (name, value) in options {
            self.put(&format!("load.options.{name}"), value);
        }
    }

    /// Several events have their values of a key one after the other.
    fn timeline(&mut self, timeline: &[TimelineEvent]) {
        if timeline.is_empty() {
            return;
        }
        let names: Vec<_> = timeline.iter().map(|event| event.name.as_str()).collect();
        self.put(EVENT, &names.join(" + "));
        let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in timeline {
            for (key, value) in event.keys() {
                keys.entry(key).or_default().push(value);
            }
        }
        for (key, values) in keys {
            self.put(&format!("{EVENT_KEY}{key}"), &values.join(" + "));
        }
    }

    /// An option that is as usual has no name.
    fn load(&mut self, load: &LoadSpec) {
        self.put("threads", &load.connections);
        self.put("warmup", &warmup_text(load.warmup));
        self.put("measure", &load.measure);
        for option in LOAD_OPTIONS {
            if let Some(value) = option.written(load) {
                self.put(option.name, &value);
            }
        }
        if let Some(replay) = &load.replay {
            // Where the capture lies makes no difference.
            self.put("replay", &replay.digest);
            for option in REPLAY_OPTIONS {
                if let Some(value) = option.written(replay) {
                    self.put(option.name, &value);
                }
            }
        }
        // Its end is the rate, so that another rate is one difference.
        if let Some(RateRamp { from_per_s, length }) = load.pace.rate().and_then(|rate| rate.ramp) {
            self.put("rate_ramp", &format!("from {from_per_s} for {length}"));
        }
    }
}

fn warmup_text(warmup: Warmup) -> String {
    match warmup {
        Warmup::Fixed { length } => length.to_string(),
        Warmup::UntilSteady { at_least, at_most } => format!("{at_least} to {at_most}"),
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Duration, EventKind, EventStatement, Flavor, Pace, ServerChoice, WorkloadName};

    fn names(change: impl FnOnce(&mut RunSpec)) -> Vec<String> {
        let mut other = RunSpec::default();
        change(&mut other);
        RunSpec::default().differences(&other).into_iter().collect()
    }

    #[test]
    fn what_differs_has_the_name_of_its_factor() {
        let none: [String; 0] = [];
        assert_eq!(names(|_| ()), none);
        assert_eq!(names(|spec| spec.seed = 7), none);
        assert_eq!(names(|spec| spec.load.connections = 7), ["threads"]);
        assert_eq!(
            names(|spec| spec.load.rtt = Duration::from_secs(1)),
            ["rtt"]
        );
        assert_eq!(
            names(|spec| spec.workload = WorkloadName::OltpReadOnly.into()),
            ["workload"]
        );
        assert_eq!(
            names(|spec| {
                let server = &mut spec.primary_mut().server;
                *server = ServerChoice {
                    version: Some("10.11".to_owned()),
                    ..ServerChoice::newest(Flavor::Mariadb)
                };
            }),
            ["server"]
        );
    }

    #[test]
    fn a_replica_more_is_one_difference_and_a_variable_of_all_servers_too() {
        assert_eq!(names(|spec| spec.topology.set_replicas(2)), ["replicas"]);
        let mut two = RunSpec::default();
        two.topology.set_replicas(2);
        let mut other = two.clone();
        for node in other.topology.nodes_mut() {
            node.variables
                .insert("sync_binlog".to_owned(), "0".to_owned());
        }
        let differing: Vec<_> = two.differences(&other).into_iter().collect();
        assert_eq!(differing, ["sync_binlog"]);
        let last = other.topology.nodes_mut().last().unwrap();
        last.variables.clear();
        let differing: Vec<_> = two.differences(&other).into_iter().collect();
        assert_eq!(differing, ["replica-2: sync_binlog", "sync_binlog"]);
    }

    #[test]
    fn another_event_is_one_difference_and_so_is_one_of_its_settings() {
        let event = |threads: &str| {
            let mut event = TimelineEvent {
                name: "add index".to_owned(),
                at: Duration::from_secs(1),
                kind: EventKind::Ddl(EventStatement::default()),
            };
            event.set("innodb_ddl_threads", threads).unwrap();
            event
        };
        assert_eq!(names(|spec| spec.timeline = vec![event("4")]), ["event"]);
        let [mut four, mut eight] = [RunSpec::default(), RunSpec::default()];
        four.timeline = vec![event("4")];
        eight.timeline = vec![event("8")];
        let differing: Vec<_> = four.differences(&eight).into_iter().collect();
        assert_eq!(differing, ["event.innodb_ddl_threads"]);
    }

    #[test]
    fn a_run_without_events_is_written_as_before_there_were_any() {
        let text = serde_json::to_string(&RunSpec::default()).unwrap();
        assert!(!text.contains("timeline"), "{text}");
    }

    #[test]
    fn an_open_loop_differs_from_a_closed_one_by_its_rate() {
        let open = names(|spec| spec.load.pace = Pace::open(100.0));
        assert_eq!(open, ["rate"]);
    }
}
