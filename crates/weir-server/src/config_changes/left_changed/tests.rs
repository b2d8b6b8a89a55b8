//! Notes of a Weir that is gone.

use weir_model::Flavor;

use super::*;
use weir_testing::on_both_flavors;

const CAPACITY: &str = "innodb_io_capacity";

/// A note of a process that is not there.
fn note(directory: &Path, name: &str, left: &LeftChanged) {
    let text = serde_json::to_string(left).unwrap();
    fs::write(directory.join(name), text).unwrap();
}

fn left(server: &str, variable: &str, second: u32, value: &str) -> LeftChanged {
    LeftChanged {
        owner: ProcessIdentity {
            pid: u32::MAX >> 1,
            started_ticks: 1,
        },
        server: server.to_owned(),
        variable: variable.to_owned(),
        changed_at: format!("2026-01-01T00:00:{second:02}Z"),
        statement: format!("SET GLOBAL {variable} = {value}"),
    }
}

#[test]
fn the_oldest_note_of_a_variable_counts_and_those_of_the_living_do_not() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    note(at, "b.json", &left("mysql://db1", CAPACITY, 2, "777"));
    note(at, "a.json", &left("mysql://db1", CAPACITY, 1, "200"));
    note(at, "c.json", &left("mysql://db2", CAPACITY, 3, "100"));
    fs::write(at.join("torn.json"), "{\"owner\":").unwrap();
    let url = "mysql://db3".parse().unwrap();
    let of_the_living = Note::write((at, None), &url, CAPACITY, "SET GLOBAL x = 1").unwrap();
    let statements: Vec<_> = left_in(at)
        .into_iter()
        .map(|left| (left.server, left.statement))
        .collect();
    let expected = [("mysql://db1", "200"), ("mysql://db2", "100")];
    let expected = expected.map(|(server, value)| {
        let statement = format!("SET GLOBAL {CAPACITY} = {value}");
        (server.to_owned(), statement)
    });
    assert_eq!(statements, expected);
    assert_eq!(remove(at, |_| true), 3);
    assert!(left_in(at).is_empty());
    assert!(of_the_living.path.exists());
}

fn what_was_left_is_put_back_and_its_notes_go(flavor: Flavor) {
    let (server, directory) = weir_testing::start(flavor);
    let url: ServerUrl = format!("{flavor}:///sbtest").parse().unwrap();
    let mut given = ExternalServer::open(&url, server.endpoint()).unwrap();
    let at = directory.path();
    let name = url.to_string();
    note(at, "a.json", &left(&name, CAPACITY, 1, "321"));
    note(at, "b.json", &left(&name, CAPACITY, 2, "777"));
    note(at, "c.json", &left(&name, "max_connections", 3, "'x'"));
    for left in left_in(at) {
        let done = put_back_noted(at, &mut given, &left);
        assert_eq!(done.is_ok(), left.variable == CAPACITY, "{done:?}");
    }
    let value = server.session().unwrap().variable(CAPACITY).unwrap();
    assert_eq!(value.as_deref(), Some("321"));
    let still: Vec<_> = left_in(at).into_iter().map(|left| left.variable).collect();
    assert_eq!(still, ["max_connections"]);
}

on_both_flavors!(what_was_left_is_put_back_and_its_notes_go);
