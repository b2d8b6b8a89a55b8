//! Recording of a drive, and the directory that a replay makes.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rand::RngExt;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use support::random_operations::{apply, contents, draw, seeded};
use support::{Drive, EXECUTABLE, memory_folder, options};
use tempfile::TempDir;
use weir_drive::{
    DriveProcess, Event, MountOptions, Operation, Recording, RecordingEnd, RecordingOptions,
    Replayer,
};
use weir_model::Bytes;
use weir_process::monotonic_ns;

/// A drive that records into `record` beside it.
fn recorded(change: impl FnOnce(&mut RecordingOptions)) -> Drive {
    let folder = memory_folder();
    mount(folder, "null", change)
}

fn mount(folder: TempDir, profile: &str, change: impl FnOnce(&mut RecordingOptions)) -> Drive {
    let mut recording = RecordingOptions::new(folder.path().join("record"));
    change(&mut recording);
    let options = MountOptions {
        recording: Some(recording),
        ..options(&folder, profile)
    };
    let process = DriveProcess::mount(Path::new(EXECUTABLE), &options).unwrap();
    Drive { process, folder }
}

/// Unmounts the drive; its folder and its recording.
fn finish(drive: Drive) -> (TempDir, Recording) {
    drive.process.unmount().unwrap();
    let recording = Recording::open(&drive.folder.path().join("record")).unwrap();
    (drive.folder, recording)
}

fn events(recording: &Recording) -> Vec<Event> {
    let events: Vec<_> = recording.events().collect::<Result<_, _>>().unwrap();
    assert_eq!(events.len() as u64, recording.event_count());
    for (number, pair) in events.windows(2).enumerate() {
        assert_eq!(pair[0].sequence, number as u64);
        assert!(pair[0].at_ns <= pair[1].at_ns);
    }
    events
}

/// A copy of `source` with links and modes, as `name` in `folder`.
fn copy(source: &Path, folder: &TempDir, name: &str) -> PathBuf {
    let copy = folder.path().join(name);
    let status = Command::new("cp").arg("-a").arg(source).arg(&copy).status();
    assert!(status.unwrap().success());
    copy
}

fn modes(root: &Path) -> Vec<(PathBuf, u32)> {
    let mode = |path: PathBuf| {
        let metadata = fs::symlink_metadata(root.join(&path)).unwrap();
        (path, metadata.permissions().mode())
    };
    contents(root).into_keys().map(mode).collect()
}

fn assert_same(found: &Path, wanted: &Path) {
    assert_eq!(modes(found), modes(wanted));
    assert!(contents(found) == contents(wanted), "contents differ");
}

fn replay(recording: &Recording, root: &Path) -> Replayer {
    let mut replayer = Replayer::new(root, recording.base());
    for event in recording.events() {
        replayer.apply(&event.unwrap()).unwrap();
    }
    replayer
}

#[test]
fn a_replay_onto_a_copy_of_the_start_gives_what_the_drive_holds() {
    let folder = memory_folder();
    let backing = folder.path().join("backing");
    fs::create_dir_all(backing.join("d")).unwrap();
    fs::write(backing.join("d/a"), [1; 5000]).unwrap();
    fs::hard_link(backing.join("d/a"), backing.join("b")).unwrap();
    std::os::unix::fs::symlink("d/a", backing.join("to-a")).unwrap();
    let base = copy(&backing, &folder, "base");
    let drive = mount(folder, "null", |_| {});
    let root = drive.path("");
    let mut random = seeded();
    // A file that stays open is written to also when it has no name any more.
    let held = drive.create("a", 0);
    for number in 0..2_000 {
        let _ = apply(&root, &draw(&mut random));
        if number % 10 == 0 {
            let bytes = vec![random.random(); 600];
            held.write_all_at(&bytes, random.random_range(0..100_000))
                .unwrap();
        }
    }
    beyond_the_generator(&drive);
    let (folder, recording) = finish(drive);
    assert_eq!(recording.ended(), RecordingEnd::Unmounted);
    assert_eq!((recording.profile(), recording.base().len()), ("null", 4));
    assert!(recording.ended_at_ns() > recording.started_at_ns());
    replay(&recording, &base);
    assert_same(&base, &folder.path().join("backing"));
}

