//! Cost of the FUSE path, of the model and of a trace.

use serde_json::{Value, json};
use weir_drive::{start_trace, stop_trace};

use crate::bare::Bare;
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

/// Latency at queue depth 1 and throughput at 32 of a drive without any latency of its own, beside those of
/// file systems that do nothing, and nothing but read and write a file in memory.
pub(crate) fn round_trips() -> Value {
    let (drive, bare, with_file) = (Drive::null(), Bare::mount(), Bare::mount_with_file());
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
            found.push(
                [
                    bare.mountpoint.path(),
                    with_file.mountpoint.path(),
                    drive.process.mountpoint(),
                ]
                .map(|mountpoint| fio::run(mountpoint, *job)),
            );
        }
    }
    println!(
        "\n                         bare FUSE: us, IOPS   with a file: us, IOPS   null drive: us, IOPS"
    );
    let line = |((name, _), found): (&(&str, Job), &Vec<[fio::FioResult; 3]>)| {
        let of = |which: usize, figure: fn(&fio::FioResult) -> f64| -> Vec<f64> {
            found.iter().map(|pair| figure(&pair[which])).collect()
        };
        let latencies = [0, 1, 2].map(|which| of(which, |found| found.mean_us));
        let iops = [0, 1, 2].map(|which| of(which, |found| found.iops));
        print!("{name:<24}");
        for (latencies, iops) in latencies.iter().zip(&iops) {
            print!(" {:>12.1} {:>8.0}", median(latencies), median(iops));
        }
        println!();
        json!({
            "job": name,
            "bare_latency_us_mean": spread(&latencies[0]),
            "bare_iops": spread(&iops[0]),
            "with_file_latency_us_mean": spread(&latencies[1]),
            "with_file_iops": spread(&iops[1]),
            "latency_us_mean": spread(&latencies[2]),
            "iops": spread(&iops[2]),
        })
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
    println!(
        "\nfull model / null drive, 16 KiB at depth 32   IOPS   processor time of an operation"
    );
    jobs.map(|(name, job)| compared(name, || on(&plain, job), || on(&modelled, job)))
        .into_iter()
        .collect()
}

/// Throughput of the null drive while it is recorded.
pub(crate) fn cost_of_a_trace() -> Value {
    let drive = Drive::null();
    fio::prepare(&drive);
    let mountpoint = drive.process.mountpoint();
    let trace = drive.folder.path().join("trace");
    println!(
        "\nrecorded / not recorded, null drive           IOPS   processor time of an operation"
    );
    let jobs = [
        ("4 KiB read, depth 1", job("randread", "4k", 1)),
        ("16 KiB write, depth 32", job("randwrite", "16k", 32)),
    ];
    jobs.map(|(name, job)| {
        let recorded = || {
            start_trace(mountpoint, &trace).unwrap();
            let found = on(&drive, job);
            assert_eq!(stop_trace(mountpoint).unwrap().lost, 0);
            std::fs::remove_file(&trace).unwrap();
            found
        };
        compared(name, || on(&drive, job), recorded)
    })
    .into_iter()
    .collect()
}

/// Cost of a job: operations a second, and the processor time of each in the drive's process. A busy host changes the
/// latter less.
struct Cost {
    iops: f64,
    cpu_us: f64,
}

fn on(drive: &Drive, job: Job) -> Cost {
    let before = cpu_s(drive);
    let iops = fio::run(drive.process.mountpoint(), job).iops;
    let operations = iops * f64::from(job.seconds);
    Cost {
        iops,
        cpu_us: (cpu_s(drive) - before) * 1e6 / operations,
    }
}

/// Processor time of the drive's process, s (proc(5), fields 14 and 15 of `stat`, in hundredths).
fn cpu_s(drive: &Drive) -> f64 {
    let stat = format!("/proc/{}/stat", drive.process.pid());
    let stat = std::fs::read_to_string(stat).unwrap();
    let fields = stat[stat.rfind(')').unwrap() + 1..].split_ascii_whitespace();
    let ticks = fields.skip(14 - 3).take(2);
    ticks
        .map(|field| field.parse::<f64>().unwrap())
        .sum::<f64>()
        / 100.0
}

/// Alternates and prints the ratios of `with` to `without`.
fn compared(name: &str, without: impl Fn() -> Cost, with: impl Fn() -> Cost) -> Value {
    let pairs: Vec<_> = (0..ROUNDS).map(|_| (without(), with())).collect();
    let ratios = |of: fn(&Cost) -> f64| -> Vec<f64> {
        let ratio = |(without, with): &(Cost, Cost)| of(with) / of(without);
        pairs.iter().map(ratio).collect()
    };
    let (iops, cpu) = (ratios(|cost| cost.iops), ratios(|cost| cost.cpu_us));
    println!("{name:<42} {:>7.3} {:>22.3}", median(&iops), median(&cpu));
    let with: Vec<_> = pairs.iter().map(|(_, with)| with.iops).collect();
    json!({ "job": name, "ratio": spread(&iops), "cpu_ratio": spread(&cpu), "iops": spread(&with) })
}
