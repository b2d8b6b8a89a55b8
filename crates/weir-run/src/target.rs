//! What serves a run: a private server with all that stands around it, or one that the user gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weir_drive::{DriveProcess, MountOptions};
use weir_load::Workload;
use weir_model::{Cell, DriveProfile, Endpoint, Flavor, PoolStart};
use weir_mysql::Gate;
use weir_probe::{DriveProbe, HostProbe, Probe, ProcessProbe, ReplicaProbe, ServerProbe};
use weir_process::{PathError, WorkDirectory};
use weir_server::{ConfigChanges, GivenServer, PrivateServer, StartOptions};

use crate::RunError;
use crate::commands;
use crate::context::StudyContext;
use crate::data::{self, PreparedData};
use crate::replicas;
use weir_judge::without_directory;

/// What serves.
pub(crate) enum ServerUnderTest {
    Private(Box<PrivateServing>),
    Given(Box<GivenServing>),
}

/// In the order in which it must be taken down: the server, the drive that it writes to, the directory
/// below both.
pub(crate) struct PrivateServing {
    /// They follow the server.
    replicas: Vec<PrivateServer>,
    server: PrivateServer,
    drive: Option<DriveProcess>,
    home: WorkDirectory,
}

/// A server that the user gives, with the run's settings until it is put back.
pub(crate) struct GivenServing {
    server: GivenServer,
    changes: ConfigChanges,
}

impl PrivateServing {
    /// The run's directory as the server names it.
    fn directory(&self) -> Result<PathBuf, RunError> {
        let directory = self.home.path();
        let found = directory.canonicalize();
        Ok(found.map_err(PathError::on("find", directory))?)
    }
}

