//! `weir run`: the main job, what stops it, and what is wrong with what it is given.

use std::fs;
use std::path::Path;
use std::process::Child;

use serde_json::Value;
use weir_model::Flavor;

use crate::harness::{Output, Weir, World, signal, small_study, wait_until};
use crate::predict;

pub(crate) const FLAVORS: [&str; 2] = ["mysql", "mariadb"];

weir_testing::on_both_flavors! {
    a_study_runs_end_to_end
    a_study_compares_the_storage_below_the_work_folder_with_a_drive
    two_studies_at_once_do_not_disturb_each_other
    ctrl_c_keeps_complete_runs_leaves_nothing_and_the_study_goes_on
    kill_9_leaves_no_server_and_no_mount_and_clean_removes_the_rest
    a_killed_drive_process_is_cleaned_up_too
    a_server_that_dies_is_named_and_complete_runs_are_kept
}

/// A flavour as studies name it.
pub(crate) fn name(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::Mysql => "mysql",
        Flavor::Mariadb => "mariadb",
    }
}

/// `weir run` of a study file in the test's home, working below it.
pub(crate) fn run(world: &World, study: &Path) -> Weir {
    fs::create_dir_all(world.path("work")).unwrap();
    Weir::in_world(world)
        .args([
            "run",
            study.to_str().unwrap(),
            "--out",
            world.path("out").to_str().unwrap(),
        ])
        .args(["--work", world.path("work").to_str().unwrap()])
}

/// A study with one repetition only and few connections: quick, and invalid by rule R4.
pub(crate) fn quick_study(flavor: &str) -> String {
    with_few_connections(flavor).replace("runs = 3", "runs = 1")
}

/// A small study that leaves the processors to others: what is asked is not how fast the server is.
fn with_few_connections(flavor: &str) -> String {
    small_study(flavor).replace("threads = 8", "threads = 2")
}

/// The result as JSON.
pub(crate) fn result(world: &World) -> Value {
    let out = world.path("out");
    let report = ["report", out.to_str().unwrap(), "--format", "json"];
    serde_json::from_str(&Weir::new().args(report).succeeds().stdout).unwrap()
}

fn runs(world: &World) -> Vec<Value> {
    result(world)["runs"].as_array().unwrap().clone()
}

fn a_study_runs_end_to_end(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let study = world.write("study.toml", &small_study(flavor));
    let output = run(&world, &study).completes();
    for part in [
        "innodb_doublewrite OFF",
        "queries/s",
        "limited by",
        "report: ",
    ] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    let result = result(&world);
    assert_eq!(result["flavor"], flavor);
    assert_complete(&result);
    assert_published_form(&result);
    let page = fs::read_to_string(world.path("out/report.html")).unwrap();
    assert!(page.contains("Does the pipeline work?"));
    assert_no_password(&world);
    assert_comparable(&world);
    if flavor == "mariadb" {
        // Models of drives take half a minute of a processor; what they ask of a result has no flavour.
        predict::assert_predictable(&world);
    }
    world.assert_nothing_left();
}

/// The models of pools know each flavour's way to keep pages.
#[test]
fn predictions_of_a_result_of_mysql_are_held_against_the_machine() {
    let world = World::new();
    let study = world.write("study.toml", &small_study("mysql"));
    run(&world, &study).completes();
    predict::assert_predictable(&world);
    world.assert_nothing_left();
}

