//! The script that jobs of CI call (`scripts/gate-action.sh`), on a real server: it fails a loss, passes equal levels, and
//! says when the runs cannot tell.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::{Output, Weir, World};

/// Runs of a study that other programs may disturb before the test is left out on this machine.
const ATTEMPTS: u32 = 2;

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/gate-action.sh")
}

/// A gate's call with these variables, and with the summary and the outputs of a GitHub job.
fn gate(world: &World, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(script());
    command
        .arg("gate")
        .current_dir(world.home.path())
        .env("WEIR", env!("CARGO_BIN_EXE_weir"))
        .env("XDG_RUNTIME_DIR", world.runtime.path())
        .env("WEIR_WORK", world.path("work"))
        .env("GITHUB_STEP_SUMMARY", world.path("step.md"))
        .env("GITHUB_OUTPUT", world.path("outputs"))
        .envs(variables.iter().copied());
    Output::from(command.output().unwrap())
}

/// The network adds 20 ms to each request: so the processors have little to do, and eight connections complete 400
/// queries a second, on a busy machine too.
fn study(factor: &str) -> String {
    let rtt = if factor.starts_with("rtt") {
        ""
    } else {
        "rtt = \"20ms\""
    };
    format!(
        r#"
        [study]
        title = "Gate"
        question = "Does the gate see it?"
        [server]
        flavor = "mariadb"
        [data]
        workload = "oltp_point_select"
        rows = 1_000
        [load]
        threads = 8
        warmup = "1s"
        measure = "3s"
        {rtt}
        [factors]
        {factor}
        [repeat]
        runs = 4
        "#
    )
}

/// The gate's verdict about the two levels of a factor at a loss of 10 %, in a folder `out`. `None` if other programs
/// took the processors each time, so that rule R24 refused the comparison.
fn judged(world: &World, name: &str, levels: &str) -> Option<Output> {
    world.write("study.toml", &study(&format!("{name} = {levels}")));
    for _ in 0..ATTEMPTS {
        let _ = fs::remove_dir_all(world.path("out"));
        let _ = fs::remove_file(world.path("step.md"));
        let variables = [
            ("WEIR_STUDY", "study.toml"),
            ("WEIR_FACTOR", name),
            ("WEIR_GATE", "-10%"),
            ("WEIR_OUT", "out"),
        ];
        let output = gate(world, &variables);
        let is_disturbed = output.code == Some(3)
            && ["other processes used", "the hypervisor took"]
                .iter()
                .any(|words| output.stdout.contains(words));
        if !is_disturbed {
            return Some(output);
        }
        let summary = read(world, "out/summary.md");
        assert!(summary.starts_with("## Weir gate: refused\n"), "{summary}");
        assert!(read(world, "outputs").ends_with("verdict=refused\n"));
    }
    weir_testing::skipped(name, "other programs take the processors (rule R24)");
    None
}

fn read(world: &World, name: &str) -> String {
    fs::read_to_string(world.path(name)).unwrap()
}

#[test]
fn a_planted_loss_of_a_fifth_fails_the_job() {
    let world = World::new();
    let Some(output) = judged(&world, "rtt", r#"["20ms", "25ms"]"#) else {
        return;
    };
    assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
    let summary = read(&world, "out/summary.md");
    assert!(summary.starts_with("## Weir gate: failed\n"), "{summary}");
    assert!(
        summary.contains("0 of 1 conditions hold, 1 failed"),
        "{summary}"
    );
    assert!(summary.contains("Does the gate see it?"), "{summary}");
    assert_eq!(read(&world, "step.md"), summary);
    assert!(read(&world, "out/gate.xml").contains("failures=\"1\""));
    assert!(read(&world, "outputs").ends_with("verdict=failed\n"));
    assert!(world.path("out/result/report.html").exists());
    world.assert_nothing_left();
}

/// A limit at the measured ratio lies within its interval. With a network of 1 ms runs differ by some queries, so the
/// interval has a width; the limit has all digits of the ratio.
#[test]
fn a_limit_at_the_ratio_itself_is_undecided() {
    let world = World::new();
    let Some(_) = judged(&world, "rtt", r#"["1ms", "1.2ms"]"#) else {
        return;
    };
    let compare = ["compare", "out/result", "--factor", "rtt", "--json"];
    let found = Weir::new().at(world.home.path()).args(compare).succeeds();
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let ratio = found["comparisons"][0]["ratio"].as_f64().unwrap();
    let limit = format!("-{}%", (1.0 - ratio) * 100.0);
    for (undecided, code) in [("fail", 4), ("warn", 0)] {
        let variables = [
            ("WEIR_STUDY", "out/result"),
            ("WEIR_FACTOR", "rtt"),
            ("WEIR_GATE", limit.as_str()),
            ("WEIR_UNDECIDED", undecided),
            ("WEIR_OUT", "again"),
            ("GITHUB_ACTIONS", "true"),
        ];
        let output = gate(&world, &variables);
        assert_eq!(
            output.code,
            Some(code),
            "{}{}",
            output.stdout,
            output.stderr
        );
        let is_warned = output.stdout.contains("::warning");
        assert_eq!(is_warned, code == 0, "{}", output.stdout);
        assert!(read(&world, "outputs").ends_with("verdict=undecided\n"));
    }
    world.assert_nothing_left();
}

