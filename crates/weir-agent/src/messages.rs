//! Messages between conductor and agents. Orders and answers are JSON; frames, which are many, `MessagePack`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weir_load::{Frame, PlanMessage};
use weir_server::ServerIdentity;

use crate::allowance::Permission;
use crate::authority_message::AuthorityMessage;
use crate::prepare_message::PrepareMessage;
use crate::server_role::{ServerReply, ServerStep};

/// Facts of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Version and commit of its program.
    pub version: String,
    /// Labels of the agent.
    pub labels: Vec<String>,
    /// Name of its host.
    pub host: String,
    /// Processors that it may use.
    pub cores: u32,
    /// Memory of the host, bytes.
    pub memory_bytes: u64,
    /// Files that it may open.
    pub files: u64,
    /// The host's kernel.
    pub kernel: String,
    /// The host's processors, in words of the kernel.
    pub processor: String,
    /// Permissions of its owner for a conductor.
    pub allows: Vec<Permission>,
    /// The agent's own process.
    pub process: ProcessId,
    /// Connections that it makes at most.
    pub max_connections: u32,
    /// Addresses that it may connect to, in its owner's words.
    pub targets: String,
    /// The key that passwords are sealed for.
    pub sealing_key: String,
}

impl Facts {
    /// Returns true if the agent called `name` is meant by `wanted`: its name, its host's, or a label of it.
    pub(crate) fn is_called(&self, name: &str, wanted: &str) -> bool {
        wanted == name || wanted == self.host || self.labels.iter().any(|label| label == wanted)
    }
}

/// A process as another host can know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Of the running kernel.
    pub boot_id: String,
    /// The namespace that `pid` counts in.
    pub namespace: String,
    /// Number of the process there.
    pub pid: u32,
}

impl ProcessId {
    /// Returns true if both run on one kernel.
    pub(crate) fn shares_kernel_with(&self, other: &Self) -> bool {
        !self.boot_id.is_empty() && self.boot_id == other.boot_id
    }

    /// Returns its number as `other` sees it.
    pub(crate) fn seen_by(&self, other: &Self) -> Option<u32> {
        let sees = self.shares_kernel_with(other) && self.namespace == other.namespace;
        sees.then_some(self.pid)
    }
}

/// Order of a conductor to one agent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Question for the agent's facts.
    Probe,
    /// Be this run's: take no orders of other conductors until it is over.
    Reserve { run: String },
    /// Make the connections of this share.
    Assign(Box<Assignment<PlanMessage>>),
    /// Begin at this moment of your monotonic clock, nanoseconds.
    Arm {
        run: String,
        start_ns: u64,
        reporters_before: u32,
    },
    /// Do not begin yet.
    Disarm { run: String },
    /// Make and fill these tables; the answer comes at once.
    Prepare(Box<Assignment<PrepareMessage>>),
    /// Question for the progress of tables.
    Preparing { run: String },
    /// Find this server on your host, and be ready to tell the host's figures.
    Watch(Box<WatchOrder>),
    /// Tell the figures of this moment.
    Sample { watch: String },
    /// Do this step of a study's server; who asks again gets the same answer.
    Serve(Box<ServeOrder>),
    /// The conductor of this session is alive; there is no answer.
    ServeBeat { session: String },
    /// End the session and whatever it started.
    ServeEnd { session: String },
    /// End the process.
    Down,
}

/// A step of a study's server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ServeOrder {
    /// Of the conductor: one at a time.
    pub(crate) session: String,
    /// Number of the step, from 1.
    pub(crate) number: u64,
    /// Version and commit of the conductor's program.
    pub(crate) version: String,
    pub(crate) step: ServerStep,
    /// The process that loads the server, which is of the run if it is on the same host.
    pub(crate) client: ProcessId,
    /// Of the load's account, where the step makes one.
    pub(crate) password: Option<SealedPassword>,
}

