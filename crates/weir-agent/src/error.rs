//! Errors between conductor and agents.

use crate::bus::BusError;
use thiserror::Error;
use weir_load::LoadError;

use crate::allowance::Permission;

/// Reason that agents could not be led, or an agent could not serve.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The bus.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// The load, as this process knows it.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Not as many agents are there as the run needs.
    #[error(
        "agents = {wanted}: {found} are there{}; start more with `weir agent --join FILE{}`, or use fewer",
        which(*task), how(*task)
    )]
    TooFew {
        /// Asked for.
        wanted: u32,
        /// Present.
        found: u32,
        /// Task that each has to be allowed.
        task: Permission,
    },
    /// An agent is of another version.
    #[error(
        "agent {agent}: its version is {theirs}, the conductor's is {ours}; install the same on both hosts"
    )]
    Version {
        /// Name of the agent.
        agent: String,
        /// Version and commit of the agent.
        theirs: String,
        /// This process's.
        ours: String,
    },
    /// An agent refused an order or failed at it.
    #[error("agent {agent}: {why}")]
    Refused {
        /// Name of the agent.
        agent: String,
        /// Words of the agent.
        why: String,
    },
    /// Making tables failed, and agents still run their last statement.
    #[error("{cause}; still at a statement: {agents}; wait for its end before you go on")]
    StillPreparing {
        /// Names of the agents.
        agents: String,
        /// Reason that all end.
        cause: Box<AgentError>,
    },
    /// An agent does not answer an order.
    #[error(
        "agent {agent}: no answer to `{order}` ({why}); look whether it runs, with `weir agents list`"
    )]
    Silent {
        /// Name of the agent.
        agent: String,
        /// Order that was sent.
        order: &'static str,
        /// The bus's words.
        why: String,
    },
    /// An agent was lost during a run.
    #[error(
        "agent {agent}: lost {second:.1} s after the start (no sign of life for {silent_s:.1} s); the run is not \
         complete and is not counted; look at the host and start it again"
    )]
    Lost {
        /// Name of the agent.
        agent: String,
        /// Time of its last sign of life, seconds after the start of the load.
        second: f64,
        /// Time since then, seconds.
        silent_s: f64,
    },
    /// The bus went away during a run and did not come back.
    #[error(
        "bus: away for {seconds} s during the run; there is no result; start it with `weir bus up` and run again"
    )]
    NoBus {
        /// Time waited, seconds.
        seconds: u64,
    },
    /// Agents live, and what they measured does not come.
    #[error(
        "agents {agents}: their reports did not come within {seconds} s of the planned end; there is no result; look for \
         free space on the host of the bus"
    )]
    NoReports {
        /// Their names.
        agents: String,
        /// Time waited, seconds.
        seconds: u64,
    },
    /// No agent watches the server's host.
    #[error(
        "agent of the server's host: {wanted} ({why}); start one there with `weir agent --join FILE --allow probe`"
    )]
    NoServerHost {
        /// As the user named it.
        wanted: String,
        /// Problem.
        why: String,
    },
    /// No agent starts the server of a study.
    #[error(
        "agent for the server: {wanted} ({why}); start one with `weir agent --join FILE --allow server --work DIR \
         --listen ADDRESS`"
    )]
    NoServerRole {
        /// As the user named it.
        wanted: String,
        /// Problem.
        why: String,
    },
    /// An order is larger than the bus takes.
    #[error("study: {bytes} bytes are more than one message takes ({max}); use fewer cells")]
    TooLarge {
        /// Size of the message.
        bytes: usize,
        /// The most.
        max: usize,
    },
    /// Not all agents said in time that they would begin.
    #[error(
        "start: {agents} did not confirm it in time, twice; look at the network between the hosts"
    )]
    NotArmed {
        /// Their names.
        agents: String,
    },
    /// This host refused something.
    #[error("{what}: {why}")]
    Host {
        /// Action that was tried.
        what: &'static str,
        /// The system's words.
        why: String,
    },
    /// Message that this version does not understand.
    #[error(
        "agent {agent}: a message of it is not understood ({why}); install the same version on both hosts"
    )]
    Message {
        /// Name of the agent.
        agent: String,
        /// Problem.
        why: String,
    },
    /// The caller stopped before the load began.
    #[error("connecting was interrupted before its end")]
    Interrupted,
}

/// Returns the words for the agents that were counted.
fn which(task: Permission) -> &'static str {
    match task {
        Permission::Script => " whose owner allows scripts",
        _ => "",
    }
}

/// Returns the way in which one of them is started.
fn how(task: Permission) -> &'static str {
    match task {
        Permission::Script => " --allow load,script",
        _ => "",
    }
}
