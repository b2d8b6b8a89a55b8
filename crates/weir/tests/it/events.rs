//! Events of a study on real servers: an ALTER behind a forgotten transaction, a refused one, a control that costs
//! nothing, a variable that is put back; and `kill -9` meanwhile.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use weir_model::Flavor;

use crate::harness::{Weir, World, wait_until};
use crate::run::{name, result, run};

weir_testing::on_both_flavors! {
    an_alter_waits_for_a_forgotten_transaction_and_the_report_says_so
    sort_files_of_an_index_lie_on_the_drive_or_the_result_says_where
}

/// Nine seconds of reads with `events`.
fn study(flavor: &str, measure: &str, events: &str) -> String {
    format!(
        r#"
        [study]
        title = "Events"
        question = "What does an ALTER wait for?"
        [server]
        flavor = "{flavor}"
        [server.config]
        innodb_buffer_pool_size = "16M"
        [data]
        workload = "oltp_point_select"
        rows = 2_000
        scale = {{ drive = "1/25" }}
        [load]
        threads = 2
        warmup = "1s"
        measure = "{measure}"
        [factors]
        drive = ["intel-p4610"]
        [repeat]
        runs = 1
        seed = 1
        {events}
        "#
    )
}

const EVENTS: &str = r#"
    [[events]]
    name = "forgotten"
    at = "1s"
    kind = "hold"
    table = "sbtest1"
    for = "5s"
    [[events]]
    name = "impatient"
    at = "1500ms"
    kind = "ddl"
    statement = "ALTER TABLE sbtest1 ADD INDEX k_impatient (c)"
    session = { lock_wait_timeout = 1 }
    retries = 1
    [[events]]
    name = "patient"
    at = "4s"
    kind = "ddl"
    statement = "ALTER TABLE sbtest1 ADD INDEX k_patient (c)"
    session = { lock_wait_timeout = 30 }
    [[events]]
    name = "again"
    at = "10s"
    kind = "ddl"
    statement = "ALTER TABLE sbtest1 ADD INDEX k_patient (c)"
    [[events]]
    name = "variable"
    at = "500ms"
    kind = "set"
    variable = "innodb_io_capacity"
    value = 333
    [[events]]
    name = "control"
    at = "11s"
    kind = "statement"
    statement = "DO 0"
"#;

fn event<'a>(result: &'a Value, name: &str) -> &'a Value {
    let events = result["runs"][0]["events"].as_array().unwrap();
    events.iter().find(|event| event["name"] == name).unwrap()
}

fn number(event: &Value, key: &str) -> f64 {
    event[key].as_f64().unwrap()
}

fn an_alter_waits_for_a_forgotten_transaction_and_the_report_says_so(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let study = world.write("study.toml", &study(flavor, "12s", EVENTS));
    let output = run(&world, &study).output();
    // Two events were refused, which the exit status says.
    assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
    let result = result(&world);
    let hold = event(&result, "forgotten");
    assert_eq!(hold["ending"], "done");
    let held_until_s = number(hold, "ended_s");

    let impatient = event(&result, "impatient");
    assert_eq!(impatient["ending"]["refused"]["code"], 1205, "{impatient}");
    assert_eq!(
        (
            &impatient["tries"],
            &impatient["session"]["lock_wait_timeout"]
        ),
        (&2.into(), &"1".into())
    );
    let waited_s = number(impatient, "lock_wait_s");
    let took_s = number(impatient, "ended_s") - number(impatient, "began_s");
    assert!((1.0..=took_s + 0.5).contains(&waited_s), "{impatient}");

    // It goes on when the transaction is over, and not before.
    let patient = event(&result, "patient");
    assert_eq!(patient["ending"], "done", "{patient}");
    assert!(number(patient, "ended_s") >= held_until_s, "{patient}");
    let waited_s = number(patient, "lock_wait_s");
    let blocked_s = held_until_s - number(patient, "began_s");
    // Two seconds. How often the server is asked for locks depends on what else the machine does.
    assert!(
        (0.5..=1.5).contains(&(waited_s / blocked_s)),
        "{waited_s}, {blocked_s}"
    );

    assert_wait_is_explained(flavor, patient, waited_s);
    assert_eq!(event(&result, "again")["ending"]["refused"]["code"], 1061);
    assert_eq!(event(&result, "control")["ending"], "done");
    assert_eq!(event(&result, "variable")["ending"], "done");
    let run = &result["runs"][0];
    assert_eq!(run["variables_changed"], serde_json::json!({}));
    let temporary = run["variables"]["tmpdir"].as_str().unwrap();
    assert!(temporary.ends_with("drive/tmp"), "{temporary}");

    for part in [
        "patient",
        "refused in 2 tries: Lock wait timeout exceeded",
        "Duplicate key name",
        "transactions lost",
        "event `again` was refused in 1 of 1 runs",
        "(event `forgotten`), idle for",
    ] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    // Tenths of a second are those around the events, and the page has them.
    let short = run["short_intervals"].as_array().unwrap();
    assert!(short.len() > 100, "{}", short.len());
    let page = fs::read_to_string(world.path("out/report.html")).unwrap();
    assert!(page.contains("close_up"));
    assert!(page.contains("k_patient") || page.contains("Duplicate key name"));
    world.assert_nothing_left();
}

