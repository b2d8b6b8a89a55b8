//! The data sets: each loaded once, kept as a snapshot, restored before each run.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_load::{BinaryLog, PreparePlan};
use weir_model::{Bytes, Cell, DataPlan, Endpoint, WorkloadName};
use weir_mysql::Gate;
use weir_process::WorkDirectory;
use weir_server::{PrivateServer, SnapshotHold, SnapshotKey, Snapshots, StartOptions};

use super::bench::Bench;
use super::given;
use super::place;
use crate::{Event, StudyError};

/// Seed of the rows. Fixed: studies with the same workload and size share their snapshot.
const DATA_SEED: u64 = 1;

/// Memory for loading: pages that stay in the pool are written once.
const LOADING_POOL: &str = "1G";

/// Connections that load in parallel, at most one a table.
const LOADING_THREADS: u32 = 4;

/// Raised when the loader makes other rows than before, so that old snapshots are not used.
const DATA_FORMAT: u32 = 3;

/// The variable that shapes the files, and its default in both flavours.
const PAGE_SIZE: (&str, Bytes) = ("innodb_page_size", Bytes(16_384));

/// A data set that is ready to be restored.
#[derive(Debug)]
pub(super) struct PreparedData {
    pub(super) snapshots: Snapshots,
    pub(super) key: SnapshotKey,
    /// What the whole directory occupies, with the server's own tables and redo.
    pub(super) directory: Bytes,
    /// What the workload's tables occupy.
    pub(super) tables: Bytes,
    /// Nobody removes the snapshot while the study needs it.
    _hold: SnapshotHold,
}

/// The data sets of a study by their snapshots' names: cells of one server program and one kind of
/// data share theirs.
#[derive(Debug, Default)]
pub(super) struct DataSets {
    prepared: BTreeMap<String, PreparedData>,
    /// What the tables of the first cell occupy, where the user gives its server.
    given: Option<Bytes>,
}

impl DataSets {
    /// Finds or makes the data of all cells; `None` if it was stopped.
    pub(super) fn prepare(
        bench: &Bench<'_>,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event<'_>),
    ) -> Result<Option<Self>, StudyError> {
        let mut sets = Self::default();
        let mut loaded = Vec::new();
        for cell in &bench.plan.cells {
            if let Some(server) = bench.given_of(cell) {
                let tables = (&server.url, bench.plan.data_of(cell));
                if loaded.contains(&tables) {
                    continue;
                }
                loaded.push(tables);
                let Some(size) = given::load(bench, cell, server, stop, on_event)? else {
                    return Ok(None);
                };
                sets.given.get_or_insert(size);
                continue;
            }
            let name = key(bench, cell).name();
            if !sets.prepared.contains_key(&name) {
                let Some(data) = prepare(bench, cell, stop, on_event)? else {
                    return Ok(None);
                };
                sets.prepared.insert(name.clone(), data);
            }
            bench.check_capacity(cell, sets.prepared[&name].directory)?;
        }
        Ok(Some(sets))
    }

    /// The data of `cell`.
    pub(super) fn of(&self, bench: &Bench<'_>, cell: &Cell) -> &PreparedData {
        &self.prepared[&key(bench, cell).name()]
    }

    /// What the workload's tables occupy in the study's first cell.
    pub(super) fn tables(&self, bench: &Bench<'_>) -> Bytes {
        let first = &bench.plan.cells[0];
        match self.given {
            Some(tables) if bench.given_of(first).is_some() => tables,
            _ => self.of(bench, first).tables,
        }
    }
}

