//! Time to make data, and to restore them from a snapshot: `bench_restore FOLDER [TABLES ROWS]`.
//!
//! Both flavours, everything in FOLDER, which says on which file system. Prints JSON; `scripts/bench-restore.sh`
//! runs it on a file system with reflinks and on one without.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints, and ends at what it can't do

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use weir_load::{PreparePlan, TableOptions};
use weir_model::{Flavor, WorkloadName};
use weir_mysql::Gate;
use weir_server::{
    PrivateServer, SnapshotKey, Snapshots, StartOptions, initialise, space_occupied,
};

/// Restores of each snapshot.
const RESTORES: usize = 5;

fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let number = |position: usize, default: u64| {
        let word = words.get(position);
        word.map_or(default, |word| word.parse().unwrap())
    };
    let place = Path::new(words.first().map_or(".", String::as_str));
    let (tables, rows) = (number(1, 4) as u32, number(2, 1_000_000));
    let measured =
        [Flavor::Mysql, Flavor::Mariadb].map(|flavor| measure(place, flavor, tables, rows));
    println!("{}", serde_json::to_string_pretty(&measured).unwrap());
}

fn measure(place: &Path, flavor: Flavor, tables: u32, rows: u64) -> serde_json::Value {
    let directory = tempfile::tempdir_in(place).unwrap();
    let binary = weir_testing::binary(flavor);
    let data = directory.path().join("data");
    let began = Instant::now();
    initialise(&binary, &data, &[].into()).unwrap();
    let mut options = StartOptions::new(&data, directory.path().join("run"));
    // As a study loads.
    for (name, value) in [
        ("innodb_buffer_pool_size", "1G"),
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_doublewrite", "OFF"),
    ] {
        options.variables.insert(name.to_owned(), value.to_owned());
    }
    let server = PrivateServer::start(&binary, &options).unwrap();
    let plan = PreparePlan {
        threads: 4,
        seed: 1,
        tables: TableOptions {
            tables,
            rows,
            ..TableOptions::default()
        },
        ..PreparePlan::new(server.endpoint(), WorkloadName::OltpReadWrite)
    };
    weir_load::prepare(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    server.stop(Duration::from_mins(5)).unwrap();
    let prepare_s = began.elapsed().as_secs_f64();

    let cache = Snapshots::open(&directory.path().join("cache")).unwrap();
    let key = SnapshotKey {
        flavor,
        version: binary.version,
        workload: "bench".to_owned(),
        tables,
        rows,
        seed: 1,
        page_bytes: 16_384,
        format: 1,
        made_by: Vec::new(),
    };
    cache.store(&key, &data).unwrap();
    let bytes = space_occupied(&data).unwrap().0;
    let mut restore_s: Vec<_> = (0..RESTORES)
        .map(|number| {
            let target = directory.path().join(format!("restored-{number}"));
            let began = Instant::now();
            cache.restore(&key, &target).unwrap();
            let took_s = began.elapsed().as_secs_f64();
            std::fs::remove_dir_all(target).unwrap();
            took_s
        })
        .collect();
    restore_s.sort_by(f64::total_cmp);
    let median_s = restore_s[RESTORES / 2];
    serde_json::json!({
        "flavor": flavor,
        "bytes": bytes,
        "prepare_s": prepare_s,
        "restore_s": restore_s,
        "restore_s_per_gib": median_s * f64::from(1 << 30) / bytes as f64,
        "prepare_over_restore": prepare_s / median_s,
    })
}
