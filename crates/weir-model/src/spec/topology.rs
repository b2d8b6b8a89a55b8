//! Servers of a run, and the drive and limits of each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ServerAgents;
use crate::{Flavor, Limits, ServerUrl};

/// The servers of a run: a primary that the load goes to, and replicas that follow it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "TopologyParts")]
pub struct Topology {
    /// The primary stands first, and is the only one.
    nodes: Vec<Node>,
    /// Time at which a commit returns on the primary.
    pub replication: Replication,
    /// True if a row of the primary is written every 50 ms, by which the lag of replicas is measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub heartbeat: bool,
}

/// A topology as it is read, before it is known to have a primary.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TopologyParts {
    nodes: Vec<Node>,
    replication: Replication,
    #[serde(default)]
    heartbeat: bool,
}

impl TryFrom<TopologyParts> for Topology {
    type Error = String;

    fn try_from(parts: TopologyParts) -> Result<Self, String> {
        let roles = parts.nodes.iter().map(|node| node.role);
        let is_right = roles
            .enumerate()
            .all(|(position, role)| (position == 0) == (role == NodeRole::Primary));
        if !is_right || parts.nodes.is_empty() {
            return Err("a topology has one primary, which stands first".to_owned());
        }
        Ok(Self {
            nodes: parts.nodes,
            replication: parts.replication,
            heartbeat: parts.heartbeat,
        })
    }
}

/// A server of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Name in series and commands: `primary`, `replica-1`.
    pub name: String,
    /// Role of the server.
    pub role: NodeRole,
    /// Program of the server.
    pub server: ServerChoice,
    /// Variables of the server: name -> value as in an option file, scaled.
    pub variables: BTreeMap<String, String>,
    /// The emulated drive below its data; `None`: the host's own storage.
    pub drive: Option<DriveSpec>,
    /// Limits of the server on its machine.
    pub limits: Limits,
    /// Content of its buffer pool when the load begins.
    pub pool: PoolStart,
    /// The agent on the server's host. It samples the host of a server that the user gives; else it starts the server
    /// there. [`AGENT_AUTO`]: the one that finds the server, or the only one that may start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<ServerAgents>,
}

/// Role of a server in a topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodeRole {
    /// It takes the load.
    Primary,
    /// It follows the primary.
    Replica,
}

/// An emulated drive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveSpec {
    /// The profile's name or path.
    pub profile: String,
    /// Keys of that profile with other values: `flash.fill` -> `0.9`.
    pub settings: BTreeMap<String, String>,
}

impl DriveSpec {
    /// The drive with its changed settings: `intel-p4610+flash.fill=0.9`; so it is called in a result.
    pub fn name(&self) -> String {
        let mut name = self.profile.clone();
        for (key, value) in &self.settings {
            name.extend(["+", key, "=", value]);
        }
        name
    }
}

/// Program of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerChoice {
    /// Flavour.
    pub flavor: Flavor,
    /// Version, or as much of it as matters: `8.4`.
    pub version: Option<String>,
    /// The program; `None`: the newest of flavour and version that is found.
    pub binary: Option<PathBuf>,
    /// A server that the user gives, instead of a program that Weir starts.
    pub given: Option<ServerUrl>,
}

impl ServerChoice {
    /// The newest server of `flavor` that is found.
    pub const fn newest(flavor: Flavor) -> Self {
        Self {
            flavor,
            version: None,
            binary: None,
            given: None,
        }
    }
}

/// Content of the buffer pool when the load begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PoolStart {
    /// Pages that a start reads.
    #[default]
    Cold,
    /// The pages of the data set, as many as fit: those that were in the pool when it was loaded.
    Warm,
}

/// Time at which a commit returns on a primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Replication {
    /// At once.
    #[default]
    Async,
    /// After a replica has received it.
    SemiSync,
}

impl Node {
    /// A primary with its server's defaults, on the host's own storage.
    pub fn primary(server: ServerChoice) -> Self {
        Self {
            name: "primary".to_owned(),
            role: NodeRole::Primary,
            server,
            variables: BTreeMap::new(),
            drive: None,
            limits: Limits::default(),
            pool: PoolStart::Cold,
            agent: None,
        }
    }