/// Who held the ALTER up, and how long the load stood still; phases are all of its time.
fn assert_wait_is_explained(flavor: &str, patient: &Value, waited_s: f64) {
    let detail = &patient["detail"];
    let phases = detail["phases"].as_array().unwrap();
    let length_s = |phase: &Value| number(phase, "to_s") - number(phase, "from_s");
    let sum_s: f64 = phases.iter().map(length_s).sum();
    let took_s = number(patient, "ended_s") - number(patient, "began_s");
    assert!((sum_s / took_s - 1.0).abs() < 0.02, "{sum_s}, {took_s}");
    let waits = phases.iter().find(|phase| phase["waits_for_lock"] == true);
    let [blocker] = waits.unwrap()["blockers"].as_array().unwrap().as_slice() else {
        panic!("{detail}");
    };
    assert_eq!(blocker["event"], "forgotten", "{blocker}");
    // It read its row three seconds before.
    assert!(number(blocker, "idle_s") >= 2.0, "{blocker}");
    if flavor == "mysql" {
        assert_eq!(blocker["statement"], "SELECT 1 FROM `sbtest1` LIMIT 1");
    }
    let pause_s = number(detail, "longest_pause_s");
    assert!(
        (0.5..=1.5).contains(&(pause_s / waited_s)),
        "{pause_s}, {waited_s}"
    );
    assert!(
        detail["temporary"]["off_drive_peak_bytes"]
            .as_u64()
            .unwrap()
            < 1 << 20
    );
}

fn sort_files_of_an_index_lie_on_the_drive_or_the_result_says_where(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let elsewhere = world.path("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let ddl = |name: &str, at: &str, session: &str| {
        format!(
            r#"
            [[events]]
            name = "{name}"
            at = "{at}"
            kind = "ddl"
            statement = "ALTER TABLE sbtest1 ADD INDEX k_{name} (c, pad)"
            algorithm = "INPLACE"
            lock = "NONE"
            {session}
            "#
        )
    };
    let session = format!(
        "session = {{ innodb_tmpdir = \"{}\" }}",
        elsewhere.display()
    );
    let events = ddl("home", "1s", "") + &ddl("away", "6s", &session);
    let study = study(flavor, "12s", &events).replace("rows = 2_000", "rows = 60_000");
    let study = world.write("study.toml", &study);
    run(&world, &study).completes();
    let result = result(&world);
    let files = |name: &str| event(&result, name)["detail"]["temporary"].clone();
    let (home, away) = (files("home"), files("away"));
    let bytes = |files: &Value, key: &str| files[key].as_u64().unwrap();
    assert!(bytes(&home, "peak_bytes") > 2 << 20, "{flavor}: {home}");
    assert!(
        bytes(&home, "off_drive_peak_bytes") < 1 << 20,
        "{flavor}: {home}"
    );
    assert!(
        bytes(&away, "off_drive_peak_bytes") > 1 << 20,
        "{flavor}: {away}"
    );
    // The drive has seen them, too.
    let written = &result["runs"][0]["drive"]["by_kind"]["temporary"]["write_bytes"];
    let written = written
        .as_u64()
        .unwrap_or_else(|| panic!("{}", result["runs"][0]["drive"]));
    assert!(written >= bytes(&home, "peak_bytes"), "{written}, {home}");
    let findings = result["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["rule"] == "R20");
    let message = found.unwrap()["message"].as_str().unwrap();
    assert!(message.contains("elsewhere"), "{message}");
    world.assert_nothing_left();
}

#[test]
fn a_session_that_the_server_refuses_is_told_before_anything_is_measured() {
    let world = World::new();
    let events = EVENTS.replace("lock_wait_timeout = 30", "no_such_variable = 1");
    let study = world.write("study.toml", &study("mysql", "12s", &events));
    let error = run(&world, &study).fails();
    assert!(
        error.contains("event `patient`") && error.contains("no_such_variable"),
        "{error}"
    );
    world.assert_nothing_left();
}

#[test]
fn a_kill_during_an_event_leaves_nothing() {
    let world = World::new();
    let events = r#"
        [[events]]
        name = "forgotten"
        at = "0s"
        kind = "hold"
        table = "sbtest1"
        for = "10m"
        [[events]]
        name = "add index"
        at = "100ms"
        kind = "ddl"
        statement = "ALTER TABLE sbtest1 ADD INDEX k_c (c)"
    "#;
    let study = world.write("study.toml", &study("mysql", "10m", events));
    let mut child = run(&world, &study).spawn();
    // Some seconds of the measurement have passed, so both events have begun.
    let progress = world.path("out/progress.json");
    wait_until("the ALTER waits", || {
        let text = fs::read_to_string(&progress).unwrap_or_default();
        let progress: Value = serde_json::from_str(&text).unwrap_or_default();
        let seconds = progress["run"]["seconds"].as_array();
        seconds.is_some_and(|seconds| {
            seconds
                .iter()
                .any(|second| second["time_s"].as_f64() > Some(1.5))
        })
    });
    std::thread::sleep(Duration::from_millis(200));
    child.kill().unwrap();
    child.wait().unwrap();
    Weir::in_world(&world).args(["clean"]).succeeds();
    world.assert_nothing_left();
}
