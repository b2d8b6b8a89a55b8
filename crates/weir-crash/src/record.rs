//! A server at work on a recording drive, until its power is cut.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use weir_drive::{DriveProcess, Ended, MountOptions, Recording, RecordingOptions, monotonic_ns};
use weir_model::Flavor;
use weir_process::{PathError, WorkDirectory};
use weir_server::{PrivateServer, ServerBinary, SnapshotKey, Snapshots, StartOptions, initialise};

use crate::content::{LOADED_SEED, Shape};
use crate::error::CrashError;
use crate::ledger::Ledger;
use crate::workload;

/// Counts up when the loaded content changes, so that old snapshots are not taken for new ones.
const DATA_FORMAT: u32 = 4;
const PAGE_BYTES: u32 = 16 * 1024;
/// The whole pool is flushed at the end of the loading.
const STOP_PATIENCE: Duration = Duration::from_mins(5);
/// How often the end of the recording is looked for.
const GLANCE: Duration = Duration::from_millis(50);

/// What to record.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// The server.
    pub server: ServerBinary,
    /// Its settings; the same ones recover every state.
    pub variables: BTreeMap<String, String>,
    /// Name of the drive's profile, or the path of one.
    pub drive: String,
    /// The database.
    pub shape: Shape,
    /// Seed of what the clients write.
    pub seed: u64,
    /// How long they write.
    pub duration: Duration,
    /// The recording ends when it has grown to this.
    pub limit: weir_model::Bytes,
    /// An absent or empty folder that gets base, recording and ledger.
    pub out: PathBuf,
    /// Where server and drive work; memory is best.
    pub work: PathBuf,
    /// The program that mounts drives.
    pub weir: PathBuf,
}

/// A recording with all that its states need.
#[derive(Debug)]
pub struct Recorded {
    folder: PathBuf,
    /// What every state is made from.
    pub recording: Recording,
    /// What the clients were told.
    pub ledger: Ledger,
    /// When the clients began: cuts lie after it.
    pub began_ns: u64,
}

#[derive(Serialize, Deserialize)]
struct Note {
    began_ns: u64,
    ledger: Ledger,
}

impl Recorded {
    /// Opens what [`record`] left in `folder`.
    pub fn open(folder: &Path) -> Result<Self, CrashError> {
        let path = folder.join("ledger.json");
        let text = fs::read(&path).map_err(PathError::on("read", &path))?;
        let note: Note = serde_json::from_slice(&text).map_err(|error| CrashError::Unreadable {
            path,
            why: error.to_string(),
        })?;
        let recording = Recording::open(&folder.join("recording"))?;
        if recording.ended() == Ended::CutShort {
            return Err(CrashError::CutShort {
                folder: folder.to_owned(),
                why: format!("it has {} whole events and no end", recording.event_count()),
            });
        }
        Ok(Self {
            recording,
            ledger: note.ledger,
            began_ns: note.began_ns,
            folder: folder.to_owned(),
        })
    }

    /// What the drive held when the recording began.
    pub(crate) fn base(&self) -> PathBuf {
        self.folder.join("base")
    }
}

/// Runs the workload on a recording drive and kills server and drive.
pub fn record(options: &RecordOptions, stop: &AtomicBool) -> Result<Recorded, CrashError> {
    let home = WorkDirectory::create(&options.work, "crash")?;
    let (backing, mountpoint) = (home.path().join("backing"), home.path().join("drive"));
    let base = options.out.join("base");
    let (snapshots, key) = prepare(options, home.path(), stop)?;
    for root in [&base, &backing] {
        fs::create_dir_all(root).map_err(PathError::on("create", root))?;
        snapshots.restore(&key, &root.join("data"))?;
    }
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
    let server = PrivateServer::start(&options.server, &start)?;
    check_setting(&server, &options.variables)?;
    let began_ns = monotonic_ns();
    let written = write_for(&server, options, stop);
    server.kill();
    drive.unmount()?;
    let note = Note {
        began_ns,
        ledger: written?,
    };
    let path = options.out.join("ledger.json");
    let text = serde_json::to_vec(&note).expect("invariant: a ledger has no maps");
    fs::write(&path, text).map_err(PathError::on("write", &path))?;
    Recorded::open(&options.out)
}

/// Servers round, cap and override: MySQL turns doublewrite off by itself on drives that say they are atomic.
fn check_setting(
    server: &PrivateServer,
    variables: &BTreeMap<String, String>,
) -> Result<(), CrashError> {
    let said = server.variables()?;
    for name in ["innodb_doublewrite", "innodb_flush_log_at_trx_commit"] {
        let (Some(wanted), Some(found)) = (variables.get(name), said.get(name)) else {
            continue;
        };
        if !means_the_same(wanted, found) {
            return Err(CrashError::OtherSetting {
                name: name.to_owned(),
                wanted: wanted.clone(),
                found: found.clone(),
            });
        }
    }
    Ok(())
}

/// Whether two values of a variable are spellings of one.
fn means_the_same(wanted: &str, found: &str) -> bool {
    let plain = |value: &str| match value.to_ascii_uppercase().as_str() {
        "1" | "TRUE" | "ON" | "DETECT_AND_RECOVER" => "ON".to_owned(),
        "0" | "FALSE" | "OFF" => "OFF".to_owned(),
        other => other.to_owned(),
    };
    plain(wanted) == plain(found)
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
        workload: "crash_ledger".to_owned(),
        tables: options.shape.tables,
        rows: options.shape.rows.into(),
        seed: LOADED_SEED,
        page_bytes: PAGE_BYTES,
        format: DATA_FORMAT,
    };
    if snapshots.find(&key).is_none() {
        let data_dir = home.join("load").join("data");
        initialise(
            &options.server,
            &data_dir,
            &loading_variables(options.server.flavor),
        )?;
        let mut start = StartOptions::new(&data_dir, home.join("load").join("server"));
        start.variables = loading_variables(options.server.flavor);
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

/// Small logs, since every state is a copy of them, and undo tablespaces that can be truncated.
fn loading_variables(flavor: Flavor) -> BTreeMap<String, String> {
    let of_flavor: &[(&str, &str)] = match flavor {
        Flavor::Mysql => &[("skip_log_bin", "1")],
        // In 10.11 undo logs lie in the system tablespace unless they are told not to.
        Flavor::Mariadb => &[("innodb_undo_tablespaces", "3")],
    };
    let of_both = [
        ("innodb_buffer_pool_size", "512M"),
        ("innodb_redo_log_capacity", "32M"),
        ("innodb_flush_log_at_trx_commit", "0"),
    ];
    of_flavor
        .iter()
        .chain(&of_both)
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