/// A result compared with itself shows no loss; a factor within it has its verdict.
fn assert_comparable(world: &World) {
    let out = world.path("out");
    let (out, junit) = (out.to_str().unwrap(), world.path("junit.xml"));
    let with_itself = ["compare", out, out, "--gate", "-90%", "--junit"];
    let output = Weir::new()
        .args(with_itself)
        .args([junit.to_str().unwrap()])
        .completes();
    assert!(
        output.stdout.contains("same kind of host"),
        "{}",
        output.stdout
    );
    let junit = fs::read_to_string(junit).unwrap();
    assert!(junit.contains("failures=\"0\""), "{junit}");
    // Both are equal within 99 %; a few runs cannot show that they are within a thousandth of one.
    for (margin, outcome, code) in [("99%", "met", 0), ("0.001%", "undecided", 4)] {
        let gate = ["compare", out, out, "--gate-equal", margin, "--json"];
        let compared = Weir::new().args(gate).output();
        let found: Value = serde_json::from_str(&compared.stdout).unwrap();
        let comparisons = found["comparisons"].as_array().unwrap();
        let valid = comparisons.iter().filter(|c| c["verdict"] != "invalid");
        let valid = valid.count();
        let checks = found["gate_checks"].as_array().cloned().unwrap_or_default();
        assert_eq!(checks.len(), valid, "{found}");
        assert!(
            checks.iter().all(|check| check["outcome"] == outcome),
            "{found}"
        );
        let code = if valid < comparisons.len() { 3 } else { code };
        assert_eq!(compared.code, Some(code), "{found}");
    }
    let nothing = [
        "compare",
        out,
        out,
        "--gate-statement",
        "from nowhere",
        "+5%",
    ];
    let error = Weir::new().args(nothing).fails();
    assert!(error.contains("`from nowhere`"), "{error}");
    let wrong = ["compare", out, out, "--gate-statement", "item", "five"];
    let error = Weir::new().args(wrong).fails();
    assert!(error.contains("such as +10%"), "{error}");
    let factor = ["compare", out, "--factor", "innodb_doublewrite", "--json"];
    let compared = Weir::new().args(factor).completes().stdout;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["comparisons"][0]["level"], "OFF");
    let error = Weir::new()
        .args(["compare", out, "--factor", "nothing"])
        .fails();
    assert!(error.contains("no factor `nothing`") && error.contains("innodb_doublewrite"));
}

/// What `docs/result.schema.json` says of every result holds for this one.
pub(crate) fn assert_published_form(result: &Value) {
    let schema = include_str!("../../../../docs/result.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator
        .iter_errors(result)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
}

/// Six runs of two cells, each with all that a result must hold.
fn assert_complete(result: &Value) {
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        assert!(run["record"]["queries_per_s"].as_f64().unwrap() > 10.0);
        assert!(run["record"]["latency"]["us_p99"].as_f64().unwrap() > 0.0);
        assert!(
            run["record"]["utilization"]["server_cores"]
                .as_f64()
                .unwrap()
                > 0.0
        );
        let intervals = run["intervals"].as_array().unwrap();
        assert!(
            intervals
                .iter()
                .any(|interval| interval["time_s"].as_f64().unwrap() <= 0.0)
        );
        assert!(
            intervals
                .iter()
                .any(|interval| interval["time_s"].as_f64().unwrap() > 0.0)
        );
        assert!(run["drive"]["by_kind"]["data"]["writes"].as_u64().unwrap() > 0);
        assert!(run["drive"]["by_kind"]["redo"]["flushes"].as_u64().unwrap() > 0);
        let cell = &result["plan"]["cells"][run["record"]["cell"].as_u64().unwrap() as usize];
        assert_eq!(
            run["variables"]["innodb_doublewrite"],
            cell["spec"]["topology"]["nodes"][0]["variables"]["innodb_doublewrite"]
        );
        let metrics: Vec<_> = run["series"]
            .as_array()
            .unwrap()
            .iter()
            .map(|series| &series["metric"])
            .collect();
        for metric in [
            "host.cpu_user_s",
            "server.cpu_s",
            "drive.writes",
            "status.questions",
        ] {
            assert!(
                metrics.iter().any(|found| **found == *metric),
                "no samples of {metric}"
            );
        }
    }
    assert_eq!(result["comparisons"].as_array().unwrap().len(), 1);
    let commands = runs[0]["commands"].as_array().unwrap();
    assert!(
        commands[0]
            .as_str()
            .unwrap()
            .starts_with("weir drive mount intel-p4610 (run)/drive")
    );
    assert!(
        commands[1]
            .as_str()
            .unwrap()
            .contains("--datadir=(run)/drive/data --")
    );
    assert!(
        commands[2]
            .as_str()
            .unwrap()
            .starts_with("weir load oltp_write_only --tables=2")
    );
    let log = runs[0]["server_log"].as_str().unwrap();
    assert!(log.contains("ready for connections"), "{log}");
    assert!(!log.contains("weir-run-"), "a path of the run's own: {log}");
    let provenance = &result["provenance"];
    assert!(
        provenance["study_file"]
            .as_str()
            .unwrap()
            .contains("title = \"Small\"")
    );
    assert_eq!(provenance["command"][1], "run");
}