#[test]
fn equal_levels_pass() {
    let world = World::new();
    let Some(output) = judged(&world, "net_retry_count", "[10, 12]") else {
        return;
    };
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    let summary = read(&world, "out/summary.md");
    assert!(summary.starts_with("## Weir gate: passed\n"), "{summary}");
    assert!(read(&world, "out/gate.xml").contains("failures=\"0\""));
    assert!(read(&world, "outputs").ends_with("verdict=passed\n"));
    // The result is a baseline of its own, and no study runs again. Two results are not paired by repetition: on a busy
    // machine their interval is wide.
    let variables = [
        ("WEIR_BASELINE", "out/result"),
        ("WEIR_STUDY", "out/result"),
        ("WEIR_GATE", "-50%"),
        ("WEIR_OUT", "with-itself"),
    ];
    let output = gate(&world, &variables);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(!world.path("with-itself/result").exists());
    world.assert_nothing_left();
}

/// What would let a change pass without a look at it is an error.
#[test]
fn a_gate_that_could_not_fail_is_refused() {
    let world = World::new();
    world.write("study.toml", &study("net_retry_count = [10, 12]"));
    let (study, factor, gated) = (
        ("WEIR_STUDY", "study.toml"),
        ("WEIR_FACTOR", "rtt"),
        ("WEIR_GATE", "-5%"),
    );
    for (variables, name) in [
        (vec![factor, gated], "WEIR_STUDY"),
        (vec![study, gated], "WEIR_BASELINE and WEIR_FACTOR"),
        (vec![study, factor], "WEIR_GATE"),
        (
            vec![("WEIR_STUDY", "none.toml"), factor, gated],
            "no study or result none.toml",
        ),
    ] {
        let output = gate(&world, &variables);
        assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
        let lines: Vec<_> = output.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{}", output.stderr);
        assert!(lines[0].contains(name), "{}", output.stderr);
    }
    // A study that is none: Weir's own line and exit code.
    world.write("wrong.toml", "[study]\n");
    let output = gate(&world, &[("WEIR_STUDY", "wrong.toml"), factor, gated]);
    assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("weir: "), "{}", output.stderr);
}

/// A program from a package: only with the checksum that was named, and on the path of the job's later steps.
#[test]
fn a_package_is_checked_before_it_is_on_the_path() {
    let world = World::new();
    let program = world.write("weir", "#!/bin/sh\necho packaged\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let at_home = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(world.home.path());
        command
    };
    let packed = at_home("tar")
        .args(["-cJf", "weir.tar.xz", "weir"])
        .status();
    if !packed.is_ok_and(|status| status.success()) {
        weir_testing::skipped("a package of CI", "no tar with xz (xz-utils)");
        return;
    }
    let sum = at_home("sha256sum").arg("weir.tar.xz").output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    let sum = sum.split(' ').next().unwrap();
    let install = |package: &str, sum: &str| {
        let mut command = at_home(script().to_str().unwrap());
        command
            .arg("install")
            .env("WEIR_PACKAGE", package)
            .env("WEIR_SHA256", sum)
            .env("WEIR_SERVER", "none")
            .env("TMPDIR", world.home.path())
            .env("GITHUB_PATH", world.path("path"));
        Output::from(command.output().unwrap())
    };
    for (package, sum, words) in [
        (
            "weir.tar.xz",
            "0".repeat(64).as_str(),
            "its checksum is not WEIR_SHA256",
        ),
        ("https://weir.invalid/weir.deb", "", "WEIR_SHA256: empty"),
        ("none.deb", "", "no file none.deb"),
    ] {
        let output = install(package, sum);
        assert_eq!(output.code, Some(1), "{}{}", output.stdout, output.stderr);
        assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
        assert!(output.stderr.contains(words), "{}", output.stderr);
        assert!(!world.path("path").exists());
    }
    let output = install("weir.tar.xz", sum);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    let folder = read(&world, "path");
    let found = Command::new(Path::new(folder.trim()).join("weir")).output();
    assert_eq!(found.unwrap().stdout, b"packaged\n");
}
