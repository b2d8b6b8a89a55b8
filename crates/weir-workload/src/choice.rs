//! Choice of a workload: one of sysbench's, several of them in proportion, order entry, or a user's own file or
//! script.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_model::{
    Distribution, FileWorkload, LuaWorkload, OrderEntryWorkload, SysbenchWorkload, TableSize,
    WorkloadName, WorkloadSpec,
};

use crate::file::WorkloadFile;
use crate::{Script, ScriptInputs, Table, TableOptions, WorkloadError, oltp, order_entry, sbtest};

/// Transactions of a load, and their tables: a description that holds together.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Sysbench(SysbenchWorkload),
    File(Arc<WorkloadFile>),
    OrderEntry(OrderEntryWorkload),
    /// It is run by an interpreter: what it does is known only then.
    Lua(Arc<LuaWorkload>),
}

impl From<WorkloadName> for Workload {
    /// With sysbench's default options.
    fn from(name: WorkloadName) -> Self {
        SysbenchWorkload::from(name).into()
    }
}

impl From<SysbenchWorkload> for Workload {
    fn from(workload: SysbenchWorkload) -> Self {
        Self(Kind::Sysbench(workload))
    }
}

impl From<OrderEntryWorkload> for Workload {
    fn from(workload: OrderEntryWorkload) -> Self {
        Self(Kind::OrderEntry(workload))
    }
}

impl TryFrom<&WorkloadSpec> for Workload {
    type Error = String;

    /// The workload of a run; one of the user's own is made of the text in the spec, and its file is
    /// not looked at.
    fn try_from(spec: &WorkloadSpec) -> Result<Self, String> {
        Ok(Self(match spec {
            WorkloadSpec::Sysbench(sysbench) => Kind::Sysbench(sysbench.clone()),
            WorkloadSpec::File(file) => Kind::File(Arc::new(WorkloadFile::new(file.clone())?)),
            WorkloadSpec::Lua(lua) => Kind::Lua(Arc::new(lua.clone())),
            WorkloadSpec::OrderEntry(options) => Kind::OrderEntry(*options),
        }))
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec().fmt(f)
    }
}

/// The workload that a user names, with default options: a workload's name, names with weights such as
/// `oltp_point_select:80,oltp_write_only:20`, or `order_entry`. A name that ends in `.toml` is the path of a
/// workload file, which is read.
///
/// # Errors
///
/// An unknown name, or the error of the file, in words.
pub fn read_spec(name: &str) -> Result<WorkloadSpec, String> {
    if name == OrderEntryWorkload::NAME {
        return Ok(WorkloadSpec::OrderEntry(OrderEntryWorkload::default()));
    }
    if !Workload::is_file(name) {
        return Ok(WorkloadSpec::Sysbench(SysbenchWorkload {
            shares: name.parse()?,
            ..SysbenchWorkload::default()
        }));
    }
    let path = PathBuf::from(name);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let why = error.to_string().to_lowercase();
        format!("{}: {why}; name a file", path.display())
    })?;
    Ok(WorkloadSpec::File(FileWorkload {
        path,
        text: text.into(),
        distribution: Distribution::default(),
    }))
}

impl Workload {
    /// Reads the workload that a user names, see [`read_spec`].
    ///
    /// # Errors
    ///
    /// As [`read_spec`].
    pub fn read(name: &str) -> Result<Self, String> {
        Self::try_from(&read_spec(name)?)
    }

    /// Returns true if `name` is meant to be the path of a workload's file.
    pub fn is_file(name: &str) -> bool {
        let extension = Path::new(name).extension();
        extension.is_some_and(|extension| extension == "toml")
    }