/// The generated password is nowhere in what a study leaves.
fn assert_no_password(world: &World) {
    let cache = std::env::var("XDG_CACHE_HOME").map_or_else(
        |_| Path::new(&std::env::var("HOME").unwrap()).join(".cache"),
        std::path::PathBuf::from,
    );
    let snapshots = fs::read_dir(cache.join("weir/snapshots")).unwrap();
    let notes = snapshots
        .flatten()
        .map(|snapshot| snapshot.path().join("data/weir-data.json"));
    let passwords: Vec<String> = notes
        .filter_map(|note| fs::read_to_string(note).ok())
        .map(|note| serde_json::from_str::<Value>(&note).unwrap())
        .map(|note| note["password"].as_str().unwrap().to_owned())
        .collect();
    assert!(!passwords.is_empty());
    for file in ["result.sqlite", "report.html"] {
        let bytes = fs::read(world.path("out").join(file)).unwrap();
        for password in &passwords {
            let found = bytes
                .windows(password.len())
                .any(|part| part == password.as_bytes());
            assert!(!found, "a password stands in {file}");
        }
    }
}

fn a_study_compares_the_storage_below_the_work_folder_with_a_drive(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let study = quick_study(flavor)
        .replace("scale = { drive = \"1/25\" }", "")
        .replace(
            "drive = [\"intel-p4610\"]",
            "drive = [\"host\", \"intel-p4610\"]",
        )
        .replace("[\"ON\", \"OFF\"]", "[\"OFF\"]");
    let study = world.write("study.toml", &study);
    let output = run(&world, &study).output();
    assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
    let runs = runs(&world);
    assert_eq!(runs.len(), 2);
    let emulated = runs.iter().filter(|run| !run["drive"].is_null());
    assert_eq!(emulated.count(), 1);
    let comparisons = result(&world)["comparisons"].to_string();
    assert!(
        comparisons.contains("storage of unknown atomicity"),
        "{comparisons}"
    );
    assert!(!comparisons.contains("datadir"), "{comparisons}");

    // As in the first study that a user runs: the storage is that of the result.
    let out = world.path("results/host");
    let output = Weir::in_world(&world)
        .args(["run", study.to_str().unwrap(), "--out"])
        .args([&out])
        .output();
    assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
    let line = data_line(&output);
    assert!(line.contains(out.to_str().unwrap()), "{line}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2, "report and result");
    world.assert_nothing_left();
}

/// The line of an answer that says where the data lay.
fn data_line(output: &Output) -> &str {
    let line = output
        .stdout
        .lines()
        .find(|line| line.starts_with("data: "));
    line.unwrap_or_else(|| panic!("{}", output.stdout))
}

#[test]
fn a_study_without_a_drive_and_without_a_folder_measures_a_disk() {
    let world = World::new();
    let study = quick_study("mariadb")
        .replace("scale = { drive = \"1/25\" }", "")
        .replace("drive = [\"intel-p4610\"]", "")
        .replace("40_000", "2_000");
    let study = world.write("study.toml", &study);
    let out = world.path("out");
    let run = [
        "run",
        study.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ];
    let output = Weir::in_world(&world).args(run).completes();
    assert!(
        data_line(&output).starts_with("data: on disk: "),
        "{}",
        output.stdout
    );
    let out = world.path("in-memory");
    let run = [
        "run",
        study.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--work",
        "/dev/shm",
    ];
    let output = Weir::in_world(&world).args(run).completes();
    assert_eq!(data_line(&output), "data: in memory: /dev/shm (tmpfs)");
    world.assert_nothing_left();
}

fn two_studies_at_once_do_not_disturb_each_other(flavor: Flavor) {
    let flavor = name(flavor);
    let worlds = [World::new(), World::new()];
    let children: Vec<Child> = worlds
        .iter()
        .map(|world| {
            let study = world.write("study.toml", &quick_study(flavor));
            run(world, &study).spawn()
        })
        .collect();
    for (child, world) in children.into_iter().zip(&worlds) {
        let output = Output::from(child.wait_with_output().unwrap());
        assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
        assert!(output.stdout.contains("R4"), "{}", output.stdout);
        world.assert_nothing_left();
    }
}

/// Starts a study and waits until its first run is complete and the next one's server is up.
fn started(world: &World, flavor: &str) -> Child {
    let long = with_few_connections(flavor).replace("measure = \"2s\"", "measure = \"4s\"");
    let study = world.write("study.toml", &long);
    let child = run(world, &study).spawn();
    wait_until("the first run is complete", || world.runs_stored() >= 1);
    wait_until("the next server is up", || {
        !world.live_pids("server").is_empty()
    });
    child
}

fn resume(world: &World) {
    let output = run(world, &world.path("study.toml"))
        .args(["--resume"])
        .completes();
    assert_eq!(runs(world).len(), 6, "{}", output.stdout);
    world.assert_nothing_left();
}

fn ctrl_c_keeps_complete_runs_leaves_nothing_and_the_study_goes_on(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let child = started(&world, flavor);
    signal(child.id(), "INT");
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(130), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("--resume"), "{}", output.stderr);
    world.assert_nothing_left();
    assert!(!runs(&world).is_empty());
    resume(&world);
}

