//! A server at work on a recording drive, until its power is cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use weir_drive::{DriveProcess, MountOptions, Recording, RecordingEnd, RecordingOptions};
use weir_process::{PathError, WorkDirectory, monotonic_ns};
use weir_server::{PrivateServer, ServerBinary, SnapshotKey, Snapshots, StartOptions, initialise};

use crate::content::{LOADED_SEED, Shape};
use crate::decisive_settings::decisive;
use crate::disk_space::check_room;
use crate::error::CrashError;
use crate::ledger::Ledger;
use crate::test_settings::{self, DOUBLEWRITE, FLUSH_LOG, PAGE_SIZE, Variables};
use crate::workload;

/// Counts up when the loaded content changes, so that old snapshots are not taken for new ones.
const DATA_FORMAT: u32 = 4;
const NOTE: &str = "ledger.json";
/// The whole pool is flushed at the end of the loading.
const STOP_PATIENCE: Duration = Duration::from_mins(5);
/// Interval of looks for the end of the recording.
const GLANCE: Duration = Duration::from_millis(50);

/// Options of a recording.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// The server.
    pub server: ServerBinary,
    /// Settings of the server; the same ones recover every state.
    pub variables: Variables,
    /// Name of the drive's profile, or the path of one.
    pub drive: String,
    /// The database.
    pub shape: Shape,
    /// Seed of what the clients write.
    pub seed: u64,
    /// Time for which they write.
    pub duration: Duration,
    /// The recording ends when it has grown to this.
    pub limit: weir_model::Bytes,
    /// An absent or empty folder that gets base, recording and ledger.
    pub out: PathBuf,
    /// Directory of server and drive; memory is best.
    pub work: PathBuf,
    /// The program that mounts drives.
    pub weir: PathBuf,
}

/// A recording with all that its states need.
#[derive(Debug)]
pub struct TestRecording {
    folder: PathBuf,
    /// Recording that every state is made from.
    pub recording: Recording,
    /// The transactions that were acknowledged to the clients.
    pub ledger: Ledger,
    /// Time at which the clients began: cuts lie after it.
    pub began_ns: u64,
    /// Decisive settings, as the server showed them.
    pub said: Variables,
}

/// Written last: where it is, the recording is whole.
#[derive(Serialize, Deserialize)]
struct Note {
    making: RecordingInputs,
    began_ns: u64,
    ledger: Ledger,
    #[serde(default)]
    said: Variables,
}

/// Inputs of a recording: a test of the same may go on from it.
#[derive(PartialEq, Serialize, Deserialize)]
struct RecordingInputs {
    server: PathBuf,
    version: String,
    drive: String,
    variables: Variables,
    shape: Shape,
    seed: u64,
    seconds: u64,
    limit: weir_model::Bytes,
}

impl RecordingInputs {
    fn new(options: &RecordOptions) -> Self {
        Self {
            server: options.server.path.clone(),
            version: options.server.version.to_string(),
            drive: options.drive.clone(),
            variables: options.variables.clone(),
            shape: options.shape,
            seed: options.seed,
            seconds: options.duration.as_secs(),
            limit: options.limit,
        }
    }
}

impl TestRecording {
    /// Opens what [`record`] left in `folder`.
    ///
    /// # Errors
    ///
    /// A folder that holds no recording.
    pub fn open(folder: &Path) -> Result<Self, CrashError> {
        Self::from_note(folder, read_note(folder)?)
    }

    /// Returns true if [`record`] has come to its end in `folder`.
    pub(crate) fn is_in(folder: &Path) -> bool {
        folder.join(NOTE).exists()
    }

    /// The recording that is in `options.out` already, if it was made by the same options.
    pub(crate) fn kept(options: &RecordOptions) -> Result<Option<Self>, CrashError> {
        if !Self::is_in(&options.out) {
            return Ok(None);
        }
        let note = read_note(&options.out)?;
        if note.making != RecordingInputs::new(options) {
            return Err(CrashError::OtherRecording {
                folder: options.out.clone(),
            });
        }
        Self::from_note(&options.out, note).map(Some)
    }

    fn from_note(folder: &Path, note: Note) -> Result<Self, CrashError> {
        let recording = Recording::open(&folder.join("recording"))?;
        if recording.ended() == RecordingEnd::CutShort {
            return Err(CrashError::CutShort {
                folder: folder.to_owned(),
                why: format!("it has {} whole events and no end", recording.event_count()),
            });
        }
        Ok(Self {
            recording,
            ledger: note.ledger,
            began_ns: note.began_ns,
            said: note.said,
            folder: folder.to_owned(),
        })
    }

    /// Returns the drive's content when the recording began.
    pub(crate) fn base(&self) -> PathBuf {
        self.folder.join("base")
    }
}

fn read_note(folder: &Path) -> Result<Note, CrashError> {
    let path = folder.join(NOTE);
    let text = fs::read(&path).map_err(PathError::on("read", &path))?;
    serde_json::from_slice(&text).map_err(|error| CrashError::Unreadable {
        path,
        why: error.to_string(),
    })
}

