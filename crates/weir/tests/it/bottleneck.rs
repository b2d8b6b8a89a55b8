//! What limited a run: cases built on purpose on real servers, one arm of a study for each word.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command};

use serde_json::Value;
use weir_process::MemoryGroup;

use crate::harness::{Weir, World};

/// Word -> settings that make it true.
const ARMS: [(&str, &str); 7] = [
    (
        "server_cpu",
        r#"drive = "null", workload = "oltp_point_select", threads = 16"#,
    ),
    (
        "drive_read",
        r#"drive = "raid10-8x15k-bbu", workload = "oltp_point_select", threads = 8, innodb_buffer_pool_size = "8M""#,
    ),
    (
        "drive_write",
        r#"drive = "intel-p4610", workload = "oltp_update_non_index", threads = 16, innodb_buffer_pool_size = "8M", innodb_flush_log_at_trx_commit = 0, sync_binlog = 0"#,
    ),
    (
        "flush",
        r#"drive = "consumer-tlc", workload = "oltp_update_non_index", threads = 4"#,
    ),
    (
        "lock",
        // Locks are held over round trips: a lone update lets go of its row before it flushes.
        r#"drive = "null", workload = "oltp_write_only", threads = 16, rows = 1, rtt = "2ms""#,
    ),
    (
        "network",
        r#"drive = "null", workload = "oltp_point_select", threads = 8, rtt = "20ms""#,
    ),
    (
        "offered_rate",
        r#"drive = "null", workload = "oltp_point_select", threads = 8, rate = 20"#,
    ),
];

/// A study with an arm for each of `words`.
fn study(flavor: &str, words: &[&str]) -> String {
    let arms = ARMS.iter().filter(|(word, _)| words.contains(word));
    let arms: Vec<_> = arms
        .map(|(word, settings)| format!("{{ name = \"{word}\", {settings} }},"))
        .collect();
    format!(
        r#"
        [study]
        title = "Limits"
        question = "Is the limit the one that was built?"
        [server]
        flavor = "{flavor}"
        [server.config]
        innodb_buffer_pool_size = "64M"
        innodb_flush_method = "O_DIRECT"
        innodb_flush_log_at_trx_commit = 1
        innodb_io_capacity = 2000
        innodb_io_capacity_max = 4000
        [data]
        workload = "oltp_point_select"
        tables = 1
        rows = 60_000
        scale = {{ drive = "1/25" }}
        [load]
        threads = 8
        distribution = "uniform"
        warmup = "1s"
        measure = "2s"
        [factors]
        arm = [{}]
        [repeat]
        runs = 1
        "#,
        arms.join("\n")
    )
}

/// Arm -> its run's record.
fn measure(flavor: &str, words: &[&str]) -> BTreeMap<String, Value> {
    let result = run(&study(flavor, words));
    let runs = result["runs"].as_array().unwrap();
    runs.iter()
        .map(|run| {
            let cell = run["record"]["cell"].as_u64().unwrap() as usize;
            let arm = &result["plan"]["cells"][cell]["levels"]["arm"];
            (arm.as_str().unwrap().to_owned(), run["record"].clone())
        })
        .collect()
}

/// The result of a study.
fn run(study: &str) -> Value {
    let world = World::new();
    fs::create_dir_all(world.path("work")).unwrap();
    let file = world.write("study.toml", study);
    let (out, work) = (world.path("out"), world.path("work"));
    let (out, work) = (out.to_str().unwrap(), work.to_str().unwrap());
    let run = ["run", file.to_str().unwrap(), "--out", out, "--work", work];
    // One repetition is no comparison, so the verdict is invalid; the runs are what is wanted.
    let output = Weir::in_world(&world).args(run).output();
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.stderr);
    let json = Weir::new().args(["report", out, "--format", "json"]);
    let result = serde_json::from_str(&json.succeeds().stdout).unwrap();
    world.assert_nothing_left();
    result
}

/// The evidence for a word in a run's record: the larger, the more it limits.
fn evidence(word: &str, record: &Value) -> f64 {
    let used = &record["utilization"];
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let connections = |place: &str| number(&used["connections"][place]);
    let share = |place: &str| connections(place) / connections("all");
    match word {
        "server_cpu" => number(&used["server_cores"]),
        "drive_read" => share("read"),
        "drive_write" => number(&used["drive_write"]),
        "offered_rate" => 1.0 - share("busy"),
        place => share(place),
    }
}

/// Of all arms of a study, the one that was built for a limit shows most of it. Which word follows from
/// how much is decided by a function of the evidence, which its own tests prove; how much that is on a
/// shared machine, a benchmark says.
fn each_limit_shows_where_it_was_built(flavor: &str, words: &[&str]) {
    let found = measure(flavor, words);
    for word in words {
        let of = |arm: &str| evidence(word, &found[arm]);
        // A server that waits for its pages waits for their log, too.
        let is_other = |arm: &&&str| *word != "flush" || **arm != "drive_write";
        let arms = words.iter().filter(is_other);
        let most = arms.max_by(|one, other| of(one).total_cmp(&of(other)));
        let all: Vec<_> = words.iter().map(|arm| (arm, of(arm))).collect();
        assert_eq!(most, Some(word), "{flavor}: {all:?}");
        let is_word = found[*word]["bottleneck"]
            .as_str()
            .is_some_and(|word| !word.is_empty());
        assert!(is_word, "{flavor} {word}");
    }
}

