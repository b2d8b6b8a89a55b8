//! One run, described completely: what serves, which data, what is asked of them and how.
//!
//! Front ends (a study file, a stored result, a verification of predictions) make a [`RunSpec`];
//! whatever runs, predicts, judges or reports reads it. Nothing in it means "look elsewhere".

mod data;
mod load;
mod load_options;
mod pace;
mod replay;
mod replay_options;
mod server_agents;
mod settings;
mod timeline;
mod topology;
mod warm;
mod workload;

use serde::{Deserialize, Serialize};

pub use data::{DataChange, DataSource, DataSpec, TableSize};
pub use load::{
    ArrivalKind, ClosedLoop, LoadSpec, Pace, ProtocolCompression, Rate, RateRamp, ThinkKind,
    ThinkTime, Warmup,
};
pub use load_options::{LOAD_OPTIONS, LoadOption, LoadOptionKind, is_label};
pub use replay::{ReplayFilter, ReplayOrder, ReplayPace, ReplaySpec};
pub use replay_options::{REPLAY_OPTIONS, ReplayOption};
pub use server_agents::{AGENT_AUTO, ServerAgents};
pub use settings::{Settings, differing};
pub use timeline::{CopyWay, EventKind, EventStatement, PoolAction, TimelineEvent};
pub use topology::{DriveSpec, Node, NodeRole, PoolStart, Replication, ServerChoice, Topology};
pub use warm::Warm;
pub use workload::{
    Distribution, DistributionName, DistributionOptions, FileWorkload, LuaModule, LuaWorkload, Mix,
    OrderEntryWorkload, SysbenchOptions, SysbenchWorkload, WorkloadName, WorkloadShare,
    WorkloadShares, WorkloadSpec,
};

/// A run. The default is a MySQL server with sysbench's default workload.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSpec {
    /// The servers, and what each of them stands on.
    pub topology: Topology,
    /// The tables.
    pub data: DataSpec,
    /// Content of a transaction.
    pub workload: WorkloadSpec,
    /// Number, pace and duration of connections.
    pub load: LoadSpec,
    /// Events during the measurement, in the study's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<TimelineEvent>,
    /// Seed of the keys and values that the load draws; repetition n of a study draws with
    /// `seed + n`, see [`RunSpec::seed_of`].
    ///
    /// A study gives all of its cells the same. It says which numbers are drawn and not what is
    /// asked, so it is no setting: [`RunSpec::settings`] leaves it out, and rules R1 and R9 see no
    /// difference in it.
    pub seed: u64,
}

impl RunSpec {
    /// The server that the load goes to.
    pub fn primary(&self) -> &Node {
        self.topology.primary()
    }

    /// The server that the load goes to.
    pub fn primary_mut(&mut self) -> &mut Node {
        self.topology.primary_mut()
    }

    /// A variable of that server as it is set; `None`: the server's default.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.primary().variables.get(name).map(String::as_str)
    }

    /// The drive below that server with its changed settings, as a result calls it.
    pub fn drive_name(&self) -> Option<String> {
        self.primary().drive.as_ref().map(DriveSpec::name)
    }

    /// Seed of the load in one repetition: cells of one repetition get the same keys, which is one
    /// difference less between them.
    pub fn seed_of(&self, repetition: u32) -> u64 {
        self.seed.wrapping_add(u64::from(repetition))
    }
}
