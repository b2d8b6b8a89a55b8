//! `weir drive`.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Child;

use serde_json::Value;

use crate::harness::{Output, Weir, World, signal, wait_until};

fn mounted(world: &World, profile: &str) -> Child {
    let [dir, backing] = ["drive", "backing"].map(|name| world.path(name));
    let child = Weir::in_world(world)
        .args(["drive", "mount", profile, dir.to_str().unwrap()])
        .args([
            "--backing",
            backing.to_str().unwrap(),
            "--drive-scale",
            "1/25",
        ])
        .spawn();
    wait_until("the drive is mounted", || !world.mounts().is_empty());
    wait_until("the drive answers", || stat(world).is_some());
    child
}

fn stat(world: &World) -> Option<Value> {
    let dir = world.path("drive");
    let stat = ["drive", "stat", dir.to_str().unwrap(), "--json"];
    let output = Weir::in_world(world).args(stat).output();
    serde_json::from_str(&output.stdout).ok()
}

#[test]
fn a_drive_is_mounted_counted_and_unmounted() {
    let world = World::new();
    let child = mounted(&world, "intel-p4610");
    fs::write(world.path("drive/ibdata1"), vec![7; 65_536]).unwrap();
    assert_eq!(
        fs::read(world.path("drive/ibdata1")).unwrap(),
        vec![7; 65_536]
    );
    let counted = &stat(&world).unwrap()["by_kind"]["data"];
    assert_eq!(counted["write_bytes"], 65_536);
    assert!(counted["reads"].as_u64().unwrap() >= 1);
    let text = Weir::in_world(&world)
        .args(["drive", "stat"])
        .args([world.path("drive")])
        .succeeds();
    assert!(
        text.stdout.contains("emulation: completions late by"),
        "{}",
        text.stdout
    );
    Weir::in_world(&world)
        .args(["drive", "unmount"])
        .args([world.path("drive")])
        .succeeds();
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    world.assert_nothing_left();
    assert_eq!(
        fs::read(world.path("backing/ibdata1")).unwrap(),
        vec![7; 65_536]
    );
}

#[test]
fn a_drive_is_made_to_fail_and_healed() {
    let world = World::new();
    let child = mounted(&world, "intel-p4610");
    let dir = world.path("drive");
    let set = |settings: &[&str]| {
        let weir = Weir::in_world(&world).args(["drive", "set"]).args([&dir]);
        weir.args(settings)
    };
    let now = set(&["error_rate=1", "error_files=*.ibd"]).succeeds();
    assert!(
        now.stdout.contains("error_files = \"*.ibd\""),
        "{}",
        now.stdout
    );
    assert!(fs::write(dir.join("t.ibd"), "x").is_err());
    fs::write(dir.join("other"), "x").unwrap();
    let shown = Weir::in_world(&world).args(["drive", "stat"]).args([&dir]);
    let shown = shown.succeeds().stdout;
    assert!(
        shown.contains("faults: SET") && shown.contains("1 errors"),
        "{shown}"
    );
    assert!(
        set(&["eror_rate=1"])
            .fails()
            .contains("did you mean `error_rate`?")
    );
    assert!(set(&["error_rate"]).fails().contains("not KEY=VALUE"));
    set(&["reset"]).succeeds();
    fs::write(dir.join("t.ibd"), "x").unwrap();
    signal(child.id(), "TERM");
    assert_eq!(
        Output::from(child.wait_with_output().unwrap()).code,
        Some(0)
    );
}

#[test]
fn a_drive_is_recorded_and_the_recording_read() {
    let world = World::new();
    let child = mounted(&world, "intel-p4610");
    let (dir, file) = (world.path("drive"), world.path("trace"));
    let recorder = recorder(&world, &file);
    fs::write(dir.join("ibdata1"), vec![7; 65_536]).unwrap();
    signal(recorder.id(), "INT");
    let recorded = Output::from(recorder.wait_with_output().unwrap());
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    assert!(recorded.stdout.ends_with("operations recorded, 0 lost\n"));
    let read = |more: &[&str]| {
        let weir = Weir::new().args(["drive", "trace"]).args([&file]);
        weir.args(more).succeeds().stdout
    };
    let summary = read(&[]);
    assert!(
        summary.contains("data") && summary.contains("64K"),
        "{summary}"
    );
    let listed = read(&["--print"]);
    assert!(
        listed.contains("\twrite\t0\t65536\tdata\tibdata1\n"),
        "{listed}"
    );
    let error = Weir::new().args(["predict", "trace"]).args([&file]).fails();
    assert!(error.contains("say too little about how often"), "{error}");
    fs::write(&file, "no trace").unwrap();
    let error = Weir::new().args(["drive", "trace"]).args([&file]).fails();
    assert!(error.contains("is no trace of a drive"), "{error}");
    a_recording_ends_with_its_drive(&world, child);
}