fn kill_9_leaves_no_server_and_no_mount_and_clean_removes_the_rest(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let mut child = started(&world, flavor);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("server, drive and mount are gone", || {
        world.live_pids("server").is_empty()
            && world.live_pids("drive").is_empty()
            && world.mounts().is_empty()
    });
    let kept = runs(&world).len();
    assert!((1..6).contains(&kept), "{kept}");
    let cleaned = Weir::in_world(&world).args(["clean"]).succeeds();
    assert!(cleaned.stdout.contains("removed"), "{}", cleaned.stdout);
    world.assert_nothing_left();
    let again = Weir::in_world(&world).args(["clean"]).succeeds();
    assert_eq!(again.stdout, "nothing was left behind\n");
}

fn a_killed_drive_process_is_cleaned_up_too(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let child = started(&world, flavor);
    signal(world.live_pids("drive")[0], "KILL");
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
    Weir::in_world(&world).args(["clean"]).succeeds();
    world.assert_nothing_left();
}

fn a_server_that_dies_is_named_and_complete_runs_are_kept(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let child = started(&world, flavor);
    signal(world.live_pids("server")[0], "KILL");
    let output = Output::from(child.wait_with_output().unwrap());
    let error = output.only_error();
    assert!(
        error.contains("signal 9") && error.contains("are kept"),
        "{error}"
    );
    world.assert_nothing_left();
}

/// Runs a study that cannot be run; the error must have all of `expected`.
fn fails(study: &str, expected: &[&str]) {
    let world = World::new();
    let study = world.write("study.toml", study);
    let error = run(&world, &study).fails();
    for part in expected {
        assert!(error.contains(part), "`{part}` expected: {error}");
    }
    assert!(!world.path("out/result.sqlite").exists());
    world.assert_nothing_left();
}

#[test]
fn a_typo_is_named_with_its_line() {
    for flavor in FLAVORS {
        let study = small_study(flavor).replace("warmup", "warmpu");
        fails(
            &study,
            &["study.toml: line 17", "`warmpu`", "did you mean `warmup`?"],
        );
    }
}

#[test]
fn a_missing_file_is_named() {
    let world = World::new();
    let error = run(&world, &world.path("nothing.toml")).fails();
    assert!(
        error.contains("nothing.toml") && error.contains("cannot read study"),
        "{error}"
    );
}

#[test]
fn an_unknown_drive_is_named_with_the_nearest() {
    for flavor in FLAVORS {
        let study = small_study(flavor).replace("intel-p4610", "intel-p4601");
        fails(&study, &["intel-p4601", "did you mean", "intel-p4610"]);
    }
}

#[test]
fn a_variable_that_the_server_does_not_have_is_named_with_the_nearest() {
    for flavor in FLAVORS {
        let study = small_study(flavor).replace("innodb_doublewrite =", "innodb_doublewrit =");
        fails(
            &study,
            &["innodb_doublewrit", "did you mean", "innodb_doublewrite"],
        );
    }
}

#[test]
fn a_value_that_the_server_refuses_is_told_in_its_own_words() {
    for flavor in FLAVORS {
        let study = small_study(flavor).replace("\"O_DIRECT\"", "\"O_DIRECTLY\"");
        fails(
            &study,
            &[flavor, "refuses innodb_flush_method = O_DIRECTLY: "],
        );
    }
}

