//! What was asked of a server is what is measured, or the result says what was.

use serde_json::Value;

use crate::harness::{Weir, World};
use crate::run::{FLAVORS, result, run};

/// A study with one factor, in which everything else is small; what no section gives, factors do.
fn study(flavor: &str, factor: &str) -> String {
    format!(
        r#"
        study = {{ title = "Asked", question = "Is it measured?" }}
        server = {{ flavor = "{flavor}" }}
        [factors]
        workload = ["oltp_read_write"]
        rows = [1000]
        threads = [2]
        warmup = ["1s"]
        measure = ["1s"]
        {factor}
        [repeat]
        runs = 2
        "#
    )
}

/// The judged result of a study with `factor`, each level measured once: what is asked is not how fast it is.
fn measured(flavor: &str, factor: &str) -> Value {
    measured_in(1, flavor, factor)
}

fn measured_in(runs: u32, flavor: &str, factor: &str) -> Value {
    let world = World::new();
    let study = study(flavor, factor).replace("runs = 2", &format!("runs = {runs}"));
    let file = world.write("study.toml", &study);
    let output = run(&world, &file).output();
    // Two repetitions are too few for a verdict.
    assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
    let result = result(&world);
    world.assert_nothing_left();
    result
}

/// What `rule` says, as errors or as warnings: of the comparison of the two levels, and of the study.
fn found(result: &Value, rule: &str, severity: &str) -> String {
    let findings = [&result["comparisons"][0]["findings"], &result["findings"]];
    let findings = findings.into_iter().filter_map(Value::as_array).flatten();
    let is_wanted = |finding: &&Value| finding["rule"] == rule && finding["severity"] == severity;
    findings
        .filter(is_wanted)
        .map(|finding| finding["message"].to_string())
        .collect()
}

#[test]
fn two_levels_that_a_server_makes_one_have_no_verdict_and_the_plan_says_so() {
    for (flavor, factor, words) in [
        (
            "mysql",
            r#"innodb_buffer_pool_size = ["200M", "250M"]"#,
            "innodb_buffer_pool_size is 256M on the server, set to 200M and 250M",
        ),
        (
            "mariadb",
            "innodb_lru_scan_depth = [10, 50]",
            "innodb_lru_scan_depth is 100 on the server, set to 10 and 50",
        ),
    ] {
        let world = World::new();
        let file = world.write("study.toml", &study(flavor, factor));
        let plan = Weir::in_world(&world).args(["plan", file.to_str().unwrap()]);
        let plan = plan.succeeds().stdout;
        assert!(plan.contains(words), "{plan}");
        let result = measured_in(2, flavor, factor);
        assert!(found(&result, "R23", "error").contains(words), "{result}");
        assert_eq!(result["comparisons"][0]["verdict"], "invalid");
        assert_eq!(result["analysis"]["elasticities"], Value::Array(Vec::new()));
    }
}

#[test]
fn a_binary_log_that_is_switched_off_is_off_in_the_result() {
    for flavor in FLAVORS {
        let result = measured(flavor, r#"log_bin = ["ON", "OFF"]"#);
        for run in result["runs"].as_array().unwrap() {
            let cell = run["record"]["cell"].as_u64().unwrap() as usize;
            let level = &result["plan"]["cells"][cell]["levels"]["log_bin"];
            assert_eq!(run["variables"]["log_bin"], *level, "{flavor}");
        }
        assert_eq!(found(&result, "R1", "error"), "", "{flavor}");
        let price = found(&result, "R2", "warning");
        assert!(price.contains("binary log flushed"), "{flavor}: {price}");
    }
}

#[test]
fn a_factor_in_another_version_s_name_is_the_server_s_own() {
    for (flavor, factor) in [
        ("mariadb", r#"innodb_redo_log_capacity = ["32M", "64M"]"#),
        (
            "mariadb",
            r#"transaction_isolation = ["REPEATABLE-READ", "READ-COMMITTED"]"#,
        ),
        ("mysql", r#"innodb_log_file_size = ["32M", "64M"]"#),
        ("mysql", "slave_parallel_workers = [1, 4]"),
    ] {
        let result = measured(flavor, factor);
        for rule in ["R1", "R23"] {
            assert_eq!(found(&result, rule, "error"), "", "{flavor} {factor}");
        }
    }
}

#[test]
fn what_a_server_derives_from_a_factor_is_its_consequence() {
    for (flavor, factor, derived) in [
        (
            "mysql",
            r#"performance_schema = ["ON", "OFF"]"#,
            "performance_schema_digests_size 10000 -> 0",
        ),
        (
            "mariadb",
            "max_connections = [200, 1000]",
            "host_cache_size 328 -> 653",
        ),
    ] {
        let result = measured(flavor, factor);
        assert_eq!(found(&result, "R1", "error"), "", "{flavor} {factor}");
        let told = found(&result, "R1", "note");
        assert!(told.contains(derived), "{flavor} {factor}: {told}");
    }
}

#[test]
fn a_switch_for_the_name_of_a_file_is_refused_with_what_to_write() {
    for flavor in FLAVORS {
        let world = World::new();
        let file = world.write(
            "study.toml",
            &study(flavor, r#"general_log_file = ["ON", "OFF"]"#),
        );
        let error = Weir::in_world(&world)
            .args(["plan", file.to_str().unwrap()])
            .fails();
        assert!(
            error.contains("`general_log` switches the log on or off"),
            "{error}"
        );
    }
}
