//! Memory: what the server keeps for all sessions, and what its host has, if that is this one.

use std::fs;
use std::path::Path;

use super::evidence::Evidence;
use super::finding::{CounterValue, Finding, Unit, Weight};

/// Buffers that the server has once.
const GLOBAL: [&str; 6] = [
    "innodb_buffer_pool_size",
    "innodb_log_buffer_size",
    "key_buffer_size",
    "query_cache_size",
    "aria_pagecache_buffer_size",
    "innodb_ft_cache_size",
];
/// Part of the process in swap that is a problem.
const SWAPPED_MAX: f64 = 0.05;
/// Part of the host's memory that should be available.
const AVAILABLE_MIN: f64 = 0.03;

/// The server's buffers, and its process if that is on this host.
pub(super) fn look(evidence: &Evidence, pid: Option<u32>) -> Vec<Finding> {
    let mut findings = vec![buffers(evidence)];
    match pid {
        Some(pid) => findings.extend(process(Path::new("/proc"), pid)),
        None => findings.push(Finding::new(
            "host memory",
            Weight::Fact,
            "not seen: the server is on another host, or does not listen on a Unix socket",
            Vec::new(),
            "/proc",
        )),
    }
    findings
}

fn buffers(evidence: &Evidence) -> Finding {
    let sizes = GLOBAL.iter().filter_map(|name| evidence.setting(name));
    let mut readings = vec![CounterValue::new(
        "global buffers",
        sizes.sum(),
        Unit::Bytes,
    )];
    for name in [
        "Innodb_buffer_pool_bytes_data",
        "Innodb_buffer_pool_bytes_dirty",
    ] {
        readings.extend(
            evidence
                .last(name)
                .map(|value| CounterValue::new(name, value, Unit::Bytes)),
        );
    }
    let mut finding = Finding::new(
        "buffers",
        Weight::Fact,
        "",
        readings,
        "SHOW GLOBAL VARIABLES, SHOW GLOBAL STATUS",
    );
    let size = evidence.settings.get("innodb_buffer_pool_size");
    finding.settings = size
        .map(|size| format!("innodb_buffer_pool_size = {size}"))
        .into_iter()
        .collect();
    finding
}

/// Memory of the process and of the host, from the files of `proc`.
fn process(proc: &Path, pid: u32) -> Option<Finding> {
    let status = fs::read_to_string(proc.join(pid.to_string()).join("status")).ok()?;
    let host = fs::read_to_string(proc.join("meminfo")).ok()?;
    let (resident, swapped) = (
        kibibytes(&status, "VmRSS:")?,
        kibibytes(&status, "VmSwap:")?,
    );
    let (total, available) = (
        kibibytes(&host, "MemTotal:")?,
        kibibytes(&host, "MemAvailable:")?,
    );
    let (weight, text) = if swapped > SWAPPED_MAX * (resident + swapped) {
        (
            Weight::Problem,
            "a part of the server is in swap: its buffers wait for the disk",
        )
    } else if available < AVAILABLE_MIN * total {
        (Weight::Problem, "the host has hardly any memory left")
    } else {
        (Weight::Fact, "")
    };
    let readings = vec![
        CounterValue::new("VmRSS", resident, Unit::Bytes),
        CounterValue::new("VmSwap", swapped, Unit::Bytes),
        CounterValue::new("MemTotal", total, Unit::Bytes),
        CounterValue::new("MemAvailable", available, Unit::Bytes),
    ];
    Some(Finding::new("host memory", weight, text, readings, "/proc"))
}

/// Memory of this host; without bound if it does not say.
pub(super) fn host_bytes() -> f64 {
    let host = fs::read_to_string("/proc/meminfo").ok();
    host.and_then(|host| kibibytes(&host, "MemTotal:"))
        .unwrap_or(f64::INFINITY)
}

/// A line `NAME: NUMBER kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    let number: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(number * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swapped_server_and_a_full_host_are_problems() {
        let directory = tempfile::tempdir().unwrap();
        let weight = |swap: u64, available: u64| {
            fs::create_dir_all(directory.path().join("7")).unwrap();
            let status = format!("VmRSS:\t  900000 kB\nVmSwap:\t {swap} kB\n");
            fs::write(directory.path().join("7/status"), status).unwrap();
            let host = format!("MemTotal: 2000000 kB\nMemAvailable: {available} kB\n");
            fs::write(directory.path().join("meminfo"), host).unwrap();
            process(directory.path(), 7).unwrap().weight
        };
        assert_eq!(weight(0, 900_000), Weight::Fact);
        assert_eq!(weight(400_000, 900_000), Weight::Problem);
        assert_eq!(weight(0, 10_000), Weight::Problem);
        assert!(process(directory.path(), 8).is_none());
    }
}
