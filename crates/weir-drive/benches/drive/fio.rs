//! fio as a client of the drive.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::Drive;

/// The file that fio reads and writes.
pub(crate) const FILE: &str = "fio";
pub(crate) const FILE_BYTES: usize = 256 << 20;

/// Job of fio.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    /// `randread` or `randwrite`.
    pub(crate) pattern: &'static str,
    /// As fio writes it: `4k`.
    pub(crate) block: &'static str,
    /// 1: one system call after the other; else asynchronous.
    pub(crate) depth: u32,
    pub(crate) seconds: u32,
}

/// Result of fio.
#[derive(Debug, Clone)]
pub(crate) struct FioResult {
    pub(crate) iops: f64,
    pub(crate) mean_us: f64,
    /// Completion latencies, nanoseconds, with how many operations took them.
    pub(crate) latencies: Vec<(u64, u64)>,
}

/// Fills the file, past the drive: what the measurements read must exist.
pub(crate) fn prepare(drive: &Drive) {
    let path = drive.folder.path().join("backing").join(FILE);
    std::fs::write(path, vec![0x5a; FILE_BYTES]).unwrap();
}

/// Runs `job` on the drive at `mountpoint`.
pub(crate) fn run(mountpoint: &Path, job: Job) -> FioResult {
    let engine = if job.depth == 1 { "psync" } else { "libaio" };
    let output = Command::new("fio")
        .args(["--name=bench", "--direct=1", "--time_based"])
        .args(["--norandommap", "--fallocate=none", "--invalidate=0"])
        .args(["--buffer_compress_percentage=50", "--output-format=json+"])
        .arg(format!("--filename={}", mountpoint.join(FILE).display()))
        .arg(format!("--size={FILE_BYTES}"))
        .arg(format!("--rw={}", job.pattern))
        .arg(format!("--bs={}", job.block))
        .arg(format!("--ioengine={engine}"))
        .arg(format!("--iodepth={}", job.depth))
        .arg(format!("--runtime={}", job.seconds))
        .output()
        .expect("fio runs (Debian package `fio`)");
    let text = String::from_utf8(output.stdout).unwrap();
    let report = text.find('{').map(|start| &text[start..]);
    let report: Value = serde_json::from_str(report.unwrap_or_default()).unwrap();
    let direction = job.pattern.trim_start_matches("rand");
    let of_job = &report["jobs"][0][direction];
    let bins = of_job["clat_ns"]["bins"].as_object().unwrap();
    let bin =
        |(latency, count): (&String, &Value)| (latency.parse().unwrap(), count.as_u64().unwrap());
    FioResult {
        iops: of_job["iops"].as_f64().unwrap(),
        mean_us: of_job["lat_ns"]["mean"].as_f64().unwrap() / 1e3,
        latencies: bins.iter().map(bin).collect(),
    }
}

impl FioResult {
    /// Share of the operations whose latency `is` true of, 0 to 1.
    pub(crate) fn share(&self, is: impl Fn(u64) -> bool) -> f64 {
        let total: u64 = self.latencies.iter().map(|(_, count)| count).sum();
        let wanted = self.latencies.iter().filter(|(latency, _)| is(*latency));
        wanted.map(|(_, count)| count).sum::<u64>() as f64 / total.max(1) as f64
    }
}

pub(crate) fn version() -> String {
    let output = Command::new("fio").arg("--version").output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
