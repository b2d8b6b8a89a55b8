//! Native workloads under the name `sysbench` beside sysbench itself: every command, and what is refused.

use weir_model::Flavor;

use crate::beside::{Bench, Output, masked};

/// What differs by the client library and by who comes first.
fn comparable(output: &Output) -> Output {
    let output = masked(output);
    let text = |text: &str| text.replace("local MySQL server", "local server");
    // Whether sysbench reports its last interval, and how many threads are left in it, is chance.
    let is_last = |line: &&str| line.starts_with("[ 2s ] ");
    // Threads of sysbench write into each other's lines.
    let apart = ["Creating ", "Inserting "]
        .iter()
        .fold(output.stdout, |text, step| {
            text.replace(step, &format!("\n{step}"))
        });
    // Which latencies come up is chance.
    let is_bar = |line: &&str| line.contains(" |");
    let lines = apart.lines().filter(|line| !is_last(line) && !is_bar(line));
    let mut lines: Vec<_> = lines.collect();
    let is_step = |line: &&str| line.starts_with("Creating ") || line.starts_with("Inserting ");
    if lines.iter().any(is_step) {
        // Tables are made by several threads.
        lines.retain(|line| !line.is_empty());
        lines.sort_unstable();
    }
    Output {
        stdout: text(
            &lines
                .into_iter()
                .map(without_counts)
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        stderr: text(&output.stderr),
        code: output.code,
    }
}

/// A line of a report without what a run of some length counts.
fn without_counts(line: &str) -> String {
    const COUNTS: [&str; 8] = [
        "ignored errors: ",
        "read: ",
        "write: ",
        "other: ",
        "total: ",
        "transactions: ",
        "queries: ",
        "total number of events:",
    ];
    match COUNTS.iter().find(|label| line.starts_with(**label)) {
        Some(label) => (*label).to_owned(),
        None => line.to_owned(),
    }
}

fn same(bench: &Bench, words: &str) -> Output {
    let ours = bench.ours(words);
    if let Some(theirs) = bench.theirs(words) {
        assert_eq!(comparable(&ours), comparable(&theirs), "{words}\n{ours:?}");
    }
    ours
}

#[test]
fn what_needs_no_server_is_as_sysbench_says_it() {
    let bench = Bench::new();
    for words in [
        "--version",
        "",
        "oltp_read_write help",
        "oltp_read_only help",
        "oltp_delete help",
        "select_random_points help",
        "bulk_insert help",
        "oltp_read_write",
        "oltp_read_write bogus",
        "oltp_read_write --nosuch=1 run",
        "oltp_read_write --threads=x run",
        "oltp_read_write --threads=0 run",
        "oltp_read_write --rand-type=x run",
        "oltp_read_write run extra",
        "help",
        "nosuch run",
        "/usr/share/sysbench/oltp_read_write.lua help",
    ] {
        same(&bench, words);
    }
}

/// Names, forms and defaults of options; what they do is told in Weir's words.
#[test]
fn the_program_s_help_has_sysbench_s_form() {
    let options = |output: &Output| -> Vec<(String, String)> {
        let lines = output
            .stdout
            .lines()
            .filter(|line| line.starts_with("  --"));
        lines
            .filter(|line| !line.contains("--pgsql"))
            .map(|line| {
                let default = line.rsplit_once(" [").map_or("", |(_, default)| default);
                let help = line.find(' ').map_or(0, |at| at + 2);
                let end = line[help..]
                    .find("  ")
                    .unwrap_or_else(|| line[help..].find(' ').unwrap_or(0));
                (line[..help + end].trim().to_owned(), default.to_owned())
            })
            .collect()
    };
    let bench = Bench::new();
    let ours = bench.ours("--help");
    assert_eq!(ours.code, Some(0));
    if let Some(theirs) = bench.theirs("--help") {
        let names = |output: &Output| -> Vec<(String, String)> {
            let found = options(output).into_iter();
            let first = |name: String| name.split(' ').next().unwrap_or_default().to_owned();
            found
                .map(|(name, default)| (first(name), default))
                .collect()
        };
        assert_eq!(names(&ours), names(&theirs));
    }
    let development = bench.ours("--compat=1.1 --help").stdout;
    assert!(development.contains("--rand-zipfian-exp=N") && !development.contains("rand-spec"));
}

fn commands_are_the_same(flavor: Flavor) {
    let (server, _directory) = weir_testing::start(flavor);
    let bench = Bench::on(&server.endpoint());
    let small = "oltp_read_write --table_size=100";
    for words in [
        // Nothing is there yet.
        &format!("{small} run"),
        &format!("{small} prewarm"),
        &format!("{small} cleanup"),
    ] {
        same(&bench, words);
    }
    for (prepare, cleanup) in [
        (format!("{small} prepare"), format!("{small} cleanup")),
        (
            format!("{small} --tables=3 --threads=2 prepare"),
            format!("{small} --tables=3 --threads=2 cleanup"),
        ),
        (
            format!("{small} --create_secondary=off --verbosity=0 prepare"),
            format!("{small} --verbosity=0 cleanup"),
        ),
        (
            "bulk_insert --threads=2 prepare".to_owned(),
            "bulk_insert --threads=2 cleanup".to_owned(),
        ),
        (
            "oltp_insert --table_size=0 prepare".to_owned(),
            "oltp_insert cleanup".to_owned(),
        ),
    ] {
        // Each prepares what the other has dropped.
        let theirs = bench.theirs(&prepare);
        assert_eq!(bench.theirs(&cleanup).is_some(), theirs.is_some());
        let ours = bench.ours(&prepare);
        if let Some(theirs) = theirs {
            assert_eq!(
                comparable(&ours),
                comparable(&theirs),
                "{prepare}\n{ours:?}"
            );
        }
        assert_eq!(ours.code, Some(0), "{ours:?}");
        same(&bench, &cleanup);
    }
    assert_eq!(bench.ours(&format!("{small} prepare")).code, Some(0));
    for words in [
        format!("{small} prepare"),
        format!("{small} prewarm"),
        format!("{small} --threads=2 prewarm"),
        format!("{small} --time=1 run"),
        format!("{small} --time=2 --report-interval=1 --threads=2 run"),
        format!("{small} --time=1 --percentile=0 --rand-seed=7 run"),
        format!("{small} --max-time=1 run"),
        format!("{small} --time=1 --verbosity=0 run"),
        format!("{small} --time=1 --tables=9 run"),
        format!("{small} --time=3 --report-checkpoints=1,2 run"),
        format!("{small} --time=1 --histogram run"),
        "oltp_point_select --table_size=100 --time=1 --rate=50 run".to_owned(),
    ] {
        let run = same(&bench, &words);
        assert_eq!(run.stderr, "", "{words} {run:?}");
    }
    drop(server);
    // Nobody listens any more.
    for words in ["run", "prepare", "cleanup", "prewarm"] {
        let refused = same(&bench, &format!("{small} {words}"));
        assert_eq!(refused.code, Some(1), "{refused:?}");
    }
}

#[test]
fn every_command_is_as_sysbench_does_it_on_mysql() {
    commands_are_the_same(Flavor::Mysql);
}

#[test]
fn every_command_is_as_sysbench_does_it_on_mariadb() {
    commands_are_the_same(Flavor::Mariadb);
}

/// More is said with a verbosity above the default.
#[test]
fn what_weir_adds_is_said_when_it_is_asked_for() {
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
    let bench = Bench::on(&server.endpoint());
    let small = "oltp_read_write --table_size=100 --time=1";
    assert_eq!(bench.ours(&format!("{small} prepare")).code, Some(0));
    let more = bench.ours(&format!("{small} --verbosity=4 run"));
    assert!(more.stderr.contains("load generator: "), "{more:?}");
    let asked = bench.ours(&format!("{small} --percentiles=50 run"));
    assert!(
        asked.stdout.contains("Latency percentiles (ms):"),
        "{asked:?}"
    );
    assert_eq!(asked.stderr, "");
    let json = bench.ours(&format!("{small} --json run"));
    assert!(json.stdout.starts_with('{'), "{json:?}");
}
