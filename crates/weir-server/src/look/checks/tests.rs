use super::super::evidence::Values;
use super::super::evidence::tests::evidence;
use super::super::series::Series;
use super::*;

fn problems(grown: &[(&str, f64)], settings: &[(&str, &str)]) -> Vec<String> {
    let found = check(&evidence(grown, settings)).into_iter();
    let problems = found.filter(|finding| finding.weight == Weight::Problem);
    problems.map(|finding| finding.name).collect()
}

/// A server on which nothing is wrong: all counters that it has have grown by little.
const CLEAN: &[(&str, f64)] = &[
    ("Questions", 50_000.0),
    ("Innodb_buffer_pool_reads", 12.0),
    ("Innodb_buffer_pool_read_requests", 900_000.0),
    ("Innodb_pages_read", 14.0),
    ("Innodb_buffer_pool_pages_data", 1000.0),
    ("Innodb_buffer_pool_wait_free", 0.0),
    ("Innodb_log_waits", 0.0),
    ("Innodb_row_lock_time", 4.0),
    ("Innodb_row_lock_waits", 2.0),
    ("Created_tmp_disk_tables", 0.0),
    ("Created_tmp_tables", 400.0),
    ("Sort_merge_passes", 0.0),
    ("Select_full_join", 0.0),
    ("Opened_tables", 1.0),
    ("Open_tables", 40.0),
    ("Threads_created", 0.0),
    ("Connections", 60.0),
    ("Threads_connected", 5.0),
];
const SETTINGS: &[(&str, &str)] = &[("max_connections", "151"), ("table_open_cache", "4000")];

#[test]
fn a_clean_server_has_no_problem_and_each_planted_one_is_named_alone() {
    assert!(problems(CLEAN, SETTINGS).is_empty());
    for (planted, name) in [
        (
            &[
                ("Innodb_buffer_pool_reads", 9000.0),
                ("Innodb_pages_read", 9500.0),
            ][..],
            "buffer pool",
        ),
        (&[("Innodb_buffer_pool_wait_free", 3.0)], "free pages"),
        (&[("Innodb_log_waits", 2.0)], "log buffer"),
        (&[("Innodb_row_lock_time", 20_000.0)], "row locks"),
        (&[("Created_tmp_disk_tables", 200.0)], "temporary tables"),
        (&[("Sort_merge_passes", 200.0)], "sorts"),
        (&[("Select_full_join", 100.0)], "joins"),
        (
            &[
                ("Table_open_cache_overflows", 90.0),
                ("Opened_tables", 90.0),
            ],
            "table cache",
        ),
        (&[("Threads_created", 50.0)], "thread cache"),
        (&[("Threads_connected", 75.0)], "connections"),
        (&[("Aborted_connects", 11.0)], "refused logins"),
        (
            &[("Binlog_cache_disk_use", 20.0), ("Binlog_cache_use", 100.0)],
            "binlog cache",
        ),
        (
            &[("Innodb_history_list_length", 600_000.0)],
            "old row versions",
        ),
        (
            &[
                ("Innodb_checkpoint_age", 45.0),
                ("Innodb_checkpoint_max_age", 50.0),
                ("Innodb_os_log_written", 90.0),
            ],
            "redo log",
        ),
        (&[("Qcache_lowmem_prunes", 500.0)], "query cache"),
    ] {
        let is_planted = |name: &str| planted.iter().any(|(planted, _)| *planted == name);
        let others = CLEAN.iter().filter(|(name, _)| !is_planted(name));
        let all: Vec<_> = others.chain(planted).copied().collect();
        assert_eq!(problems(&all, SETTINGS), [name]);
    }
}

/// A pool that fills up reads as many pages as one that is too small; they stay.
#[test]
fn a_pool_that_still_fills_is_no_small_one() {
    let filling: Vec<_> = CLEAN
        .iter()
        .map(|(name, value)| match *name {
            "Innodb_buffer_pool_reads" | "Innodb_pages_read" | "Innodb_buffer_pool_pages_data" => {
                (*name, 9000.0)
            }
            name => (name, *value),
        })
        .collect();
    assert!(problems(&filling, SETTINGS).is_empty());
}

#[test]
fn events_before_the_window_are_told_as_such() {
    let before: Values = [("Innodb_log_waits", "90000"), ("Uptime", "99990")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let mut after = before.clone();
    after.insert("Uptime".to_owned(), "100000".to_owned());
    let evidence = Evidence::of_window(Values::new(), (before, after), Series::default(), 10.0, 0);
    let found = check(&evidence);
    assert_eq!(found[0].name, "log buffer");
    assert_eq!(found[0].weight, Weight::SinceStart);
    assert!((found[0].readings[0].value - 0.9).abs() < 1e-9);
}

#[test]
fn each_check_names_its_counters_and_has_a_sentence() {
    for check in CHECKS {
        assert!(
            !check.counters.is_empty() && !check.sentence.is_empty(),
            "{}",
            check.name
        );
    }
}
