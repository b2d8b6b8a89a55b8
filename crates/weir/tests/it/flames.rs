//! Stacks of a real server: a cost that was planted is the largest difference of two levels, and the files and the page
//! of a study have it.

use std::fs;
use std::path::{Path, PathBuf};

use weir_model::StackCounts;
use weir_probe::StackSampler;
use weir_report::largest_changes;

use crate::harness::{Weir, World};

weir_testing::on_both_flavors! {
    a_trigger_is_the_largest_difference
}

/// A study of `runs` repetitions in which a trigger is the one difference.
fn study(flavor: &str, runs: u32) -> String {
    format!(
        r#"
        [study]
        title = "A trigger"
        question = "In which function?"
        [server]
        flavor = "{flavor}"
        # The processor is to be the limit, not the disk: more samples.
        config = {{ innodb_flush_log_at_trx_commit = 0, sync_binlog = 0 }}
        [data]
        workload = "oltp_update_non_index"
        tables = 1
        rows = 2_000
        [[data.before]]
        name = "trigger"
        statement = "CREATE TRIGGER sbtest.planted BEFORE UPDATE ON sbtest.sbtest1 FOR EACH ROW SET @sum = BENCHMARK(3000, NEW.k * 3 + 1)"
        [load]
        threads = 4
        warmup = "1s"
        measure = "3s"
        profile = true
        [factors]
        before = ["none", "trigger"]
        [repeat]
        runs = {runs}
        "#
    )
}

/// Returns true, and says so, where the kernel lends no samples, as in many containers.
fn is_left_out(test: &str) -> bool {
    let own = StackSampler::start(std::process::id());
    if let Err(error) = &own {
        weir_testing::skipped(test, &error.to_string());
    }
    own.is_err()
}

/// Runs the study in `world`; returns the folder of the result.
fn run(world: &World, flavor: &str, runs: u32) -> PathBuf {
    fs::create_dir_all(world.path("work")).unwrap();
    let file = world.write("study.toml", &study(flavor, runs));
    let (out, work) = (world.path("out"), world.path("work"));
    let words = [
        "run",
        file.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--work",
        work.to_str().unwrap(),
    ];
    let output = Weir::in_world(world).args(words).output();
    // So few and short runs may be no comparison of throughput.
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.stderr);
    world.assert_nothing_left();
    out
}

/// Stacks in the file of the run of `cell`, from 1.
fn stacks(out: &Path, cell: &str, run: u32) -> StackCounts {
    let entries = fs::read_dir(out.join("flames")).unwrap();
    let mut names = entries.map(|entry| entry.unwrap().path());
    let ending = format!("run-{run}.folded");
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(cell) && name.ends_with(&ending)
    };
    let path = names.find(is_it).unwrap();
    for picture in ["svg", "waits.svg"] {
        assert!(path.with_extension(picture).exists(), "{}", path.display());
    }
    StackCounts::parse(&fs::read_to_string(path).unwrap())
}

/// Asserts that in each pair of runs the function with the largest difference is one of triggers.
fn assert_found(out: &Path, runs: u32) {
    for run in 1..=runs {
        let (before, after) = (stacks(out, "1-", run), stacks(out, "2-", run));
        let changes = largest_changes(&before, &after, 5);
        let first = changes[0].function.to_lowercase();
        assert!(first.contains("trigger"), "run {run}: {changes:?}");
        assert!(changes[0].change() > 0.1, "run {run}: {changes:?}");
    }
}

fn a_trigger_is_the_largest_difference(flavor: weir_model::Flavor) {
    if is_left_out("flames of a trigger") {
        return;
    }
    let world = World::new();
    let out = run(&world, &flavor.to_string(), 1);
    assert_found(&out, 1);
    let markdown = ["report", out.to_str().unwrap(), "--format", "md"];
    let text = Weir::in_world(&world).args(markdown).succeeds().stdout;
    let (_, flames) = text.split_once("## CPU time by function").unwrap();
    let first = flames
        .lines()
        .find(|line| line.contains(" points"))
        .unwrap();
    assert!(first.to_lowercase().contains("trigger"), "{flames}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(
        page.contains("process_triggers"),
        "the page has no such function"
    );
}

#[test]
fn a_trigger_is_found_five_times_of_five() {
    if is_left_out("flames of five triggers") {
        return;
    }
    let world = World::new();
    let out = run(&world, "mariadb", 5);
    assert_found(&out, 5);
}
