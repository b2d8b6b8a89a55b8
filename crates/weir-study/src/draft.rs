//! A cell in the making: factors set one thing after the other, and only all of them together are a
//! run.

mod replay;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use weir_capture::CaptureSummary;
use weir_model::{
    Cell, DataSource, DistributionName, DistributionOptions, DriveSpec, Duration, FileWorkload,
    LOAD_OPTIONS, LuaModule, LuaWorkload, OrderEntryWorkload, Pace, RunSpec, Scale,
    SysbenchOptions, SysbenchWorkload, TableSize, TimelineEvent, WorkloadName, WorkloadShares,
    WorkloadSpec,
};
use weir_workload::Workload;

/// Levels of `drive` and `replica_drive` at which the data are on the host's own storage.
const HOST_STORAGE: [&str; 2] = ["host", "none"];

/// A run of which single settings can still be set, in any order.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    /// Factor -> level.
    pub(crate) levels: BTreeMap<String, String>,
    /// The run, but for what follows.
    pub(crate) spec: RunSpec,
    /// The drive's profile.
    pub(crate) drive: Option<String>,
    /// Keys of it with other values.
    pub(crate) drive_settings: BTreeMap<String, String>,
    /// The profile of the drive of each replica.
    pub(crate) replica_drive: Option<String>,
    /// Keys of the load that nothing has given yet.
    pub(crate) missing: BTreeSet<&'static str>,
    /// The snapshot in place of a workload's tables.
    pub(crate) snapshot: Option<String>,
    /// Content of a transaction.
    pub(crate) transactions: Option<Transactions>,
    /// Options of sysbench's workloads, and the parameters of all distributions.
    pub(crate) options: SysbenchOptions,
    /// Distribution that counts.
    pub(crate) distribution: DistributionName,
    /// A book for the text workloads.
    pub(crate) text_file: Option<PathBuf>,
    /// Tables of sysbench's workloads.
    pub(crate) tables: u32,
    /// Rows of each of them, scaled.
    pub(crate) rows: Option<u64>,
    /// Options of a Lua script's `prepare` and run.
    pub(crate) data_options: BTreeMap<String, String>,
    /// Options of its run alone.
    pub(crate) load_options: BTreeMap<String, String>,
    /// Names of the events that happen; `None`: all that the spec has.
    pub(crate) events: Option<Vec<String>>,
    /// Keys of them with other values.
    pub(crate) event_settings: BTreeMap<String, String>,
    /// Options of order entry, its warehouses scaled.
    pub(crate) order_entry: OrderEntryWorkload,
    /// The capture in place of transactions.
    pub(crate) capture: Option<CaptureSummary>,
}

/// Transactions without the settings that workloads share.
#[derive(Debug, Clone)]
pub(crate) enum Transactions {
    Sysbench(WorkloadShares),
    File {
        path: PathBuf,
        text: Arc<str>,
        sizes: Vec<TableSize>,
    },
    Lua {
        path: PathBuf,
        text: Arc<str>,
        modules: Vec<LuaModule>,
    },
    OrderEntry,
}

