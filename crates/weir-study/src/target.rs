//! Meanings of names in `[factors]`: every name belongs to exactly one place of a run.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use weir_model::variables::{BUFFER_POOL_SIZE, LOG_FILE_SIZE, REDO_LOG_CAPACITY};
use weir_model::{
    Bytes, DataChange, Duration, FileWorkload, Flavor, LOAD_OPTIONS, LRU_SCAN_DEPTH, LoadOption,
    LuaModule, OrderEntryWorkload, PoolStart, REPLAY_OPTIONS, ReplayOption, Scale, ServerChoice,
    ServerUrl, SysbenchOptions, TimelineEvent, Topology, UnitError, WorkloadName, WorkloadShares,
    WorkloadSpec, nearest, option_spelling, set_options,
};
use weir_script::ScriptFiles;
use weir_workload::{Workload, read_spec};

use crate::StudyError;
use crate::draft::{Draft, Transactions};
use crate::file::{AutoWord, Warmup};

/// Names that are not server variables, and not options of a load or a workload.
const OWN_NAMES: [&str; 18] = [
    "replay",
    "event",
    "before",
    "snapshot",
    "replica_drive",
    "text_file",
    "table_options",
    "pool",
    "replicas",
    "drive",
    "server",
    "threads",
    "workload",
    "distribution",
    "tables",
    "rows",
    "warmup",
    "measure",
];

/// Sizes that shrink with the data, so that their ratios to the data stay.
pub(crate) const SCALED_VARIABLES: [&str; 3] = [BUFFER_POOL_SIZE, REDO_LOG_CAPACITY, LOG_FILE_SIZE];

/// The least that servers take for `innodb_lru_scan_depth`, pages.
pub(crate) const LRU_SCAN_DEPTH_MIN: u64 = 100;

/// The level of factors `event` and `before` at which nothing happens.
pub(crate) const NOTHING: &str = "none";
/// Factor of one change of the data: `before.NAME`, with these levels.
pub(crate) const CHANGE_KEY: &str = "before.";
pub(crate) const WITHOUT: &str = "without";
const WITH: &str = "with";
/// Separator of names in a level: of events in the same run, of changes of the same data.
pub(crate) const NAME_SEPARATOR: &str = " + ";

const MEBIBYTE: u64 = 1 << 20;

/// Tells the flavour of a server program.
pub(crate) type FlavorOf<'a> = &'a dyn Fn(&Path) -> Result<Flavor, StudyError>;

/// Context in which levels are understood.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) flavor_of: FlavorOf<'a>,
    /// The folder of the study file, from which workloads' files and books are named.
    pub(crate) folder: &'a Path,
    /// Modules that scripts load beside those whose names stand in them.
    pub(crate) modules: &'a [String],
}

