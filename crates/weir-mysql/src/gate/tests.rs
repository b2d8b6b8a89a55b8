//! Statements that a gate lets pass, under which permissions, and what it writes down.

use super::*;

fn address() -> Address {
    Address::Tcp("db1".to_owned(), 3306)
}

/// Also without looking whether the server is a replica.
fn allowing(schema: &str, variables: &[&str]) -> Gate {
    Gate::new(Permissions {
        schema: Some(schema.to_owned()),
        variables: variables.iter().map(|name| (*name).to_owned()).collect(),
        writes_replicas: true,
        ..Permissions::default()
    })
}

fn refusal(gate: &Gate, sql: &str) -> String {
    let error = gate.admit(&address(), sql).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn a_reading_gate_lets_nothing_pass_that_changes() {
    let gate = Gate::reading();
    assert_eq!(gate.admit(&address(), "SELECT 1").unwrap(), Passage::Sent);
    for sql in [
        "INSERT INTO t VALUES (1)",
        "SET GLOBAL innodb_io_capacity = 200",
        "DROP TABLE t",
        "SET SESSION sql_log_bin = 0",
        "FLUSH LOGS",
        "KILL 7",
    ] {
        assert!(refusal(&gate, sql).contains("is not sent to db1:3306"));
    }
}

#[test]
fn only_the_named_schema_is_written_and_never_the_servers_own() {
    let gate = allowing("shop", &[]);
    for sql in [
        "CREATE DATABASE IF NOT EXISTS `shop`",
        "CREATE TABLE sbtest1 (id INT PRIMARY KEY)",
        "UPDATE shop.orders o JOIN items i ON i.id = o.item SET o.n = i.n",
    ] {
        assert_eq!(gate.admit(&address(), sql).unwrap(), Passage::Sent, "{sql}");
    }
    let error = refusal(&gate, "UPDATE hr.people SET pay = 1");
    assert!(error.contains("`hr`, and only `shop`"), "{error}");
    let system = allowing("mysql", &[]);
    assert!(refusal(&system, "CREATE TABLE t (a INT)").contains("server's own"));
}

#[test]
fn only_named_variables_are_set_and_only_own_connections_ended() {
    let gate = allowing("shop", &["innodb_io_capacity"]);
    let judged = gate.judge(&address(), "SET GLOBAL innodb_io_capacity = 300");
    assert_eq!(judged.unwrap().variables, ["innodb_io_capacity"]);
    assert!(refusal(&gate, "SET GLOBAL max_connections = 5").contains("`max_connections`"));
    gate.opened(&address(), 7, "8.4.0");
    gate.opened(&Address::Tcp("db2".to_owned(), 3306), 8, "8.4.0");
    assert!(gate.admit(&address(), "KILL QUERY 7").is_ok());
    assert!(refusal(&gate, "KILL QUERY 8").contains("connection 8"));
}

#[test]
fn a_change_is_logged_before_it_passes_and_rows_of_a_kind_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state/changes.log");
    let permissions = |path| Permissions {
        schema: Some("shop".to_owned()),
        log: Some(ChangeLog::at(path)),
        writes_replicas: true,
        ..Permissions::default()
    };
    let gate = Gate::new(permissions(path.clone()));
    for sql in [
        "SELECT 1",
        "INSERT INTO t (a) VALUES (1)",
        "INSERT INTO t (a) VALUES (2)",
        "DROP TABLE t",
    ] {
        assert_eq!(gate.admit(&address(), sql).unwrap(), Passage::Sent);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.lines()
            .all(|line| line.contains("\"schema\":\"shop\""))
    );

    // A folder in its place.
    let blocked = Gate::new(permissions(directory.path().join("state")));
    let error = refusal(&blocked, "DROP TABLE t");
    assert!(error.contains("cannot be written"), "{error}");
}

#[test]
fn tables_are_changed_after_a_look_whether_the_server_is_a_replica() {
    let gate = Gate::new(Permissions {
        schema: Some("shop".to_owned()),
        ..Permissions::default()
    });
    assert!(refusal(&gate, "DROP TABLE t").contains("replica"));
    assert!(gate.admit(&address(), "SELECT 1").is_ok());
    gate.may_be_written(&address());
    assert!(gate.admit(&address(), "DROP TABLE t").is_ok());
}

#[test]
fn a_connection_is_in_the_schema_that_may_be_changed_or_in_none() {
    let gate = allowing("shop", &[]);
    assert!(gate.may_use(&address(), "shop").is_ok());
    assert!(gate.may_use(&address(), "hr").is_err());
    assert!(Gate::reading().may_use(&address(), "hr").is_ok());
}