impl ServerUnderTest {
    /// Restores `data`, mounts the drive and starts the server, and tells the commands; `None` if it was
    /// stopped.
    pub(crate) fn start(
        context: &StudyContext<'_>,
        cell: &Cell,
        data: &PreparedData,
        stop: &AtomicBool,
    ) -> Result<Option<(Self, Vec<String>)>, RunError> {
        let home = data::home(context, data)?;
        let backing = home.path().join("backing");
        data.snapshots.restore(&data.key, &backing.join("data"))?;
        let mut data_root = backing.clone();
        let mut commands = Vec::new();
        let drive = if let Some(drive) = context.drives.of_cell(cell) {
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
        let mut options = StartOptions::new(data_root.join("data"), home.path().join("server"));
        let primary = cell.spec.primary();
        options.variables.clone_from(&primary.variables);
        options.limits = primary.limits.clone();
        options.flushes_beside_writes = drive.as_ref().is_some_and(DriveProcess::flushes_slowly);
        let port = replicas::prepare_primary(context, cell, &mut options)?;
        commands.push(commands::server(context.server_of(cell), &options)?);
        let watch = &mut data::watching(stop);
        let started = PrivateServer::start_watched(context.server_of(cell), &options, watch);
        let Some(server) = data::unless_stopped(started)? else {
            return Ok(None);
        };
        if !settle(context, cell, stop) {
            return Ok(None);
        }
        if primary.pool == PoolStart::Warm {
            server.session()?.load_pool()?;
        }
        let mut followers = Vec::new();
        if let Some(port) = port {
            let primary = (&server, port);
            let lines = &mut commands;
            let started = replicas::start(context, cell, data, home.path(), primary, lines, stop)?;
            let Some(started) = started else {
                return Ok(None);
            };
            followers = started;
        }
        let serving = PrivateServing {
            replicas: followers,
            server,
            drive,
            home,
        };
        Ok(Some((Self::Private(Box::new(serving)), commands)))
    }

    /// Brings a server that the user gives to the settings of `cell`, and tells the statements.
    pub(crate) fn take(
        context: &StudyContext<'_>,
        cell: &Cell,
        server: &GivenServer,
    ) -> Result<(Self, Vec<String>), RunError> {
        let allowed = context.options.allowed.config;
        let variables = &cell.spec.primary().variables;
        let wanted = weir_server::native_config(server, variables, allowed)?;
        let mut changes = ConfigChanges::new(server);
        changes.apply(&wanted)?;
        let commands = weir_server::set_statements(&wanted);
        let serving = GivenServing {
            server: server.clone(),
            changes,
        };
        Ok((Self::Given(Box::new(serving)), commands))
    }

    /// Ends what was started, or puts back what was changed.
    pub(crate) fn end(self) -> Result<(), RunError> {
        match self {
            Self::Private(_) => Ok(()),
            Self::Given(mut given) => Ok(given.changes.put_back()?),
        }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        match self {
            Self::Private(private) => private.server.endpoint(),
            Self::Given(given) => given.server.endpoint.clone(),
        }
    }

    /// What may be done to it.
    pub(crate) fn gate(&self) -> Gate {
        match self {
            Self::Private(_) => Gate::own(),
            Self::Given(given) => given.server.gate().clone(),
        }
    }

    pub(crate) fn drive(&self) -> Option<&DriveProcess> {
        match self {
            Self::Private(private) => private.drive.as_ref(),
            Self::Given(_) => None,
        }
    }

    /// A directory on the storage that the data lie on; `None` on another host.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match self {
            Self::Private(private) => Some(private.home.path()),
            Self::Given(given) => given.server.data_dir.as_deref(),
        }
    }

    /// The server's variables, free of a run's own paths, and what makes it less durable than they say.
    pub(crate) fn variables(&self) -> Result<BTreeMap<String, String>, RunError> {
        match self {
            Self::Private(private) => {
                let mut session = private.server.session()?;
                let directory = private.directory()?;
                let mut variables = without_directory(session.variables()?, &directory);
                // Where Weir works is no property of the server.
                let pid = Some(private.server.pid());
                variables.extend(weir_server::unsaid(&mut session, pid, None)?);
                Ok(variables)
            }
            Self::Given(given) => {
                let server = &given.server;
                let mut session = server.session()?;
                let mut variables = session.variables()?;
                let data = server.data_dir.as_deref();
                variables.extend(weir_server::unsaid(&mut session, server.pid, data)?);
                Ok(variables)
            }
        }
    }

    /// What the server has written to its error log, free of a run's own paths; a server that the user
    /// gives keeps its log for itself.
    pub(crate) fn server_log(&self) -> Result<String, RunError> {
        match self {
            Self::Private(private) => {
                let log = private.server.log_tail();
                Ok(commands::anonymous(&log, &private.directory()?))
            }
            Self::Given(_) => Ok(String::new()),
        }
    }

    /// Why the server no longer runs, in its own words, as far as Weir can know.
    pub(crate) fn has_exited(&mut self) -> Option<String> {
        match self {
            Self::Private(private) => private.server.has_exited(),
            Self::Given(_) => None,
        }
    }

    /// Everything that can be looked at from here.
    pub(crate) fn probes(&self) -> Vec<Box<dyn Probe>> {
        let mut probes: Vec<Box<dyn Probe>> = vec![
            Box::new(ProcessProbe::client()),
            Box::new(ServerProbe::new(self.endpoint())),
        ];
        // This host says nothing about a server on another one.
        if let Some(directory) = self.directory() {
            probes.push(Box::new(HostProbe::new(Some(directory.to_owned()))));
        }
        let (pid, replicas) = match self {
            Self::Private(private) => (Some(private.server.pid()), private.replicas.as_slice()),
            Self::Given(given) => (given.server.pid, [].as_slice()),
        };
        if let Some(pid) = pid {
            probes.push(Box::new(ProcessProbe::server(pid)));
        }
        for (number, replica) in (1..).zip(replicas) {
            let name = format!("replica {number}");
            probes.push(Box::new(ReplicaProbe::new(name, replica.endpoint())));
        }
        if let Some(drive) = self.drive() {
            let mountpoint = drive.mountpoint().to_owned();
            probes.push(Box::new(ProcessProbe::drive(drive.pid())));
            probes.push(Box::new(DriveProbe::new(move || {
                weir_drive::statistics(&mountpoint).ok()
            })));
        }
        probes
    }
}

/// How long `MySQL`'s page cleaner goes on after the last change, here those of the server's start: it is awake in
/// the second after one that had changes (`buf_flush_page_coordinator_thread` in storage/innobase/buf/buf0flu.cc).
const CLEANER_AWAKE: Duration = Duration::from_millis(2_500);

/// Waits until the server does nothing of its own; whether that was not stopped.
///
/// A page cleaner that is awake evicts a part of a full pool each second. Where transactions only read and the pool turns over
/// within `innodb_old_blocks_time`, what it holds from then on depended on when in its second the load began: runs that
/// should have been the same missed 0.42 and 0.45 of their pages, or 0.45 and 0.50 (docs/journal/2026-11-24-misses.md).
fn settle(context: &StudyContext<'_>, cell: &Cell, stop: &AtomicBool) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let workload = Workload::try_from(&cell.spec.workload);
    let only_reads = workload.is_ok_and(|workload| workload.only_reads());
    if context.server_of(cell).flavor == Flavor::Mysql && only_reads {
        let began = Instant::now();
        while began.elapsed() < CLEANER_AWAKE && !stop.load(Ordering::Relaxed) {
            thread::sleep(STEP);
        }
    }
    !stop.load(Ordering::Relaxed)
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