/// Operations that `draw` does not draw: links, sockets, modes, exchanges and directories with
/// contents.
fn beyond_the_generator(drive: &Drive) {
    let path = |name: &str| drive.path(name);
    fs::create_dir_all(path("x/y")).unwrap();
    fs::write(path("x/y/t"), [2; 1000]).unwrap();
    fs::rename(path("x"), path("z")).unwrap();
    let file = drive.create("z/y/t", 0);
    file.write_all_at(&[3; 10], 500).unwrap();
    fs::set_permissions(path("z/y"), fs::Permissions::from_mode(0o1750)).unwrap();
    fs::set_permissions(path("z/y/t"), fs::Permissions::from_mode(0o604)).unwrap();
    std::os::unix::fs::symlink("nowhere", path("z/link")).unwrap();
    fs::remove_file(path("to-a")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(path("z/socket")).unwrap());
    fs::write(path("q"), "q").unwrap();
    renameat_with(CWD, path("z"), CWD, path("q"), RenameFlags::EXCHANGE).unwrap();
    fs::write(path("q/y/u"), "under its new name").unwrap();
    fs::create_dir(path("gone")).unwrap();
    fs::remove_dir(path("gone")).unwrap();
    // The tree is compared by reading it, which a socket would not survive.
    fs::remove_file(path("q/socket")).unwrap();
    fs::remove_file(path("q/link")).unwrap();
}

#[test]
fn a_part_of_a_write_is_replayed_alone_and_copies_go_on_by_themselves() {
    let drive = recorded(|_| {});
    let file = drive.create("t.ibd", 0);
    file.write_all_at(&[1; 16_384], 0).unwrap();
    file.write_all_at(&[2; 16_384], 0).unwrap();
    fs::rename(drive.path("t.ibd"), drive.path("u.ibd")).unwrap();
    let (folder, recording) = finish(drive);
    let events = events(&recording);
    let [first, second] = [0, 1].map(|number| {
        let is_write = |event: &&Event| matches!(event.operation, Operation::Write { .. });
        events.iter().filter(is_write).nth(number).unwrap()
    });
    let root = folder.path().join("replayed");
    fs::create_dir(&root).unwrap();
    let mut replayer = Replayer::new(&root, recording.base());
    for event in &events[..second.sequence as usize] {
        replayer.apply(event).unwrap();
    }
    let branch = copy(&root, &folder, "branch");
    let mut torn = replayer.rebased(&branch);
    let Operation::Write {
        file, offset, data, ..
    } = &second.operation
    else {
        panic!("{first:?} {second:?}");
    };
    torn.write_part(*file, offset + 512, &data.part(512, 1024))
        .unwrap();
    assert_eq!(torn.path(*file), Some("t.ibd".into()));
    torn.apply(events.last().unwrap()).unwrap();
    let found = fs::read(branch.join("u.ibd")).unwrap();
    let mut wanted = [1; 16_384];
    wanted[512..1536].fill(2);
    assert!(found == wanted);
    assert_eq!(fs::read(root.join("t.ibd")).unwrap(), [1; 16_384]);
}

#[test]
fn a_done_stands_between_what_it_answers_and_what_the_client_did_next() {
    let folder = memory_folder();
    let slow = [
        ("latency_us = 1\n", "latency_us = 200\n"),
        ("[write]\nlatency_us = 1\n", "[write]\nlatency_us = 300\n"),
    ];
    let profile = support::write_profile(folder.path(), &slow);
    let drive = mount(folder, profile.to_str().unwrap(), |_| {});
    let began = monotonic_ns();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let drive = &drive;
            scope.spawn(move || {
                let flags = (libc::O_DSYNC * (thread % 2)) | (libc::O_DIRECT * (thread / 2));
                let file = drive.create(&format!("t{thread}"), flags);
                for number in 0..25 {
                    file.write_all_at(&[thread as u8; 512], number * 512)
                        .unwrap();
                    file.sync_all().unwrap();
                }
            });
        }
    });
    let ended = monotonic_ns();
    fs::File::open(drive.path("")).unwrap().sync_all().unwrap();
    let (_folder, recording) = finish(drive);
    assert_steps_of_each_file_alternate(&events(&recording), began..ended);
}

fn assert_steps_of_each_file_alternate(events: &[Event], times: std::ops::Range<u64>) {
    let mut unanswered = HashMap::new();
    let mut steps: HashMap<u64, usize> = HashMap::new();
    for event in events {
        match &event.operation {
            Operation::Write {
                file, opened, data, ..
            } => {
                assert!(times.contains(&event.at_ns));
                let thread = data.read().unwrap()[0];
                assert_eq!(
                    (opened.durable, opened.direct),
                    (thread % 2 == 1, thread >= 2)
                );
                assert_eq!(steps.entry(*file).or_default(), &0);
                assert!(unanswered.insert(event.sequence, *file).is_none());
                steps.insert(*file, 1);
            }
            Operation::Flush { file } => {
                assert!(unanswered.insert(event.sequence, *file).is_none());
                // The root's flush comes alone, at the end.
                assert_eq!(steps.insert(*file, 3), (*file != 1).then_some(2));
            }
            Operation::Done { sequence } => {
                let file = unanswered.remove(sequence).unwrap();
                let step = steps.get_mut(&file).unwrap();
                *step = (*step + 1) % 4;
            }
            _ => {}
        }
    }
    assert!(unanswered.is_empty(), "{unanswered:?}");
    assert_eq!(steps.len(), 5);
    assert!(steps.values().all(|step| *step == 0), "{steps:?}");
}

