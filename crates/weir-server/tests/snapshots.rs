//! Snapshots of real data directories.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate};
use tempfile::TempDir;
use weir_model::{Bytes, Flavor};
use weir_server::{
    PrivateServer, ServerBinary, ServerError, SnapshotKey, Snapshots, StartOptions, check_space,
    check_space_together,
};

fn key(binary: &ServerBinary) -> SnapshotKey {
    SnapshotKey {
        flavor: binary.flavor,
        version: binary.version,
        workload: "one table".to_owned(),
        tables: 1,
        rows: 1,
        seed: 7,
        page_bytes: 16384,
        format: 1,
        made_by: Vec::new(),
    }
}

/// A cache that has a data directory of these files under [`key`], in a folder of its own.
struct FilledCache {
    directory: TempDir,
    cache: Snapshots,
    key: SnapshotKey,
}

impl FilledCache {
    fn files(number: u64, bytes: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        for file in 0..number {
            fs::write(data.join(format!("t{file}.ibd")), vec![1; bytes]).unwrap();
        }
        let cache = Snapshots::open(&directory.path().join("cache")).unwrap();
        let key = key(&weir_testing::binary(Flavor::Mariadb));
        cache.store(&key, &data).unwrap();
        Self {
            directory,
            cache,
            key,
        }
    }
}

fn a_server_runs_on_restored_data(flavor: Flavor) {
    let (server, directory) = weir_testing::start(flavor);
    let binary = server.binary().clone();
    let mut connection = weir_testing::connect(&server.endpoint());
    connection
        .run("CREATE TABLE t (a INT) ENGINE = InnoDB")
        .unwrap();
    connection.run("INSERT INTO t VALUES (42)").unwrap();
    drop(connection);
    server.stop(Duration::from_mins(1)).unwrap();

    let cache = Snapshots::open(&directory.path().join("cache")).unwrap();
    cache
        .store(&key(&binary), &directory.path().join("data"))
        .unwrap();
    // What happens to the original, and to a first copy, does not reach the second.
    for copy in ["first", "second"] {
        let data = directory.path().join(copy);
        cache.restore(&key(&binary), &data).unwrap();
        let run = directory.path().join(format!("run-{copy}"));
        let options = StartOptions {
            variables: weir_testing::options(Path::new("/")).variables,
            ..StartOptions::new(data, run)
        };
        let server = PrivateServer::start(&binary, &options).unwrap();
        let mut connection = weir_testing::connect(&server.endpoint());
        let value: Option<i32> = connection.first("SELECT a FROM t").unwrap();
        assert_eq!(value, Some(42), "{copy}");
        connection.run("UPDATE t SET a = 0").unwrap();
        drop(connection);
        server.stop(Duration::from_mins(1)).unwrap();
    }
}

#[test]
fn mysql_runs_on_restored_data() {
    a_server_runs_on_restored_data(Flavor::Mysql);
}

#[test]
fn mariadb_runs_on_restored_data() {
    a_server_runs_on_restored_data(Flavor::Mariadb);
}

/// A small file system, unmounted on drop.
struct TinyDisk(TempDir);

impl TinyDisk {
    fn mount(options: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "weir-test"])
            .arg(directory.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(directory))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(self.0.path()).status();
        assert!(status.is_ok_and(|status| status.success()));
    }
}

#[test]
fn a_restore_to_a_disk_that_is_too_small_says_so_and_leaves_nothing() {
    let error = check_space(Path::new("/"), Bytes(1 << 60)).unwrap_err();
    assert!(matches!(error, ServerError::Space { .. }));

    let Some(disk) = TinyDisk::mount("size=1m") else {
        weir_testing::skipped("a full disk", "only root may mount a small file system");
        return;
    };
    let kept = FilledCache::files(1, 3 << 20);
    let error = kept.cache.restore(&kept.key, disk.0.path()).unwrap_err();
    assert!(error.to_string().contains("3M needed, 1M free"), "{error}");
    assert_eq!(fs::read_dir(disk.0.path()).unwrap().count(), 0);
}

/// Each of the copies fits alone.
#[test]
fn copies_that_do_not_fit_together_are_refused_before_the_first() {
    let Some(disk) = TinyDisk::mount("size=8m") else {
        weir_testing::skipped("a full disk", "only root may mount a small file system");
        return;
    };
    let [cache, work] = ["cache", "work"].map(|name| disk.0.path().join(name));
    for folder in [&cache, &work] {
        fs::create_dir(folder).unwrap();
    }
    let five = Bytes(5 << 20);
    check_space_together(&[(&work, five), (Path::new("/"), five)]).unwrap();
    let error = check_space_together(&[(&work, five), (&cache, five)]).unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("10M needed, 8M free; choose another disk"),
        "{words}"
    );
    assert_eq!(fs::read_dir(work).unwrap().count(), 0);
}

/// There is space when the copy begins, and none before it ends: whoever else writes there.
#[test]
fn a_disk_that_fills_during_a_restore_is_named_and_nothing_stays() {
    // Four files and no more: free bytes do not tell.
    let Some(disk) = TinyDisk::mount("size=64m,nr_inodes=5") else {
        weir_testing::skipped("a full disk", "only root may mount a small file system");
        return;
    };
    let kept = FilledCache::files(8, 64 << 10);
    let error = kept.cache.restore(&kept.key, disk.0.path()).unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("No space left") && words.lines().count() == 1,
        "{words}"
    );
    assert_eq!(fs::read_dir(disk.0.path()).unwrap().count(), 0);
    // The cache is as it was.
    let elsewhere = kept.directory.path().join("elsewhere");
    kept.cache.restore(&kept.key, &elsewhere).unwrap();
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 8);
}

/// Somebody else takes the space that there was when the copy began.
#[test]
fn a_disk_that_somebody_fills_during_a_restore_is_named_and_nothing_of_it_stays() {
    const FILE: u64 = 16 << 20;
    // As large as the data and half a file more.
    let Some(disk) = TinyDisk::mount("size=264m") else {
        weir_testing::skipped("a full disk", "only root may mount a small file system");
        return;
    };
    let kept = FilledCache::files(16, FILE as usize);
    let target = disk.0.path().join("data");
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            let has_begun = || fs::read_dir(&target).is_ok_and(|mut files| files.next().is_some());
            while !has_begun() {
                thread::yield_now();
            }
            let filler = File::create(disk.0.path().join("somebody's")).unwrap();
            fallocate(&filler, FallocateFlags::empty(), 0, FILE).unwrap();
        });
        kept.cache.restore(&kept.key, &target).unwrap_err()
    });
    let words = error.to_string();
    assert!(words.contains("No space left"), "{words}");
    assert!(
        words.contains(".ibd") && words.lines().count() == 1,
        "{words}"
    );
    let left: Vec<_> = fs::read_dir(&target).into_iter().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
