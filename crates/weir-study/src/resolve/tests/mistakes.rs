//! Mistakes in a study file: each is named in one line, with its place and what to do.

use super::*;

#[test]
fn a_password_in_a_url_is_refused_and_not_repeated() {
    for (right, wrong) in [
        (
            "[server]",
            "[server]\nflavor = \"mysql://app:hunter2@db1/x\"",
        ),
        (
            "[factors]",
            "[factors]\nserver = [\"mysql\", \"mysql://app:hunter2@db1/x\"]",
        ),
    ] {
        let changed = STUDY.replacen(right, wrong, 1);
        assert_ne!(changed, STUDY, "{right}");
        let error = message(&changed);
        assert!(
            error.contains("WEIR_MYSQL_PASSWORD") && error.contains("app:...@db1"),
            "{error}"
        );
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn mistakes_are_named_with_file_place_and_remedy() {
    let cases = [
        (
            "threads = 32",
            "thread = 32",
            "study.toml: line 13: unknown key `thread`",
        ),
        (
            "oltp_write_only",
            "oltp_writeonly",
            "did you mean `oltp_write_only`?",
        ),
        (
            "oltp_write_only",
            "bulk_insert",
            "use `weir load bulk_insert`",
        ),
        (
            "rows = 1_000_000",
            "rows = 0",
            "`data.rows` = 0 (must be at least 1)",
        ),
        (
            "rows = 1_000_000",
            "rows = 1_000_000\nrate = 5",
            "unknown key `rate`",
        ),
        (
            "threads = 32",
            "threads = 32\nrate = 0",
            "`load.rate` = 0 (must be transactions",
        ),
        (
            "threads = 32",
            "threads = 32\noptions = { range_sise = 5 }",
            "did you mean `range_size`?",
        ),
        (
            "\"5s\"",
            "{ at_least = \"2m\", at_most = \"1m\" }",
            "no less than the 120s",
        ),
        ("[\"a\", \"b\"]", "\"1..9 by 2\"", "must be a range such as"),
        (
            "\"8G\"",
            "\"8X\"",
            "`server.config.innodb_buffer_pool_size` = 8X",
        ),
        (
            "[\"a\", \"b\"]",
            "[]",
            "`factors.drive` = [] (needs at least one level)",
        ),
        ("[\"a\", \"b\"]", "[\"a\", \"a\"]", "write each level once"),
        ("\"5s\"", "5", "study.toml: line 14"),
        ("\"1/25\"", "\"25\"", "not a scale"),
        ("title", "titel", "did you mean `title`?"),
        (
            "threads = 32",
            "threads = 0",
            "`load.threads` = [0] (must be at least 1)",
        ),
    ];
    for (right, wrong, expected) in cases {
        let found = message(&STUDY.replace(right, wrong));
        assert!(found.contains(expected), "{wrong}: {found}");
    }
}

#[test]
fn mistakes_in_levels_and_repetitions_are_named_too() {
    let cases = [
        (
            "runs = 3",
            "runs = 3\nuntil = \"narrow\"",
            "such as `effect +-5 %`",
        ),
        (
            "runs = 3",
            "runs = 3\nuntil = \"effect +-5 %\"",
            "at least 6",
        ),
        ("runs = 3", "runs = 2\nuntil = \"verdict\"", "at least 3"),
        (
            "runs = 3",
            "runs = 2\nuntil = \"equal +-5 %\"",
            "at least 3",
        ),
        (
            "runs = 3",
            "until = \"equal +-5 %\"\nat_most = 11",
            "at most 10 repetitions",
        ),
        (
            "runs = 3",
            "until = \"verdict\"\nat_most = 11",
            "at most 10 repetitions",
        ),
        (
            "runs = 3",
            "runs = 3\nbudget = \"2h\"",
            "means nothing without repeat.until",
        ),
        (
            "runs = 3",
            "runs = 3\nwithin_server = [\"drive\"]",
            "a restart of the server",
        ),
        (
            "runs = 3",
            "runs = 3\nwithin_server = [\"thread\"]",
            "no such factor",
        ),
        (
            "[repeat]",
            "[[exclude]]\ndrvie = \"a\"\n[repeat]",
            "did you mean `drive`?",
        ),
        (
            "[repeat]",
            "[[exclude]]\ndrive = \"c\"\n[repeat]",
            "no such level",
        ),
        (
            "[repeat]",
            "[[exclude]]\ndrive = \"a\"\n[[exclude]]\ndrive = \"b\"\n[repeat]",
            "leaves nothing to run",
        ),
        (
            "[\"a\", \"b\"]",
            "[ { innodb_doublewrite = \"ON\", drive = \"a\" } ]",
            "is moved by factor `drive` too",
        ),
        (
            "seed = 7",
            "seed = 7\n[search]\nfind = \"peak\"\nrange = \"1..9\"",
            "a search repeats by itself",
        ),
    ];
    for (right, wrong, expected) in cases {
        let found = message(&STUDY.replace(right, wrong));
        assert!(found.contains(expected), "{wrong}: {found}");
    }
}
