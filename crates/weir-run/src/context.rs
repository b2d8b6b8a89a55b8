//! Data that all runs of a study share: the server programs, external servers, the drives, the
//! options.
//!
//! Everything that can be found wrong without starting a server is found here, before the first
//! minute is spent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use weir_agent::RemoteHost;
use weir_model::{Bytes, Cell, Flavor, Plan, ServerChoice, ServerUrl, ServerVersion};
use weir_server::{ExternalServer, ServerBinary};

use crate::drives::Drives;
use crate::working_directory::{self, StorageKind};
use crate::{RunError, RunOptions, external_servers, server_hosts};

/// The test context.
pub(crate) struct StudyContext<'a> {
    pub(crate) options: &'a RunOptions,
    servers: BTreeMap<ServerChoice, ServerBinary>,
    external: BTreeMap<ServerUrl, ExternalServer>,
    /// Their hosts, by server and agent, as far as agents there sample them.
    hosts: BTreeMap<(ServerUrl, String), RemoteHost>,
    pub(crate) drives: Drives,
    /// Some private servers of the plan are on an emulated drive, others on the host's own storage.
    compares_with_host: bool,
}

impl<'a> StudyContext<'a> {
    pub(crate) fn new(plan: &Plan, options: &'a RunOptions) -> Result<Self, RunError> {
        let servers = weir_study::server_programs(plan)?;
        let external = external_servers::open(plan, options)?;
        let hosts = server_hosts::find(plan, &external, options)?;
        let drives = Drives::new(plan, options)?;
        let compares_with_host = compares_with_host(plan);
        Ok(Self {
            options,
            servers,
            external,
            hosts,
            drives,
            compares_with_host,
        })
    }

    /// The folder for the data of `cell` that the user gives, or that a comparison with the host's storage needs. Where a study compares the storage there with
    /// emulated drives, those are in memory: they would add to their own latency that of the storage.
    pub(crate) fn work_of(&self, cell: &Cell) -> Option<&Path> {
        let is_emulated = cell.spec.primary().drive.is_some();
        let work = self.options.work.as_deref();
        // Without a folder of the user's choice, the storage to compare with is that of the result.
        let work = work.or(self.compares_with_host.then_some(&self.options.out));
        work.filter(|_| !(self.compares_with_host && is_emulated))
    }

    /// Where the data of the private servers of this host lie, in words; `None` without such a server. `data`: their size.
    pub(crate) fn data_place(&self, cells: &[Cell], data: Bytes) -> Option<String> {
        let is_here = |cell: &&Cell| {
            let node = cell.spec.primary();
            node.server.given.is_none() && node.hosting_agents().is_none()
        };
        let words = |cell: &Cell| {
            let kind = StorageKind::for_cell(cell);
            let place = working_directory::in_words(self.work_of(cell), data, kind);
            match kind {
                StorageKind::Memory => format!("on emulated drives, whose files lie {place}"),
                StorageKind::Disk => place,
            }
        };
        let places: BTreeSet<_> = cells.iter().filter(is_here).map(words).collect();
        let places: Vec<_> = places.into_iter().collect();
        (!places.is_empty()).then(|| places.join("; "))
    }

    /// The program that serves `cell`, where Weir starts it.
    pub(crate) fn server_of(&self, cell: &Cell) -> &ServerBinary {
        &self.servers[&cell.spec.primary().server]
    }

    /// Returns true if Weir has the program that serves `cell`, and its drive, on this host.
    pub(crate) fn can_start(&self, cell: &Cell) -> bool {
        let node = cell.spec.primary();
        let has_drive = node.drive.is_none() || self.drives.of_node(node).is_some();
        self.servers.contains_key(&node.server) && has_drive
    }

    /// The programs that serve on this host.
    pub(crate) fn versions(&self) -> Vec<(ServerChoice, ServerVersion)> {
        let servers = self.servers.iter();
        servers
            .map(|(choice, binary)| (choice.clone(), binary.version))
            .collect()
    }

    /// The server of `cell`, where the user gives it.
    pub(crate) fn external_of(&self, cell: &Cell) -> Option<&ExternalServer> {
        let url = cell.spec.primary().server.given.as_ref()?;
        self.external.get(url)
    }

    /// The host of the server of `cell`, where the study names an agent for it.
    pub(crate) fn host_of(&self, cell: &Cell) -> Option<&RemoteHost> {
        let node = cell.spec.primary();
        let key = (node.server.given.clone()?, node.agent.clone()?.to_string());
        self.hosts.get(&key)
    }

    /// Returns remarks on parts of the user's servers that could not be looked at.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let servers = self.external.values();
        servers.flat_map(|server| server.gate().remarks()).collect()
    }

    /// Returns the version of the server of `cell`.
    pub(crate) fn version_of(&self, cell: &Cell) -> (Flavor, ServerVersion) {
        if let Some(server) = self.external_of(cell) {
            return (server.url.flavor, server.version);
        }
        let binary = self.server_of(cell);
        (binary.flavor, binary.version)
    }

    /// The drive of `cell` must hold the data; what a run adds to them is the server's to complain
    /// about.
    pub(crate) fn check_capacity(&self, cell: &Cell, needed: Bytes) -> Result<(), RunError> {
        let Some(drive) = self.drives.of_node(cell.spec.primary()) else {
            return Ok(());
        };
        let scale = cell.spec.data.data_scale;
        let capacity = Bytes(scale.apply(drive.capacity.0));
        if capacity < needed {
            return Err(RunError::DriveTooSmall {
                name: drive.name.clone(),
                capacity,
                scale,
                needed,
            });
        }
        Ok(())
    }
}

/// Returns true if some private servers of `plan` are on an emulated drive, and others are not.
fn compares_with_host(plan: &Plan) -> bool {
    let nodes = plan.cells.iter().map(|cell| cell.spec.primary());
    let private = nodes.filter(|node| node.server.given.is_none());
    let (emulated, host): (Vec<_>, Vec<_>) = private.partition(|node| node.drive.is_some());
    !emulated.is_empty() && !host.is_empty()
}
