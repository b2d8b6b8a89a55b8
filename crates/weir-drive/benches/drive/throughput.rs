//! What the FUSE path costs, and what the model and a trace add to it.

use serde_json::{Value, json};
use weir_drive::{start_trace, stop_trace};

use crate::fio::{self, Job};
use crate::support::Drive;
use crate::{median, spread};

const ROUNDS: usize = 4;

fn job(pattern: &'static str, block: &'static str, depth: u32) -> Job {
    Job {
        pattern,
        block,
        depth,
        seconds: 2,
    }
}

/// Latency at queue depth 1 and throughput at 32 of a drive without any latency of its own.
pub(crate) fn round_trips() -> Value {
    let drive = Drive::null();
    fio::prepare(&drive);
    let jobs = [
        ("4 KiB read", job("randread", "4k", 1)),
        ("16 KiB read", job("randread", "16k", 1)),
        ("16 KiB write", job("randwrite", "16k", 1)),
        ("16 KiB read, depth 32", job("randread", "16k", 32)),
        ("16 KiB write, depth 32", job("randwrite", "16k", 32)),
    ];
    let mut found = vec![Vec::new(); jobs.len()];
    for _ in 0..ROUNDS {
        for ((_, job), found) in jobs.iter().zip(&mut found) {
            found.push(fio::run(drive.process.mountpoint(), *job));
        }
    }
    println!("\nnull drive                    latency us (mean)          IOPS");
    let line = |((name, _), found): (&(&str, Job), &Vec<fio::Found>)| {
        let latency: Vec<_> = found.iter().map(|found| found.mean_us).collect();
        let iops: Vec<_> = found.iter().map(|found| found.iops).collect();
        println!(
            "{name:<28} {:>18.1} {:>13.0}",
            median(&latency),
            median(&iops)
        );
        json!({ "job": name, "latency_us_mean": spread(&latency), "iops": spread(&iops) })
    };
    jobs.iter().zip(&found).map(line).collect()
}

/// Throughput of the null drive with flash behind it that compresses and collects garbage.
pub(crate) fn cost_of_the_model() -> Value {
    let plain = Drive::null();
    let modelled = Drive::with_profile(&[
        (
            "capacity = \"64T\"",
            "capacity = \"1G\"\ncompression = \"zlib4k\"",
        ),
        ("amplification_random = 1\n", ""),
        (
            "[flush]",
            "[flash]\nover_provisioning = 0.28\nfill = 0.7\n[flush]",
        ),
    ])
    .unwrap();
    let jobs = [
        ("read", job("randread", "16k", 32)),
        ("write", job("randwrite", "16k", 32)),
    ];
    fio::prepare(&plain);
    fio::prepare(&modelled);
    println!("\nfull model / null drive, 16 KiB at depth 32");
    jobs.map(|(name, job)| {
        let on = |drive: &Drive| fio::run(drive.process.mountpoint(), job).iops;
        compared(name, || on(&plain), || on(&modelled))
    })
    .into_iter()
    .collect()
}

/// Throughput of the null drive while it is recorded.
pub(crate) fn cost_of_a_trace() -> Value {
    let drive = Drive::null();
    fio::prepare(&drive);
    let mountpoint = drive.process.mountpoint();
    let trace = drive.folder.path().join("trace");
    println!("\nrecorded / not recorded, null drive");
    let jobs = [
        ("4 KiB read, depth 1", job("randread", "4k", 1)),
        ("16 KiB write, depth 32", job("randwrite", "16k", 32)),
    ];
    jobs.map(|(name, job)| {
        let recorded = || {
            start_trace(mountpoint, &trace).unwrap();
            let found = fio::run(mountpoint, job);
            assert_eq!(stop_trace(mountpoint).unwrap().lost, 0);
            std::fs::remove_file(&trace).unwrap();
            found.iops
        };
        compared(name, || fio::run(mountpoint, job).iops, recorded)
    })
    .into_iter()
    .collect()
}

/// Alternates and prints the ratio of `with` to `without`.
fn compared(name: &str, without: impl Fn() -> f64, with: impl Fn() -> f64) -> Value {
    let pairs: Vec<_> = (0..ROUNDS).map(|_| (without(), with())).collect();
    let ratios: Vec<_> = pairs.iter().map(|(without, with)| with / without).collect();
    let with: Vec<_> = pairs.iter().map(|(_, with)| *with).collect();
    println!(
        "{name:<28} {:>18.3} {:>13.0}",
        median(&ratios),
        median(&with)
    );
    json!({ "job": name, "ratio": spread(&ratios), "iops": spread(&with) })
}