/// The place of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Choice of the events that happen.
    Event,
    /// A setting of the events that happen.
    EventKey(String),
    /// Choice of the changes of the data.
    Before,
    /// A change of the data, which is made or not.
    Change(String),
    Snapshot,
    Drive,
    /// A key of the drive's profile.
    DriveKey(String),
    Server,
    Pool,
    Replicas,
    ReplicaDrive,
    Threads,
    Replay,
    ReplayOption(&'static ReplayOption),
    Load(&'static LoadOption),
    TextFile,
    TableOptions,
    Workload,
    Distribution,
    Tables,
    Rows,
    Warmup,
    Measure,
    WorkloadOption(String),
    /// An option of a Lua script's `prepare` and run.
    DataOption(String),
    /// An option of its run alone.
    LoadOption(String),
    OrderEntryOption(String),
    /// Whatever else: the server is asked before the first run whether it has such a variable.
    Variable(String),
}

impl Target {
    /// Returns the meaning of `name`.
    pub(crate) fn parse(name: &str) -> Self {
        match name {
            "event" => Self::Event,
            "before" => Self::Before,
            "snapshot" => Self::Snapshot,
            "drive" => Self::Drive,
            "server" => Self::Server,
            "pool" => Self::Pool,
            "replicas" => Self::Replicas,
            "replica_drive" => Self::ReplicaDrive,
            "replay" => Self::Replay,
            "threads" => Self::Threads,
            "text_file" => Self::TextFile,
            "table_options" => Self::TableOptions,
            "workload" => Self::Workload,
            "distribution" => Self::Distribution,
            "tables" => Self::Tables,
            "rows" => Self::Rows,
            "warmup" => Self::Warmup,
            "measure" => Self::Measure,
            _ if let Some(option) = LoadOption::by_name(name) => Self::Load(option),
            _ if let Some(option) = ReplayOption::by_name(name) => Self::ReplayOption(option),
            _ if OrderEntryWorkload::NAMES.contains(&name) => {
                Self::OrderEntryOption(name.to_owned())
            }
            _ if SysbenchOptions::NAMES.contains(&name) => Self::WorkloadOption(name.to_owned()),
            _ if let Some(option) = name.strip_prefix("data.options.") => {
                Self::DataOption(option.to_owned())
            }
            _ if let Some(option) = name.strip_prefix("load.options.") => {
                Self::LoadOption(option.to_owned())
            }
            _ if let Some(change) = name.strip_prefix(CHANGE_KEY) => {
                Self::Change(change.to_owned())
            }
            _ if let Some(key) = name.strip_prefix("event.") => Self::EventKey(key.to_owned()),
            _ => match name.strip_prefix("drive.") {
                // The fill level is what people vary; its place in a profile is below the flash.
                Some("fill") => Self::DriveKey("flash.fill".to_owned()),
                Some(key) => Self::DriveKey(key.to_owned()),
                None => Self::Variable(option_spelling(name)),
            },
        }
    }

    /// The name of a setting: a server variable in one spelling, all else as it is written.
    pub(crate) fn name_of(name: &str) -> String {
        match Self::parse(name) {
            Self::Variable(variable) => variable,
            _ => name.to_owned(),
        }
    }

    /// Returns true if another level needs no other server: only the load differs.
    pub(crate) fn is_of_the_load(&self) -> bool {
        if let Self::OrderEntryOption(name) = self {
            return OrderEntryWorkload::is_of_the_load(name);
        }
        !matches!(
            self,
            Self::Event
                | Self::EventKey(_)
                | Self::Before
                | Self::Change(_)
                | Self::Snapshot
                | Self::Drive
                | Self::DriveKey(_)
                | Self::Server
                | Self::Pool
                | Self::Replicas
                | Self::ReplicaDrive
                | Self::TextFile
                | Self::TableOptions
                | Self::Workload
                | Self::Tables
                | Self::Rows
                | Self::DataOption(_)
                | Self::Variable(_)
        )
    }

    /// Gives `cell` the level `value`; an error says what it must be.
    pub(crate) fn apply(
        &self,
        cell: &mut Draft,
        value: &str,
        context: Context<'_>,
    ) -> Result<(), String> {
        let scale = cell.spec.data.data_scale;
        let topology = &mut cell.spec.topology;
        let load = &mut cell.spec.load;
        match self {
            Self::Event => cell.events = Some(events(value, &cell.spec.timeline)?),
            Self::Before => choose_changes(value, &mut cell.spec.data.before)?,
            Self::Change(name) => choose_change(name, value, &mut cell.spec.data.before)?,
            Self::Snapshot => cell.snapshot = Some(value.to_owned()),
            Self::EventKey(key) => {
                cell.event_settings.insert(key.clone(), value.to_owned());
            }
            Self::Drive => cell.drive = Some(value.to_owned()),
            Self::DriveKey(key) => {
                cell.drive_settings.insert(key.clone(), value.to_owned());
            }
            Self::Server => set_server(topology, &server(value, context.flavor_of)?),
            Self::Pool => topology.primary_mut().pool = pool(value)?,
            Self::Replicas => {
                let number = value.parse().map_err(|_| "must be a number of replicas");
                topology.set_replicas(number?);
            }
            Self::ReplicaDrive => cell.replica_drive = Some(value.to_owned()),
            Self::Threads => load.connections = positive(value, "number of connections")?,
            Self::Warmup => load.warmup = warmup(value)?,
            Self::Measure => load.measure = measure(value)?,
            Self::Tables => cell.tables = positive(value, "number of tables")?,
            Self::Rows => cell.rows = Some(scale.apply(positive(value, "number of rows")?)),
            Self::TextFile => cell.text_file = Some(text_file(value, context.folder)?),
            Self::TableOptions => value.trim().clone_into(&mut cell.spec.data.table_options),
            Self::Workload => cell.transactions = Some(workload(value, context)?),
            Self::Load(option) => option.set(load, value)?,
            Self::Replay => cell.take_capture(&context.folder.join(value))?,
            Self::ReplayOption(option) => {
                option.set(load.replay.get_or_insert_default(), value)?;
            }
            Self::Distribution => cell.distribution = value.parse()?,
            Self::WorkloadOption(name) => {
                // A script judges its values itself.
                if !matches!(cell.transactions, Some(Transactions::Lua { .. })) {
                    cell.options.set(name, value)?;
                }
                cell.load_options.insert(name.clone(), value.to_owned());
            }
            Self::DataOption(name) => {
                cell.data_options.insert(name.clone(), value.to_owned());
            }
            Self::LoadOption(name) => {
                cell.load_options.insert(name.clone(), value.to_owned());
            }
            Self::OrderEntryOption(name) => {
                set_order_entry(&mut cell.order_entry, name, value, scale)?;
            }
            Self::Variable(name) => {
                set_variable(topology, name, &scaled(name, value.trim(), scale)?);
            }
        }
        match self {
            Self::Threads => cell.missing.remove("threads"),
            Self::Warmup => cell.missing.remove("warmup"),
            Self::Measure => cell.missing.remove("measure"),
            _ => false,
        };
        Ok(())
    }
}

fn set_server(topology: &mut Topology, server: &ServerChoice) {
    for node in topology.nodes_mut() {
        node.server = server.clone();
    }
}

fn set_variable(topology: &mut Topology, name: &str, value: &str) {
    for node in topology.nodes_mut() {
        set_options(&mut node.variables, [(name.to_owned(), value.to_owned())]);
    }
}

/// Sets an option of order entry, whose warehouses shrink with the data.
fn set_order_entry(
    options: &mut OrderEntryWorkload,
    name: &str,
    value: &str,
    scale: Scale,
) -> Result<(), String> {
    options.set(name, value)?;
    if name == "warehouses" {
        options.warehouses = scale.apply(u64::from(options.warehouses)) as u32;
    }
    Ok(())
}

/// Names of factors that are no server variables, for suggestions.
pub(crate) fn own_names() -> impl Iterator<Item = &'static str> {
    let of_load = LOAD_OPTIONS.iter().map(|option| option.name);
    let of_replay = REPLAY_OPTIONS.iter().map(|option| option.name);
    OWN_NAMES
        .into_iter()
        .chain(of_load)
        .chain(of_replay)
        .chain(SysbenchOptions::NAMES)
        .chain(OrderEntryWorkload::NAMES)
}

