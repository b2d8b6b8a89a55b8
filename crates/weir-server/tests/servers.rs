//! Real servers of both flavours: started, asked, broken, stopped and killed.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use weir_model::{Address, Bytes, Doublewrite, Flavor, ServerVariables, ServerVersion};
use weir_process::ProcessIdentity;
use weir_server::{
    PrivateServer, ServerBinary, ServerError, UpgradeWay, ask, check_variables, find, initialise,
    known_variables,
};

const PATIENCE: Duration = Duration::from_mins(1);

weir_testing::on_both_flavors! {
    a_server_is_initialised_started_asked_and_stopped
    an_unknown_variable_is_told_in_the_servers_own_words
    data_in_use_name_their_holder
    a_socket_in_use_is_not_taken_over
    a_killed_server_is_noticed_and_leaves_nothing
    a_server_dies_with_its_owner
    a_long_run_directory_gets_a_short_socket
    an_unwanted_start_is_interrupted
    a_failed_initialisation_leaves_nothing
    known_variables_are_read_without_a_start
    a_program_says_what_it_makes_of_settings
    data_of_another_version_are_refused_before_the_start
}

fn a_server_is_initialised_started_asked_and_stopped(flavor: Flavor) {
    let binary = weir_testing::binary(flavor);
    let directory = tempfile::tempdir().unwrap();
    let options = weir_testing::options(directory.path());
    initialise(&binary, &options.data_dir, &BTreeMap::default()).unwrap();
    let server = PrivateServer::start(&binary, &options).unwrap();
    let pid = server.pid();

    let mut connection = weir_testing::connect(&server.endpoint());
    connection
        .run("CREATE TABLE t (a INT) ENGINE = InnoDB")
        .unwrap();
    connection.run("INSERT INTO t VALUES (7)").unwrap();
    assert_eq!(connection.first("SELECT a FROM t").unwrap(), Some(7));
    drop(connection);

    let variables = server.variables().unwrap();
    assert_eq!(variables["innodb_buffer_pool_size"], "33554432");
    assert_eq!(variables["skip_networking"], "ON");
    check_variables(&variables, &["innodb_doublewrite", "skip-name-resolve"]).unwrap();
    assert!(server.status().unwrap()["Uptime"].parse::<u64>().is_ok());
    assert_private(&options.run_dir);
    server.stop(PATIENCE).unwrap();
    assert_eq!(ProcessIdentity::for_pid(pid), None);
    assert!(!options.run_dir.join("mysql.sock").exists());

    // The data survive a clean stop.
    let server = PrivateServer::start(&binary, &options).unwrap();
    let kept: Option<i32> = weir_testing::connect(&server.endpoint())
        .first("SELECT a FROM t")
        .unwrap();
    assert_eq!(kept, Some(7));
    server.stop(PATIENCE).unwrap();
}

/// Nobody else can enter, and no file holds the password but in directories like this one.
fn assert_private(run_dir: &Path) {
    assert_eq!(fs::metadata(run_dir).unwrap().mode() & 0o777, 0o700);
    let socket = fs::metadata(run_dir.join("mysql.sock")).unwrap();
    assert!(socket.file_type().is_socket());
    let options = fs::metadata(run_dir.join("my.cnf")).unwrap();
    assert_eq!(options.mode() & 0o777, 0o600);
}

