//! Mounting a drive and serving it until it is asked to end.

mod operator;
mod session;

pub use self::session::check_fuse;

use self::operator::Operator;

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fuser::Session;
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit};
use weir_model::DriveProfile;
use weir_process::{Entry, EntryKind, ProcessIdentity, Registration, Registry};

use crate::adoption;
use crate::calibration::{self, Prober};
use crate::control::Listener;
use crate::engine::Engine;
use crate::floor::{check_floor, has_no_latency};
use crate::fuse::DriveFileSystem;
use crate::mountpoint::{is_mounted, resolved};
use crate::recording::Recorder;
use crate::scheduler::priority;
use crate::stop::Stop;
use crate::store::Store;
use crate::{DriveError, MountOptions};

/// Time limit for the kernel to end the session once nothing is mounted any more. A dying server
/// may still hold files; the end of this process then ends the session for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Mounts a drive, calls `ready` with its profile, and returns when it is unmounted again:
/// because of `stop`, of a control request, or of an unmount from outside.
///
/// Call it in a process of its own: it raises the limit of open files and clears the umask.
///
/// # Errors
///
/// A folder that cannot be mounted on, or files of the drive that cannot be used.
pub fn serve(
    options: &MountOptions,
    stop: &Stop,
    ready: impl FnOnce(&DriveProfile),
) -> Result<(), DriveError> {
    let profile = options.resolved_profile()?;
    if !options.below_floor {
        check_floor(&profile)?;
    }
    session::check_fuse()?;
    prepare_process();
    let mountpoint = prepare_directories(options)?;
    let registration = register(options, &mountpoint)?;
    let served = serve_at(&mountpoint, &profile, options, stop, ready);
    if options.remove_backing {
        let _ = std::fs::remove_dir_all(&options.backing);
    }
    drop(registration);
    served
}

fn serve_at(
    mountpoint: &Path,
    profile: &DriveProfile,
    options: &MountOptions,
    stop: &Stop,
    ready: impl FnOnce(&DriveProfile),
) -> Result<(), DriveError> {
    let logical = options.data_scale.apply(profile.logical_capacity().0);
    let store = Store::open(&options.backing, logical).map_err(DriveError::path(
        "open the backing directory",
        &options.backing,
    ))?;
    let store = Arc::new(store);
    let capacity = options.data_scale.apply(profile.capacity.0);
    let engine = Engine::start(profile, options.drive_scale, capacity)
        .map_err(DriveError::path("start the threads for", mountpoint))?;
    let cost = profile.block_cost.unwrap_or_default();
    adoption::adopt(&options.backing, &engine, cost).map_err(DriveError::path(
        "read the backing directory",
        &options.backing,
    ))?;
    let engine = Arc::new(engine);
    let recorder = Recorder::open(options.recording.as_ref(), &options.backing, mountpoint)?;
    let recorder = Arc::new(recorder);
    let listener = Listener::bind(mountpoint)?;
    let _awake = priority::keep_processors_awake();
    let files = DriveFileSystem::new(
        Arc::clone(&store),
        Arc::clone(&engine),
        Arc::clone(&recorder),
        profile,
    );
    let session = session::mount(files, &profile.name, mountpoint)
        .map_err(|error| session::explain(error, mountpoint))?;
    let mounted = MountGuard {
        mountpoint,
        engine: &engine,
        ended: start_session(session, stop)
            .map_err(DriveError::path("start the threads for", mountpoint))?,
    };
    let _prober = calibrated(profile, mountpoint, &engine)
        .map_err(DriveError::path("start the threads for", mountpoint))?;
    // After the calibration, whose file is no part of the trace.
    recorder.begin(&profile.name, &options.backing)?;
    ready(profile);
    let operator = Operator {
        store: &store,
        engine: &engine,
        recorder: &recorder,
        options,
        profile,
        stop,
    };
    listener.serve(stop, |request| operator.answer(request));
    // The recorder finds a whole trace; a failed one has no caller left to tell.
    let _ = engine.tracer().stop();
    mounted.unmount()?;
    recorder.finish()
}

