//! Agents on other hosts take a share of a run or start its server; a conductor leads them over a bus.
//! Change here: messages: `messages.rs`; an agent's work: `agent/`; a conductor's: `conductor/`; when an agent is lost: `conductor/liveness.rs`; steps of a server: `server_role.rs`; keys and nats-server: `bus/`.
//!
//! An *agent* ([`serve`]) is a process on a load host. A *crew* is the agents of one bus; a [`AgentPool`] is what a conductor
//! (`weir load`, `weir run`) leads them by. In a run each agent makes its connections and says that it is ready. The
//! conductor compares clocks, names a start in each agent's own monotonic clock, and merges the frames that come back,
//! as those of reactors of one process. A load that was not complete is an error, not a result.
//!
//! The server of a study may be on the host of an agent, too: a [`ServerSession`] orders the steps of its life, and the
//! [`ServerRole`] that the agent was given does them.

mod agent;
mod agent_pool;
mod allowance;
mod authority_message;
pub mod bus;
mod clock;
mod conductor;
mod error;
mod lead;
mod line;
mod messages;
mod own_process;
mod prepare_message;
mod report_parts;
mod run_name;
mod sealing;
mod server_host;
mod server_role;
mod server_session;
mod shared_prepare;

pub use agent::{AgentOptions, serve};
pub use agent_pool::{AgentPool, Member};
pub use allowance::{Allowance, Network, Permission};
pub use authority_message::AuthorityFile;
pub use conductor::AgentsOutcome;
pub use error::AgentError;
pub use messages::{Facts, ProcessId};
pub use server_host::{RemoteHost, RemoteHostProbe};
pub use server_role::{
    BegunServer, RowsMade, ServerOutcome, ServerReply, ServerRole, ServerStep, ServerWork,
};
pub use server_session::{RemoteProbe, ServerSession};
pub use shared_prepare::AgentRequirement;

/// Returns the runtime of an agent's or a conductor's tasks: this thread.
fn runtime() -> Result<tokio::runtime::Runtime, AgentError> {
    let built = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    built.map_err(|error| AgentError::Host {
        what: "start a runtime",
        why: error.to_string(),
    })
}
