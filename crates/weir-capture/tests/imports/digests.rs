//! Reports of digests become captures without statements.

use std::path::Path;

use weir_capture::{
    CaptureReader, CaptureSource, ImportResult, Literals, LogFormat, ServerCounters, import_log,
    log_format,
};

/// Imports a report.
fn import(report: &Path, literals: Literals) -> (ImportResult, ServerCounters) {
    assert_eq!(log_format(report).unwrap(), LogFormat::Digests);
    let directory = tempfile::tempdir().unwrap();
    let capture = directory.path().join("digests.weircap");
    let imported = import_log(report, LogFormat::Digests, &capture, literals).unwrap();
    assert_eq!(imported.head.source, CaptureSource::Digests);
    let mut reader = CaptureReader::open(&capture).unwrap();
    assert_eq!(reader.next_record().unwrap(), None);
    assert_eq!(reader.tail(), Some(&imported.tail));
    let counters = imported.tail.counters.clone().unwrap();
    (imported, counters)
}

/// Percona Toolkit 3.2.1 wrote this report of `mysql-9.7-slow.log`, `--output json --limit 100%`.
#[test]
fn a_report_of_pt_query_digest_has_its_kinds() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let report = golden.join("pt-query-digest-3.2.1.json");
    let (imported, counters) = import(&report, Literals::Keep);
    // The same log, imported whole, has the same statements.
    let directory = tempfile::tempdir().unwrap();
    let whole = directory.path().join("whole.weircap");
    let log = golden.join("mysql-9.7-slow.log");
    let whole = import_log(&log, LogFormat::Slow, &whole, Literals::Keep).unwrap();
    assert_eq!(
        (counters.statements, counters.time_us),
        (Some(8), Some(253_858))
    );
    assert_eq!(counters.kinds.len(), 8);
    let times: u64 = counters.kinds.iter().map(|kind| kind.time_us).sum();
    assert_eq!(times, 253_858);
    let first = &counters.kinds[0];
    assert_eq!(
        (first.schema.as_str(), first.count, first.time_us),
        ("sbtest", 1, 92_015)
    );
    assert_eq!(
        first.text,
        "create table item(id int primary key, name varchar(?))".replace("item(", "item (")
    );
    let apart_us = imported
        .head
        .began_unix_us
        .abs_diff(whole.head.began_unix_us);
    assert!(apart_us < 1_000_000, "{apart_us}");
}

/// Also where a quote can be read in two ways, and where the statement is about an account.
#[test]
fn a_report_leaves_no_value_if_none_may_stay() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("x.json");
    let class = |query: &str| {
        let query = serde_json::Value::from(query);
        format!(
            r#"{{"fingerprint": {query}, "query_count": 1, "example": {{"query": {query}}}, "metrics": {{}}}}"#
        )
    };
    let classes = [
        class("SELECT 'planted9' FROM t"),
        class(r"SELECT '\', 'planted9', '987654321'"),
        class("CREATE USER joe IDENTIFIED BY planted9"),
    ];
    let text = format!(
        r#"{{"global": {{"query_count": 3, "metrics": {{}}}}, "classes": [{}]}}"#,
        classes.join(",")
    );
    std::fs::write(&report, text).unwrap();
    for literals in [Literals::Hash, Literals::Drop] {
        let (imported, _) = import(&report, literals);
        let said = format!("{imported:?}");
        assert!(!said.contains("planted9"), "{said}");
    }
    let (imported, _) = import(&report, Literals::Keep);
    assert!(!format!("{imported:?}").contains("BY planted9"));
}

/// Made after the public protocol of PMM's query analytics; no server of PMM wrote it.
#[test]
fn a_report_of_pmm_has_its_kinds_and_what_it_leaves_out() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("qan.json");
    let row = |rank: u32, text: &str, count: u32, sum: f64| {
        format!(
            r#"{{"rank": {rank}, "dimension": "X", "database": "shop", "fingerprint": "{text}", "num_queries": {count},
                "metrics": {{"query_time": {{"stats": {{"rate": 1, "cnt": {count}, "sum": {sum}}}}}}}, "sparkline": []}}"#
        )
    };
    let rows = [
        row(0, "TOTAL", 1_000, 20.5),
        row(1, "SELECT `name` FROM `item` WHERE `id` = ?", 700, 12.25),
        row(2, "UPDATE `item` SET `name` = ? WHERE `id` = ?", 200, 8.0),
    ];
    let text = format!("{{\"total_rows\": 9, \"rows\": [{}]}}", rows.join(","));
    std::fs::write(&report, text).unwrap();
    let (_, counters) = import(&report, Literals::Keep);
    assert_eq!(
        (counters.statements, counters.time_us),
        (Some(1_000), Some(20_500_000))
    );
    let kinds = counters
        .kinds
        .iter()
        .map(|kind| (kind.text.as_str(), kind.count, kind.time_us));
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            ("select `name` from `item` where `id` = ?", 700, 12_250_000),
            (
                "update `item` set `name` = ? where `id` = ?",
                200,
                8_000_000
            ),
            ("(statements that the report leaves out)", 100, 250_000),
        ]
    );
}

#[test]
fn a_damaged_report_is_refused_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("x.json");
    for (text, expected) in [
        ("{\n\"classes\": [", "byte 13: the report is no JSON"),
        ("{\"a\": 1}", "byte 0: no report of digests"),
        (
            "{\"classes\": []}",
            "byte 0: the report lacks what its kind has",
        ),
        (
            "{\"rows\": [{\"metrics\": 5}]}",
            "byte 0: the report lacks what its kind has",
        ),
    ] {
        std::fs::write(&report, text).unwrap();
        let to = directory.path().join("x.weircap");
        let error = import_log(&report, LogFormat::Digests, &to, Literals::Keep).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(expected) && error.lines().count() == 1,
            "{error}"
        );
        assert!(!to.exists());
    }
}

/// Numbers that no server has are bounded, and their sums stay numbers.
#[test]
fn a_report_with_numbers_beyond_all_bounds_is_read() {
    let row = "{\"rank\": 1, \"fingerprint\": \"select ?\", \"metrics\": {\"query_time\": \
               {\"stats\": {\"cnt\": 1e300, \"sum\": \"1e300\"}}}}";
    let rows = vec![row; 20_000].join(",");
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.json");
    std::fs::write(&report, format!("{{\"rows\": [{rows}]}}")).unwrap();
    let (_, counters) = import(&report, Literals::Keep);
    let all = counters.kinds.iter().map(|kind| kind.count);
    assert!(all.sum::<u64>() > 0);
    assert_eq!(counters.statements, Some(1 << 50));
}
