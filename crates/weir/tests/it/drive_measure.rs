//! `weir drive measure`: on emulated drives, whose figures are known, and on this machine's disk.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Child;

use toml::Table;

use crate::harness::{Output, Weir, World, signal, wait_until};

/// Mounts a shipped drive at full speed.
fn mounted(world: &World, profile: &str) -> Child {
    let [dir, backing] = ["drive", "backing"].map(|name| world.path(name));
    let mount = [
        "drive",
        "mount",
        profile,
        dir.to_str().unwrap(),
        "--backing",
    ];
    let child = Weir::in_world(world).args(mount).args([backing]).spawn();
    wait_until("the drive is mounted", || !world.mounts().is_empty());
    child
}

/// What a measurement of the mounted drive prints, and the drive is unmounted.
fn measured(profile: &str) -> Table {
    let world = World::new();
    let child = mounted(&world, profile);
    let dir = world.path("drive");
    let limits = ["--budget", "12s", "--size", "64M", "--write-limit", "1G"];
    let measure = Weir::in_world(&world).args(["drive", "measure"]);
    let output = measure.args([&dir]).args(limits).succeeds();
    let left: Vec<_> = fs::read_dir(&dir).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(output.stderr.contains("are written"), "{}", output.stderr);
    let unmount = Weir::in_world(&world).args(["drive", "unmount"]);
    unmount.args([&dir]).succeeds();
    let _ = child.wait_with_output().unwrap();
    world.assert_nothing_left();
    // A drive is mounted with what was printed.
    let mine = world.write("mine.toml", &output.stdout);
    let show = Weir::new().args(["drive", "show"]).args([mine]).succeeds();
    assert!(show.stdout.contains("measured: "), "{}", show.stdout);
    output.stdout.parse().unwrap()
}

fn figure(profile: &Table, key: &str) -> f64 {
    let path: Vec<&str> = key.split('.').collect();
    let (last, sections) = path.split_last().unwrap();
    let section = sections
        .iter()
        .fold(profile, |at, name| at[*name].as_table().unwrap());
    let value = &section[*last];
    value
        .as_float()
        .or(value.as_integer().map(|value| value as f64))
        .unwrap()
}

/// A busy machine adds to what the drive takes; without it both are a tenth, as in virtual time.
#[track_caller]
fn assert_latency(profile: &Table, key: &str, wanted: f64) {
    let found = figure(profile, key);
    assert!(
        (0.9..1.4).contains(&(found / wanted)),
        "{key}: {found}, not {wanted}"
    );
}

/// A busy machine takes from what the drive can do in a second.
#[track_caller]
fn assert_rate(profile: &Table, key: &str, wanted: f64) {
    let found = figure(profile, key);
    assert!(
        (0.7..1.1).contains(&(found / wanted)),
        "{key}: {found}, not {wanted}"
    );
}

/// Slow enough for this machine to emulate them within the figures that are compared.
#[test]
fn a_cloud_volume_is_measured_as_its_profile_says() {
    let found = measured("aws-gp3");
    assert_latency(&found, "read.latency_us", 1_000.0);
    assert_latency(&found, "write.latency_us", 1_000.0);
    assert_rate(&found, "throttle.iops.base", 3_000.0);
    assert_rate(&found, "throttle.mb_per_s.base", 131.0);
    assert_eq!(found["write"]["cache"].as_str(), Some("power-protected"));
    let source = found["sources"]["read.iops_max"].as_str().unwrap();
    assert!(
        source.contains("a limit of the provider hides it"),
        "{source}"
    );
}

#[test]
fn a_volatile_cache_and_its_slow_flush_are_measured() {
    let found = measured("intel-x25e-32gb");
    assert_latency(&found, "flush.latency_us", 20_000.0);
    assert_rate(&found, "write.bandwidth_mb_per_s", 170.0);
    assert_rate(&found, "write.iops_max_random", 3_300.0);
    assert_eq!(found["write"]["cache"].as_str(), Some("volatile"));
}

#[test]
fn ctrl_c_prints_what_was_measured_and_leaves_no_file() {
    let world = World::new();
    let dir = world.path("disk");
    fs::create_dir(&dir).unwrap();
    let measure = Weir::in_world(&world)
        .args(["drive", "measure"])
        .args([&dir]);
    let limits = ["--budget", "20s", "--size", "64M", "--write-limit", "256M"];
    let mut child = measure.args(limits).spawn();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    lines
        .find(|line| line.as_ref().unwrap().starts_with("round 2"))
        .unwrap()
        .unwrap();
    signal(child.id(), "INT");
    // Nothing more is read: what it says must fit into the pipe.
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(130));
    let found: Table = output.stdout.parse().unwrap();
    assert!(figure(&found, "read.latency_us") > 0.0);
    assert!(
        output.stdout.contains("Ended by the user"),
        "{}",
        output.stdout
    );
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

#[test]
fn a_file_of_the_users_is_never_overwritten() {
    let world = World::new();
    let file = world.write("precious", "data");
    let error = Weir::new().args(["drive", "measure"]).args([&file]).fails();
    assert!(
        error.contains("precious") && error.contains("new file"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "data");
    let dir = world.home.path();
    let short = Weir::new().args(["drive", "measure"]).args([dir]);
    let error = short.args(["--budget", "1s"]).fails();
    assert!(error.contains("--budget"), "{error}");
}
