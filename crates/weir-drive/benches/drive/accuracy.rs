//! Check that completions come when the model says, as a client sees them.

use std::process::{Child, Command};

use serde_json::{Value, json};

use crate::fio::{self, Job};
use crate::machine::{Perfect, perfect};
use crate::support::Drive;

/// Service times, microseconds.
pub(crate) const SERVICES_US: [u64; 6] = [40, 80, 150, 500, 2_000, 10_000];

/// A process that keeps one processor busy.
pub(crate) struct Loader(Child);

impl Loader {
    pub(crate) fn start() -> Self {
        let command = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn();
        Self(command.unwrap())
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads and writes of 4 KiB at queue depth 1 on drives of one service time, on an idle host and
/// beside a process that keeps a processor busy; beside them what a perfect device would show.
pub(crate) fn measure() -> Value {
    println!(
        "\nservice us  host  operation  mean us    error   before its time   outside (early, late)   a perfect device: error, late"
    );
    let services = SERVICES_US.into_iter();
    services.flat_map(of_service_time).collect()
}

fn of_service_time(service_us: u64) -> Vec<Value> {
    let latency = format!("latency_us = {service_us}\n");
    let change = [("latency_us = 1\n", latency.as_str()); 2];
    let drive = Drive::with_profile(&change).unwrap();
    fio::prepare(&drive);
    let mut rows = Vec::new();
    for busy in [false, true] {
        let _loader = busy.then(Loader::start);
        let perfect = perfect(service_us);
        for pattern in ["randread", "randwrite"] {
            let job = Job {
                pattern,
                block: "4k",
                depth: 1,
                seconds: if service_us > 5_000 { 4 } else { 2 },
            };
            let found = fio::run(drive.process.mountpoint(), job);
            rows.push(row(service_us, busy, pattern, &found, perfect));
        }
    }
    rows
}

/// A completion may miss the model by so much: 5 % or 10 us.
pub(crate) fn allowed_ns(service_ns: u64) -> u64 {
    (service_ns / 20).max(10_000)
}

fn row(
    service_us: u64,
    busy: bool,
    pattern: &str,
    found: &fio::FioResult,
    perfect: Perfect,
) -> Value {
    let service_ns = service_us * 1000;
    let allowed = allowed_ns(service_ns);
    let early = found.share(|latency| latency + allowed < service_ns);
    let late = found.share(|latency| latency > service_ns + allowed);
    let error = found.mean_us / service_us as f64 - 1.0;
    let half = found.share(|latency| latency <= service_ns);
    let host = if busy { "busy" } else { "idle" };
    println!(
        "{service_us:>10}  {host}  {pattern:<9} {:>8.1} {:>+6.1} % {:>15.1} %   {:.2} %, {:.2} %   {:>+14.1} %, {:.2} %",
        found.mean_us,
        error * 100.0,
        half * 100.0,
        early * 100.0,
        late * 100.0,
        perfect.error_of_mean * 100.0,
        perfect.late_share * 100.0
    );
    json!({
        "service_us": service_us,
        "host": host,
        "pattern": pattern,
        "mean_us": found.mean_us,
        "error_of_mean": error,
        "early_share": early,
        "late_share": late,
        "share_before_its_time": half,
        "perfect_error_of_mean": perfect.error_of_mean,
        "perfect_late_share": perfect.late_share,
    })
}