fn a_recording_ends_with_its_drive(world: &World, mut drive: Child) {
    let file = world.path("to-the-end");
    let recorder = recorder(world, &file);
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    fs::write(world.path("drive/ibdata2"), vec![7; 16_384]).unwrap();
    signal(drive.id(), "TERM");
    assert_eq!(drive.wait().unwrap().code(), Some(0));
    let recorded = Output::from(recorder.wait_with_output().unwrap());
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    assert!(
        recorded.stdout.contains("the drive was unmounted"),
        "{}",
        recorded.stdout
    );
    let trace = Weir::new()
        .args(["drive", "trace"])
        .args([&file])
        .args(["--print"]);
    assert!(trace.succeeds().stdout.contains("\tibdata2\n"));
}

/// A recording of the drive that is mounted, which has begun.
fn recorder(world: &World, file: &Path) -> Child {
    let mut recorder = Weir::in_world(world)
        .args(["drive", "trace"])
        .args([world.path("drive")])
        .args(["--out"])
        .args([file])
        .spawn();
    let mut told = BufReader::new(recorder.stderr.take().unwrap()).lines();
    let begun = told.next().unwrap().unwrap();
    assert!(begun.starts_with("recording into "), "{begun}");
    recorder
}

#[test]
fn ctrl_c_unmounts_also_while_a_file_is_open() {
    let world = World::new();
    let child = mounted(&world, "scaleflux-csd2000");
    let open = fs::File::create(world.path("drive/open")).unwrap();
    signal(child.id(), "INT");
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    world.assert_nothing_left();
    drop(open);
}

#[test]
fn a_killed_drive_is_found_by_clean() {
    let world = World::new();
    let mut child = mounted(&world, "intel-p4610");
    fs::write(world.path("drive/ibdata1"), "acknowledged").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(world.mounts().len(), 1, "nobody could unmount it");
    let output = Weir::in_world(&world).args(["clean"]).succeeds();
    assert!(output.stdout.contains("unmounted"), "{}", output.stdout);
    world.assert_nothing_left();
    let child = mounted(&world, "intel-p4610");
    assert_eq!(
        fs::read(world.path("drive/ibdata1")).unwrap(),
        b"acknowledged"
    );
    fs::write(world.path("drive/ibdata1"), "and written again").unwrap();
    signal(child.id(), "TERM");
    assert_eq!(
        Output::from(child.wait_with_output().unwrap()).code,
        Some(0)
    );
}

#[test]
fn a_living_drive_is_not_touched_by_clean() {
    let world = World::new();
    let child = mounted(&world, "intel-p4610");
    let output = Weir::in_world(&world).args(["clean"]).succeeds();
    assert_eq!(output.stdout, "nothing was left behind\n");
    assert!(stat(&world).is_some());
    signal(child.id(), "TERM");
    assert_eq!(
        Output::from(child.wait_with_output().unwrap()).code,
        Some(0)
    );
}

#[test]
fn profiles_are_listed_and_shown_with_their_sources() {
    let list = Weir::new().args(["drive", "list"]).succeeds();
    for name in ["intel-p4610", "scaleflux-csd2000", "null"] {
        assert!(list.stdout.contains(name), "{}", list.stdout);
    }
    let shown = Weir::new()
        .args(["drive", "show", "intel-p4610"])
        .succeeds();
    assert!(shown.stdout.contains("[sources]") && shown.stdout.contains("iops_max"));
}

