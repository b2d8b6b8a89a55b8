//! File systems without room, under a table and under the server's sorting.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use weir_load::{PreparePlan, TableOptions, prepare};
use weir_model::Flavor;
use weir_mysql::Gate;

use super::Bench;

weir_testing::on_both_flavors! {
    a_full_file_system_is_named
}

/// A small file system in memory, which goes with it.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options = format!("size={size},mode=1777");
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", &options, "weir-test"]);
        assert!(mount.arg(directory.path()).status().unwrap().success());
        Self(directory)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn a_full_file_system_is_named(flavor: Flavor) {
    let (rows, sorting) = (SmallDisk::mount("12m"), SmallDisk::mount("256k"));
    let (rows_path, sorting_path) = (
        rows.path().to_str().unwrap(),
        sorting.path().to_str().unwrap(),
    );
    let mut variables = vec![("tmpdir", sorting_path)];
    match flavor {
        Flavor::Mysql => variables.extend([
            ("innodb_directories", rows_path),
            // Transactions of the binary log wait in memory, not in tmpdir.
            ("binlog_cache_size", "67108864"),
        ]),
        Flavor::Mariadb => variables.push(("innodb_sort_buffer_size", "65536")),
    }
    let (server, directory) = weir_testing::start_with(flavor, &variables);
    let bench = Bench { server, directory };
    let plan = |table_options: String| PreparePlan {
        tables: TableOptions {
            tables: 1,
            rows: 100_000,
            secondary_index: false,
            table_options,
            ..bench.tables().tables
        },
        ..bench.tables()
    };
    let make =
        |plan: &PreparePlan| prepare(plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {});
    let error = make(&plan(format!("DATA DIRECTORY = '{rows_path}'")))
        .unwrap_err()
        .to_string();
    assert!(error.contains("error 1114"), "{error}");
    assert!(error.contains("disk space"), "{error}");
    assert!(!error.contains("tmp_table_size"), "{error}");
    let mut oracle = bench.oracle();
    oracle.run("DROP TABLE sbtest1").unwrap();
    make(&plan(String::new())).unwrap();
    if flavor == Flavor::Mysql {
        oracle
            .run("SET SESSION innodb_ddl_buffer_size = 65536")
            .unwrap();
    }
    let error = oracle.run("ALTER TABLE sbtest1 ADD INDEX c_1 (c)");
    let error = error.unwrap_err().to_string();
    assert!(error.contains("disk space of tmpdir"), "{error}");
}