#[test]
fn limits_of_mysql_show_where_they_were_built() {
    each_limit_shows_where_it_was_built("mysql", &ARMS.map(|(word, _)| word));
}

/// The words whose evidence is the server's own: of files and locks.
#[test]
fn limits_of_mariadb_show_where_they_were_built() {
    each_limit_shows_where_it_was_built("mariadb", &["drive_read", "flush", "lock"]);
}

/// Takes what a run leaves of the processors, at the lowest priority, until it is dropped.
struct Others(Vec<Child>);

impl Others {
    fn on_all_cores(cores: usize) -> Self {
        Self::at("-n19", cores)
    }

    fn at(niceness: &str, cores: usize) -> Self {
        let spin = || {
            Command::new("nice")
                .args([niceness, "sh", "-c", "while :; do :; done"])
                .spawn()
        };
        Self((0..cores).map(|_| spin().unwrap()).collect())
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for other in &mut self.0 {
            other.kill().unwrap();
            other.wait().unwrap();
        }
    }
}

/// Weir itself as the limit. Its load generator costs a tenth of what a real server does, so what is slow here is
/// its drive: it compresses all that is written, which takes more of the saturated cores than the server.
fn an_emulation_that_takes_the_cores_is_the_limit(flavor: &str) {
    const CORES_MAX: usize = 2;
    let cores = std::thread::available_parallelism().unwrap().get();
    if cores > CORES_MAX {
        weir_testing::skipped("the load generator as the limit", &format!("{cores} cores"));
        return;
    }
    let study = study(flavor, &[]).replace(
        "arm = []",
        "drive = [\"scaleflux-csd3000\"]\n\"drive.compressed_sizes\" = [\"exact\"]",
    );
    let study = study
        .replace("oltp_point_select", "oltp_update_non_index")
        .replace("threads = 8", "threads = 16")
        .replace("\"64M\"", "\"8M\"")
        .replace("log_at_trx_commit = 1", "log_at_trx_commit = 0");
    let _others = Others::on_all_cores(cores);
    let used = &run(&study)["runs"][0]["record"]["utilization"];
    let cores = |of: &str| used[of].as_f64().unwrap();
    let of_weir = cores("client_cores") + cores("drive_cores");
    assert!(of_weir > cores("server_cores"), "{used}");
}

#[test]
fn an_emulation_that_takes_the_cores_of_mysql_is_the_limit() {
    an_emulation_that_takes_the_cores_is_the_limit("mysql");
}

#[test]
fn an_emulation_that_takes_the_cores_of_mariadb_is_the_limit() {
    an_emulation_that_takes_the_cores_is_the_limit("mariadb");
}

/// Another program that takes the cores is told by its name, and what was measured beside it has no verdict.
#[test]
fn a_program_that_takes_the_cores_is_named_and_forbids_a_verdict() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let study = study("mariadb", &[])
        .replace("arm = []", "innodb_flush_log_at_trx_commit = [1, 2]")
        .replace("innodb_flush_log_at_trx_commit = 1\n", "")
        .replace("scale = { drive = \"1/25\" }", "")
        .replace("measure = \"2s\"", "measure = \"4s\"");
    let _others = Others::at("-n0", 2 * cores);
    let result = run(&study);
    let findings = &result["comparisons"][0]["findings"];
    let mut findings = findings.as_array().unwrap().iter();
    let found = findings.find(|finding| finding["rule"] == "R24");
    let found = found.unwrap_or_else(|| panic!("{}", result["runs"][0]["record"]));
    let message = found["message"].as_str().unwrap();
    assert!(
        message.starts_with("other processes used ") && message.contains("sh"),
        "{message}"
    );
    for run in result["runs"].as_array().unwrap() {
        let used = &run["record"]["utilization"];
        let others = used["other_cores"].as_f64().unwrap() / used["host_cores"].as_f64().unwrap();
        assert!((0.2..1.05).contains(&others), "{used}");
    }
}

/// A limit of the server's memory that leaves too little for the tables, which it reads through the page cache:
/// what was dropped is wanted again soon. The evidence is the host's, whatever the flavour; MariaDB needs
/// little memory for itself, so that more of the limit is for tables.
#[test]
fn a_server_with_too_little_memory_waits_for_it() {
    if let Err(error) = MemoryGroup::create(1 << 30) {
        weir_testing::skipped("memory as the limit", &error.to_string());
        return;
    }
    let waited = |memory: &str| {
        let study = format!(
            r#"
            [study]
            title = "Memory"
            question = "Is memory waited for?"
            [server]
            flavor = "mariadb"
            memory = "{memory}"
            [server.config]
            innodb_buffer_pool_size = "16M"
            innodb_flush_method = "fsync"
            [data]
            workload = "oltp_point_select"
            tables = 1
            rows = 800_000
            [load]
            threads = 32
            distribution = "uniform"
            warmup = "4s"
            measure = "4s"
            [factors]
            threads = [32]
            [repeat]
            runs = 1
            "#
        );
        let used = &run(&study)["runs"][0]["record"]["utilization"];
        used["memory"].as_f64().unwrap()
    };
    let (little, enough) = (waited("200M"), waited("2G"));
    assert!(little > 2.0 * enough && little > 0.0, "{little} {enough}");
}
