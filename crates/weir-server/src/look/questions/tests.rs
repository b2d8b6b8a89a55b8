use super::super::evidence::tests::evidence;
use super::*;

fn named<'a>(found: &'a Questions, name: &str) -> Option<&'a Question> {
    found.asked.iter().find(|question| question.name == name)
}

#[test]
fn what_the_counters_show_is_asked_with_them_and_nothing_else_is() {
    let settings = &[
        ("innodb_buffer_pool_size", "134217728"),
        ("innodb_log_buffer_size", "1048576"),
        ("sort_buffer_size", "262144"),
        ("innodb_adaptive_hash_index", "ON"),
        ("sync_binlog", "1"),
        ("innodb_buffer_pool_instances", "8"),
    ];
    let counters = &[
        ("Innodb_buffer_pool_reads", 900.0),
        ("Innodb_buffer_pool_read_requests", 90_000.0),
        ("Innodb_log_waits", 30.0),
        ("Sort_merge_passes", 0.0),
    ];
    let found = questions(&evidence(counters, settings), &[]);
    let pool = named(&found, "buffer_pool").unwrap();
    assert_eq!(
        pool.settings,
        [(
            "innodb_buffer_pool_size".to_owned(),
            "134217728".to_owned(),
            "536870912".to_owned()
        )]
    );
    assert_eq!(
        (pool.readings[0].name.as_str(), pool.readings[0].value),
        ("Innodb_buffer_pool_reads", 90.0)
    );
    assert_eq!(
        named(&found, "log_buffer").unwrap().settings[0].2,
        "16777216"
    );
    assert!(named(&found, "sort_buffer").is_none());
    let hash = found.asked.last().unwrap();
    assert_eq!(
        (hash.name, hash.settings[0].2.as_str()),
        ("adaptive_hash_index", "OFF")
    );
    assert!(hash.reason.starts_with("no counter"));
    assert_eq!(found.durability, ["sync_binlog = 1"]);
    assert_eq!(found.not_on_a_copy, ["innodb_buffer_pool_instances = 8"]);
}

#[test]
fn a_redo_log_is_asked_for_an_hour_of_writes_by_the_setting_that_the_server_has() {
    let counters = &[("Innodb_os_log_written", 100.0 * 1_048_576.0)];
    let of = |settings: &[(&str, &str)]| {
        let found = questions(&evidence(counters, settings), &[]);
        named(&found, "redo_log").map(|question| question.settings.clone())
    };
    let capacity = of(&[("innodb_redo_log_capacity", "104857600")]).unwrap();
    // 10 MiB a second are 36,000 MiB an hour; 16 GiB at most.
    assert_eq!(capacity[0].2, "17179869184");
    let files = of(&[
        ("innodb_log_file_size", "50331648"),
        ("innodb_log_files_in_group", "2"),
    ])
    .unwrap();
    assert_eq!(
        (files[0].0.as_str(), files[0].2.as_str()),
        ("innodb_log_file_size", "8589934592")
    );
    assert_eq!(of(&[("innodb_redo_log_capacity", "137438953472")]), None);
    assert_eq!(of(&[]), None);
}

#[test]
fn settings_that_belong_together_move_together() {
    let counters = &[
        ("Created_tmp_disk_tables", 5.0),
        ("Innodb_buffer_pool_pages_flushed", 80.0),
    ];
    let settings = &[
        ("tmp_table_size", "1048576"),
        ("max_heap_table_size", "1048576"),
        ("innodb_io_capacity", "200"),
        ("innodb_io_capacity_max", "2000"),
    ];
    let found = questions(&evidence(counters, settings), &[]);
    let both = &named(&found, "temporary_tables").unwrap().settings;
    assert_eq!(both.len(), 2);
    let capacity = &named(&found, "io_capacity").unwrap().settings;
    assert_eq!(
        capacity[1],
        (
            "innodb_io_capacity_max".to_owned(),
            "2000".to_owned(),
            "4000".to_owned()
        )
    );
}
