//! Content of a transaction: sysbench's workloads in proportion, order entry, or a user's own file or Lua script.

mod distribution;
mod lua;
mod mix;
mod name;
mod options;
mod order_entry;
mod shares;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use distribution::{Distribution, DistributionName, DistributionOptions};
pub use lua::{LuaModule, LuaWorkload};
pub use mix::Mix;
pub use name::WorkloadName;
pub use options::SysbenchOptions;
pub use order_entry::OrderEntryWorkload;
pub use shares::{WorkloadShare, WorkloadShares};

/// The transactions of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorkloadSpec {
    /// sysbench's workloads.
    Sysbench(SysbenchWorkload),
    /// A user's own.
    File(FileWorkload),
    /// A Lua script.
    Lua(LuaWorkload),
    /// Order entry.
    OrderEntry(OrderEntryWorkload),
}

/// sysbench's workloads in proportion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SysbenchWorkload {
    /// Shares of the workloads: each transaction is of one of them.
    pub shares: WorkloadShares,
    /// Number of statements of each kind in a transaction.
    pub mix: Mix,
    /// Distribution of the rows that are asked for.
    pub distribution: Distribution,
    /// A book for the text workloads; `None`: generated text.
    pub text_file: Option<PathBuf>,
}

/// A workload in a file of the user's own (docs/workloads.md).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileWorkload {
    /// Path from which it was read; a text that it names lies beside it.
    pub path: PathBuf,
    /// Text of the file.
    pub text: Arc<str>,
    /// Distribution of rows for keys that name none.
    pub distribution: Distribution,
}

impl WorkloadSpec {
    /// The distribution of keys; order entry has its own, which the specification gives.
    pub fn distribution(&self) -> Distribution {
        match self {
            Self::Sysbench(sysbench) => sysbench.distribution,
            Self::File(file) => file.distribution,
            Self::Lua(lua) => lua.distribution,
            Self::OrderEntry(_) => Distribution::default(),
        }
    }

    /// The one workload of sysbench's that it is.
    pub fn single(&self) -> Option<WorkloadName> {
        match self {
            Self::Sysbench(SysbenchWorkload { shares, .. }) => shares.single(),
            Self::File(_) | Self::Lua(_) | Self::OrderEntry(_) => None,
        }
    }

    /// Returns true if its tables have text beside sysbench's columns.
    pub fn has_text(&self) -> bool {
        match self {
            Self::Sysbench(SysbenchWorkload { shares, .. }) => shares.any(WorkloadName::has_text),
            Self::File(_) | Self::Lua(_) | Self::OrderEntry(_) => false,
        }
    }
}

impl Default for WorkloadSpec {
    /// sysbench's: `oltp_read_write`.
    fn default() -> Self {
        WorkloadName::OltpReadWrite.into()
    }
}

impl From<WorkloadName> for WorkloadSpec {
    /// With sysbench's default options.
    fn from(workload: WorkloadName) -> Self {
        Self::Sysbench(workload.into())
    }
}

impl From<WorkloadName> for SysbenchWorkload {
    /// With sysbench's default options.
    fn from(workload: WorkloadName) -> Self {
        Self {
            shares: workload.into(),
            mix: Mix::default(),
            distribution: Distribution::default(),
            text_file: None,
        }
    }
}

impl Default for SysbenchWorkload {
    /// sysbench's: `oltp_read_write`.
    fn default() -> Self {
        WorkloadName::OltpReadWrite.into()
    }
}

impl fmt::Display for WorkloadSpec {
    /// As `weir load` and a study file have it: `oltp_insert`, `oltp_insert:3,oltp_delete:1`, `./shop.toml`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sysbench(SysbenchWorkload { shares, .. }) => shares.fmt(f),
            Self::File(file) => file.path.display().fmt(f),
            Self::Lua(lua) => lua.path.display().fmt(f),
            Self::OrderEntry(_) => f.write_str(OrderEntryWorkload::NAME),
        }
    }
}
