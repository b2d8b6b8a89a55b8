//! The replicas of a run's server: copies of the same data that follow it.
//!
//! Each is on the host's own storage, or on an emulated drive of its own.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use weir_drive::DriveProcess;
use weir_model::{Cell, Endpoint};
use weir_probe::{Probe, ReplicaDriveProbe, ReplicaProbe};
use weir_process::PathError;
use weir_server::{PrivateServer, Role, StartOptions};

use super::{PrivateTarget, mount_options};
use crate::cancel::Cancel;
use crate::context::StudyContext;
use crate::data::PreparedData;
use crate::{RunError, commands};

/// A replica; its server ends before the drive that it writes to.
pub(super) struct Replica {
    server: Successor,
    drive: Option<DriveProcess>,
    /// Name in series.
    name: String,
}

/// The server of a replica, which a failover takes.
#[derive(Clone)]
pub(crate) struct Successor {
    server: Arc<Mutex<Option<PrivateServer>>>,
    endpoint: Endpoint,
}

impl Successor {
    fn new(server: PrivateServer) -> Self {
        Self {
            endpoint: server.endpoint(),
            server: Arc::new(Mutex::new(Some(server))),
        }
    }

    /// Returns its endpoint as a replica.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The server; `None`: it was taken.
    pub(super) fn take(&self) -> Option<PrivateServer> {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.take()
    }
}

impl Replica {
    /// Returns its server, for a failover.
    pub(super) fn successor(&self) -> Successor {
        self.server.clone()
    }

    /// Returns the reason that its flushes hold up its writes, if they do.
    pub(super) fn flush_obstacle(&self) -> Option<String> {
        let server = self.server.server.lock();
        let server = server.unwrap_or_else(PoisonError::into_inner);
        Some(server.as_ref()?.flush_obstacle()?.to_string())
    }

    /// Returns its probes.
    pub(super) fn probes(&self, has_heartbeat: bool) -> Vec<Box<dyn Probe>> {
        let name = &self.name;
        let mut replica = ReplicaProbe::new(name, self.server.endpoint.clone());
        if has_heartbeat {
            replica = replica.with_heartbeat(name);
        }
        let mut probes: Vec<Box<dyn Probe>> = vec![Box::new(replica)];
        if let Some(drive) = &self.drive {
            let mountpoint = drive.mountpoint().to_owned();
            probes.push(Box::new(ReplicaDriveProbe::new(name, move || {
                weir_drive::statistics(&mountpoint).ok()
            })));
        }
        probes
    }
}

/// Prepares `options` of a run's server for the replicas that its cell wants; the port on which they
/// reach it, if there are any.
pub(super) fn prepare_primary(
    context: &StudyContext<'_>,
    cell: &Cell,
    options: &mut StartOptions,
) -> Result<Option<u16>, RunError> {
    if cell.spec.topology.replicas().is_empty() {
        return Ok(None);
    }
    let port = weir_server::free_port()?;
    take_part(context, cell, Role::Primary, options);
    let listening = weir_server::loopback_variables(port);
    options.variables.extend(listening);
    Ok(Some(port))
}

impl PrivateTarget {
    /// Starts the replicas of its server, each in a directory of its own, and waits until they follow. They
    /// reach it at `port`.
    pub(super) fn start_replicas(
        &mut self,
        context: &StudyContext<'_>,
        cell: &Cell,
        data: &PreparedData,
        port: u16,
        cancel: Cancel<'_>,
    ) -> Result<(), RunError> {
        let binary = context.server_of(cell);
        let primary = self.server.endpoint();
        for (number, node) in (1..).zip(cell.spec.topology.replicas()) {
            let home = self.home.path().join(&node.name);
            fs::create_dir_all(&home).map_err(PathError::on("create", &home))?;
            let backing = home.join("backing");
            data.snapshots.restore(&data.key, &backing.join("data"))?;
            weir_server::forget_identity(&backing.join("data"))?;
            let mut root = backing.clone();
            let mut drive = None;
            if let Some(profile) = context.drives.of_node(node) {
                root = home.join("drive");
                let options = mount_options(context, cell, profile, backing, root.clone());
                self.commands.push(commands::mount(&options));
                drive = Some(DriveProcess::mount(&context.options.weir, &options)?);
            }
            let mut options = StartOptions::new(root.join("data"), home.join("server"));
            options.temporary_dir = Some(root.join("tmp"));
            options.flushes_beside_writes =
                drive.as_ref().is_some_and(DriveProcess::flushes_slowly);
            options.variables.clone_from(&node.variables);
            take_part(context, cell, Role::Replica(number), &mut options);
            self.commands.push(commands::server(binary, &options)?);
            let server = PrivateServer::start_watched(binary, &options, &mut cancel.watching())?;
            weir_server::attach(binary, &primary, port, &server.endpoint())?;
            self.replicas.push(Replica {
                server: Successor::new(server),
                drive,
                name: format!("replica {number}"),
            });
        }
        Ok(())
    }
}

fn take_part(context: &StudyContext<'_>, cell: &Cell, role: Role, options: &mut StartOptions) {
    let replication = cell.spec.topology.replication;
    // Also a binary log, whatever the study says: without one there is nothing to follow.
    let variables = weir_server::replication_variables(context.server_of(cell), role, replication);
    weir_model::set_options(&mut options.variables, variables);
}