/// Settings that do not go together.
#[derive(Debug, Error)]
pub(crate) enum DraftError {
    #[error(
        "factor `drive.{key}` needs a drive; add factor `drive`, and leave out its level `host`"
    )]
    DriveSetting { key: String },
    #[error(
        "level `{level}` of factor drive is the host's own storage, and drive scale {scale} does not shrink that; leave \
         the scale of drives out: `scale = {{ data = ... }}`"
    )]
    ScaledHost { level: String, scale: Scale },
    #[error("`replica_drive` needs a replica; add `replicas = 1` to [server]")]
    NoReplica,
    #[error("factor `event.{key}` needs an event that has such a setting; add one in [[events]]")]
    NoEvent { key: String },
    #[error("`event.{key}` = `{value}` ({why})")]
    EventSetting {
        key: String,
        value: String,
        why: String,
    },
    #[error("`{key}` is missing; write it in [{section}], or as a factor in [factors]")]
    Missing {
        section: &'static str,
        key: &'static str,
    },
    #[error("sysbench's tables have as many rows as one asks for; add `rows`")]
    WithoutRows,
    #[error(
        "`keying_and_think_time` says when transactions of order entry begin; leave out rate and think time"
    )]
    KeyingAndPace,
    #[error(
        "a workload's own file says how many rows its tables have, and data scale {scale} does not shrink it; write \
         smaller tables into the file, and `scale = {{ drive = ... }}` for the drive"
    )]
    ScaledFile { scale: Scale },
    #[error(
        "a Lua script makes its own tables, and data scale {scale} does not shrink them; write smaller sizes into \
         data.options, and `scale = {{ drive = ... }}` for the drive"
    )]
    ScaledScript { scale: Scale },
    #[error(
        "event `{event}` ends the server, and a Lua script fails without it; leave the event out, or use a workload \
         of Weir's"
    )]
    EndsScript { event: String },
    #[error(
        "table_options is appended to sysbench's tables, and {workload} makes its own; write them into its CREATE TABLE"
    )]
    TableOptions { workload: String },
    #[error("`{option}` belongs to a replay; add `replay` with the path of a capture")]
    WithoutCapture { option: &'static str },
    #[error(
        "`{option}` has no effect on a replay, which has sessions and times of its own; leave it out"
    )]
    NotOfReplays { option: &'static str },
    #[error(
        "`snapshot` has tables that no workload knows; add `replay` with the path of a capture"
    )]
    SnapshotWithoutCapture,
    #[error("a replay is not steady by itself; write a length for `warmup`, such as `30s`")]
    SteadyReplay,
    #[error(
        "the capture is over {length} after `from`, before the warm-up is; take another part of it"
    )]
    ShortCapture { length: Duration },
    #[error("`{option}` has no effect on a Lua script; leave it out")]
    NotOfScripts { option: &'static str },
}

impl Draft {
    /// The draft of a cell that is finished, for a search to change a setting of it.
    pub(crate) fn from_cell(cell: &Cell) -> Self {
        let spec = RunSpec::clone(&cell.spec);
        let drive = spec.primary().drive.clone();
        let mut replicas = spec.topology.replicas().iter();
        let replica_drive = replicas.find_map(|node| node.drive.as_ref().map(DriveSpec::name));
        let (tables, rows, sizes) = match spec.data.source.clone() {
            DataSource::Sysbench { tables, rows } => (tables, Some(rows), Vec::new()),
            DataSource::File { sizes } | DataSource::OrderEntry { sizes } => (1, None, sizes),
            DataSource::Lua | DataSource::Snapshot { .. } => (1, None, Vec::new()),
        };
        let keys = spec.workload.distribution();
        let mut options = SysbenchOptions {
            distribution: DistributionOptions::from_distribution(keys),
            ..SysbenchOptions::default()
        };
        let (mut text_file, mut order_entry) = (None, OrderEntryWorkload::default());
        let (mut data_options, mut load_options) = (BTreeMap::new(), BTreeMap::new());
        let transactions = match &spec.workload {
            WorkloadSpec::Sysbench(sysbench) => {
                options.mix = sysbench.mix;
                text_file.clone_from(&sysbench.text_file);
                Transactions::Sysbench(sysbench.shares.clone())
            }
            WorkloadSpec::File(file) => Transactions::File {
                path: file.path.clone(),
                text: Arc::clone(&file.text),
                sizes,
            },
            WorkloadSpec::Lua(lua) => {
                data_options.clone_from(&lua.data_options);
                load_options.clone_from(&lua.options);
                Transactions::Lua {
                    path: lua.path.clone(),
                    text: Arc::clone(&lua.text),
                    modules: lua.modules.clone(),
                }
            }
            WorkloadSpec::OrderEntry(options) => {
                order_entry = *options;
                Transactions::OrderEntry
            }
        };
        Self {
            levels: cell.levels.clone(),
            drive: drive.as_ref().map(|drive| drive.profile.clone()),
            drive_settings: drive.map(|drive| drive.settings).unwrap_or_default(),
            replica_drive,
            missing: BTreeSet::new(),
            snapshot: match &spec.data.source {
                DataSource::Snapshot { name } => Some(name.clone()),
                _ => None,
            },
            transactions: Some(transactions),
            options,
            distribution: keys.name(),
            text_file,
            tables,
            rows,
            data_options,
            load_options,
            events: None,
            event_settings: BTreeMap::new(),
            order_entry,
            capture: None,
            spec,
        }
    }