#[test]
fn at_its_limit_the_recording_ends_and_the_drive_goes_on() {
    let drive = recorded(|recording| recording.limit = Bytes(1 << 20));
    let file = drive.create("t", 0);
    for number in 0..40 {
        file.write_all_at(&vec![number + 1; 65_536], u64::from(number) * 65_536)
            .unwrap();
    }
    assert_eq!(fs::read(drive.path("t")).unwrap()[39 << 16], 40);
    let (folder, recording) = finish(drive);
    assert_eq!(recording.ended(), RecordingEnd::Limit);
    let record = folder.path().join("record");
    let bytes = |name: &str| record.join(name).metadata().unwrap().len();
    let both = bytes("events") + bytes("data");
    assert!((900 << 10..=1 << 20).contains(&both), "{both}");
    let writes = |event: &Event| matches!(event.operation, Operation::Write { .. });
    assert_eq!(
        events(&recording)
            .iter()
            .filter(|event| writes(event))
            .count(),
        15
    );
}

#[test]
fn a_recording_cut_short_is_read_up_to_its_last_whole_event() {
    let drive = recorded(|_| {});
    let file = drive.create("t", 0);
    for number in 0..20 {
        file.write_all_at(&[7; 4096], number * 4096).unwrap();
    }
    let record = drive.folder.path().join("record");
    let patience = Instant::now() + Duration::from_secs(20);
    // One name, and a write with its answer each.
    while Recording::open(&record).map_or(0, |recording| recording.event_count()) < 41 {
        assert!(
            Instant::now() < patience,
            "nothing is written while the drive is mounted"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_raw(drive.process.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    drop(file);
    let (folder, recording) = finish(drive);
    assert_eq!(
        (recording.ended(), recording.event_count()),
        (RecordingEnd::CutShort, 41)
    );
    let whole = fs::read(record.join("events")).unwrap();
    let mut counts = Vec::new();
    for bytes in (whole.len() - 400)..whole.len() {
        fs::write(record.join("events"), &whole[..bytes]).unwrap();
        let cut = Recording::open(&record).unwrap();
        assert_eq!(
            (cut.ended(), events(&cut).len() as u64),
            (RecordingEnd::CutShort, cut.event_count())
        );
        counts.push(cut.event_count());
    }
    assert!(
        counts.is_sorted() && counts[0] < 38 && counts.last() == Some(&40),
        "{counts:?}"
    );
    // Without its data a write is not whole.
    fs::write(record.join("events"), &whole).unwrap();
    let data = fs::File::options()
        .write(true)
        .open(record.join("data"))
        .unwrap();
    data.set_len(4096 * 19 + 1).unwrap();
    assert_eq!(Recording::open(&record).unwrap().event_count(), 39);
    drop(folder);
}

#[test]
fn what_is_no_recording_is_told_in_one_line() {
    let (folder, _) = finish(recorded(|_| {}));
    let record = folder.path().join("record");
    let whole = fs::read(record.join("events")).unwrap();
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = whole.clone();
        change(&mut changed);
        fs::write(record.join("events"), changed).unwrap();
        let error = Recording::open(&record).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    };
    assert!(error(&|file| file[0] = 0).contains("is not the beginning of a recording"));
    assert!(error(&|file| file.truncate(5)).contains("is not the beginning of a recording"));
    assert!(error(&|file| file[8] = 9).contains("version 9, this weir reads 2"));
    assert!(error(&|file| file[16] = 200).contains("the record at byte 12 is malformed"));
    assert!(error(&|file| file.truncate(20)).contains("does not name its drive"));
    fs::remove_file(record.join("data")).unwrap();
    let missing = Recording::open(&record).unwrap_err().to_string();
    assert!(missing.contains("record/data"), "{missing}");
}

#[test]
fn a_recording_is_neither_written_over_nor_into_the_drive_itself() {
    let (folder, _) = finish(recorded(|_| {}));
    std::os::unix::fs::symlink("backing", folder.path().join("link")).unwrap();
    for (name, said) in [
        ("record", "a recording is there already"),
        ("backing/record", "outside of the drive and its backing"),
        ("mount/record/new", "outside of the drive and its backing"),
        ("link/record", "outside of the drive and its backing"),
    ] {
        let options = MountOptions {
            recording: Some(RecordingOptions::new(folder.path().join(name))),
            ..options(&folder, "null")
        };
        let refused = DriveProcess::mount(Path::new(EXECUTABLE), &options);
        let error = refused.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(error.lines().count(), 1);
        assert!(!weir_process::is_mounted(&options.mountpoint));
        assert!(name == "record" || !folder.path().join(name).exists());
    }
}