fn an_unknown_variable_is_told_in_the_servers_own_words(flavor: Flavor) {
    let binary = weir_testing::binary(flavor);
    let directory = tempfile::tempdir().unwrap();
    let mut options = weir_testing::options(directory.path());
    weir_testing::data_directory(&binary, &options.data_dir);
    options.variables.insert("inodb_x".into(), "1".into());
    let error = PrivateServer::start(&binary, &options)
        .unwrap_err()
        .to_string();
    assert!(error.contains("unknown variable 'inodb_x=1'"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

fn data_in_use_name_their_holder(flavor: Flavor) {
    let (server, directory) = weir_testing::start(flavor);
    let mut options = weir_testing::options(directory.path());
    options.run_dir = directory.path().join("second");
    let error = PrivateServer::start(server.binary(), &options).unwrap_err();
    assert!(
        matches!(error, ServerError::InUse { pid, .. } if pid == server.pid()),
        "{error}"
    );
}

fn a_socket_in_use_is_not_taken_over(flavor: Flavor) {
    let (server, directory) = weir_testing::start(flavor);
    let mut options = weir_testing::options(directory.path());
    options.data_dir = directory.path().join("other");
    weir_testing::data_directory(server.binary(), &options.data_dir);
    let error = PrivateServer::start(server.binary(), &options).unwrap_err();
    assert!(matches!(error, ServerError::SocketInUse { .. }), "{error}");
    weir_testing::connect(&server.endpoint()).ping().unwrap();
}

fn a_killed_server_is_noticed_and_leaves_nothing(flavor: Flavor) {
    let (mut server, directory) = weir_testing::start(flavor);
    assert_eq!(server.has_exited(), None);
    let identity = ProcessIdentity::for_pid(server.pid()).unwrap();
    identity.signal(weir_process::Signal::KILL).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let words = loop {
        if let Some(words) = server.has_exited() {
            break words;
        }
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(words.contains("ended by signal 9"), "{words}");
    assert!(server.status().is_err());
    drop(server);
    assert!(!directory.path().join("run/mysql.sock").exists());

    // Crash recovery, then an abrupt end of our own.
    let binary = weir_testing::binary(flavor);
    let server = PrivateServer::start(&binary, &weir_testing::options(directory.path())).unwrap();
    let identity = ProcessIdentity::for_pid(server.pid()).unwrap();
    server.kill();
    assert!(!identity.is_alive());
}

/// The kernel ties a server to the thread that started it; `kill -9` of the whole of Weir is the
/// end of that thread as well. `MySQL`'s launcher is a script that becomes the server: the tie holds.
fn a_server_dies_with_its_owner(flavor: Flavor) {
    let owner = std::thread::spawn(move || weir_testing::start(flavor));
    let (mut server, _directory) = owner.join().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while server.has_exited().is_none() {
        assert!(Instant::now() < deadline, "the server outlived its owner");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn a_long_run_directory_gets_a_short_socket(flavor: Flavor) {
    let binary = weir_testing::binary(flavor);
    let directory = tempfile::tempdir().unwrap();
    let mut options = weir_testing::options(directory.path());
    weir_testing::data_directory(&binary, &options.data_dir);
    options.run_dir = directory.path().join("r".repeat(120));
    let server = PrivateServer::start(&binary, &options).unwrap();
    weir_testing::connect(&server.endpoint()).ping().unwrap();
    let Address::Socket(socket) = server.endpoint().address else {
        panic!("a private server listens on a socket");
    };
    let parent = socket.parent().unwrap().to_owned();
    assert_eq!(
        fs::metadata(&parent).unwrap().permissions().mode() & 0o777,
        0o700
    );
    server.stop(PATIENCE).unwrap();
    assert!(!parent.exists());
}

fn an_unwanted_start_is_interrupted(flavor: Flavor) {
    let binary = weir_testing::binary(flavor);
    let directory = tempfile::tempdir().unwrap();
    let options = weir_testing::options(directory.path());
    weir_testing::data_directory(&binary, &options.data_dir);
    let started = PrivateServer::start_watched(&binary, &options, &mut |_| ControlFlow::Break(()));
    assert!(matches!(started, Err(ServerError::Interrupted)));
    // The server is gone: its data can be used at once.
    PrivateServer::start(&binary, &options)
        .unwrap()
        .stop(PATIENCE)
        .unwrap();
}

fn a_failed_initialisation_leaves_nothing(flavor: Flavor) {
    let binary = weir_testing::binary(flavor);
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let wrong = [("innodb_page_size".to_owned(), "4711".to_owned())].into();
    let error = initialise(&binary, &data, &wrong).unwrap_err().to_string();
    assert!(error.contains("page"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(!data.exists());

    fs::create_dir(&data).unwrap();
    fs::write(data.join("mine"), "keep").unwrap();
    let error = initialise(&binary, &data, &BTreeMap::default()).unwrap_err();
    assert!(matches!(error, ServerError::NotEmpty { .. }), "{error}");
    assert_eq!(fs::read(data.join("mine")).unwrap(), b"keep");
}

fn known_variables_are_read_without_a_start(flavor: Flavor) {
    let known = known_variables(&weir_testing::binary(flavor)).unwrap();
    let capacity = match flavor {
        Flavor::Mysql => "innodb_redo_log_capacity",
        Flavor::Mariadb => "innodb_log_file_size",
    };
    check_variables(&known, &[capacity, "innodb-flush-log-at-trx-commit"]).unwrap();
    let error = check_variables(&known, &["inodb_doublewrite"])
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("did you mean `innodb_doublewrite`?"),
        "{error}"
    );
}

/// Numbers become words, what is too small is raised, and what it refuses is told by name; nothing stays.
fn a_program_says_what_it_makes_of_settings(flavor: Flavor) {
    let binary = weir_testing::binary(flavor);
    let asked = |name: &str, value: &str| {
        let settings = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        ask(&binary, &settings).unwrap()
    };
    for (name, value, variable, made) in [
        (
            "innodb_flush_method",
            "4",
            "innodb_flush_method",
            "O_DIRECT",
        ),
        ("innodb-io-capacity", "1", "innodb_io_capacity", "100"),
        ("innodb_page_size", "8k", "innodb_page_size", "8192"),
    ] {
        let answer = asked(name, value);
        assert_eq!(answer.values[variable], made, "{answer:?}");
        assert_eq!(answer.refused, [""; 0]);
    }
    let off = asked("skip-innodb-doublewrite", "1");
    let off = ServerVariables::said(flavor, &off.values);
    assert_eq!(off.doublewrite(), Some(Doublewrite::Off));

    let [refused] = asked("innodb_flush_log_at_trx_commit", "ON")
        .refused
        .try_into()
        .unwrap();
    assert!(
        refused.starts_with("innodb_flush_log_at_trx_commit = ON: "),
        "{refused}"
    );
    assert_eq!(refused.lines().count(), 1);
}

/// Data that a server of another series made would be upgraded by this one, or ruined.
fn data_of_another_version_are_refused_before_the_start(flavor: Flavor) {
    let binary = weir_testing::binary(flavor);
    let directory = tempfile::tempdir().unwrap();
    let options = weir_testing::options(directory.path());
    weir_testing::data_directory(&binary, &options.data_dir);
    let note = options.data_dir.join("weir-data.json");
    let text = fs::read_to_string(&note).unwrap();
    let (now, other) = (format!("\"major\":{}", binary.version.major), "\"major\":7");
    assert!(text.contains(&now), "{text}");
    fs::write(&note, text.replace(&now, other)).unwrap();
    let error = PrivateServer::start(&binary, &options).unwrap_err();
    assert!(matches!(error, ServerError::ForeignData { .. }), "{error}");
    let words = error.to_string();
    assert!(words.contains(&format!("made by {flavor} 7.")), "{words}");
    assert!(!options.run_dir.exists(), "nothing was started");
}

#[test]
fn data_of_another_flavour_are_refused_before_the_start() {
    let mysql = weir_testing::binary(Flavor::Mysql);
    let mariadb = weir_testing::binary(Flavor::Mariadb);
    let directory = tempfile::tempdir().unwrap();
    let options = weir_testing::options(directory.path());
    weir_testing::data_directory(&mysql, &options.data_dir);
    let error = PrivateServer::start(&mariadb, &options).unwrap_err();
    assert!(matches!(error, ServerError::ForeignData { .. }), "{error}");
}

#[test]
fn both_flavours_are_found_once_each() {
    let servers = find(None).unwrap();
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        assert!(servers.iter().any(|server| server.flavor == flavor));
    }
    let mut paths: Vec<_> = servers.iter().map(|server| &server.path).collect();
    paths.dedup();
    assert_eq!(paths.len(), servers.len(), "{servers:?}");
    let again = find(Some(&servers[0].path)).unwrap();
    assert_eq!(again.len(), servers.len());
}

/// A server whose package lacks the program for system tables: that of another release of its series serves it.
#[test]
fn the_upgrade_program_of_another_release_is_used_and_its_failure_is_told() {
    let server = weir_testing::binary(Flavor::Mariadb);
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    weir_testing::data_directory(&server, &data);
    let series = format!("{}.{}", server.version.major, server.version.minor);
    let prefix = server.path.parent().and_then(Path::parent).unwrap();
    for part in ["share", "lib", "usr", "scripts"] {
        std::os::unix::fs::symlink(prefix.join(part), directory.path().join(part)).unwrap();
    }
    let bin = directory.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let program = |name: &str, text: String| {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let says = format!("  Ver {series}.0-MariaDB for Linux");
    let other = format!(
        "case \" $* \" in *' --version '*) echo '{says}';; *) exec {} \"$@\" --version={series}.0-MariaDB;; esac",
        server.path.display()
    );
    let other = ServerBinary::at(&program("mariadbd", other)).unwrap();
    let from = ServerVersion {
        patch: 1,
        ..server.version
    };
    let upgrade = || {
        let way = UpgradeWay::find((Flavor::Mariadb, from), &other)
            .unwrap()
            .unwrap();
        let beside = directory.path().join("beside");
        way.go(&data, &beside, Bytes(16_384), &mut |_| {
            ControlFlow::Continue(())
        })
        .map(|()| way)
    };
    let way = upgrade().unwrap();
    if way.words()[0].ends_with("by mariadb-upgrade") {
        assert!(
            data.join("mysql_upgrade_info").exists() || data.join("mariadb_upgrade_info").exists()
        );
    } else {
        weir_testing::skipped("mariadb-upgrade of another release", "it is not installed");
    }
    let fails = format!(
        "case $1 in --version) echo '{says}';; *) printf 'It\\nbroke.\\n' >&2; exit 1;; esac"
    );
    program("mariadb-upgrade", fails);
    let words = upgrade().unwrap_err().to_string();
    assert!(words.contains("mariadb-upgrade: It broke."), "{words}");
}
