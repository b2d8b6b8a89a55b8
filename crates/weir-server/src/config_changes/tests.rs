//! Settings of real servers, changed and put back whatever happens in between.

use std::fs;

use weir_model::{Flavor, ServerUrl};

use super::*;
use weir_testing::{PrivateServer, on_both_flavors};

const CAPACITY: &str = "innodb_io_capacity";

/// A server as a user's, and notes in a folder of the test's.
struct Bench {
    given: ExternalServer,
    _server: PrivateServer,
    directory: tempfile::TempDir,
}

impl Bench {
    fn start(flavor: Flavor) -> Self {
        let (server, directory) = weir_testing::start(flavor);
        let url: ServerUrl = format!("{flavor}:///sbtest").parse().unwrap();
        let given = ExternalServer::open(&url, server.endpoint()).unwrap();
        Self {
            given,
            _server: server,
            directory,
        }
    }

    fn notes(&self) -> PathBuf {
        self.directory.path().join("notes")
    }

    fn changes(&mut self, wanted: &[(&str, &str)]) -> (ConfigChanges, BTreeMap<String, String>) {
        let wanted = wanted
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let native = native_config(&self.given, &wanted, true).unwrap();
        permit_config(&mut self.given, &native).unwrap();
        (ConfigChanges::noted_in(&self.given, &self.notes()), native)
    }

    fn value(&self, name: &str) -> String {
        let value = self.given.session().unwrap().variable(name).unwrap();
        value.unwrap()
    }

    fn note_count(&self) -> usize {
        fs::read_dir(self.notes()).map_or(0, Iterator::count)
    }
}

fn an_error_after_the_change_leaves_nothing_changed(flavor: Flavor) {
    let mut bench = Bench::start(flavor);
    let before = bench.value(CAPACITY);
    let wanted = [(CAPACITY, "333"), ("max_connections", "77")];
    let (mut changes, mut native) = bench.changes(&wanted);
    // The second is refused by the server, after the first was made.
    native.insert("max_connections".to_owned(), "no number".to_owned());
    assert!(changes.apply(&native).is_err());
    assert_eq!(bench.value(CAPACITY), before);
    assert_eq!(bench.note_count(), 0);
}

fn a_note_that_cannot_be_written_changes_nothing(flavor: Flavor) {
    let mut bench = Bench::start(flavor);
    let before = bench.value(CAPACITY);
    let (mut changes, native) = bench.changes(&[(CAPACITY, "333")]);
    fs::write(bench.notes(), "a file in its place").unwrap();
    assert!(changes.apply(&native).is_err());
    assert_eq!(bench.value(CAPACITY), before);
}

fn the_way_back_stands_in_the_users_file_before_the_change(flavor: Flavor) {
    let mut bench = Bench::start(flavor);
    let before = bench.value(CAPACITY);
    let file = bench.notes().with_extension("sql");
    bench.given.note_to = Some(file.clone());
    let (mut changes, native) = bench.changes(&[(CAPACITY, "333")]);
    changes.apply(&native).unwrap();
    let way_back = format!("SET GLOBAL {CAPACITY} = {before};\n");
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("-- ") && text.ends_with(&way_back),
        "{text}"
    );
    changes.put_back().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let (_, after) = text.split_once(&way_back).unwrap();
    assert!(
        after.contains(&format!("{CAPACITY} is as it was")),
        "{text}"
    );
    assert_eq!(bench.note_count(), 0);
    // Where it cannot be written, nothing changes.
    bench.given.note_to = Some("/dev/full".into());
    let (mut changes, native) = bench.changes(&[(CAPACITY, "444")]);
    let error = changes.apply(&native).unwrap_err().to_string();
    assert!(error.contains("/dev/full"), "{error}");
    assert_eq!((bench.value(CAPACITY), bench.note_count()), (before, 0));
}

fn what_the_account_may_not_set_is_not_noted_as_changed(flavor: Flavor) {
    let mut bench = Bench::start(flavor);
    let mut root = weir_testing::connect(&bench.given.endpoint);
    root.run("CREATE USER poor@localhost IDENTIFIED BY 'x'")
        .unwrap();
    bench.given.endpoint.user = "poor".to_owned();
    bench.given.endpoint.password = weir_model::Secret::new("x");
    bench.given.permit_variables(&[CAPACITY.to_owned()].into());
    let mut changes = ConfigChanges::noted_in(&bench.given, &bench.notes());
    let wanted = [(CAPACITY.to_owned(), "333".to_owned())].into();
    assert!(changes.apply(&wanted).is_err());
    drop(changes);
    assert_eq!(bench.note_count(), 0);
}

fn one_setting_that_stays_changed_does_not_keep_the_others(flavor: Flavor) {
    let mut bench = Bench::start(flavor);
    let before = bench.value(CAPACITY);
    let wanted = [(CAPACITY, "333"), ("max_connections", "77")];
    let (mut changes, native) = bench.changes(&wanted);
    changes.apply(&native).unwrap();
    assert_eq!(bench.note_count(), 2);
    // No server takes this back.
    changes.changed[1].before = Value::from("no number");
    let error = changes.put_back().unwrap_err().to_string();
    assert!(error.contains("SET GLOBAL max_connections"), "{error}");
    assert_eq!(bench.value(CAPACITY), before);
    assert_eq!(bench.note_count(), 1, "the note of what stays changed");
}

on_both_flavors!(
    an_error_after_the_change_leaves_nothing_changed
    a_note_that_cannot_be_written_changes_nothing
    what_the_account_may_not_set_is_not_noted_as_changed
    the_way_back_stands_in_the_users_file_before_the_change
    one_setting_that_stays_changed_does_not_keep_the_others
);

#[test]
fn values_become_what_a_statement_takes() {
    for (value, expected) in [
        ("8G", "8589934592"),
        ("64M", "67108864"),
        ("8", "8"),
        ("READ-COMMITTED", "'READ-COMMITTED'"),
        ("400", "400"),
        ("0.5", "0.5"),
        ("ON", "'ON'"),
        ("it's", "'it\\'s'"),
    ] {
        assert_eq!(literal(value), expected);
    }
}