    /// Takes a capture in the place of transactions.
    pub(crate) fn take_capture(&mut self, path: &Path) -> Result<(), String> {
        let capture = CaptureSummary::read(path).map_err(|error| error.to_string())?;
        let replay = self.spec.load.replay.get_or_insert_default();
        path.clone_into(&mut replay.path);
        replay.digest.clone_from(&capture.digest);
        self.capture = Some(capture);
        Ok(())
    }

    /// The cell; an error if its settings do not go together.
    pub(crate) fn finish(mut self) -> Result<Cell, DraftError> {
        self.finish_drives()?;
        let events = self.events.take();
        set_events(&mut self.spec.timeline, events, &self.event_settings)?;
        replay::finish(
            &mut self.spec.load,
            &mut self.missing,
            self.capture.as_ref(),
        )?;
        if let Some(key) = self.missing.first() {
            let section = "load";
            return Err(DraftError::Missing { section, key });
        }
        if let Some(name) = self.snapshot.take() {
            if self.spec.load.replay.is_none() {
                return Err(DraftError::SnapshotWithoutCapture);
            }
            self.spec.data.source = DataSource::Snapshot { name };
        } else {
            self.finish_transactions()?;
        }
        Ok(Cell {
            levels: self.levels,
            spec: Arc::new(self.spec),
            probe: None,
            screened: None,
        })
    }

    /// Gives the nodes their drives.
    fn finish_drives(&mut self) -> Result<(), DraftError> {
        let scale = self.spec.data.drive_scale;
        if let Some(level) = self
            .drive
            .clone()
            .filter(|level| !is_emulated(level) && scale != Scale::FULL)
        {
            return Err(DraftError::ScaledHost { level, scale });
        }
        let settings = std::mem::take(&mut self.drive_settings);
        self.spec.primary_mut().drive = match self.drive.take().filter(is_emulated) {
            Some(profile) => Some(DriveSpec { profile, settings }),
            None => match settings.into_keys().next() {
                Some(key) => return Err(DraftError::DriveSetting { key }),
                None => None,
            },
        };
        let topology = &mut self.spec.topology;
        let replica_drive = self.replica_drive.take().filter(is_emulated);
        if replica_drive.is_some() && topology.replicas().is_empty() {
            return Err(DraftError::NoReplica);
        }
        let replica_drive = replica_drive.map(|profile| DriveSpec {
            profile,
            settings: BTreeMap::new(),
        });
        topology.set_replica_drive(replica_drive.as_ref());
        Ok(())
    }

    /// Gives the run its transactions, and the tables that they need.
    fn finish_transactions(&mut self) -> Result<(), DraftError> {
        let transactions = self.transactions.take().ok_or(DraftError::Missing {
            section: "data",
            key: "workload",
        })?;
        let distribution = self.options.distribution.distribution(self.distribution);
        let (workload, source) = match transactions {
            Transactions::Sysbench(shares) => self.sysbench(shares)?,
            Transactions::File { path, text, sizes } => {
                let scale = self.spec.data.data_scale;
                if scale != Scale::FULL {
                    return Err(DraftError::ScaledFile { scale });
                }
                let workload = WorkloadSpec::File(FileWorkload {
                    path,
                    text,
                    distribution,
                });
                (workload, DataSource::File { sizes })
            }
            Transactions::Lua {
                path,
                text,
                modules,
            } => {
                check_script(&self.spec)?;
                let workload = WorkloadSpec::Lua(LuaWorkload {
                    path,
                    text,
                    modules,
                    data_options: std::mem::take(&mut self.data_options),
                    options: std::mem::take(&mut self.load_options),
                    distribution,
                });
                (workload, DataSource::Lua)
            }
            Transactions::OrderEntry => self.order_entry()?,
        };
        let is_sysbench = matches!(source, DataSource::Sysbench { .. });
        if !is_sysbench && !self.spec.data.table_options.is_empty() {
            let workload = workload.to_string();
            return Err(DraftError::TableOptions { workload });
        }
        self.spec.workload = workload;
        self.spec.data.source = source;
        Ok(())
    }

    fn sysbench(
        &mut self,
        shares: WorkloadShares,
    ) -> Result<(WorkloadSpec, DataSource), DraftError> {
        let rows = self.rows.ok_or(DraftError::WithoutRows)?;
        let has_text = shares.any(WorkloadName::has_text);
        let workload = WorkloadSpec::Sysbench(SysbenchWorkload {
            shares,
            mix: self.options.mix,
            distribution: self.options.distribution.distribution(self.distribution),
            text_file: self.text_file.take().filter(|_| has_text),
        });
        let tables = self.tables;
        Ok((workload, DataSource::Sysbench { tables, rows }))
    }

