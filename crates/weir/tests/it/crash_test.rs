//! `weir crash-test` on both flavours, small: what tears is found, what cannot tear is not.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Output, Weir, World, signal, wait_until};

#[test]
fn torn_pages_are_found_and_made_again_on_mysql() {
    torn_pages_are_found_and_made_again("mysql");
}

#[test]
fn torn_pages_are_found_and_made_again_on_mariadb() {
    torn_pages_are_found_and_made_again("mariadb");
}

#[test]
fn atomic_writes_hold_without_doublewrite_on_mysql() {
    atomic_writes_hold_without_doublewrite("mysql");
}

#[test]
fn atomic_writes_hold_without_doublewrite_on_mariadb() {
    atomic_writes_hold_without_doublewrite("mariadb");
}

/// A small database that never fits the pool.
const SMALL: [&str; 7] = [
    "--rows=3000",
    "--seconds=3",
    "--clients=4",
    "--set=innodb_buffer_pool_size=6M",
    "--seed=7",
    "--doublewrite=off",
    "--json",
];

fn crash_test(world: &World, flavor: &str, out: &Path, more: &[&str]) -> Output {
    let command = ["crash-test", "--server", flavor, "--out"].map(Into::into);
    let arguments = command.into_iter().chain([out.into()]);
    let options = SMALL.iter().chain(more).map(Into::into);
    Weir::in_world(world)
        .args(
            arguments
                .chain(options)
                .collect::<Vec<std::ffi::OsString>>(),
        )
        .output()
}

/// A drive that keeps sectors whole and no more: doublewrite off cannot hold.
fn torn_pages_are_found_and_made_again(flavor: &str) {
    let world = World::new();
    let out = world.path("test");
    let output = crash_test(&world, flavor, &out, &["--atomic=512", "--states=100"]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let test: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(test["verdict"]["verdict"], "failed", "{}", test["tally"]);
    assert!(test["control"].is_null(), "such a drive is its own control");
    assert!(test["tally"]["torn"].as_u64().unwrap() > 0);

    let failed = test["verdict"]["state"].as_u64().unwrap();
    let state = &test["states"][failed as usize - 1];
    let again = Weir::in_world(&world)
        .args(["crash-test", "--replay", out.to_str().unwrap(), "--state"])
        .args([failed.to_string()])
        .succeeds();
    assert!(again.stdout.contains("the same bytes"), "{}", again.stdout);
    let torn = state["truth"]["torn_pages"].as_array().unwrap();
    for page in torn {
        assert!(again.stdout.contains(page.as_str().unwrap()));
    }
    let kept = out.join(format!("state-{failed}"));
    assert!(kept.join("data").is_dir());
    world.assert_nothing_left();

    let message = Weir::in_world(&world)
        .args([
            "crash-test",
            "--replay",
            out.to_str().unwrap(),
            "--state",
            "999",
        ])
        .fails();
    assert!(message.contains("no such crash state: 999"), "{message}");
    a_second_test_in_the_folder_and_a_cut_recording_are_refused(&world, flavor, &out, failed);
    world.assert_nothing_left();
}

fn a_second_test_in_the_folder_and_a_cut_recording_are_refused(
    world: &World,
    flavor: &str,
    out: &Path,
    state: u64,
) {
    let second = crash_test(world, flavor, out, &["--atomic=512"]);
    assert_eq!(second.code, Some(1));
    let message = "there is a crash test in this folder already";
    assert!(second.stderr.contains(message), "{}", second.stderr);

    let events = out.join("recording/recording/events");
    let bytes = fs::metadata(&events).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&events).unwrap();
    file.set_len(bytes / 2).unwrap();
    fs::remove_dir_all(out.join(format!("state-{state}"))).unwrap();
    let message = Weir::in_world(world)
        .args(["crash-test", "--replay", out.to_str().unwrap(), "--state"])
        .args([state.to_string()])
        .fails();
    assert!(message.contains("the recording is cut short"), "{message}");
}

/// A drive whose writes of a page are atomic and safe when completed; the control shows that the
/// same test finds damage without that.
fn atomic_writes_hold_without_doublewrite(flavor: &str) {
    let world = World::new();
    let out = world.path("test");
    let output = crash_test(
        &world,
        flavor,
        &out,
        &["--drive=scaleflux-csd2000", "--states=10"],
    );
    let test: Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", output.stdout, output.stderr));
    assert_eq!(test["verdict"]["verdict"], "held", "{:#}", test["states"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(test["tally"]["torn"], 0);
    assert!(test["control"]["damaged"]["states"].as_u64().unwrap() > 0);
    assert!(test["commits"].as_u64().unwrap() > 0);
    world.assert_nothing_left();
}

#[test]
fn rubbish_in_one_line() {
    let world = World::new();
    let fails = |arguments: &[&str]| {
        let all = ["crash-test"].iter().chain(arguments);
        Weir::in_world(&world).args(all).fails()
    };
    let message = fails(&["--drive", "no-such-drive"]);
    assert!(message.contains("no-such-drive"), "{message}");
    let message = fails(&["--set", "nonsense"]);
    assert!(message.contains("--set nonsense: no value"), "{message}");
    let message = fails(&["--server", "mariadb", "--doublewrite", "detect_only"]);
    assert!(message.contains("mariadb 10.11"), "{message}");
    assert!(message.contains("knows ON, OFF"), "{message}");
    let folder = world.path("folder");
    fs::create_dir(&folder).unwrap();
    let message = fails(&["--replay", folder.to_str().unwrap(), "--state", "1"]);
    assert!(message.contains("crash-test.json"), "{message}");
    world.assert_nothing_left();
}

#[test]
fn a_folders_storage_is_described() {
    let world = World::new();
    let output = Weir::in_world(&world)
        .args(["crash-test", "--path", world.home.path().to_str().unwrap()])
        .succeeds();
    for part in ["O_DIRECT", "what this proves", "what it cannot prove"] {
        assert!(output.stdout.contains(part), "{}", output.stdout);
    }
}

#[test]
fn ctrl_c_while_states_are_judged_leaves_nothing_running() {
    let world = World::new();
    let out = world.path("test");
    let command = [
        "crash-test",
        "--server",
        "mariadb",
        "--all",
        "--states=5000",
        "--out",
    ];
    let test = Weir::in_world(&world)
        .args(command)
        .args([out.to_str().unwrap()])
        .args(SMALL)
        .spawn();
    // Written when the recording is done: from then on states are made and judged.
    let recorded = out.join("recording/ledger.json");
    wait_until("recording done", || recorded.exists());
    signal(test.id(), "INT");
    let output = Output::from(test.wait_with_output().unwrap());
    assert_eq!(output.code, Some(130), "{}", output.stderr);
    assert!(
        output.stderr.contains("stopped: no verdict"),
        "{}",
        output.stderr
    );
    world.assert_nothing_left();
}