    /// Returns the description.
    pub fn spec(&self) -> WorkloadSpec {
        match &self.0 {
            Kind::Sysbench(sysbench) => WorkloadSpec::Sysbench(sysbench.clone()),
            Kind::File(file) => WorkloadSpec::File(file.spec().clone()),
            Kind::Lua(lua) => WorkloadSpec::Lua(LuaWorkload::clone(lua)),
            Kind::OrderEntry(options) => WorkloadSpec::OrderEntry(*options),
        }
    }

    /// The book that its file takes lines of, if it names one.
    pub fn book(&self) -> Option<PathBuf> {
        match &self.0 {
            Kind::Sysbench(_) | Kind::Lua(_) | Kind::OrderEntry(_) => None,
            Kind::File(file) => file.book(),
        }
    }

    /// The order-entry workload, if it is that.
    pub fn order_entry(&self) -> Option<OrderEntryWorkload> {
        match self.0 {
            Kind::OrderEntry(options) => Some(options),
            Kind::Sysbench(_) | Kind::File(_) | Kind::Lua(_) => None,
        }
    }

    /// The tables that it says itself; none for scripts and for sysbench's workloads, whose tables are as many and
    /// as large as one asks for.
    pub fn table_sizes(&self) -> Vec<TableSize> {
        match &self.0 {
            Kind::Sysbench(_) | Kind::Lua(_) => Vec::new(),
            Kind::File(file) => file.table_sizes(),
            Kind::OrderEntry(options) => order_entry::table_sizes(options),
        }
    }

    /// Returns true if its transactions change nothing.
    pub fn only_reads(&self) -> bool {
        match &self.0 {
            Kind::Sysbench(sysbench) => sysbench.shares.all(WorkloadName::only_reads),
            Kind::File(file) => file.only_reads(),
            Kind::Lua(_) | Kind::OrderEntry(_) => false,
        }
    }

    /// Returns true if it is a Lua script.
    pub fn is_lua(&self) -> bool {
        matches!(self.0, Kind::Lua(_))
    }

    /// Returns true if each connection fills an empty table of its own instead of loading filled
    /// ones.
    pub fn is_bulk(&self) -> bool {
        match &self.0 {
            Kind::Sysbench(sysbench) => {
                sysbench.shares.any(|name| name == WorkloadName::BulkInsert)
            }
            Kind::File(_) | Kind::Lua(_) | Kind::OrderEntry(_) => false,
        }
    }

    /// Returns true if it works on sysbench's tables, filled.
    pub fn is_on_sbtest(&self) -> bool {
        matches!(self.0, Kind::Sysbench(_)) && !self.is_bulk()
    }

    /// Returns the script of its connections.
    ///
    /// # Errors
    ///
    /// Settings that do not fit the workload, and a Lua script: it runs in another engine.
    pub fn script(&self, inputs: &ScriptInputs) -> Result<Script, WorkloadError> {
        match &self.0 {
            Kind::Sysbench(sysbench) => oltp::script(sysbench, inputs),
            Kind::File(file) => file.script(inputs.seed),
            Kind::Lua(lua) => Err(unknown(lua)),
            Kind::OrderEntry(_) => Ok(order_entry::script()),
        }
    }

    /// The tables to be made and filled; those of a file or of order entry are as these say, whatever `options` are.
    ///
    /// # Errors
    ///
    /// Options that do not fit the workload, and a Lua script, which makes its tables itself.
    pub fn tables(&self, options: &TableOptions) -> Result<Vec<Table>, WorkloadError> {
        match &self.0 {
            Kind::Sysbench(sysbench) => sbtest::tables(sysbench, options),
            Kind::File(file) => file.tables(),
            Kind::Lua(lua) => Err(unknown(lua)),
            Kind::OrderEntry(workload) => Ok(order_entry::tables(workload)),
        }
    }
}

/// Returns the error for a question that only a script's interpreter could answer.
fn unknown(lua: &LuaWorkload) -> WorkloadError {
    WorkloadError::Setting {
        setting: "workload",
        value: lua.path.display().to_string(),
        why: "what a Lua script does is known only when it runs",
    }
}