/// Measures the way to the mounted drive and back, once and from now on.
fn calibrated(
    profile: &DriveProfile,
    mountpoint: &Path,
    engine: &Engine,
) -> std::io::Result<Option<Prober>> {
    if has_no_latency(profile) {
        return Ok(None);
    }
    // A store that refuses the file leaves all to the prober.
    let way_back = calibration::measure(mountpoint, engine.correction());
    engine.end_calibration(way_back.unwrap_or_default());
    let (correction, placement) = (engine.correction(), engine.placement());
    Prober::start(mountpoint, Arc::clone(correction), Arc::clone(placement)).map(Some)
}

/// A mount that is undone when it goes out of scope.
struct MountGuard<'a> {
    mountpoint: &'a Path,
    engine: &'a Engine,
    ended: Stop,
}

impl MountGuard<'_> {
    fn unmount(self) -> Result<(), DriveError> {
        Ok(weir_process::unmount(self.mountpoint)?)
    }
}

impl Drop for MountGuard<'_> {
    fn drop(&mut self) {
        let _ = weir_process::unmount(self.mountpoint);
        // Held replies go out now, so that no caller waits for them any longer.
        self.engine.stop();
        self.ended.wait_for(PATIENCE);
    }
}

/// Runs the session in threads of its own; the returned flag is set when it has ended.
fn start_session(session: Session<DriveFileSystem>, stop: &Stop) -> std::io::Result<Stop> {
    let ended = Stop::new();
    let (stop, of_thread) = (stop.clone(), ended.clone());
    std::thread::Builder::new()
        .name("drive-session".to_owned())
        .spawn(move || {
            priority::sharpen_reader();
            // It ends with an error when the mount is torn down under it, which is no failure.
            let _ = session.run();
            of_thread.request();
            stop.request();
        })?;
    Ok(ended)
}

fn prepare_process() {
    // The kernel has applied the caller's umask already.
    rustix::process::umask(Mode::empty());
    // Each file that the kernel knows holds a descriptor.
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Without it the drive works until a server has more files than the old limit.
    let _ = rustix::process::setrlimit(Resource::Nofile, raised);
}

fn prepare_directories(options: &MountOptions) -> Result<PathBuf, DriveError> {
    for path in [&options.backing, &options.mountpoint] {
        let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
        if let Err(source) = created {
            return Err(dead_or_unusable(path, source));
        }
    }
    let mountpoint = resolved(&options.mountpoint)?;
    let in_use = weir_process::is_mounted(&mountpoint);
    let listed = std::fs::read_dir(&mountpoint);
    let mut listed = listed.map_err(|source| dead_or_unusable(&mountpoint, source))?;
    let advice = if in_use {
        "; a drive is mounted there, unmount it first"
    } else if listed.next().is_some() {
        "; name an empty directory"
    } else {
        return Ok(mountpoint);
    };
    Err(DriveError::Path {
        action: "mount on",
        path: mountpoint,
        source: ErrorKind::DirectoryNotEmpty.into(),
        advice,
    })
}

fn dead_or_unusable(path: &Path, source: std::io::Error) -> DriveError {
    // mkdir(2) of a mountpoint whose drive was killed says "exists", as it cannot look at it.
    let dead = source.kind() == ErrorKind::NotConnected || is_mounted(path);
    DriveError::Path {
        action: "use",
        path: path.to_owned(),
        source,
        advice: if dead {
            "; `weir clean` removes what a killed drive left behind"
        } else {
            ""
        },
    }
}

fn register(options: &MountOptions, mountpoint: &Path) -> Result<Registration, DriveError> {
    let entry = Entry {
        process: Some(ProcessIdentity::current()),
        mountpoint: Some(mountpoint.to_owned()),
        directory: options.remove_backing.then(|| options.backing.clone()),
        ..Entry::new(EntryKind::Drive)
    };
    Ok(Registry::open()?.record(&entry)?)
}