    fn order_entry(&self) -> Result<(WorkloadSpec, DataSource), DraftError> {
        let options = self.order_entry;
        if options.keying_and_think_time && self.spec.load.pace != Pace::default() {
            return Err(DraftError::KeyingAndPace);
        }
        let sizes = Workload::from(options).table_sizes();
        let workload = WorkloadSpec::OrderEntry(options);
        Ok((workload, DataSource::OrderEntry { sizes }))
    }
}

/// Returns true if a level of `drive` names a profile.
#[allow(clippy::ptr_arg)] // The filter of an owned option passes this.
fn is_emulated(level: &String) -> bool {
    !HOST_STORAGE.contains(&level.as_str())
}

/// Options of the load that work with a script.
const OF_SCRIPTS: [&str; 7] = [
    "rate",
    "rate_ramp",
    "rate_arrivals",
    "compression",
    "tls",
    "agents",
    "agent_label",
];

/// Refuses what a script would not follow.
fn check_script(spec: &RunSpec) -> Result<(), DraftError> {
    let scale = spec.data.data_scale;
    if scale != Scale::FULL {
        return Err(DraftError::ScaledScript { scale });
    }
    let ignored = LOAD_OPTIONS
        .iter()
        .filter(|option| !OF_SCRIPTS.contains(&option.name))
        .find(|option| option.written(&spec.load).is_some());
    let ends_server = |event: &&TimelineEvent| event.kind.ends_server();
    if let Some(event) = spec.timeline.iter().find(ends_server) {
        return Err(DraftError::EndsScript {
            event: event.name.clone(),
        });
    }
    match ignored {
        Some(option) => Err(DraftError::NotOfScripts {
            option: option.name,
        }),
        None => Ok(()),
    }
}

/// Keeps the events that are `wanted`, and gives them `settings`. A cell without events needs none of these.
fn set_events(
    timeline: &mut Vec<TimelineEvent>,
    wanted: Option<Vec<String>>,
    settings: &BTreeMap<String, String>,
) -> Result<(), DraftError> {
    if let Some(wanted) = wanted {
        timeline.retain(|event| wanted.contains(&event.name));
    } else if timeline.is_empty() && !settings.is_empty() {
        let key = settings.keys().next().cloned().unwrap_or_default();
        return Err(DraftError::NoEvent { key });
    }
    for (key, value) in settings {
        let mut is_known = timeline.is_empty();
        for event in timeline.iter_mut() {
            let set = event.set(key, value);
            is_known |= set.map_err(|why| DraftError::EventSetting {
                key: key.clone(),
                value: value.clone(),
                why,
            })?;
        }
        if !is_known {
            return Err(DraftError::NoEvent { key: key.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use weir_model::Pace;

    use super::*;

    #[test]
    fn a_cell_is_what_its_draft_makes() {
        let mut spec = RunSpec::default();
        spec.primary_mut().drive = Some(DriveSpec {
            profile: "d".to_owned(),
            settings: BTreeMap::from([("flash.fill".to_owned(), "0.5".to_owned())]),
        });
        spec.load.pace = Pace::open(5.0);
        spec.workload = WorkloadSpec::Sysbench(SysbenchWorkload {
            shares: "oltp_text_read_only:3,oltp_delete:1".parse().unwrap(),
            mix: weir_model::Mix {
                range_size: 7,
                ..weir_model::Mix::default()
            },
            distribution: weir_model::Distribution::Zipfian { exponent: 0.5 },
            text_file: Some("book.txt".into()),
        });
        let cell = Cell {
            levels: BTreeMap::from([("drive".to_owned(), "d".to_owned())]),
            spec: Arc::new(spec),
            probe: None,
            screened: None,
        };
        assert_eq!(Draft::from_cell(&cell).finish().unwrap(), cell);
    }

    #[test]
    fn a_setting_of_a_drive_needs_a_drive() {
        let mut draft = Draft::from_cell(&Cell::default());
        let setting = ("flash.fill".to_owned(), "0.5".to_owned());
        draft.drive_settings.extend([setting]);
        let error = draft.finish().unwrap_err().to_string();
        assert!(error.contains("drive.flash.fill"), "{error}");
    }
}
