//! A private server with all that stands around it: data restored, drive mounted, replicas attached.

mod handle;
mod heartbeat;
mod reachable_server;
mod replicas;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use weir_drive::{DriveProcess, MountOptions};
use weir_judge::without_directory;
use weir_model::variables::FLUSHES_HOLD_WRITES;
use weir_model::{Cell, DriveProfile, DriveStatistics, Endpoint, Flavor, Node, PoolStart};
use weir_mysql::Gate;
use weir_probe::{DriveProbe, HostProbe, Probe, ProcessProbe, ServerProbe};
use weir_process::{PathError, WorkDirectory};
use weir_server::{ConfigChanges, PrivateServer, StartOptions};
use weir_workload::Workload;

use super::{OwnServer, Target};
use crate::cancel::Cancel;
use crate::context::StudyContext;
use crate::data::{PreparedData, run_each_time};
use crate::working_directory::{self, StorageKind};
use crate::{RunError, commands};
pub(crate) use handle::{Ending, ServerHandle};
use heartbeat::Heartbeat;
use reachable_server::ReachableServer;
pub(crate) use reachable_server::{ListenAddress, LoadAccount};
use replicas::Replica;
pub(crate) use replicas::Successor;

/// In the order in which it must be taken down: the server, the drive that it writes to, the directory
/// below both.
pub(crate) struct PrivateTarget {
    /// Before the replicas: a commit may wait for one.
    heartbeat: Option<Heartbeat>,
    /// It may be one that was a replica, on the drive of that.
    server: ServerHandle,
    /// They follow the server.
    replicas: Vec<Replica>,
    drive: Option<DriveProcess>,
    home: WorkDirectory,
    commands: Vec<String>,
    /// Address for other hosts.
    listening: Option<ReachableServer>,
    /// Directory of its socket, where the server is to be found at the same one after an event has started it again.
    _socket_dir: Option<WorkDirectory>,
}

/// Options of the server of `node` with its data below `data_root`.
fn start_options(node: &Node, data_root: &Path, run_dir: PathBuf) -> StartOptions {
    let mut options = StartOptions::new(data_root.join("data"), run_dir);
    // What a sort or the build of an index writes there belongs to the drive, too.
    options.temporary_dir = Some(data_root.join("tmp"));
    options.variables.clone_from(&node.variables);
    options.limits = node.limits.clone();
    options
}

impl PrivateTarget {
    /// Restores `data`, mounts the drive and starts the server. `account`: the one of a load from other hosts.
    pub(crate) fn start(
        context: &StudyContext<'_>,
        cell: &Cell,
        data: &PreparedData,
        account: Option<&LoadAccount>,
        cancel: Cancel<'_>,
    ) -> Result<Self, RunError> {
        let primary = cell.spec.primary();
        let work = context.work_of(cell);
        let place = working_directory::choose(work, data.directory, StorageKind::for_cell(cell))?;
        let home = WorkDirectory::create(&place, "run")?;
        let backing = home.path().join("backing");
        data.snapshots.restore(&data.key, &backing.join("data"))?;
        let mut data_root = backing.clone();
        let mut commands = Vec::new();
        let drive = if let Some(drive) = context.drives.of_node(primary) {
            data_root = home.path().join("drive");
            let options = mount_options(context, cell, drive, backing, data_root.clone());
            commands.push(commands::mount(&options));
            Some(DriveProcess::mount(&context.options.weir, &options)?)
        } else {
            // What restoring left in the host's cache would hide reads, and is outside of a limit of the
            // server's memory. An emulated drive has a latency of its own.
            weir_server::make_cold(&backing)?;
            None
        };
        let mut options = start_options(primary, &data_root, home.path().join("server"));
        options.flushes_beside_writes = drive.as_ref().is_some_and(DriveProcess::flushes_slowly);
        let mut events = cell.spec.timeline.iter();
        let socket_dir = events
            .any(|event| event.kind.ends_server())
            .then(|| WorkDirectory::create(&weir_process::runtime_directory()?, "socket"))
            .transpose()?;
        options.socket = socket_dir.as_ref().map(|dir| dir.path().join("mysql.sock"));
        let port = replicas::prepare_primary(context, cell, &mut options)?;
        let tls = home.path().join("tls");
        let listening =
            account.map(|account| ReachableServer::prepare(account, &tls, &mut options));
        let listening = listening.transpose()?;
        let binary = context.server_of(cell);
        commands.push(commands::server(binary, &options)?);
        let server = PrivateServer::start_watched(binary, &options, &mut cancel.watching())?;
        if let Some(account) = account {
            account.make(&server.endpoint())?;
        }
        run_each_time(&server, cell)?;
        settle(binary.flavor, cell, cancel)?;
        if primary.pool == PoolStart::Warm {
            server.session()?.load_pool()?;
        }
        let mut target = Self {
            heartbeat: None,
            replicas: Vec::new(),
            server: ServerHandle::new(server, options),
            drive,
            home,
            commands,
            listening,
            _socket_dir: socket_dir,
        };
        if let Some(port) = port {
            target.start_replicas(context, cell, data, port, cancel)?;
        }
        if cell.spec.topology.heartbeat {
            target.heartbeat = Some(Heartbeat::start(target.endpoint())?);
        }
        Ok(target)
    }

    /// Returns the address for other hosts, if they reach it.
    pub(crate) fn listening(&self) -> Option<&ReachableServer> {
        self.listening.as_ref()
    }

