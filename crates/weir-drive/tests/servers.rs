//! Real servers on a drive: they run, crash and recover on it, and say what is wrong with it.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use support::Drive;
use weir_model::FileKind::{self, Binlog, Doublewrite, Temporary, Undo};
use weir_model::Flavor;
use weir_server::{PrivateServer, ServerBinary, StartOptions, initialise};

weir_testing::on_both_flavors! {
    a_server_initialises_runs_crashes_and_recovers
    a_failing_redo_log_is_said_by_the_server
    an_advertised_drive_changes_no_servers_doublewrite
    a_server_whose_flushes_are_made_for_it_crashes_and_recovers
}

fn options_on(drive: &Drive) -> StartOptions {
    let mut options = weir_testing::options(drive.folder.path());
    options.data_dir = drive.path("data");
    let direct = ("innodb_flush_method".to_owned(), "O_DIRECT".to_owned());
    let native = ("innodb_use_native_aio".to_owned(), "ON".to_owned());
    options.variables.extend([direct, native]);
    options
}

fn start_on(drive: &Drive, binary: &ServerBinary) -> PrivateServer {
    PrivateServer::start(binary, &options_on(drive)).unwrap()
}

fn a_server_initialises_runs_crashes_and_recovers(flavor: Flavor) {
    let drive = Drive::null();
    let binary = weir_testing::binary(flavor);
    initialise(&binary, &drive.path("data"), &BTreeMap::default()).unwrap();
    let server = start_on(&drive, &binary);
    let variables = server.variables().unwrap();
    assert_eq!(variables["innodb_use_native_aio"], "ON");
    let mut connection = weir_testing::connect(&server.endpoint());
    let mut run = |statement: &str| connection.run(statement).unwrap();
    run("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(2000)) ENGINE=InnoDB");
    for _ in 0..200 {
        run("INSERT INTO t (pad) VALUES (REPEAT('x', 1500)), (UUID())");
    }
    run("BEGIN");
    run("DELETE FROM t");
    server.kill();
    let by_kind = drive.process.statistics().unwrap().by_kind;
    assert!(by_kind[&FileKind::Redo].writes > 100 && by_kind[&FileKind::Data].writes > 10);
    let others: &[FileKind] = match flavor {
        Flavor::Mysql => &[Doublewrite, Undo, Binlog, Temporary],
        // Its doublewrite buffer and undo logs lie in the system tablespace, and it keeps no binary log.
        Flavor::Mariadb => &[],
    };
    for kind in others {
        assert!(by_kind[kind].write_bytes > 0, "{kind:?}: {by_kind:?}");
    }

    let server = start_on(&drive, &binary);
    let mut connection = weir_testing::connect(&server.endpoint());
    let kept: Option<u32> = connection.first("SELECT COUNT(*) FROM t").unwrap();
    assert_eq!(kept, Some(400));
    let checked: Vec<(String, String, String, String)> =
        connection.rows("CHECK TABLE t EXTENDED").unwrap();
    assert_eq!(checked[0].3, "OK");
    server.kill();
}

fn a_failing_redo_log_is_said_by_the_server(flavor: Flavor) {
    let drive = Drive::null();
    let binary = weir_testing::binary(flavor);
    weir_testing::data_directory(&binary, &drive.path("data"));
    let mut server = start_on(&drive, &binary);
    let error_log = server.error_log().to_owned();
    let mut connection = weir_testing::connect(&server.endpoint());
    connection
        .run("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB")
        .unwrap();
    let log = match flavor {
        Flavor::Mysql => "#ib_redo*",
        Flavor::Mariadb => "ib_logfile*",
    };
    let faults = [("error_rate", "1"), ("error_files", log)];
    let faults = faults.map(|(key, value)| (key.to_owned(), value.to_owned()));
    weir_drive::set_faults(drive.process.mountpoint(), faults.into()).unwrap();
    // The server may die before it answers.
    let _ = connection.run("INSERT INTO t VALUES (1)");
    let patience = Instant::now() + Duration::from_mins(1);
    while !says_input_output_error(&error_log) {
        assert!(Instant::now() < patience, "{}", text(&error_log));
        // A commit reaches the log within a second even where it does not wait for it.
        let _ = server.has_exited();
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(drive.process.statistics().unwrap().faults.unwrap().errors > 0);
    server.kill();
}

/// Errno 5, in the server's words. MySQL has others for a failed flush than for a failed write.
fn says_input_output_error(error_log: &Path) -> bool {
    let text = text(error_log);
    let words = [
        "Input/output error",
        "error number 5",
        "system error 5",
        "returned EIO",
    ];
    let is_of_system = |line: &str| words.iter().any(|words| line.contains(words));
    text.lines()
        .any(|line| line.contains("[ERROR]") && is_of_system(line))
}

fn text(error_log: &Path) -> String {
    String::from_utf8_lossy(&fs::read(error_log).unwrap_or_default()).into_owned()
}

/// MySQL 9 no longer asks drives for atomic writes, and MariaDB asks only if there is a Fusion-io
/// card in the machine; older ones that ask turn their doublewrite buffer off.
fn an_advertised_drive_changes_no_servers_doublewrite(flavor: Flavor) {
    for advertise in ["true", "false"] {
        let drive = Drive::mount(|mut options| {
            options.settings = vec![("advertise".to_owned(), advertise.to_owned())];
            options
        });
        let drive = drive.unwrap();
        let binary = weir_testing::binary(flavor);
        weir_testing::data_directory(&binary, &drive.path("data"));
        for doublewrite in ["ON", "OFF"] {
            let mut options = options_on(&drive);
            let wanted = ("innodb_doublewrite".to_owned(), doublewrite.to_owned());
            options.variables.extend([wanted]);
            let server = PrivateServer::start(&binary, &options).unwrap();
            let found = &server.variables().unwrap()["innodb_doublewrite"];
            assert_eq!(found, doublewrite, "advertise = {advertise}");
            server.stop(Duration::from_mins(1)).unwrap();
        }
    }
}

/// Flushes come as another request ([`weir_process::FlushCalls`]), and none is lost.
fn a_server_whose_flushes_are_made_for_it_crashes_and_recovers(flavor: Flavor) {
    let slow = ("[flush]\nlatency_us = 1", "[flush]\nlatency_us = 3_000");
    let drive = Drive::with_profile(&[slow]).unwrap();
    let binary = weir_testing::binary(flavor);
    weir_testing::data_directory(&binary, &drive.path("data"));
    let options = StartOptions {
        flushes_beside_writes: drive.process.flushes_slowly(),
        ..options_on(&drive)
    };
    assert!(options.flushes_beside_writes);
    let server = PrivateServer::start(&binary, &options).unwrap();
    let mut connection = weir_testing::connect(&server.endpoint());
    let mut run = |statement: &str| connection.run(statement).unwrap();
    run("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT) ENGINE=InnoDB");
    let flushes = || drive.process.statistics().unwrap().by_kind[&FileKind::Redo].flushes;
    let before = flushes();
    for _ in 0..50 {
        run("INSERT INTO t VALUES ()");
    }
    assert!(flushes() - before >= 50);
    server.kill();

    let server = PrivateServer::start(&binary, &options).unwrap();
    let mut connection = weir_testing::connect(&server.endpoint());
    let kept: Option<u32> = connection.first("SELECT COUNT(*) FROM t").unwrap();
    assert_eq!(kept, Some(50));
    server.stop(Duration::from_mins(1)).unwrap();
}