/// The names of events that a level of factor `event` has; none for `none`.
fn events(value: &str, known: &[TimelineEvent]) -> Result<Vec<String>, String> {
    let names = known.iter().map(|event| event.name.as_str());
    named(value, names, "event", "[[events]]")
}

/// Keeps the changes that a level of factor `before` has.
fn choose_changes(value: &str, changes: &mut Vec<DataChange>) -> Result<(), String> {
    let known = changes.iter().map(|change| change.name.as_str());
    let wanted = named(value, known, "change", "[[data.before]]")?;
    changes.retain(|change| wanted.contains(&change.name));
    Ok(())
}

/// Keeps the change `name`, or leaves it out.
fn choose_change(name: &str, value: &str, changes: &mut Vec<DataChange>) -> Result<(), String> {
    if !changes.iter().any(|change| change.name == name) {
        return Err(format!("no change `{name}` in [[data.before]]"));
    }
    match value {
        WITH => {}
        WITHOUT => changes.retain(|change| change.name != name),
        _ => return Err(format!("must be {WITHOUT} or {WITH}")),
    }
    Ok(())
}

/// The names of events or changes that a level has, of those that `section` declares; none for `none`.
fn named<'a>(
    value: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    what: &str,
    section: &str,
) -> Result<Vec<String>, String> {
    if value == NOTHING {
        return Ok(Vec::new());
    }
    let names: Vec<_> = value.split(NAME_SEPARATOR).map(str::to_owned).collect();
    let is_known = |name: &&String| known.clone().any(|known| known == **name);
    let Some(unknown) = names.iter().find(|name| !is_known(name)) else {
        return Ok(names);
    };
    Err(match nearest(unknown, known) {
        Some(near) => format!("no {what} `{unknown}`; did you mean `{near}`?"),
        None => format!("no {what} `{unknown}` in {section}; or write `{NOTHING}`"),
    })
}

fn pool(value: &str) -> Result<PoolStart, String> {
    match value {
        "cold" => Ok(PoolStart::Cold),
        "warm" => Ok(PoolStart::Warm),
        _ => Err("must be `cold` or `warm`; `repeat.within_server` leaves it as it was".to_owned()),
    }
}

fn positive<N: FromStr + PartialOrd + From<u8>>(value: &str, what: &str) -> Result<N, String> {
    let number = value.replace('_', "").parse().ok();
    number
        .filter(|number| *number >= N::from(1))
        .ok_or_else(|| format!("must be a {what}"))
}

/// A length, or `auto`.
fn warmup(value: &str) -> Result<weir_model::Warmup, String> {
    let written = if value == "auto" {
        Warmup::Auto(AutoWord::Auto)
    } else {
        Warmup::Fixed(duration(value)?)
    };
    Ok(written.resolve())
}

fn measure(value: &str) -> Result<Duration, String> {
    let length = duration(value)?;
    if length.0.is_zero() {
        return Err("must be longer than nothing".to_owned());
    }
    Ok(length)
}

