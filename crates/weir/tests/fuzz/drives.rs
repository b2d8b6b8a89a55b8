//! What emulated drives leave: recordings, which are cut as by `weir drive cut`, and traces.

use std::fs;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;

use tempfile::TempDir;
use weir_crash::{CacheRule, DeviceRules, survivors};
use weir_drive::{
    DriveProcess, MountOptions, Operation, Recording, RecordingOptions, TraceReader, start_trace,
    stop_trace,
};
use weir_model::{Atomicity, Bytes};
use weir_predict::PageReads;

use crate::fuzz;

/// What a changed recording may write: more is a wish for a larger disk.
const WRITTEN_BYTES_MAX: u64 = 64 << 20;

/// A recording in `record` and a trace in `trace` of a real drive that did a little of everything.
fn real() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let [backing, mountpoint, record, trace] =
        ["backing", "drive", "record", "trace"].map(|name| folder.path().join(name));
    let options = MountOptions {
        recording: Some(RecordingOptions::new(&record)),
        ..MountOptions::new("null", &backing, &mountpoint)
    };
    fs::create_dir_all(backing.join("there")).unwrap();
    fs::write(backing.join("there/before.ibd"), [1; 8192]).unwrap();
    let weir = Path::new(env!("CARGO_BIN_EXE_weir"));
    let drive = DriveProcess::mount(weir, &options).unwrap();
    start_trace(&mountpoint, &trace).unwrap();
    work(&mountpoint);
    stop_trace(&mountpoint).unwrap();
    drive.unmount().unwrap();
    folder
}

fn work(drive: &Path) {
    let at = |name: &str| drive.join(name);
    fs::create_dir(at("d")).unwrap();
    fs::write(at("d/t1.ibd"), vec![7; 40_000]).unwrap();
    fs::write(at("ib_logfile0"), vec![0; 4096]).unwrap();
    let table = fs::File::options()
        .read(true)
        .write(true)
        .open(at("d/t1.ibd"));
    let table = table.unwrap();
    table.write_all_at(&[9; 16_384], 16_384).unwrap();
    table.sync_all().unwrap();
    table.read_exact_at(&mut [0; 16_384], 0).unwrap();
    rustix::fs::fallocate(&table, rustix::fs::FallocateFlags::empty(), 0, 65_536).unwrap();
    table.set_len(20_000).unwrap();
    fs::hard_link(at("d/t1.ibd"), at("again")).unwrap();
    symlink("d", at("link")).unwrap();
    fs::rename(at("d"), at("e")).unwrap();
    fs::remove_file(at("again")).unwrap();
    fs::remove_file(at("there/before.ibd")).unwrap();
}

fn written_bytes(recording: &Recording) -> u64 {
    let operations = recording.events().filter_map(Result::ok);
    let bytes = operations.map(|event| match event.operation {
        Operation::Write { data, .. } => data.bytes(),
        Operation::Allocate { bytes, .. } => bytes,
        _ => 0,
    });
    bytes.fold(0, u64::saturating_add)
}

#[test]
fn recordings() {
    let real = real();
    let record = real.path().join("record");
    let seed = fs::read(record.join("events")).unwrap();
    let base = real.path().join("base");
    fs::create_dir(&base).unwrap();
    fs::create_dir(base.join("there")).unwrap();
    fs::write(base.join("there/before.ibd"), [1; 8192]).unwrap();
    let words = [
        "..",
        "/",
        "d",
        "e",
        "there/before.ibd",
        "\u{1}\0\0\0\0\0\0\0",
    ];
    let mut number = 0_u64;
    fuzz("recordings", vec![seed], &words, |input, _| {
        fs::write(record.join("events"), input).unwrap();
        let Ok(recording) = Recording::open(&record) else {
            return;
        };
        if written_bytes(&recording) > WRITTEN_BYTES_MAX {
            return;
        }
        number += 1;
        let rules = [
            CacheRule::PowerProtected,
            CacheRule::Volatile,
            CacheRule::Lying,
        ];
        let rules = DeviceRules {
            cache: rules[number as usize % 3],
            cache_size: Bytes(1 << 16),
            atomicity: Atomicity::default(),
        };
        let media = real.path().join("media");
        survivors(&record, &base, &media, rules, number)
            .map(drop)
            .unwrap_or_default();
        if media.exists() {
            fs::remove_dir_all(&media).unwrap();
        }
    });
}

/// Bytes before the compressed records.
const HEADER_BYTES: usize = 16;

#[test]
fn traces() {
    let real = real();
    let seed = fs::read(real.path().join("trace")).unwrap();
    let (header, records) = seed.split_at(HEADER_BYTES);
    let header = header.to_vec();
    // Changed before they are compressed, they are still records.
    let records = zstd::decode_all(records).unwrap();
    fuzz("traces", vec![seed.clone(), records], &[], |input, path| {
        if !input.starts_with(&header[..8]) {
            let compressed = zstd::encode_all(input, 1).unwrap();
            fs::write(path, [&*header, &*compressed].concat()).unwrap();
        }
        if let Ok(mut trace) = TraceReader::open(path) {
            trace.by_ref().for_each(drop);
            trace.path(1).map(drop).unwrap_or_default();
        }
        PageReads::read(path).map(drop).unwrap_or_default();
    });
}
