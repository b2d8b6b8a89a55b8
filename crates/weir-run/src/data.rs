//! The data sets: each loaded once, kept as a snapshot, restored before each run.

mod change;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use weir_model::{
    Bytes, Cell, DataSource, LuaWorkload, OrderEntryWorkload, RunSpec, WorkloadSpec, with_headroom,
};
use weir_mysql::Gate;
use weir_process::{PathError, WorkDirectory, short_name};
use weir_server::{PrivateServer, SnapshotHold, SnapshotKey, Snapshots, StartOptions};
use weir_store::progress::Event;
use weir_workload::Workload;

use self::change::Changes;
pub(crate) use self::change::run_each_time;
use crate::RunError;
use crate::cancel::Control;
use crate::context::StudyContext;
use crate::tables::{self, DATA_SEED};
use crate::working_directory::{self, StorageKind};

/// Memory for loading: pages that stay in the pool are written once.
const LOADING_POOL: &str = "1G";

/// Raised when the loader makes other rows than before, so that old snapshots are not used.
const DATA_FORMAT: u32 = 3;

/// The variable that shapes the files, and its default in both flavours.
const PAGE_SIZE: (&str, Bytes) = ("innodb_page_size", Bytes(16_384));

/// A data set that is ready to be restored.
#[derive(Debug)]
pub(crate) struct PreparedData {
    pub(crate) snapshots: Snapshots,
    pub(crate) key: SnapshotKey,
    /// Size of the whole directory, with the server's own tables and redo.
    pub(crate) directory: Bytes,
    /// Size of the workload's tables.
    pub(crate) tables: Bytes,
    /// Parts of an upgrade that could not be made.
    remarks: Vec<String>,
    /// No process removes the snapshot while the study needs it.
    _hold: SnapshotHold,
}

/// The data sets of a study: cells of one server program and one kind of data share theirs.
#[derive(Debug, Default)]
pub(crate) struct DataSets {
    prepared: Vec<PreparedData>,
    /// A run on each data set, or more of them where the same data are described in several ways.
    runs: Vec<(Arc<RunSpec>, usize)>,
    /// Size of the first cell's tables, where the user gives its server.
    external: Option<Bytes>,
}

impl DataSets {
    /// Finds or makes the data of `cells`.
    pub(crate) fn prepare(
        context: &StudyContext<'_>,
        cells: &[Cell],
        control: &mut Control<'_>,
    ) -> Result<Self, RunError> {
        let mut sets = Self::default();
        let mut loaded: Vec<&RunSpec> = Vec::new();
        for cell in cells {
            let Some(server) = context.external_of(cell) else {
                sets.add(context, cell, control)?;
                continue;
            };
            if !loaded.iter().any(|spec| have_same_data(spec, &cell.spec)) {
                loaded.push(&cell.spec);
                let size = tables::make_on_external(cell, server, control)?;
                sets.external.get_or_insert(size);
            }
        }
        Ok(sets)
    }

    /// Adds the data of a cell whose server Weir starts.
    fn add(
        &mut self,
        context: &StudyContext<'_>,
        cell: &Cell,
        control: &mut Control<'_>,
    ) -> Result<(), RunError> {
        if self.find(&cell.spec).is_none() {
            let made = key(context, cell)?;
            let changes = Changes::new(context, cell, &made)?;
            let key = changes.key(&made);
            let known = self.prepared.iter().position(|data| data.key == key);
            let number = if let Some(number) = known {
                number
            } else {
                let prepared = prepare(context, cell, (made, changes), control)?;
                self.prepared.push(prepared);
                self.prepared.len() - 1
            };
            self.runs.push((Arc::clone(&cell.spec), number));
        }
        context.check_capacity(cell, self.for_cell(cell).directory)
    }

    /// The data of a run, if they were prepared.
    pub(crate) fn find(&self, spec: &RunSpec) -> Option<&PreparedData> {
        let mut runs = self.runs.iter();
        let found = runs.find(|(known, _)| have_same_data(known, spec));
        found.map(|(_, number)| &self.prepared[*number])
    }

    /// The data of `cell`.
    pub(crate) fn for_cell(&self, cell: &Cell) -> &PreparedData {
        let found = self.find(&cell.spec);
        found.expect("invariant: a search varies nothing that other data were needed for")
    }

    /// Returns remarks on parts of an upgrade that could not be made, a line each.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let remarks = self.prepared.iter().flat_map(|data| data.remarks.clone());
        remarks.collect()
    }

    /// Returns the size of the workload's tables in `first`, the study's first cell.
    pub(crate) fn tables(&self, context: &StudyContext<'_>, first: &Cell) -> Bytes {
        match self.external {
            Some(tables) if context.external_of(first).is_some() => tables,
            _ => self.for_cell(first).tables,
        }
    }
}