/// Finds or makes the data of `cell`; `None` if it was stopped.
fn prepare(
    bench: &Bench<'_>,
    cell: &Cell,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<Option<PreparedData>, StudyError> {
    let snapshots = Snapshots::open(&weir_server::cache_directory())?;
    let key = key(bench, cell);
    let from_cache = snapshots.find(&key).is_some();
    if !from_cache && load(bench, cell, &snapshots, &key, stop, on_event)?.is_none() {
        return Ok(None);
    }
    let Some(hold) = snapshots.hold(&key)? else {
        return Err(StudyError::SnapshotRemoved { name: key.name() });
    };
    let stored = hold.data_dir();
    let directory = weir_server::space_occupied(stored)?;
    let tables = weir_server::space_occupied(&stored.join(weir_server::DATABASE))?;
    on_event(&Event::DataReady {
        size: tables,
        from_cache,
    });
    Ok(Some(PreparedData {
        snapshots,
        key,
        directory,
        tables,
        _hold: hold,
    }))
}

/// Loads the data on a server of its own, off the drives, and keeps them; `None` if stopped.
fn load(
    bench: &Bench<'_>,
    cell: &Cell,
    snapshots: &Snapshots,
    key: &SnapshotKey,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<Option<()>, StudyError> {
    let data = bench.plan.data_of(cell);
    let binary = bench.server_of(cell);
    let size = crate::estimate::size_of(data);
    let place = place::choose(bench.options.work.as_deref(), size)?;
    let home = WorkDirectory::create(&place, "load")?;
    let data_dir = home.path().join("data");
    let shaping = [(PAGE_SIZE.0.to_owned(), page_size(bench, cell).0.to_string())].into();
    weir_server::initialise(binary, &data_dir, &shaping)?;
    let mut options = StartOptions::new(&data_dir, home.path().join("server"));
    options.variables = loading_variables(bench, cell);
    let started = PrivateServer::start_watched(binary, &options, &mut watching(stop));
    let Some(server) = unless_stopped(started)? else {
        return Ok(None);
    };
    let what = "loading the data";
    if make_tables(data, server.endpoint(), &Gate::own(), what, stop, on_event)?.is_none() {
        return Ok(None);
    }
    server.stop(Duration::from_mins(5))?;
    snapshots.store(key, &data_dir)?;
    Ok(Some(()))
}

/// Makes the tables of `data` that are missing at `endpoint`, as part of `what`; `None` if stopped.
pub(super) fn make_tables(
    data: &DataPlan,
    endpoint: Endpoint,
    gate: &Gate,
    what: &str,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<Option<()>, StudyError> {
    let plan = PreparePlan {
        tables: data.tables,
        rows: data.rows,
        threads: LOADING_THREADS,
        seed: DATA_SEED,
        // Nobody follows a server of Weir's own while its data are made.
        binary_log: if gate.is_own() {
            BinaryLog::Off
        } else {
            BinaryLog::On
        },
        ..PreparePlan::new(endpoint, data.workload)
    };
    let loaded = weir_load::prepare(&plan, gate, stop, &mut |rows_done, rows_total| {
        on_event(&Event::Loading {
            rows_done,
            rows_total,
        });
    });
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    loaded.map_err(|source| StudyError::Load {
        run: what.to_owned(),
        source: Box::new(source),
        server: String::new(),
    })?;
    Ok(Some(()))
}

/// Ends the wait for a server when `stop` is set.
pub(super) fn watching(stop: &AtomicBool) -> impl FnMut(Duration) -> ControlFlow<()> {
    move |_| {
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// A started server, or `None` if the wait for it was ended on purpose.
pub(super) fn unless_stopped(
    started: Result<PrivateServer, weir_server::ServerError>,
) -> Result<Option<PrivateServer>, StudyError> {
    match started {
        Ok(server) => Ok(Some(server)),
        Err(weir_server::ServerError::Interrupted) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn key(bench: &Bench<'_>, cell: &Cell) -> SnapshotKey {
    let data = bench.plan.data_of(cell);
    let server = bench.server_of(cell);
    SnapshotKey {
        flavor: server.flavor,
        version: server.version,
        // Workloads with the same tables share their data.
        workload: tables_of(data.workload).to_owned(),
        tables: data.tables,
        rows: data.rows,
        seed: DATA_SEED,
        page_bytes: page_size(bench, cell).0 as u32,
        format: DATA_FORMAT,
    }
}

/// The name of a workload's tables.
fn tables_of(workload: WorkloadName) -> &'static str {
    use WorkloadName::{OltpTextReadOnly, OltpTextReadWrite, OltpTextWriteOnly};
    match workload {
        OltpTextReadOnly | OltpTextReadWrite | OltpTextWriteOnly => "oltp_text",
        _ => "oltp",
    }
}

/// The page size of a cell's tables; what is no size is left for the server to refuse.
fn page_size(bench: &Bench<'_>, cell: &Cell) -> Bytes {
    let (name, default) = PAGE_SIZE;
    let variables = bench.plan.variables_of(cell);
    let chosen = variables.get(name).and_then(|size| size.parse().ok());
    chosen.unwrap_or(default)
}

/// The cell's variables with what makes loading fast; a clean stop makes the data whole again.
fn loading_variables(bench: &Bench<'_>, cell: &Cell) -> BTreeMap<String, String> {
    let mut variables = bench.plan.variables_of(cell);
    let fast = [
        ("innodb_buffer_pool_size", LOADING_POOL),
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_doublewrite", "OFF"),
        ("local_infile", "ON"),
        // Which pages are the data's, for runs that begin with a warm pool.
        ("innodb_buffer_pool_dump_at_shutdown", "ON"),
        ("innodb_buffer_pool_dump_pct", "100"),
    ];
    let fast = fast.map(|(name, value)| (name.to_owned(), value.to_owned()));
    weir_model::set_options(&mut variables, fast);
    variables
}

/// The place of a run on these data.
pub(super) fn home(bench: &Bench<'_>, data: &PreparedData) -> Result<WorkDirectory, StudyError> {
    let work: Option<&Path> = bench.options.work.as_deref();
    Ok(WorkDirectory::create(
        &place::choose(work, data.directory)?,
        "run",
    )?)
}
