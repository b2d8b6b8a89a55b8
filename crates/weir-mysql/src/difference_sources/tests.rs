use super::*;

fn parts(sql: &str) -> Vec<String> {
    let sources = difference_sources(sql.as_bytes()).into_iter();
    sources.map(|source| source.part).collect()
}

#[test]
fn a_part_that_differs_is_found_wherever_it_stands() {
    for (sql, expected) in [
        ("SELECT NOW()", &["now()"][..]),
        (
            "INSERT INTO t VALUES (1, now ( ), UUID())",
            &["now()", "uuid()"],
        ),
        (
            "UPDATE t SET a = sysdate(6) WHERE b < CURRENT_TIMESTAMP",
            &["sysdate(...)", "current_timestamp"],
        ),
        ("SELECT /*!80000 rand() */ AS a", &["rand()"]),
        (
            "SELECT a FROM t WHERE b = @x AND c = @@hostname ORDER BY a",
            &["@x", "@@hostname"],
        ),
        (
            "INSERT INTO t SELECT a FROM u WHERE b IN (SELECT LAST_INSERT_ID())",
            &["last_insert_id()"],
        ),
        (
            "SELECT a FROM t LIMIT 5",
            &["limit without order by", "no order by"],
        ),
        (
            "DELETE FROM t WHERE a = 1 LIMIT 1",
            &["limit without order by"],
        ),
        (
            "SELECT a FROM (SELECT a FROM t LIMIT 3) x ORDER BY a",
            &["limit without order by"],
        ),
        (
            "SELECT a FROM t ORDER BY NULL LIMIT 3",
            &["limit without order by", "no order by"],
        ),
        (
            "SELECT GROUP_CONCAT(a) FROM t GROUP BY b ORDER BY b",
            &["an aggregate without order by"],
        ),
        (
            "SELECT ROW_NUMBER() OVER (PARTITION BY a) FROM t ORDER BY a",
            &["a window without order by"],
        ),
        (
            "SELECT * FROM INFORMATION_SCHEMA.TABLES ORDER BY 1",
            &["information_schema"],
        ),
        ("SELECT * FROM `mysql`.`user` ORDER BY 1", &["mysql"]),
        ("SHOW STATUS LIKE 'Q%'", &["show"]),
        ("EXPLAIN SELECT 1", &["explain"]),
        (
            "SELECT a FROM t ORDER BY a FOR UPDATE SKIP LOCKED",
            &["skip locked"],
        ),
        ("SELECT NEXT VALUE FOR s", &["next value"]),
        (
            "CREATE TABLE u (a DATETIME DEFAULT NOW()) SELECT UUID() AS b",
            &["uuid()"],
        ),
        (
            "(SELECT a FROM t) UNION (SELECT a FROM u)",
            &["no order by"],
        ),
        ("SELECT a, RAND(5) FROM t ORDER BY a", &["rand(...)"]),
        ("SET @y = CONCAT(1, @x), @z = 5", &["@x"]),
        ("DO SLEEP(1)", &["sleep(...)"]),
        ("SELECT schema(), database()", &["schema()", "database()"]),
    ] {
        assert_eq!(parts(sql), expected, "{sql}");
    }
}

#[test]
fn a_statement_without_such_a_part_has_none() {
    for sql in [
        "SELECT 'NOW()', \"uuid()\", `rand` FROM t ORDER BY 1 -- sysdate()",
        "SELECT a /* now() */ FROM t ORDER BY a LIMIT 5",
        "SELECT t.current_timestamp, now, uuid FROM t ORDER BY 1",
        "SELECT RAND(5), UNIX_TIMESTAMP('2020-01-01'), LAST_INSERT_ID(7)",
        "SELECT shop.now(), shop.uuid()",
        "INSERT INTO user (id, version) VALUES (1, 2)",
        "INSERT INTO version () VALUES ()",
        "SELECT GROUP_CONCAT(a ORDER BY a) FROM t ORDER BY 1",
        "SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t ORDER BY a",
        "SELECT COUNT(*) OVER (), EXISTS (SELECT 1 FROM t LIMIT 1) FROM t ORDER BY a",
        "SELECT a FROM t UNION SELECT a FROM u ORDER BY a LIMIT 3",
        "SELECT 1 LIMIT 1",
        "SHOW FULL COLUMNS FROM t",
        "SET @a = 5, @b = 6",
        "SELECT a INTO @x FROM t ORDER BY a LIMIT 1",
        "GRANT SELECT ON t TO 'a'@'localhost', `b`@`%`",
        "CREATE TABLE t (a DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)",
        "EXPLAIN t",
        "",
        "'",
    ] {
        assert_eq!(parts(sql), Vec::<String>::new(), "{sql}");
    }
}

/// Replays know statements by their fingerprints.
#[test]
fn a_source_has_words_for_a_report() {
    let found = difference_sources(b"insert into t values (?, now(?))");
    assert_eq!(found[0].words(), "now(...) is the time of the execution");
}
