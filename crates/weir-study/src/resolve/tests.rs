//! Study files become plans; mistakes become one line.

use weir_model::{Cell, Flavor, SearchGoal};

use super::*;

mod changes;
mod documents;
mod events;
mod hosts;
mod loads;
mod mistakes;
mod replays;

const STUDY: &str = r#"
    [study]
    title = "T"
    question = "Q?"
    [server]
    config = { innodb_buffer_pool_size = "8G", innodb_flush_method = "O_DIRECT" }
    [data]
    workload = "oltp_write_only"
    tables = 2
    rows = 1_000_000
    scale = { data = "1/100", drive = "1/25" }
    [load]
    threads = 32
    warmup = "5s"
    measure = "10s"
    [factors]
    innodb_doublewrite = ["ON", "OFF"]
    drive = ["a", "b"]
    [repeat]
    runs = 3
    seed = 7
"#;

fn resolved(text: &str) -> Result<Plan, StudyError> {
    plan_from_text(text, Flavor::Mariadb)
}

fn message(text: &str) -> String {
    let message = resolved(text).unwrap_err().to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[test]
fn a_study_becomes_a_full_factorial_in_blocks() {
    let plan = resolved(STUDY).unwrap();
    let labels: Vec<_> = plan.cells.iter().map(Cell::label).collect();
    assert_eq!(
        labels,
        [
            "drive a, innodb_doublewrite ON",
            "drive a, innodb_doublewrite OFF",
            "drive b, innodb_doublewrite ON",
            "drive b, innodb_doublewrite OFF"
        ]
    );
    assert_eq!(plan.runs.len(), 12);
    assert_eq!(plan.seed, 7);
    let spec = &plan.cells[0].spec;
    assert_eq!((spec.seed, spec.load.connections), (7, 32));
    assert_eq!(spec.data.rows_total(), 2 * 10_000);
    assert_eq!(spec.variable("innodb_buffer_pool_size"), Some("85899346"));
    assert_eq!(spec.variable("innodb_flush_method"), Some("O_DIRECT"));
    // 10 pages of 1,024 would be less than servers take.
    let depth = "innodb_lru_scan_depth";
    assert_eq!(spec.variable(depth), Some("100"));
    let full = &crate::full_size(&plan).cells[0].spec;
    assert_eq!(full.variable(depth), None, "the default again");
    assert_eq!(full.data.rows_total(), 2 * 1_000_000);
    assert_eq!(full.data.drive_scale, weir_model::Scale::FULL);
    // 8 GiB but for what rounding took.
    let pool = full.variable("innodb_buffer_pool_size").unwrap();
    let pool: u64 = pool.parse().unwrap();
    assert!(pool.abs_diff(8 << 30) < 100, "{pool}");
}

#[test]
fn several_thread_counts_are_a_factor() {
    let plan = resolved(&STUDY.replace("threads = 32", "threads = [2, 32]")).unwrap();
    assert_eq!(plan.cells.len(), 8);
    assert!(
        plan.cells
            .iter()
            .all(|cell| cell.levels["threads"] == cell.spec.load.connections.to_string())
    );
}

/// A key that a factor gives need not be written twice, and whole tables need not be there for it.
#[test]
fn a_factor_is_enough() {
    for (key, factor) in [
        ("threads = 32\n", "threads = [2, 32]"),
        ("warmup = \"5s\"\n", "warmup = [\"1s\", \"auto\"]"),
        ("measure = \"10s\"\n", "measure = [\"10s\", \"20s\"]"),
        (
            "workload = \"oltp_write_only\"\n",
            "workload = [\"oltp_write_only\", \"oltp_read_only\"]",
        ),
        ("tables = 2\n", "tables = [2, 4]"),
        ("rows = 1_000_000\n", "rows = [1000, 2000]"),
        (
            "threads = 32\n",
            "arm = [{ threads = 2 }, { threads = 32, rtt = \"1ms\" }]",
        ),
    ] {
        let text = STUDY
            .replace(key, "")
            .replace("[factors]", &format!("[factors]\n{factor}"));
        let plan = resolved(&text).unwrap();
        assert_eq!(plan.cells.len(), 8, "{factor}");
    }
    let plan = resolved(
        "study = { title = \"T\", question = \"Q?\" }\n[factors]\nserver = [\"mysql\", \"mariadb\"]\ndrive = [\"null\"]\n\
         workload = [\"oltp_write_only\"]\nrows = [1000]\nthreads = [8]\nwarmup = [\"1s\"]\nmeasure = [\"2s\"]",
    )
    .unwrap();
    let load = &plan.cells[1].spec.load;
    assert_eq!(
        (load.connections, load.measure),
        (8, weir_model::Duration::from_secs(2))
    );
    assert_eq!(plan.cells[1].spec.primary().server.flavor, Flavor::Mariadb);
}

/// A key that nothing gives, or one level only, is named with the place to write it.
#[test]
fn what_neither_a_section_nor_a_factor_gives_is_missing() {
    for (key, name) in [
        (
            "threads = 32\n",
            "`threads` is missing; write it in [load], or as a factor",
        ),
        (
            "warmup = \"5s\"\n",
            "`warmup` is missing; write it in [load]",
        ),
        (
            "measure = \"10s\"\n",
            "`measure` is missing; write it in [load]",
        ),
        (
            "workload = \"oltp_write_only\"\n",
            "`workload` is missing; write it in [data]",
        ),
        ("rows = 1_000_000\n", "add `rows`"),
    ] {
        let error = message(&STUDY.replace(key, ""));
        assert!(error.contains(name), "{error}");
    }
    let one = "[factors]\narm = [{ name = \"x\", threads = 2 }, { name = \"y\", rtt = \"1ms\" }]";
    let error = message(
        &STUDY
            .replace("threads = 32\n", "")
            .replace("[factors]", one),
    );
    assert!(
        error.contains("arm y") && error.contains("`threads` is missing"),
        "{error}"
    );
}

#[test]
fn a_search_for_threads_gives_them() {
    let search = "[search]\nfind = \"peak\"\nrange = \"2..64\"\n";
    let text = STUDY
        .replace("threads = 32\n", "")
        .replace("[repeat]\n    runs = 3", &format!("{search}[repeat]"));
    let plan = resolved(&text).unwrap();
    assert_eq!(plan.search.unwrap().factor, "threads");
}

#[test]
fn a_path_is_a_server_program() {
    let path = "flavor = \"/opt/db/bin/mariadbd\"\n        config";
    let plan = resolved(&STUDY.replace("config", path)).unwrap();
    let server = &plan.cells[0].spec.primary().server;
    assert_eq!(server.flavor, Flavor::Mariadb);
    assert_eq!(server.binary, Some("/opt/db/bin/mariadbd".into()));
}

fn with(right: &str, wrong: &str) -> Plan {
    assert!(STUDY.contains(right), "{right}");
    resolved(&STUDY.replace(right, wrong)).unwrap()
}

#[test]
fn every_kind_of_factor_has_its_place() {
    let factors = r#"
        [factors]
        "drive.fill" = [0.5, 0.9]
        server = ["mysql 8.4", "mariadb", "/opt/db/bin/mariadbd"]
        rate = ["closed", 500]
        rtt = ["0s", "1ms"]
        workload = ["oltp_read_only", "oltp_read_write"]
        distribution = ["uniform", "zipfian"]
        rows = [1_000_000, 2_000_000]
        range_size = [10, 100]
        innodb_page_size = ["4K", "16K"]
        ignored"#;
    let plan = with("[factors]", &factors.replace("ignored", ""));
    assert_eq!(plan.cells.len(), 3 * 2_usize.pow(10));
    let last = &plan.cells.last().unwrap().spec;
    let drive = last.primary().drive.as_ref().unwrap();
    assert_eq!(drive.settings["flash.fill"], "0.9");
    assert_eq!(last.primary().server.flavor, Flavor::Mariadb);
    assert_eq!(last.variable("innodb_page_size"), Some("16K"));
    assert_eq!(last.data.rows_total(), 2 * 20_000);
    assert_eq!(last.workload.to_string(), "oltp_read_write");
    assert_eq!(last.load.pace.rate_per_s(), Some(500.0));
    assert_eq!(last.load.rtt.to_string(), "1ms");
    let keys = weir_model::Distribution::Zipfian { exponent: 0.8 };
    assert_eq!(last.workload.distribution(), keys);
    assert_eq!(last.settings().get("range_size"), None, "100 is usual");
    let first = &plan.cells[0].spec;
    assert_eq!(first.settings()["range_size"], "10");
    assert_eq!(first.primary().server.version.as_deref(), Some("8.4"));
    assert_eq!(first.load.pace.rate_per_s(), None);
    // The binary log is MySQL's to turn off.
    assert_eq!(first.variable("skip_log_bin"), Some("1"));
    assert_eq!(last.variable("skip_log_bin"), None);
}

#[test]
fn replicas_have_the_server_and_the_variables_of_their_primary_whichever_factor_comes_first() {
    let factors = "[factors]\nreplicas = [1]\nserver = [\"mariadb\"]\nsync_binlog = [0]\n";
    let plan = with("[factors]", factors);
    let topology = &plan.cells[0].spec.topology;
    let [replica] = topology.replicas() else {
        panic!("one replica expected")
    };
    assert_eq!(replica.variables["sync_binlog"], "0");
    assert_eq!(replica.variables, topology.primary().variables);
    assert_eq!(replica.server, topology.primary().server);
    assert_eq!(replica.drive, None);
}

#[test]
fn the_hosts_own_storage_is_a_level_of_the_drive() {
    let study = STUDY.replace("drive = [\"a\", ", "drive = [\"host\", ");
    let error = message(&study);
    assert!(error.contains("drive scale 1/25"), "{error}");
    let plan = resolved(&study.replace(", drive = \"1/25\"", "")).unwrap();
    for cell in &plan.cells {
        let drive = cell.spec.primary().drive.as_ref();
        let profile = drive.map(|drive| drive.profile.as_str());
        let wanted = Some("b").filter(|_| cell.levels["drive"] == "b");
        assert_eq!(profile, wanted, "{}", cell.label());
    }
}

#[test]
fn each_replica_has_a_drive_of_its_own_if_the_study_names_one() {
    let factors = "[factors]\nreplicas = [2]\nreplica_drive = [\"none\", \"intel-p4610\"]\n";
    let plan = with("[factors]", factors);
    let drives = |profile: Option<&str>| {
        let has_it = |cell: &&Cell| {
            let replicas = cell.spec.topology.replicas();
            replicas.len() == 2
                && replicas.iter().all(|replica| {
                    let drive = replica.drive.as_ref();
                    drive.map(|drive| drive.profile.as_str()) == profile
                })
        };
        plan.cells.iter().filter(has_it).count()
    };
    assert_eq!(drives(None), drives(Some("intel-p4610")));
    assert_eq!(drives(None) * 2, plan.cells.len());
    let profiles = crate::drive_profiles(&plan);
    assert!(profiles.iter().any(|profile| profile.name == "intel-p4610"));
    let names = plan.cells[0].spec.settings();
    let others = plan.cells.iter().map(|cell| cell.spec.settings());
    let differing = others.filter(|other| other.get("replica_drive") != names.get("replica_drive"));
    assert_eq!(differing.count() * 2, plan.cells.len());
    let alone = STUDY.replace("[server]", "[server]\n    replica_drive = \"intel-p4610\"");
    assert!(message(&alone).contains("`replica_drive` needs a replica"));
}

#[test]
fn levels_that_move_together_are_one_declared_factor() {
    let arms = r#"
        [factors]
        arm = [ { name = "CSD, doublewrite off", drive = "c", innodb_doublewrite = "OFF" },
                { drive = "a", innodb_doublewrite = "ON" } ]
        [ignored]"#;
    let text = STUDY.split("[factors]").next().unwrap();
    let plan = resolved(&format!("{text}{}", arms.replace("[ignored]", ""))).unwrap();
    assert_eq!(plan.factors[0].settings, ["drive", "innodb_doublewrite"]);
    assert!(plan.factors[0].moves_several());
    let labels: Vec<_> = plan.cells.iter().map(Cell::label).collect();
    assert_eq!(
        labels,
        [
            "arm CSD, doublewrite off",
            "arm drive a, innodb_doublewrite ON"
        ]
    );
    let spec = &plan.cells[0].spec;
    assert_eq!(spec.drive_name().as_deref(), Some("c"));
    assert_eq!(spec.variable("innodb_doublewrite"), Some("OFF"));
}

#[test]
fn exclusions_leave_their_cells_out() {
    let plan = with(
        "[repeat]",
        "[[exclude]]\ndrive = \"b\"\ninnodb_doublewrite = \"OFF\"\n[repeat]",
    );
    let labels: Vec<_> = plan.cells.iter().map(Cell::label).collect();
    assert_eq!(labels.len(), 3);
    assert!(!labels.contains(&"drive b, innodb_doublewrite OFF".to_owned()));
}

#[test]
fn what_varies_within_a_server_stays_together_in_the_order() {
    let text = STUDY.replace("threads = 32", "threads = [2, 8, 32]");
    let plan =
        |repeat: &str| resolved(&text.replace("seed = 7", &format!("seed = 7\n{repeat}"))).unwrap();
    let threads_in_order = |plan: &Plan| {
        let cells = plan.runs.iter().map(|run| &plan.cells[run.cell]);
        let threads = cells.map(|cell| cell.spec.load.connections);
        threads.collect::<Vec<_>>()
    };
    let inside = plan("within_server = [\"threads\"]");
    for server in inside.runs.chunks(3) {
        assert!(
            server
                .iter()
                .all(|run| inside.shares_server(server[0].cell, run.cell))
        );
    }
    let written = plan("within_server = [\"threads\"]\norder_within = \"as_written\"");
    assert_eq!(threads_in_order(&written), [2, 8, 32].repeat(12));
    assert_ne!(threads_in_order(&inside), threads_in_order(&written));
    let apart = plan("");
    assert!(!apart.shares_server(0, 0));
}

#[test]
fn a_range_of_threads_is_a_factor() {
    let plan = with("threads = 32", "threads = \"2..32 log 5\"");
    let threads = plan
        .factors
        .iter()
        .find(|factor| factor.name == "threads")
        .unwrap();
    assert_eq!(threads.levels, ["2", "4", "8", "16", "32"]);
    assert_eq!(plan.cells.len(), 20);
}

#[test]
fn a_warm_up_may_have_bounds_instead_of_a_length() {
    let warmup = |text: &str| {
        let plan = with("warmup = \"5s\"", &format!("warmup = {text}"));
        plan.cells[0].spec.load.warmup
    };
    assert_eq!(warmup("\"5s\"").most().to_string(), "5s");
    assert_eq!(warmup("\"auto\"").most().to_string(), "1800s");
    let bounded = warmup("{ at_least = \"3s\", at_most = \"9s\" }");
    assert_eq!(bounded.least().to_string(), "3s");
    assert_eq!(bounded.most().to_string(), "9s");
}

#[test]
fn repetitions_until_an_interval_is_narrow() {
    let plan = with("runs = 3", "until = \"effect +-5 %\"\nbudget = \"2h\"");
    assert_eq!(plan.repeat.until, Some(weir_model::Until::Within(0.05)));
    assert_eq!((plan.repeat.runs, plan.repeat.at_most), (6, 30));
    assert_eq!(plan.runs.len(), 24);
}

#[test]
fn repetitions_until_there_is_a_verdict() {
    let plan = with("runs = 3", "until = \"verdict\"");
    assert_eq!(plan.repeat.until, Some(weir_model::Until::Verdict));
    assert_eq!((plan.repeat.runs, plan.repeat.at_most), (3, 10));
}

#[test]
fn repetitions_until_levels_are_equal() {
    let plan = with("runs = 3", "until = \"equal +-8 %\"");
    assert_eq!(plan.repeat.until, Some(weir_model::Until::Equal(0.08)));
    assert_eq!((plan.repeat.runs, plan.repeat.at_most), (3, 10));
}

#[test]
fn a_search_that_cannot_be_made_says_why() {
    let searching = |search: &str| {
        let text = STUDY.replace("runs = 3", "");
        message(&text.replace("[repeat]", &format!("[search]\n{search}\n[repeat]")))
    };
    for (search, why) in [
        (
            "find = \"rate\"\nrange = \"1..9\"",
            "needs search.objective",
        ),
        (
            "find = \"threads\"\nrange = \"1..9\"",
            "needs search.objective",
        ),
        (
            "find = \"threads\"\nrange = \"1..9\"\nobjective = \"p99 <= 1ms\"\nfactor = \"rate\"",
            "`threads` by threads",
        ),
        (
            "find = \"peak\"\nrange = \"1..9\"\nobjective = \"p99 <= 1ms\"",
            "belongs to find",
        ),
        (
            "find = \"rate\"\nrange = \"1..9\"\nobjective = \"p98 <= 1ms\"",
            "no latency",
        ),
        (
            "find = \"peak\"\nrange = \"9..1\"",
            "must begin above 0 and rise",
        ),
        (
            "find = \"knee\"\nrange = \"1..9\"\nshares = [1.5]",
            "must be in 0 to 1",
        ),
        (
            "find = \"knee\"\nrange = \"1..9\"\nfactor = \"innodb_doublewrite\"",
            "search it or list it",
        ),
        (
            "find = \"knee\"\nrange = \"1..9\"\nfactor = \"server\"",
            "can vary",
        ),
    ] {
        let found = searching(search);
        assert!(found.contains(why), "{search}: {found}");
    }
}

#[test]
fn a_search_replaces_the_runs() {
    let text = STUDY.replace("runs = 3", "").replace(
        "[repeat]",
        "[search]\nfind = \"knee\"\nrange = \"1G..16G\"\ntolerance = \"10 %\"\n[repeat]",
    );
    let plan = resolved(&text).unwrap();
    assert_eq!((plan.cells.len(), plan.runs.len()), (4, 0));
    let search = plan.search.clone().unwrap();
    assert_eq!(search.factor, "innodb_buffer_pool_size");
    assert_eq!((search.low, search.high), (1 << 30, 16 << 30));
    assert!(matches!(&search.goal, SearchGoal::Knee { shares } if shares.len() == 3));
    let probe = weir_model::Probe {
        of_cell: 1,
        place: 2 << 30,
        confirms: false,
    };
    let cell = search::probe_cell(&plan, &search, probe);
    // Scaled with the data, labelled as written.
    let pool = cell.spec.variable("innodb_buffer_pool_size");
    assert_eq!(pool, Some("21474836"));
    assert_eq!(cell.levels["innodb_buffer_pool_size"], "2G");
}
