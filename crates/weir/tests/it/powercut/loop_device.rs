//! A dry run with the kernel's own file system: ext4 on a loop device, whose disk is a file on an emulated drive.
//!
//! A cut of the drive is a cut of that disk, with the journal and the page cache of a real host above it. It needs
//! root and loop devices; elsewhere there is nothing to try.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir_crash::{CacheRule, DeviceRules};
use weir_drive::powercut::{CheckOptions, CutKind, PowercutVerdict, Substitute, check};
use weir_model::Atomicity;

use super::{ACKNOWLEDGED, CACHE_BYTES, WitnessProcess, mounted};
use crate::harness::{Output, Weir, World, wait_until};

const DISK_BYTES: u64 = 64 << 20;
/// Outcomes of the cut under each rule.
const SEEDS: u64 = 4;

/// A mounted loop device, gone when it is dropped.
struct Disk {
    device: String,
    folder: PathBuf,
}

impl Disk {
    /// Attaches the disk image; `None` where the system has no loop devices for this user.
    fn attach(image: &Path, folder: &Path) -> Option<Self> {
        let mut attach = Command::new("losetup");
        attach.args(["--find", "--show", "--direct-io=on"]);
        let attached = attach.arg(image).output().ok()?;
        let device = String::from_utf8(attached.stdout).unwrap();
        attached.status.success().then(|| Self {
            device: device.trim().to_owned(),
            folder: folder.to_owned(),
        })
    }

    /// Returns true if the program did its work on the device.
    fn run(&self, program: &str, options: &[&str]) -> bool {
        let mut command = Command::new(program);
        let output = command.args(options).arg(&self.device).output();
        output.is_ok_and(|output| output.status.success())
    }

    fn mount(&self) -> bool {
        let mut mount = Command::new("mount");
        let mounted = mount.arg(&self.device).arg(&self.folder).output();
        mounted.is_ok_and(|mounted| mounted.status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.folder).output();
        let _ = Command::new("losetup").args(["-d", &self.device]).output();
    }
}

/// Cuts the drive below a file system that is written to; `None` where that cannot be tried.
fn recorded(world: &World, folder: &Path) -> Option<PathBuf> {
    let [backing, record] = ["backing", "record"].map(|name| world.path(name));
    fs::create_dir_all(&backing).unwrap();
    let image = fs::File::create(backing.join("disk")).unwrap();
    image.set_len(DISK_BYTES).unwrap();
    let more = ["--record", record.to_str().unwrap(), "--record-base"];
    let mut drive = mounted(world, &backing, &more);
    let disk = Disk::attach(&world.path("drive/disk"), folder);
    let disk = disk.filter(|disk| disk.run("mkfs.ext4", &["-q"]) && disk.mount());
    let Some(disk) = disk else {
        Weir::in_world(world)
            .args(["drive", "unmount"])
            .args([world.path("drive")])
            .succeeds();
        drive.wait().unwrap();
        weir_testing::skipped("powercut::loop_device", "no loop device can be mounted");
        return None;
    };
    let witness = WitnessProcess::start(world);
    let writing = Weir::in_world(world)
        .args(["drive", "powercut", "write", "--pages", "16", "--witness"])
        .args([&witness.address, "--dir"])
        .args([folder])
        .spawn();
    wait_until("the writer is at work", || witness.lines() > ACKNOWLEDGED);
    Weir::in_world(world)
        .args(["drive", "cut", "--json"])
        .args([world.path("drive")])
        .succeeds();
    let end = Output::from(writing.wait_with_output().unwrap());
    assert_eq!(end.code, Some(1), "{}", end.stderr);
    drop(disk);
    drive.wait().unwrap();
    witness.end();
    Some(record)
}

/// Checks one outcome of the cut under these rules; `None` if the file system itself is beyond repair.
fn verdict(
    world: &World,
    record: &Path,
    folder: &Path,
    rules: (CacheRule, u64),
) -> Option<PowercutVerdict> {
    let (cache, seed) = rules;
    let rules = DeviceRules {
        cache,
        cache_size: CACHE_BYTES,
        atomicity: Atomicity::default(),
    };
    let media = world.path("media");
    weir_crash::survivors(record, &record.join("base"), &media, rules, seed).unwrap();
    let disk = Disk::attach(&media.join("disk"), folder).unwrap();
    if cache == CacheRule::Lying {
        // The journal is no safer than the data. Its repair says with 1 that it found something.
        disk.run("e2fsck", &["-f", "-y"]);
    }
    let checked = disk.mount().then(|| {
        let report = check(&CheckOptions {
            directory: folder.to_owned(),
            log: world.path("witness.log"),
            verdict: world.path("no-verdict"),
            cut: CutKind::Detach,
        });
        report.unwrap().verdict
    });
    drop(disk);
    fs::remove_dir_all(&media).unwrap();
    checked
}

#[test]
fn a_file_system_on_an_honest_disk_keeps_what_it_acknowledged_and_on_a_lying_one_does_not() {
    let world = World::new();
    let folder = world.path("ext4");
    fs::create_dir_all(&folder).unwrap();
    let Some(record) = recorded(&world, &folder) else {
        return;
    };
    for cache in [CacheRule::PowerProtected, CacheRule::Volatile] {
        for seed in 0..SEEDS {
            let found = verdict(&world, &record, &folder, (cache, seed));
            let found = found.expect("a journal recovers on an honest disk");
            assert_eq!(found.storage().unwrap().substitute, Some(Substitute::Loop));
            let summary = found.summary();
            assert!(!summary.breaks_promise(), "{cache:?}, {seed}: {found:?}");
            let tallies = found.tallies();
            assert!(tallies.len() >= 20, "{tallies:?}");
        }
    }
    let lies = (0..SEEDS).filter(|seed| {
        let found = verdict(&world, &record, &folder, (CacheRule::Lying, *seed));
        found.is_none_or(|found| found.summary().breaks_promise())
    });
    assert!(lies.count() > 0, "no outcome of a lying disk lost anything");
}
