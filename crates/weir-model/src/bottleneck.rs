//! Bottleneck of a run, and its evidence. `docs/bottleneck.md` has the method.

use serde::{Deserialize, Serialize};

/// The resource that limited a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// Cores, used most by the server.
    #[serde(alias = "host_cpu")]
    ServerCpu,
    /// The load generator: the result says nothing about the server.
    #[serde(alias = "client")]
    ClientCpu,
    /// Reads from the drive.
    DriveRead,
    /// The drive's media, writing.
    DriveWrite,
    /// Commits that wait until the logs are written and flushed.
    Flush,
    /// Row and table locks: transactions wait for each other.
    Lock,
    /// The way between client and server.
    Network,
    /// The host's memory, or the server's share of it.
    Memory,
    /// The load itself: its rate was kept, and more would have been possible.
    OfferedRate,
    /// Cores, used most by programs that are not part of the run.
    OtherProcesses,
    /// Nothing that is measured: the time went elsewhere.
    #[serde(alias = "waiting")]
    #[default]
    Unexplained,
}

impl Bottleneck {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::ServerCpu,
        Self::ClientCpu,
        Self::DriveRead,
        Self::DriveWrite,
        Self::Flush,
        Self::Lock,
        Self::Network,
        Self::Memory,
        Self::OfferedRate,
        Self::OtherProcesses,
        Self::Unexplained,
    ];
}

/// Utilization of each resource during a measurement: 0 idle, 1 saturated.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Utilization {
    /// All of the host's cores.
    pub host_cpu: f64,
    /// Number of the host's cores; 0 in results of versions that did not record it.
    #[serde(default)]
    pub host_cores: f64,
    /// Cores that the server used (may exceed 1).
    pub server_cores: f64,
    /// Cores that the server may use; 0 in results of versions that did not tell.
    #[serde(default)]
    pub server_cores_allowed: f64,
    /// The load generator's reactor threads, the busiest one.
    pub client_cpu: f64,
    /// Cores that the load generator used, probes included.
    #[serde(default)]
    pub client_cores: f64,
    /// True if the load generator ran on another machine than the server: its cores are none of the host's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub client_is_apart: bool,
    /// Cores that the drive emulation used.
    pub drive_cores: f64,
    /// Read units of the drive; without an emulated one, the busiest block device while it read.
    pub drive_read: f64,
    /// Media of the drive, writing; without an emulated one, the block device while it wrote.
    pub drive_write: f64,
    /// Share of host time stolen by the hypervisor.
    pub steal: f64,
    /// Share of host time idle with I/O pending.
    pub iowait: f64,
    /// Share of the time in which a task waited for memory; `None` where the kernel does not tell.
    #[serde(default)]
    pub memory: Option<f64>,
    /// Share of the time in which a task waited for a core, also where cores were idle at other moments; `None`
    /// where the kernel does not tell.
    #[serde(default)]
    pub core_wait: Option<f64>,
    /// Cores that processes used which are not part of the run; 0 in results of versions that did not tell.
    #[serde(default)]
    pub other_cores: f64,
    /// Names of the other processes, as far as they can be read, those that used most first.
    #[serde(default)]
    pub others: Vec<OtherProcess>,
    /// Time of the connections, by place.
    #[serde(default)]
    pub connections: ConnectionTime,
}

/// Processes of one name that are not part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherProcess {
    /// As the kernel has it: 15 characters at most.
    pub name: String,
    /// Cores that they used together.
    pub cores: f64,
}

impl Utilization {
    /// From this share on a resource is saturated: its queue, not its speed, sets the pace.
    pub const SATURATED: f64 = 0.85;
    /// If some task waited for a core for this share of the time or more, the cores are too few, also if they are
    /// idle at other moments.
    pub const CORES_WAITED_FOR: f64 = 0.50;

    /// Share of the host's cores that others used.
    pub fn others_share(&self) -> f64 {
        if self.host_cores > 0.0 {
            self.other_cores / self.host_cores
        } else {
            0.0
        }
    }

    /// Returns true if the run would have had other cores than those it got.
    pub fn wants_cores(&self) -> bool {
        let waits = self.core_wait.unwrap_or(0.0) >= Self::CORES_WAITED_FOR;
        self.host_cpu >= Self::SATURATED || waits
    }
}

/// Average number of connections at each place (Little's law: arrivals per second x time at the
/// place). `None`: nothing on this server tells.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConnectionTime {
    /// Connections, busy or not.
    pub all: f64,
    /// With a transaction in progress; less than `all` where the load has a rate of its own.
    pub busy: f64,
    /// On the server's cores.
    pub server_cpu: f64,
    /// Waiting for a read of data.
    pub read: Option<f64>,
    /// Waiting for pages to be written: for one to become free, or to change one that is being written.
    #[serde(default)]
    pub free_page: Option<f64>,
    /// Waiting for the logs to be written and flushed.
    pub flush: Option<f64>,
    /// Waiting for a row lock.
    pub lock: Option<f64>,
    /// On the way between client and server.
    pub network: Option<f64>,
}
