//! Real servers write through a recorded drive, are killed, and a replay gives the same files.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::random_operations::contents;
use support::{EXECUTABLE, memory_folder, options};
use weir_drive::{
    DriveProcess, MountOptions, Operation, Recording, RecordingEnd, RecordingOptions, Replayer,
};
use weir_model::Flavor;
use weir_server::PrivateServer;

#[test]
fn a_replay_gives_the_files_of_a_killed_mysql() {
    replayed(Flavor::Mysql);
}

#[test]
fn a_replay_gives_the_files_of_a_killed_mariadb() {
    replayed(Flavor::Mariadb);
}

fn replayed(flavor: Flavor) {
    let folder = memory_folder();
    let path = |name: &str| folder.path().join(name);
    let server = weir_testing::binary(flavor);
    fs::create_dir(path("backing")).unwrap();
    weir_testing::data_directory(&server, &path("backing/data"));
    let copy = Command::new("cp")
        .arg("-a")
        .args([path("backing"), path("base")])
        .status();
    assert!(copy.unwrap().success());
    let mount_options = MountOptions {
        recording: Some(RecordingOptions::new(path("record"))),
        ..options(&folder, "null")
    };
    let drive = DriveProcess::mount(Path::new(EXECUTABLE), &mount_options).unwrap();
    let mut start = weir_testing::options(folder.path());
    start.data_dir = drive.mountpoint().join("data");
    let server = PrivateServer::start(&server, &start).unwrap();
    write(&mut weir_testing::connect(&server.endpoint()));
    server.kill();
    drive.unmount().unwrap();

    let recording = Recording::open(&path("record")).unwrap();
    assert_eq!(recording.ended(), RecordingEnd::Unmounted);
    let mut replayer = Replayer::new(path("base"), recording.base());
    let (mut writes, mut flushes, mut names) = (0, 0, 0);
    for event in recording.events() {
        let event = event.unwrap();
        replayer.apply(&event).unwrap();
        match event.operation {
            Operation::Write { .. } => writes += 1,
            Operation::Flush { .. } => flushes += 1,
            Operation::Create { .. } | Operation::Rename { .. } => names += 1,
            _ => {}
        }
    }
    assert!(
        writes > 100 && flushes > 20 && names > 3,
        "{writes} {flushes} {names}"
    );
    let (found, wanted) = (contents(&path("base")), contents(&path("backing")));
    assert!(found.keys().eq(wanted.keys()), "names differ");
    for (name, found) in found {
        assert!(found == wanted[&name], "{} differs", name.display());
    }
}

/// Commits, a table that is rebuilt and renamed, and one that is dropped.
fn write(connection: &mut weir_mysql::Connection) {
    let mut run = |statement: &str| connection.run(statement).unwrap();
    run("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(2000)) ENGINE=InnoDB");
    run("CREATE TABLE dropped (id INT PRIMARY KEY) ENGINE=InnoDB");
    for _ in 0..30 {
        run("INSERT INTO t (pad) VALUES (REPEAT('x', 1500)), (REPEAT('y', 900)), (UUID())");
    }
    run("INSERT INTO t (pad) SELECT a.pad FROM t AS a, t AS b");
    run("UPDATE t SET pad = CONCAT(id, pad) WHERE id % 3 = 0");
    run("ALTER TABLE t ADD COLUMN more INT, ALGORITHM=COPY");
    run("RENAME TABLE t TO u");
    run("DROP TABLE dropped");
    run("DELETE FROM u WHERE id % 7 = 0");
}