    /// Everything that can be looked at but its load generator; `client`: the id of that, if it is neither this process
    /// nor a child of it.
    pub(crate) fn own_probes(&self, client: Option<u32>) -> Vec<Box<dyn Probe>> {
        let mut probes: Vec<Box<dyn Probe>> = vec![
            Box::new(ServerProbe::new(self.endpoint())),
            Box::new(HostProbe::of_run(Some(self.home.path().to_owned()), client)),
            Box::new(ProcessProbe::server_that_changes(self.server.pids())),
        ];
        for replica in &self.replicas {
            probes.extend(replica.probes(self.heartbeat.is_some()));
        }
        if let Some(drive) = &self.drive {
            let mountpoint = drive.mountpoint().to_owned();
            probes.push(Box::new(ProcessProbe::drive(drive.pid())));
            probes.push(Box::new(DriveProbe::new(move || {
                weir_drive::statistics(&mountpoint).ok()
            })));
        }
        probes
    }

    /// Returns the reason that flushes of its servers hold up writes, if they do.
    fn flush_obstacle(&self) -> Option<String> {
        let of_replicas = || self.replicas.iter().find_map(Replica::flush_obstacle);
        self.server.flush_obstacle().or_else(of_replicas)
    }

    /// The run's directory as the server names it.
    fn own_directory(&self) -> Result<PathBuf, RunError> {
        let directory = self.home.path();
        let found = directory.canonicalize();
        Ok(found.map_err(PathError::on("find", directory))?)
    }
}

impl Target for PrivateTarget {
    fn endpoint(&self) -> Endpoint {
        self.server.endpoint()
    }

    fn gate(&self) -> Gate {
        Gate::own()
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, RunError> {
        let mut session = self.server.session()?;
        // Where Weir works is no property of the server.
        let mut variables = without_directory(session.variables()?, &self.own_directory()?);
        let pid = Some(self.server.pid());
        // An emulated drive keeps its own rules, whatever lies below it.
        let data = self.drive.is_none().then(|| self.home.path());
        let unsaid = weir_server::unsaid(&mut session, &variables, pid, data)?;
        variables.extend(unsaid);
        if let Some(why) = self.flush_obstacle() {
            variables.insert(FLUSHES_HOLD_WRITES.to_owned(), why);
        }
        Ok(variables)
    }

    fn changes(&self) -> Option<ConfigChanges> {
        None
    }

    fn own(&self) -> Option<OwnServer> {
        let drive = self.drive.as_ref();
        Some(OwnServer {
            server: self.server.clone(),
            drive: drive.map(|drive| drive.mountpoint().to_owned()),
            successor: self.replicas.first().map(Replica::successor),
            home: self.own_directory().ok()?,
        })
    }

    fn probes(&self, client: u32) -> Vec<Box<dyn Probe>> {
        let mut probes = self.own_probes(None);
        probes.insert(0, Box::new(ProcessProbe::client(client)));
        probes
    }

    fn server_pid(&self) -> Option<u32> {
        Some(self.server.pid())
    }

    fn directory(&self) -> Option<&Path> {
        Some(self.home.path())
    }

    fn has_drive(&self) -> bool {
        self.drive.is_some()
    }

    fn drive_statistics(&self) -> Option<DriveStatistics> {
        self.drive.as_ref()?.statistics().ok()
    }

    fn commands(&self) -> &[String] {
        &self.commands
    }

    fn log(&self) -> Result<String, RunError> {
        let log = self.server.log();
        Ok(commands::anonymous(&log, &self.own_directory()?))
    }

    fn has_exited(&mut self) -> Option<String> {
        self.server.has_exited()
    }

    /// Dropping it ends it.
    fn end(self: Box<Self>) -> Result<(), RunError> {
        Ok(())
    }
}

/// Time for which `MySQL`'s page cleaner goes on after the last change, here those of the server's start. It is awake
/// in the second after one that had changes (`buf_flush_page_coordinator_thread` in storage/innobase/buf/buf0flu.cc).
const CLEANER_AWAKE: Duration = Duration::from_millis(2_500);

/// Waits until the server does nothing of its own.
///
/// A page cleaner that is awake evicts a part of a full pool each second. Where transactions only read and the pool turns over
/// within `innodb_old_blocks_time`, what it holds from then on depended on when in its second the load began: runs that
/// should have been the same missed 0.42 and 0.45 of their pages, or 0.45 and 0.50 (docs/decisions/0008-scaled-studies.md).
fn settle(flavor: Flavor, cell: &Cell, cancel: Cancel<'_>) -> Result<(), RunError> {
    const STEP: Duration = Duration::from_millis(50);
    let workload = Workload::try_from(&cell.spec.workload);
    let only_reads = workload.is_ok_and(|workload| workload.only_reads());
    let only_reads = only_reads && cell.spec.load.replay.is_none();
    if flavor == Flavor::Mysql && only_reads {
        let began = Instant::now();
        while began.elapsed() < CLEANER_AWAKE && !cancel.is_set() {
            thread::sleep(STEP);
        }
    }
    cancel.check()
}

fn mount_options(
    context: &StudyContext<'_>,
    cell: &Cell,
    drive: &DriveProfile,
    backing: PathBuf,
    mountpoint: PathBuf,
) -> MountOptions {
    let data = &cell.spec.data;
    MountOptions {
        data_scale: data.data_scale,
        drive_scale: data.drive_scale,
        below_floor: context.options.below_floor,
        ..MountOptions::new(&drive.name, backing, mountpoint)
    }
}
