//! The host of a server, as an agent there saw it.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// The host whose figures a run has in the place of the conductor's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerHost {
    /// Name of the agent.
    pub agent: String,
    /// Name of the host.
    pub host: String,
    /// Processors of the host, in words of the kernel.
    pub processor: String,
    /// Number of processors that the agent may use.
    pub cores: u32,
    /// Memory of the host.
    pub memory: Bytes,
    /// The host's kernel.
    pub kernel: String,
    /// The block device below the data, if they are on one.
    pub device: Option<String>,
    /// True if the load came from another machine: then the load generator's cores are none of this host's.
    pub is_apart: bool,
}

impl ServerHost {
    /// Source of gaps in what it sampled.
    pub const SOURCE: &'static str = "server's host";

    /// `agent-3 on db1`.
    pub fn name(&self) -> String {
        format!("{} on {}", self.agent, self.host)
    }
}