/// Finds or makes the data of `cell`: those of `made`, with the changes since.
fn prepare(
    context: &StudyContext<'_>,
    cell: &Cell,
    (made, changes): (SnapshotKey, Changes<'_>),
    control: &mut Control<'_>,
) -> Result<PreparedData, RunError> {
    let snapshots = Snapshots::open(&weir_server::cache_directory())?;
    let key = changes.key(&made);
    let from_cache = snapshots.find(&key).is_some();
    if !from_cache {
        check_copies(context, cell, &snapshots, [&made, &key])?;
        if snapshots.find(&made).is_none() {
            if let DataSource::Snapshot { name } = &cell.spec.data.source {
                return Err(RunError::SnapshotRemoved { name: name.clone() });
            }
            load(context, cell, &snapshots, &made, control)?;
        }
        changes.make(context, cell, (&snapshots, &made), control)?;
    }
    let Some(hold) = snapshots.hold(&key)? else {
        return Err(RunError::SnapshotRemoved { name: key.name() });
    };
    let stored = hold.data_dir();
    let directory = weir_server::space_occupied(stored)?;
    // A snapshot of another server's data has schemas of its own.
    let own = stored.join(weir_server::DATABASE);
    let tables = match cell.spec.data.source {
        DataSource::Snapshot { .. } => directory,
        _ => weir_server::space_occupied(&own)?,
    };
    control.tell(&Event::DataReady {
        size: tables,
        from_cache,
    });
    Ok(PreparedData {
        snapshots,
        key,
        directory,
        tables,
        remarks: changes.remarks(),
        _hold: hold,
    })
}

/// New data stay as a snapshot, and each run has a copy of them: both have to fit before hours go into the first.
fn check_copies(
    context: &StudyContext<'_>,
    cell: &Cell,
    snapshots: &Snapshots,
    [made, changed]: [&SnapshotKey; 2],
) -> Result<(), RunError> {
    let made_size = snapshots
        .find(made)
        .map(|data| weir_server::space_occupied(&data));
    let size = made_size.transpose()?;
    let new = u64::from(size.is_none()) + u64::from(changed != made);
    let size = size.unwrap_or_else(|| weir_model::data_size(&cell.spec));
    let place =
        working_directory::choose(context.work_of(cell), size, StorageKind::for_cell(cell))?;
    let cache = weir_server::cache_directory();
    let copies = [
        (&*place, with_headroom(size)),
        (&*cache, Bytes(new * size.0)),
    ];
    Ok(weir_server::check_space_together(&copies)?)
}

/// Loads the data on a server of its own, off the drives, and keeps them.
fn load(
    context: &StudyContext<'_>,
    cell: &Cell,
    snapshots: &Snapshots,
    key: &SnapshotKey,
    control: &mut Control<'_>,
) -> Result<(), RunError> {
    let binary = context.server_of(cell);
    let size = weir_model::data_size(&cell.spec);
    let place =
        working_directory::choose(context.options.work.as_deref(), size, StorageKind::Memory)?;
    let home = WorkDirectory::create(&place, "load")?;
    let data_dir = home.path().join("data");
    let shaping = [(PAGE_SIZE.0.to_owned(), page_size(&cell.spec).0.to_string())].into();
    weir_server::initialise(binary, &data_dir, &shaping)?;
    let mut options = StartOptions::new(&data_dir, home.path().join("server"));
    options.variables = loading_variables(&cell.spec);
    let watch = &mut control.cancel.watching();
    let server = PrivateServer::start_watched(binary, &options, watch)?;
    let what = "loading the data";
    let (endpoint, gate) = (server.endpoint(), Gate::own());
    if let WorkloadSpec::Lua(_) = cell.spec.workload {
        let weir = &context.options.weir;
        tables::make_by_script(&cell.spec, (&endpoint, &gate), weir, what, control)?;
    } else {
        tables::make_tables(&cell.spec, endpoint, &gate, what, control)?;
    }
    server.stop(Duration::from_mins(5))?;
    Ok(snapshots.store(key, &data_dir)?)
}

fn key(context: &StudyContext<'_>, cell: &Cell) -> Result<SnapshotKey, RunError> {
    let data = &cell.spec.data;
    let server = context.server_of(cell);
    let (tables, rows) = match &data.source {
        DataSource::Sysbench { tables, rows } => (*tables, *rows),
        DataSource::Snapshot { name } => {
            let snapshots = Snapshots::open(&weir_server::cache_directory())?;
            return Ok(snapshots.named(name)?.key);
        }
        DataSource::File { .. } | DataSource::Lua | DataSource::OrderEntry { .. } => {
            (data.table_count() as u32, data.rows_total())
        }
    };
    Ok(SnapshotKey {
        flavor: server.flavor,
        version: server.version,
        // Workloads with the same tables share their data.
        workload: tables_of(&cell.spec)?,
        tables,
        rows,
        seed: DATA_SEED,
        page_bytes: page_size(&cell.spec).0 as u32,
        format: DATA_FORMAT,
        made_by: Vec::new(),
    })
}

/// The name of a run's tables, with what tells their options and the text of a book or a file.
fn tables_of(spec: &RunSpec) -> Result<String, RunError> {
    let tables = tables_of_workload(&spec.workload)?;
    Ok(match spec.data.table_options.as_str() {
        "" => tables,
        options => format!("{tables}-{}", short_name(options.as_bytes())),
    })
}

fn tables_of_workload(workload: &WorkloadSpec) -> Result<String, RunError> {
    match workload {
        WorkloadSpec::Sysbench(_) if !workload.has_text() => Ok("oltp".to_owned()),
        WorkloadSpec::Sysbench(sysbench) => match &sysbench.text_file {
            None => Ok("oltp_text".to_owned()),
            Some(book) => Ok(format!("oltp_text-{}", short_name(&contents(book)?))),
        },
        WorkloadSpec::File(file) => {
            let named = Workload::try_from(workload).map_err(RunError::Workload)?;
            let mut made_of = format!("{:?} {}", file.distribution, file.text).into_bytes();
            if let Some(book) = named.book() {
                made_of.extend(contents(&book)?);
            }
            let stem = file.path.file_stem().unwrap_or_default();
            let stem = stem.to_string_lossy();
            Ok(format!("{stem}-{}", short_name(&made_of)))
        }
        WorkloadSpec::Lua(lua) => {
            let stem = lua.path.file_stem().unwrap_or_default();
            let stem = stem.to_string_lossy();
            Ok(format!("{stem}-{}", short_name(made_by(lua).as_bytes())))
        }
        // The name says the sizes: tables of other sizes may have as many rows.
        WorkloadSpec::OrderEntry(workload) => {
            let OrderEntryWorkload {
                warehouses,
                items,
                customers,
                foreign_keys,
                ..
            } = *workload;
            let keys = if foreign_keys { "-keys" } else { "" };
            Ok(format!(
                "order_entry-{warehouses}-{items}-{customers}{keys}"
            ))
        }
    }
}

/// Whatever a script's `prepare` depends on.
fn made_by(lua: &LuaWorkload) -> String {
    let (options, keys) = (&lua.data_options, lua.distribution);
    format!("{options:?} {keys:?} {}", lua.whole_text())
}

fn contents(path: &Path) -> Result<Vec<u8>, RunError> {
    Ok(fs::read(path).map_err(PathError::on("read", path))?)
}

/// Returns true if two runs start from the same data, by their descriptions.
fn have_same_data(first: &RunSpec, second: &RunSpec) -> bool {
    let tables = |spec: &RunSpec| match &spec.workload {
        WorkloadSpec::Sysbench(_) if !spec.workload.has_text() => None,
        WorkloadSpec::Sysbench(sysbench) => Some((None, sysbench.text_file.clone())),
        WorkloadSpec::File(file) => {
            let text = (Arc::clone(&file.text), format!("{:?}", file.distribution));
            Some((Some(text), Some(file.path.clone())))
        }
        WorkloadSpec::Lua(lua) => Some((Some((made_by(lua).into(), String::new())), None)),
        WorkloadSpec::OrderEntry(workload) => {
            // Options of the load alone change no table.
            let tables = OrderEntryWorkload {
                keying_and_think_time: false,
                fixed_warehouses: false,
                ..*workload
            };
            let text = (Arc::from(""), format!("{tables:?}"));
            Some((Some(text), None))
        }
    };
    first.primary().server == second.primary().server
        && first.data.source == second.data.source
        && first.data.table_options == second.data.table_options
        && first.data.before == second.data.before
        && tables(first) == tables(second)
        && page_size(first) == page_size(second)
}

/// The page size of a run's tables; what is no size is left for the server to refuse.
fn page_size(spec: &RunSpec) -> Bytes {
    let (name, default) = PAGE_SIZE;
    let chosen = spec.variable(name).and_then(|size| size.parse().ok());
    chosen.unwrap_or(default)
}

/// The variables of a run with what makes loading fast; a clean stop makes the data whole again.
fn loading_variables(spec: &RunSpec) -> BTreeMap<String, String> {
    let mut variables = spec.primary().variables.clone();
    let fast = [
        ("innodb_buffer_pool_size", LOADING_POOL),
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_doublewrite", "OFF"),
        ("local_infile", "ON"),
        // Which pages are the data's, for runs that begin with a warm pool.
        ("innodb_buffer_pool_dump_at_shutdown", "ON"),
        ("innodb_buffer_pool_dump_pct", "100"),
    ];
    // No replica follows this server, and a script cannot be asked to leave the log out.
    let no_log = matches!(spec.workload, WorkloadSpec::Lua(_)).then_some(("log_bin", "OFF"));
    let fast = fast.into_iter().chain(no_log);
    let fast = fast.map(|(name, value)| (name.to_owned(), value.to_owned()));
    weir_model::set_options(&mut variables, fast);
    variables
}