#[test]
fn no_server_is_named_with_the_remedy() {
    fails(
        &small_study("/nowhere/mysqld"),
        &["/nowhere/mysqld", "mysql, mariadb, or the path of a mysqld"],
    );
}

#[test]
fn a_result_is_never_overwritten() {
    for flavor in FLAVORS {
        let world = World::new();
        fs::create_dir_all(world.path("out")).unwrap();
        world.write("out/result.sqlite", "precious");
        let study = world.write("study.toml", &small_study(flavor));
        let error = run(&world, &study).fails();
        assert!(
            error.contains("exists already") && error.contains("--resume"),
            "{error}"
        );
        assert_eq!(
            fs::read_to_string(world.path("out/result.sqlite")).unwrap(),
            "precious"
        );
    }
}

#[test]
fn a_data_set_larger_than_the_drive_is_refused() {
    for flavor in FLAVORS {
        let world = World::new();
        let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/intel-p4610.toml");
        let text = fs::read_to_string(shipped).unwrap();
        let capacity = text
            .lines()
            .find(|line| line.starts_with("capacity"))
            .unwrap();
        let small = world.write("small.toml", &text.replace(capacity, "capacity = \"32M\""));
        let study = small_study(flavor).replace("intel-p4610", small.to_str().unwrap());
        let study = world.write("study.toml", &study);
        let error = run(&world, &study).fails();
        assert!(error.contains("holds 32M"), "{error}");
        world.assert_nothing_left();
    }
}

/// Runs the program where mounts are private to it and `prepare` (a shell line) has changed them.
fn in_private_mounts(world: &World, prepare: &str, study: &str) -> String {
    let study = world.write("study.toml", study);
    fs::create_dir_all(world.path("work")).unwrap();
    let script = format!("{prepare} && exec \"$@\"");
    let output = std::process::Command::new("unshare")
        // Who is not root becomes it in a user namespace, where mounts are private as well.
        .args(["--map-root-user", "--mount", "sh", "-c", &script, "sh"])
        .args([env!("CARGO_BIN_EXE_weir"), "run"])
        .arg(study)
        .args(["--out", world.path("out").to_str().unwrap()])
        .args(["--work", world.path("work").to_str().unwrap()])
        .env("XDG_RUNTIME_DIR", world.runtime.path())
        .output()
        .unwrap();
    let output = Output::from(output);
    assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
    let mut errors = output
        .stderr
        .lines()
        .filter(|line| line.starts_with("weir: "));
    errors
        .next()
        .unwrap_or_else(|| panic!("{}", output.stderr))
        .to_owned()
}

#[test]
fn a_machine_without_fuse_is_told_what_to_do() {
    for flavor in FLAVORS {
        let world = World::new();
        let hidden = "mount --bind /dev/null /dev/fuse";
        let error = in_private_mounts(&world, hidden, &small_study(flavor));
        assert!(error.contains("/dev/fuse"), "{error}");
        world.assert_nothing_left();
    }
}

#[test]
fn a_full_disk_is_named_with_what_is_needed() {
    for flavor in FLAVORS {
        let world = World::new();
        let work = world.path("work").display().to_string();
        let tiny = format!("mount -t tmpfs -o size=16m none {work}");
        let error = in_private_mounts(&world, &tiny, &small_study(flavor));
        assert!(
            error.contains("not enough space") && error.contains(&work),
            "{error}"
        );
        world.assert_nothing_left();
    }
}

#[test]
fn a_machine_without_servers_is_told_how_to_get_one() {
    for flavor in FLAVORS {
        let world = World::new();
        let empty = world.path("empty");
        fs::create_dir_all(&empty).unwrap();
        let hide = |folder: &str| {
            format!("{{ [ ! -d {folder} ] || mount -t tmpfs -o size=1m none {folder}; }}")
        };
        // The program's own needs (sh, mount) are in /usr/bin and stay.
        let hidden = format!(
            "{} && export WEIR_SERVERS={}",
            hide("/usr/sbin"),
            empty.display()
        );
        let error = in_private_mounts(&world, &hidden, &small_study(flavor));
        assert!(
            error.contains(&format!("no {flavor} server")) && error.contains("scripts/setup.sh"),
            "{error}"
        );
    }
}