/// Runs the workload on a recording drive and kills server and drive.
///
/// # Errors
///
/// A server, a drive or a load that fails, or `stop`.
pub fn record(options: &RecordOptions, stop: &AtomicBool) -> Result<TestRecording, CrashError> {
    let home = WorkDirectory::create(&options.work, "crash")?;
    let (backing, mountpoint) = (home.path().join("backing"), home.path().join("drive"));
    let base = options.out.join("base");
    let (snapshots, key) = prepare(options, home.path(), stop)?;
    for root in [&base, &backing] {
        fs::create_dir_all(root).map_err(PathError::on("create", root))?;
        snapshots.restore(&key, &root.join("data"))?;
    }
    // Before the time for the recording is spent.
    check_room(&base, &options.work)?;
    let drive = DriveProcess::mount(
        &options.weir,
        &MountOptions {
            recording: Some(RecordingOptions {
                limit: options.limit,
                ..RecordingOptions::new(options.out.join("recording"))
            }),
            ..MountOptions::new(&options.drive, backing, mountpoint.clone())
        },
    )?;
    let mut start = StartOptions::new(mountpoint.join("data"), home.path().join("server"));
    start.variables = options.variables.clone();
    start.flushes_beside_writes = drive.flushes_slowly();
    let server = PrivateServer::start(&options.server, &start)?;
    let said = server.variables()?;
    check_setting(options, &said)?;
    let began_ns = monotonic_ns();
    let written = write_for(&server, options, stop);
    server.kill();
    drive.unmount()?;
    let note = Note {
        making: RecordingInputs::new(options),
        began_ns,
        ledger: written?,
        said: decisive(said),
    };
    let path = options.out.join(NOTE);
    let text = serde_json::to_vec(&note).expect("invariant: a ledger has no maps");
    fs::write(&path, text).map_err(PathError::on("write", &path))?;
    TestRecording::open(&options.out)
}

/// Servers round, cap and override: a test of what was not asked for would be taken for another.
fn check_setting(options: &RecordOptions, said: &Variables) -> Result<(), CrashError> {
    let (flavor, told) = (options.server.flavor, &options.variables);
    for name in [DOUBLEWRITE, FLUSH_LOG] {
        if !test_settings::means_the_same(flavor, name, told, said) {
            let value = |of: &Variables| of.get(name).cloned().unwrap_or_default();
            return Err(CrashError::OtherSetting {
                name: name.to_owned(),
                wanted: value(told),
                found: value(said),
            });
        }
    }
    Ok(())
}

/// Lets the clients write for the wanted time.
fn write_for(
    server: &PrivateServer,
    options: &RecordOptions,
    stop: &AtomicBool,
) -> Result<Ledger, CrashError> {
    let enough = AtomicBool::new(false);
    let ledger = thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            while began.elapsed() < options.duration && !stop.load(Ordering::Relaxed) {
                thread::sleep(GLANCE);
            }
            enough.store(true, Ordering::Relaxed);
        });
        let flavor = options.server.flavor;
        workload::run(
            &server.endpoint(),
            flavor,
            options.seed,
            options.shape,
            &enough,
        )
    })?;
    if stop.load(Ordering::Relaxed) {
        return Err(CrashError::Stopped);
    }
    Ok(ledger)
}

/// Returns the name of the loaded data, for the name of its snapshot.
fn workload_name(shape: Shape) -> String {
    let ledger = format!("crash_ledger_{}", shape.clients);
    match shape.warehouses {
        0 => ledger,
        warehouses => format!("{ledger}_order_entry_{warehouses}"),
    }
}

/// The loaded database, from the snapshots or made now.
fn prepare(
    options: &RecordOptions,
    home: &Path,
    stop: &AtomicBool,
) -> Result<(Snapshots, SnapshotKey), CrashError> {
    let snapshots = Snapshots::open(&weir_server::cache_directory())?;
    let key = SnapshotKey {
        flavor: options.server.flavor,
        version: options.server.version,
        // Each client has a row of its own, so the number of clients is part of what is loaded.
        workload: workload_name(options.shape),
        tables: options.shape.tables,
        rows: options.shape.rows.into(),
        seed: LOADED_SEED,
        page_bytes: test_settings::page_bytes(options.server.flavor, &options.variables) as u32,
        format: DATA_FORMAT,
        made_by: Vec::new(),
    };
    if snapshots.find(&key).is_none() {
        let data_dir = home.join("load").join("data");
        let mut variables = test_settings::of_the_loading(options.server.flavor);
        if let Some(size) = options.variables.get(PAGE_SIZE) {
            variables.insert(PAGE_SIZE.to_owned(), size.clone());
        }
        initialise(&options.server, &data_dir, &variables)?;
        let mut start = StartOptions::new(&data_dir, home.join("load").join("server"));
        start.variables = variables;
        let server = PrivateServer::start(&options.server, &start)?;
        workload::load(
            &server.endpoint(),
            options.server.flavor,
            options.shape,
            stop,
        )?;
        server.stop(STOP_PATIENCE)?;
        snapshots.store(&key, &data_dir)?;
    }
    Ok((snapshots, key))
}
