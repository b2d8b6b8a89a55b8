//! Where a container's profile forbids what an emulated drive needs, no figure comes without a word.

use serde_json::Value;

use crate::harness::{Weir, World, small_study};

/// As each of them is told, and what is to be done.
const FORBIDDEN: [(libc::c_long, &str, &str); 2] = [
    (
        libc::SYS_pidfd_getfd,
        "pidfd_getfd: operation not permitted",
        "--cap-add SYS_PTRACE",
    ),
    (
        libc::SYS_seccomp,
        "seccomp: operation not permitted",
        "a seccomp profile that allows it",
    ),
];

const SLOW: &str = "intel-x25e-32gb";

fn doctor(weir: Weir) -> Value {
    let output = weir.args(["doctor", "--json"]).succeeds();
    let checks: Vec<Value> = serde_json::from_str(&output.stdout).unwrap();
    let flushes = |check: &Value| check["what"] == "flushes of emulated drives";
    checks.into_iter().find(flushes).unwrap()
}

#[test]
fn the_doctor_tells_what_a_drive_cannot_do_here() {
    assert_eq!(doctor(Weir::new())["remedy"], Value::Null);
    for (call, cause, remedy) in FORBIDDEN {
        let check = doctor(Weir::new().refusing(&[call]));
        assert!(check["found"].as_str().unwrap().contains(cause), "{check}");
        assert!(
            check["remedy"].as_str().unwrap().contains(remedy),
            "{check}"
        );
    }
}

#[test]
fn plan_run_and_findings_tell_that_flushes_hold_up_writes() {
    let world = World::new();
    let text = small_study("mariadb").replace("intel-p4610", SLOW);
    let text = text
        .replace("runs = 3", "runs = 1")
        .replace("[\"ON\", \"OFF\"]", "[\"ON\"]");
    let study = world.write("study.toml", &text);
    let study = study.to_str().unwrap();
    let plan = |weir: Weir| weir.args(["plan", study]).succeeds().stdout;
    let words = "flushes hold up writes";
    let free = plan(Weir::in_world(&world));
    assert!(!free.contains(words), "{free}");
    for (number, (call, cause, remedy)) in FORBIDDEN.into_iter().enumerate() {
        let weir = || Weir::in_world(&world).refusing(&[call]);
        let planned = plan(weir());
        assert!(
            planned.contains(words) && planned.contains(cause),
            "{planned}"
        );
        let out = world.path(&format!("out{number}"));
        let out = out.to_str().unwrap();
        let run = weir().env("XDG_CACHE_HOME", world.path("cache"));
        let run = run.args(["run", study, "--out", out]).completes();
        assert!(
            run.stderr.contains(words) && run.stderr.contains(remedy),
            "{}",
            run.stderr
        );
        let finding = run
            .stdout
            .lines()
            .find(|line| line.contains("held up writes"));
        let finding = finding.unwrap_or_else(|| panic!("{}", run.stdout));
        assert!(
            finding.contains(cause) && finding.contains(remedy),
            "{finding}"
        );
    }
    world.assert_nothing_left();
}
