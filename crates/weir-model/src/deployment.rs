//! How a private server is deployed for a run: what it may use, what its buffer pool holds when the
//! load begins, and who follows it.

use serde::{Deserialize, Serialize};

use crate::Limits;

/// What the buffer pool holds when the load begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolStart {
    /// What a start reads.
    #[default]
    Cold,
    /// The pages of the data set, as many as fit: those that were in the pool when it was loaded.
    Warm,
}

/// When a commit returns on a primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replication {
    /// At once.
    #[default]
    Async,
    /// When a replica has received it.
    SemiSync,
}

/// How a server is deployed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Deployment {
    /// What it may use of its machine.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// What its buffer pool holds when the load begins.
    #[serde(default)]
    pub pool: PoolStart,
    /// Replicas that follow it.
    #[serde(default)]
    pub replicas: u32,
    /// How they do.
    #[serde(default)]
    pub replication: Replication,
}

impl Deployment {
    /// Whether it is one server, cold and without limits.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}