#[test]
fn a_shown_profile_is_told_in_words_and_is_a_profile_itself() {
    let world = World::new();
    let show = |profile: &str| {
        let weir = Weir::in_world(&world).args(["drive", "show", profile]);
        weir.succeeds().stdout
    };
    let shown = show("alibaba-essd-pl1-io-acceleration");
    for words in [
        "# Volume's limit, operations: 50,000 per s",
        "# Drive in front as a cache: intel-p4610",
        "# Write buffer's content: survives a power cut, its maker says",
        "# Largest write that its maker says is never torn: 512 bytes",
        "# Faults: none until `weir drive set`",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let mine = world.write("mine.toml", &shown);
    assert_eq!(
        show(mine.to_str().unwrap()).replace("name = \"mine\"", ""),
        shown.replace("name = \"alibaba-essd-pl1-io-acceleration\"", "")
    );
}

#[test]
fn what_is_no_drive_is_named() {
    let world = World::new();
    let dir = world.path("drive");
    let mount = |profile: &str| {
        Weir::in_world(&world)
            .args([
                "drive",
                "mount",
                profile,
                dir.to_str().unwrap(),
                "--backing",
            ])
            .args([world.path("backing")])
            .fails()
    };
    assert!(mount("intel-p461").contains("intel-p4610"));
    let broken = world.write("broken.toml", "title = 1\n");
    let error = mount(broken.to_str().unwrap());
    assert!(error.contains("line 1"), "{error}");
    let error = Weir::in_world(&world)
        .args(["drive", "stat"])
        .args([world.path("none")])
        .fails();
    assert!(error.contains("none"), "{error}");
    world.assert_nothing_left();
}

/// A drive with a volatile cache, which holds the file `old`, mounted to be recorded.
fn recorded(world: &World, more: &[&str]) -> Child {
    let [dir, backing, record] = ["drive", "backing", "record"].map(|name| world.path(name));
    fs::create_dir_all(&backing).unwrap();
    fs::write(backing.join("old"), "from before").unwrap();
    let child = Weir::in_world(world)
        .args(["drive", "mount", "consumer-tlc"])
        .args([&dir, Path::new("--backing"), &backing])
        .args([Path::new("--record"), &record])
        .args(more)
        .spawn();
    wait_until("the drive answers", || stat(world).is_some());
    child
}

#[test]
fn a_power_cut_takes_back_what_was_not_flushed() {
    let world = World::new();
    let child = recorded(&world, &["--record-base"]);
    let dir = world.path("drive");
    let page = vec![7; 16_384];
    for name in ["flushed.ibd", "not-flushed.ibd"] {
        let mut file = fs::File::create(dir.join(name)).unwrap();
        for _ in 0..32 {
            file.write_all(&page).unwrap();
        }
        if name == "flushed.ibd" {
            file.sync_data().unwrap();
        }
    }
    let cut = Weir::in_world(&world).args(["drive", "cut"]).args([&dir]);
    let said = cut.args(["--json", "--seed", "4"]).succeeds().stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["undecided"], 32, "{said}");
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    world.assert_nothing_left();
    let media = Path::new(said["media"].as_str().unwrap());
    let survived = |name: &str| fs::read(media.join(name)).unwrap();
    assert_eq!(survived("old"), b"from before");
    assert_eq!(survived("flushed.ibd"), page.repeat(32));
    let rest = survived("not-flushed.ibd");
    assert_ne!(rest, page.repeat(32), "nothing was lost");
    assert!(rest.iter().all(|byte| [0, 7].contains(byte)));
    let told = fs::read(world.path("backing/not-flushed.ibd")).unwrap();
    assert_eq!(told, page.repeat(32), "the backing holds all that was told");
}

#[test]
fn a_drive_that_was_not_prepared_for_it_refuses_to_be_cut_and_goes_on() {
    let world = World::new();
    let child = recorded(&world, &[]);
    let dir = world.path("drive");
    let refused = Weir::in_world(&world).args(["drive", "cut"]).args([&dir]);
    assert!(refused.fails().contains("--record-base"));
    assert_eq!(fs::read(dir.join("old")).unwrap(), b"from before");
    signal(child.id(), "TERM");
    assert_eq!(
        Output::from(child.wait_with_output().unwrap()).code,
        Some(0)
    );
}

#[test]
fn a_recorded_drive_leaves_a_recording_of_the_asked_size() {
    let world = World::new();
    let [dir, backing, record] = ["drive", "backing", "record"].map(|name| world.path(name));
    let child = Weir::in_world(&world)
        .args(["drive", "mount", "null"])
        .args([&dir, Path::new("--backing"), &backing])
        .args([Path::new("--record"), &record])
        .args(["--record-limit", "1M"])
        .spawn();
    wait_until("the drive answers", || stat(&world).is_some());
    for _ in 0..20 {
        fs::write(dir.join("t.ibd"), vec![7; 100_000]).unwrap();
    }
    Weir::in_world(&world)
        .args(["drive", "unmount"])
        .args([&dir])
        .succeeds();
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let recording = weir_drive::Recording::open(&record).unwrap();
    assert_eq!(recording.ended(), weir_drive::RecordingEnd::Limit);
    assert!(recording.event_count() > 20);
    world.assert_nothing_left();
}
