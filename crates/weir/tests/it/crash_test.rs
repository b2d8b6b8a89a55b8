//! `weir crash-test` on both flavours, small: what tears is found, what cannot tear is not.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use weir_model::Flavor;
use weir_server::{PrivateServer, StartOptions};

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

#[test]
fn order_entry_is_a_second_judge_on_mysql() {
    order_entry_is_a_second_judge(Flavor::Mysql);
}

#[test]
fn order_entry_is_a_second_judge_on_mariadb() {
    order_entry_is_a_second_judge(Flavor::Mariadb);
}

/// A small database that never fits the pool.
const SMALL: [&str; 6] = [
    "--rows=3000",
    "--seconds=3",
    "--clients=4",
    "--set=innodb_buffer_pool_size=6M",
    "--seed=7",
    "--doublewrite=off",
];

fn crash_test(world: &World, flavor: &str, out: &Path, more: &[&str]) -> Output {
    let command = ["crash-test", "run", "--server", flavor, "--out"].map(Into::into);
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
    let output = crash_test(
        &world,
        flavor,
        &out,
        &["--atomic=512", "--states=100", "--json"],
    );
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let test: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(test["verdict"]["verdict"], "failed", "{}", test["tally"]);
    assert!(test["control"].is_null(), "such a drive is its own control");
    assert!(test["tally"]["torn"].as_u64().unwrap() > 0);

    let failed = test["verdict"]["state"].as_u64().unwrap();
    let state = &test["states"][failed as usize - 1];
    let again = Weir::in_world(&world)
        .args(["crash-test", "replay", out.to_str().unwrap(), "--state"])
        .args([failed.to_string()])
        .succeeds();
    assert!(again.stdout.contains("the same bytes"), "{}", again.stdout);
    let torn = state["truth"]["torn_pages"].as_array().unwrap();
    for page in torn {
        let (file, number) = (page["file"].as_str().unwrap(), &page["page"]);
        assert!(again.stdout.contains(&format!("{file}: page {number}")));
    }
    let kept = out.join(format!("state-{failed}"));
    assert!(kept.join("data").is_dir());
    world.assert_nothing_left();

    let message = Weir::in_world(&world)
        .args([
            "crash-test",
            "replay",
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
        .args(["crash-test", "replay", out.to_str().unwrap(), "--state"])
        .args([state.to_string()])
        .fails();
    assert!(message.contains("the recording is cut short"), "{message}");
}

/// A drive whose writes of a page are atomic and safe when completed; the control shows that the
/// same test finds damage without that. A study that quotes the test need not take the drive's word.
fn atomic_writes_hold_without_doublewrite(flavor: &str) {
    let world = World::new();
    let out = world.path("test");
    let output = crash_test(
        &world,
        flavor,
        &out,
        &["--drive=scaleflux-csd2000", "--states=10"],
    );
    let test = fs::read(out.join("crash-test.json"))
        .unwrap_or_else(|_| panic!("{}{}", output.stdout, output.stderr));
    let test: Value = serde_json::from_slice(&test).unwrap();
    assert_eq!(test["verdict"]["verdict"], "held", "{:#}", test["states"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(test["tally"]["torn"], 0);
    assert!(test["control"]["damaged"]["states"].as_u64().unwrap() > 0);
    assert!(test["commits"].as_u64().unwrap() > 0);
    world.assert_nothing_left();

    let begin = output.stdout.find("[[crash_tests]]").unwrap();
    let quotation = &output.stdout[begin..];
    let unproven = "no power-cut test";
    assert!(plan_without_doublewrite(&world, flavor, "").contains(unproven));
    let plan = plan_without_doublewrite(&world, flavor, quotation);
    assert!(!plan.contains(unproven), "{plan}");
    // It was an emulated drive that was cut.
    let word = "that a real one does is a vendor claim";
    assert!(
        plan.contains(word)
            && output
                .stdout
                .contains("Of a real drive of that name it says nothing"),
        "{plan}"
    );
}

/// The twelve conditions hold in all states of a drive that keeps pages whole; in one where a row was changed behind
/// the server's back they do not.
fn order_entry_is_a_second_judge(flavor: Flavor) {
    let world = World::new();
    let out = world.path("test");
    let name = flavor.to_string();
    let output = crash_test(
        &world,
        &name,
        &out,
        &["--drive=scaleflux-csd2000", "--states=6", "--order-entry=1"],
    );
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    let words = "transactions of order entry recorded";
    assert!(output.stdout.contains(words), "{}", output.stdout);
    let test = fs::read(out.join("crash-test.json")).unwrap();
    let test: Value = serde_json::from_slice(&test).unwrap();
    assert!(test["order_entry_transactions"].as_u64().unwrap() > 0);
    assert_eq!(test["states"].as_array().unwrap().len(), 6);

    let state = out.join("state-3");
    Weir::in_world(&world)
        .args(["crash-test", "replay", out.to_str().unwrap(), "--state=3"])
        .succeeds();
    let run_dir = world.runtime.path().join("changed");
    let mut options = StartOptions::new(state.join("data"), &run_dir);
    let variables = test["setting"]["variables"].clone();
    options.variables = serde_json::from_value(variables).unwrap();
    let server = PrivateServer::start(&weir_testing::binary(flavor), &options).unwrap();
    weir_testing::connect(&server.endpoint())
        .run("UPDATE order_entry.warehouse SET w_ytd = w_ytd + 1")
        .unwrap();
    server.stop(Duration::from_mins(1)).unwrap();
    let never = AtomicBool::new(false);
    let work = world.home.path();
    let judged = weir_crash::judge_changed_state(&out, 3, work, &state, &never).unwrap();
    assert!(judged.judgement.is_damaged());
    let broken = judged.judgement.broken_conditions;
    let numbers = ["condition 1: ", "condition 8: "];
    assert_eq!(broken.len(), 2, "{broken:?}");
    assert!(broken.iter().zip(numbers).all(|(a, b)| a.starts_with(b)));
    world.assert_nothing_left();
}

/// What `weir plan` says of a study with doublewrite off that ends with `quotation`.
fn plan_without_doublewrite(world: &World, flavor: &str, quotation: &str) -> String {
    let study = format!(
        r#"
[study]
title = "Doublewrite off"
question = "What does the doublewrite buffer cost?"

[server]
flavor = "{flavor}"

[data]
workload = "oltp_write_only"
tables = 1
rows = 1000

[load]
threads = 2
warmup = "1s"
measure = "2s"

[factors]
drive = ["scaleflux-csd2000"]
innodb_doublewrite = ["ON", "OFF"]

{quotation}
"#
    );
    let path = world.path("study.toml");
    fs::write(&path, study).unwrap();
    let output = Weir::in_world(world)
        .args(["plan", path.to_str().unwrap()])
        .output();
    output.stdout + &output.stderr
}

#[test]
fn rubbish_in_one_line() {
    let world = World::new();
    let fails = |arguments: &[&str]| {
        let all = ["crash-test", "run"].iter().chain(arguments);
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
    let message = Weir::in_world(&world)
        .args(["crash-test", "replay", folder.to_str().unwrap()])
        .args(["--state", "1"])
        .fails();
    assert!(message.contains("crash-test.json"), "{message}");
    world.assert_nothing_left();
}

#[test]
fn a_folders_storage_is_described() {
    let world = World::new();
    let output = Weir::in_world(&world)
        .args(["crash-test", "inspect", world.home.path().to_str().unwrap()])
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
        "run",
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
    let other = crash_test(
        &world,
        "mariadb",
        &out,
        &["--set=innodb_max_undo_log_size=20M"],
    );
    assert_eq!(other.code, Some(1));
    let message = "a recording of other settings";
    assert!(other.stderr.contains(message), "{}", other.stderr);
}

/// A test of `MariaDB` whose states live on a file system of `size`, in memory, while `beside` runs.
fn on_a_small_disk(world: &World, out: &Path, size: &str, beside: &str) -> Output {
    let work = world.path("work");
    fs::create_dir(&work).unwrap();
    let script = format!("mount -t tmpfs -o size={size} none \"$WORK\" || exit 9; {beside} \"$@\"");
    let output = Command::new("unshare")
        // Who is not root becomes it in a user namespace, where mounts are private as well.
        .args(["--map-root-user", "--mount", "sh", "-c", &script, "sh"])
        .arg(env!("CARGO_BIN_EXE_weir"))
        .args([
            "crash-test",
            "run",
            "--server=mariadb",
            "--states=2000",
            "--all",
        ])
        .args(SMALL)
        .args([Path::new("--out"), out, Path::new("--work"), &work])
        .envs([("WORK", &work), ("OUT", &out.to_owned())])
        .env("XDG_RUNTIME_DIR", world.runtime.path())
        .output()
        .unwrap();
    Output::from(output)
}

#[test]
fn a_disk_without_room_for_states_is_refused_before_anything_is_recorded() {
    let world = World::new();
    let out = world.path("test");
    let output = on_a_small_disk(&world, &out, "300m", "");
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let words = format!("not enough space in `{}", world.path("work").display());
    assert!(output.stderr.contains(&words), "{}", output.stderr);
    assert!(!out.join("recording/recording").exists());
    world.assert_nothing_left();
}

/// The disk is filled when the recording is done: an error, and the test goes on from it later.
#[test]
fn a_disk_that_fills_up_is_an_error_and_the_recording_is_of_use() {
    let world = World::new();
    let out = world.path("test");
    let filling =
        "{ until [ -e \"$OUT/recording/ledger.json\" ] || ! kill -0 $$; do sleep 0.05; done
                     head -c 2000m /dev/zero >\"$WORK/filler\"; } >/dev/null 2>&1 &";
    let output = on_a_small_disk(&world, &out, "1500m", filling);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    // Before a state is made, or while it is being made.
    let work = world.path("work").display().to_string();
    let make_room = "free some or choose another directory";
    for words in [&work, make_room, "the recording is kept in"] {
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    world.assert_nothing_left();

    let going_on = ["--atomic=4096", "--states=60", "--json"];
    let output = crash_test(&world, "mariadb", &out, &going_on);
    assert!(!output.stderr.contains("recording: clients write"));
    let test: Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", output.stdout, output.stderr));
    // Whether a torn page of so short a recording does damage differs from one to the next.
    let tally = &test["tally"];
    assert!(
        tally["torn"].as_u64().is_some_and(|torn| torn > 0),
        "{tally}"
    );
    world.assert_nothing_left();
}