fn duration(value: &str) -> Result<Duration, String> {
    value.parse().map_err(|error: UnitError| error.to_string())
}

/// A flavour, with or without a version (`mysql 8.4`), the path of a server program, or the URL of a
/// server that the user gives.
pub(crate) fn server(value: &str, flavor_of: FlavorOf<'_>) -> Result<ServerChoice, String> {
    if ServerUrl::is_meant(value) {
        let url: ServerUrl = value.parse()?;
        return Ok(ServerChoice {
            flavor: url.flavor,
            version: None,
            binary: None,
            given: Some(url),
        });
    }
    if value.contains('/') {
        let path = PathBuf::from(value);
        let flavor = flavor_of(&path).map_err(|error| error.to_string())?;
        return Ok(ServerChoice {
            flavor,
            version: None,
            binary: Some(path),
            given: None,
        });
    }
    let (name, version) = match value.split_once(' ') {
        Some((name, version)) => (name, Some(version.trim().to_owned())),
        None => (value, None),
    };
    let flavor = Flavor::from_str(name).map_err(|_| {
        "must be `mysql`, `mariadb`, one of them with a version such as `mysql 8.4`, the path of a \
         server program, or a server's URL such as `mysql://USER@HOST:PORT/SCHEMA`"
            .to_owned()
    })?;
    Ok(ServerChoice {
        flavor,
        version,
        binary: None,
        given: None,
    })
}

/// A workload that a study can run: one of sysbench's, several with weights, order entry, or one in a file or a
/// Lua script, whose path counts from the study's folder.
pub(crate) fn workload(value: &str, context: Context<'_>) -> Result<Transactions, String> {
    let folder = context.folder;
    if is_script(value) {
        return script(&folder.join(value), context.modules);
    }
    if Workload::is_file(value) {
        let path = folder.join(value);
        let spec = read_spec(&path.display().to_string())?;
        let sizes = Workload::try_from(&spec)?.table_sizes();
        if let WorkloadSpec::File(FileWorkload { path, text, .. }) = spec {
            return Ok(Transactions::File { path, text, sizes });
        }
    }
    if value == OrderEntryWorkload::NAME {
        return Ok(Transactions::OrderEntry);
    }
    let shares: WorkloadShares = value.parse()?;
    // It fills tables of its own until the time is over: no run starts from equal data.
    if shares.any(|name| name == WorkloadName::BulkInsert) {
        return Err("a study restores loaded tables; use `weir load bulk_insert`".to_owned());
    }
    Ok(Transactions::Sysbench(shares))
}

/// Returns true if a workload is meant to be a Lua script.
pub(crate) fn is_script(value: &str) -> bool {
    let extension = Path::new(value).extension();
    extension.is_some_and(|extension| extension == "lua")
}

/// A script and all that it loads; nothing of it runs.
fn script(path: &Path, modules: &[String]) -> Result<Transactions, String> {
    let files = ScriptFiles::read(path, modules).map_err(|error| error.to_string())?;
    Ok(Transactions::Lua {
        path: path.to_owned(),
        text: files.text.into(),
        modules: files.modules.into_iter().map(LuaModule::from).collect(),
    })
}

/// The path of a book, which counts from `folder`.
fn text_file(value: &str, folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join(value);
    if path.is_file() {
        Ok(path)
    } else {
        Err("no such file; name a text file, as seen from the study file".to_owned())
    }
}

/// Shrinks a size that belongs to the data; passes every other value through.
pub(crate) fn scaled(variable: &str, value: &str, scale: Scale) -> Result<String, String> {
    if variable == LRU_SCAN_DEPTH {
        let pages = positive(value, "number of pages")?;
        return Ok(scaled_scan_depth(pages, scale).to_string());
    }
    if !SCALED_VARIABLES.contains(&variable) {
        return Ok(value.to_owned());
    }
    let size = Bytes::from_str(value).map_err(|why| why.to_string())?;
    let size = scale.apply(size.0);
    let is_pool = variable == BUFFER_POOL_SIZE;
    // MySQL rounds a log to whole mebibytes and MariaDB to 4 KiB: they should have the same.
    let whole = if is_pool {
        size
    } else {
        size.div_ceil(MEBIBYTE) * MEBIBYTE
    };
    Ok(whole.to_string())
}

/// Pages that the page cleaner keeps free in a pool that is scaled: as they are, 1,024 would be most of a pool
/// of 20 MB.
pub(crate) fn scaled_scan_depth(pages: u64, scale: Scale) -> u64 {
    scale.apply(pages).max(LRU_SCAN_DEPTH_MIN.min(pages))
}