#[test]
fn a_rehearsal_notes_what_it_does_not_send() {
    let gate = Gate::new(Permissions {
        schema: Some("shop".to_owned()),
        writes_replicas: true,
        is_rehearsal: true,
        ..Permissions::default()
    });
    assert_eq!(
        gate.admit(&address(), "DROP TABLE t").unwrap(),
        Passage::Rehearsed
    );
    assert_eq!(
        gate.admit(&address(), "SHOW TABLES").unwrap(),
        Passage::Sent
    );
    assert_eq!(gate.rehearsed(), ["DROP TABLE t"]);
}

/// The directory of a log that cannot be written until `repair`, which makes room.
fn blocked_log(directory: &std::path::Path) -> (Gate, impl Fn() -> std::path::PathBuf) {
    let parent = directory.join("state");
    std::fs::write(&parent, "a file in place of the folder").unwrap();
    let path = parent.join("changes.log");
    let gate = Gate::new(Permissions {
        schema: Some("shop".to_owned()),
        log: Some(ChangeLog::at(path.clone())),
        writes_replicas: true,
        ..Permissions::default()
    });
    let repair = move || {
        std::fs::remove_file(&parent).unwrap();
        path.clone()
    };
    (gate, repair)
}

#[test]
fn what_could_not_be_logged_is_not_sent_at_the_second_try_either() {
    let directory = tempfile::tempdir().unwrap();
    let (gate, repair) = blocked_log(directory.path());
    for _ in 0..3 {
        assert!(refusal(&gate, "DROP TABLE t").contains("cannot be written"));
    }
    let path = repair();
    assert_eq!(
        gate.admit(&address(), "DROP TABLE t").unwrap(),
        Passage::Sent
    );
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 1);
}

#[test]
fn each_server_is_looked_at_and_logged_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("changes.log");
    let gate = Gate::new(Permissions {
        schema: Some("shop".to_owned()),
        log: Some(ChangeLog::at(path.clone())),
        ..Permissions::default()
    });
    let replica = Address::Tcp("db2".to_owned(), 3306);
    gate.may_be_written(&address());
    assert!(gate.admit(&address(), "DELETE FROM t").is_ok());
    let error = gate.admit(&replica, "DELETE FROM t").unwrap_err();
    assert!(error.to_string().contains("replica"), "{error}");
    gate.may_be_written(&replica);
    assert!(gate.admit(&replica, "DELETE FROM t").is_ok());
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.contains("db1:3306") && text.contains("db2:3306"),
        "{text}"
    );
}

#[test]
fn rows_are_locked_only_where_tables_may_be_changed() {
    let sql = "SELECT a FROM t FOR UPDATE";
    assert!(refusal(&Gate::reading(), sql).contains("only reads"));
    assert!(allowing("shop", &[]).admit(&address(), sql).is_ok());
    for other in [
        "SELECT a FROM hr.t LOCK IN SHARE MODE",
        // A plan locks the table as what it is the plan of.
        "EXPLAIN SELECT a FROM hr.t FOR UPDATE",
        "WITH c AS (SELECT a FROM hr.t FOR UPDATE) UPDATE t SET a = 1",
    ] {
        assert!(refusal(&allowing("shop", &[]), other).contains("`hr`"));
    }
}

#[test]
fn a_number_hides_no_word_behind_it() {
    for number in ["1e3", "1e-3", "1E+3", "1.5", ".5", "1.", "1.5e-3", "(1).5"] {
        let sql = format!("SELECT {number}INTO OUTFILE '/tmp/x'");
        assert!(
            refusal(&Gate::reading(), &sql).contains("writes a file"),
            "{sql}"
        );
    }
}

#[test]
fn a_function_is_the_servers_own_by_the_version_that_it_greets_with() {
    let gate = Gate::reading();
    assert!(refusal(&gate, "SELECT NVL(a, 1) FROM t").contains("only reads"));
    gate.opened(&address(), 1, "10.11.19-MariaDB");
    assert!(gate.admit(&address(), "SELECT NVL(a, 1) FROM t").is_ok());
    gate.opened(&address(), 2, "8.4.0");
    assert!(refusal(&gate, "SELECT NVL(b, 1) FROM t").contains("only reads"));
}

#[test]
fn only_a_script_and_an_own_server_give_a_permit() {
    let script = Permissions {
        is_script: true,
        ..Permissions::default()
    };
    assert!(Gate::new(script).script_permit().is_some());
    assert!(Gate::own().script_permit().is_some());
    assert!(Gate::reading().script_permit().is_none());
    assert!(allowing("shop", &[]).script_permit().is_none());
}