/// A share of a run, or a part of the tables.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Assignment<P> {
    pub(crate) run: String,
    /// Version and commit of the conductor's program.
    pub(crate) version: String,
    pub(crate) plan: P,
    /// True if also a server that is a replica or read-only is written to.
    pub(crate) writes_replicas: bool,
    pub(crate) password: SealedPassword,
    pub(crate) authority: AuthorityMessage,
}

/// A password, sealed for one agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SealedPassword {
    pub(crate) bytes: Vec<u8>,
    /// The key that it was sealed with.
    pub(crate) sealed_by: String,
}

/// A server whose host is to be watched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WatchOrder {
    /// Version and commit of the conductor's program.
    pub(crate) version: String,
    pub(crate) server: ServerIdentity,
    /// The process that loads it, which is of the run if it is on the same host.
    pub(crate) client: ProcessId,
}

/// A watch that has begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ActiveWatch {
    pub(crate) watch: String,
    /// The block device below the data.
    pub(crate) device: Option<String>,
    /// States of the server that only its host can tell.
    pub(crate) states: BTreeMap<String, String>,
}

/// Figures of one moment.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Metric, instance, value.
    pub(crate) values: Vec<(String, String, f64)>,
    /// Sources that give nothing from now on, and why.
    pub(crate) lost: Vec<(String, String)>,
}

/// Answer of an agent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Facts(Facts),
    /// The connections are there.
    Ready {
        reporters: u32,
        warnings: Vec<String>,
    },
    /// Rows that are there and that are to be there; `failed`: why it ended without them.
    Preparing {
        rows: u64,
        rows_total: u64,
        has_ended: bool,
        failed: Option<String>,
    },
    Watching(ActiveWatch),
    Sample(Sample),
    /// A step of a study's server is done.
    Served(ServerReply),
    /// Sources that are sampled from now on: name and watch.
    WatchingServer(Vec<(String, String)>),
    /// A step is not done yet; ask again.
    Working {
        rows: u64,
        rows_total: u64,
    },
    /// Done as ordered.
    Done,
    /// Another run is not over yet.
    Busy,
    Refused {
        why: String,
    },
}

/// Broadcast to all agents.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Call {
    /// The conductor of this run is alive.
    Beat { run: String },
    /// This run is over: end the rest of it, and be free.
    Stop { run: String },
}

/// A sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beat {
    /// Of the process, so that a second one under the same name differs from the first.
    pub(crate) process: String,
    /// The run that it is busy with.
    pub(crate) run: Option<String>,
    /// Transactions of the run so far.
    pub(crate) done: u64,
}

/// Report of an agent on a run, in order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report<F> {
    Frame(F),
    /// The load has ended, at its planned end or by its conductor's wish; all frames have been sent.
    Ended {
        idle_connections: u64,
        began_late_ns: u64,
    },
    /// It ended before, and why.
    Failed {
        why: String,
    },
}

impl<F: Serialize> Report<F> {
    /// As bytes; an error says what cannot be written.
    pub(crate) fn written(&self) -> Result<Vec<u8>, String> {
        rmp_serde::to_vec_named(self).map_err(|error| error.to_string())
    }
}

/// Reads a report.
pub(crate) fn read_report(bytes: &[u8]) -> Result<Report<Frame>, String> {
    rmp_serde::from_slice(bytes).map_err(|error| error.to_string())
}

/// The id of a part of a report: the server drops those that come twice.
pub(crate) fn report_id(run: &str, agent: &str, number: u64) -> String {
    format!("{run}/{agent}/{number}")
}

/// Returns the agent and the number of a report.
pub(crate) fn of_report_id(id: &str) -> Option<(&str, u64)> {
    let mut parts = id.rsplit('/');
    let number = parts.next()?.parse().ok()?;
    Some((parts.next()?, number))
}

/// As bytes.
pub(crate) fn json(message: &impl Serialize) -> Vec<u8> {
    // Into memory, without maps that have no text as keys: there is no error.
    serde_json::to_vec(message).unwrap_or_default()
}