    /// The agents on whose hosts Weir starts the server; `None`: on this host, or the server is the user's.
    pub fn hosting_agents(&self) -> Option<&ServerAgents> {
        let agents = self.agent.as_ref();
        agents.filter(|_| self.server.given.is_none())
    }

    /// The agents of the server's hosts, if repetitions are on more than one.
    pub fn several_agents(&self) -> Option<&ServerAgents> {
        let agents = self.agent.as_ref();
        agents.filter(|agents| agents.all().len() > 1)
    }

    /// The agent of the server's host in a repetition, which counts from 1; `None`: no agent is named.
    pub fn agent_of(&self, repetition: u32) -> Option<&str> {
        let agents = self.agent.as_ref()?;
        Some(agents.of_repetition(repetition))
    }

    /// The replica `number` (from 1) of this primary: the same server with the same variables, but on
    /// the host's own storage and without limits.
    fn replica(&self, number: u32) -> Self {
        Self {
            name: format!("replica-{number}"),
            role: NodeRole::Replica,
            variables: self.variables.clone(),
            ..Self::primary(self.server.clone())
        }
    }
}

impl Topology {
    /// A primary alone.
    pub fn single(primary: Node) -> Self {
        Self {
            nodes: vec![primary],
            replication: Replication::Async,
            heartbeat: false,
        }
    }

    /// The server that the load goes to.
    pub fn primary(&self) -> &Node {
        &self.nodes[0]
    }

    /// The server that the load goes to.
    pub fn primary_mut(&mut self) -> &mut Node {
        &mut self.nodes[0]
    }

    /// The servers that follow it.
    pub fn replicas(&self) -> &[Node] {
        &self.nodes[1..]
    }

    /// All servers, the primary first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Puts each replica on a drive of its own, or on the host's own storage.
    pub fn set_replica_drive(&mut self, drive: Option<&DriveSpec>) {
        for node in &mut self.nodes[1..] {
            node.drive = drive.cloned();
        }
    }

    /// All servers, the primary first, for settings that are the same on all of them.
    pub fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.nodes.iter_mut()
    }

    /// Gives the primary `count` replicas instead of those that it has.
    pub fn set_replicas(&mut self, count: u32) {
        self.nodes.truncate(1);
        let replicas = (1..=count).map(|number| self.nodes[0].replica(number));
        let replicas: Vec<_> = replicas.collect();
        self.nodes.extend(replicas);
    }

    /// Returns true if it is one server, cold and without limits: all that can be asked of a user's own server.
    pub fn is_plain(&self) -> bool {
        let primary = self.primary();
        self.replicas().is_empty() && primary.limits.is_none() && primary.pool == PoolStart::Cold
    }
}

impl Default for Topology {
    fn default() -> Self {
        Self::single(Node::primary(ServerChoice::newest(Flavor::Mysql)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_like_their_primary_but_for_its_drive() {
        let mut topology = Topology::default();
        let primary = topology.primary_mut();
        primary.drive = Some(DriveSpec {
            profile: "d".to_owned(),
            settings: BTreeMap::new(),
        });
        primary
            .variables
            .insert("innodb_doublewrite".to_owned(), "OFF".to_owned());
        topology.set_replicas(3);
        topology.set_replicas(2);
        let names = topology.replicas().iter().map(|node| node.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["replica-1", "replica-2"]);
        let replica = &topology.replicas()[1];
        assert_eq!(replica.variables, topology.primary().variables);
        assert_eq!(replica.drive, None);
        let drive = topology.primary().drive.clone();
        topology.set_replica_drive(drive.as_ref());
        assert!(topology.nodes().iter().all(|node| node.drive == drive));
    }

    #[test]
    fn a_topology_without_a_primary_in_front_is_refused() {
        let mut topology = Topology::default();
        topology.set_replicas(1);
        let text = serde_json::to_string(&topology).unwrap();
        assert_eq!(serde_json::from_str::<Topology>(&text).unwrap(), topology);
        for (from, to) in [
            ("\"primary\",\"server\"", "\"replica\",\"server\""),
            ("\"replica\"", "\"primary\""),
        ] {
            let wrong = text.replacen(from, to, 1);
            assert_ne!(wrong, text);
            let error = serde_json::from_str::<Topology>(&wrong).unwrap_err();
            assert!(error.to_string().contains("one primary"), "{error}");
        }
    }
}
