//! What this machine takes from any program, so that the drive's figures can be told from its host's.
//!
//! A thread at real-time priority that does nothing but look at the clock finds the times at which its
//! processor was taken away: by the kernel's interrupts and, on a virtual machine, by its host. An operation
//! of a given length meets one of them with a known probability, whoever serves it.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::{Value, json};

use crate::accuracy::{Loader, SERVICES_US, allowed_ns};
use crate::median;

const LOOKING: Duration = Duration::from_secs(2);
const SLEEPS: usize = 4000;
const SLEEP: Duration = Duration::from_micros(60);
const EXCHANGES: u32 = 20_000;

/// Everything about the machine, on an idle host and beside a process that keeps a processor busy.
pub(crate) fn measure() -> Value {
    let _awake = weir_drive::keep_processors_awake();
    let exchange_us = [0, 1].map(exchange_us);
    println!(
        "\nthis machine: two threads exchange a byte in {:.1} us on one processor, {:.1} us across",
        exchange_us[0], exchange_us[1]
    );
    println!(
        "host  sleeper late us (p50, p99)   share of operations that meet a gap beyond the bound"
    );
    let hosts = [false, true].map(|busy| {
        let _loader = busy.then(Loader::start);
        let (gaps, sleeps) = at_real_time_priority(|| (gaps_ns(), sleeps_us()));
        let late = [50, 99].map(|percent| sleeps[sleeps.len() * percent / 100]);
        let met = SERVICES_US.map(|service_us| met_share(&gaps, service_us));
        let shares = met.map(|share| format!("{:.2} %", share * 100.0));
        println!(
            "{}  {:>10.1} {:>10.1}          {}",
            if busy { "busy" } else { "idle" },
            late[0],
            late[1],
            shares.join("  ")
        );
        json!({
            "host": if busy { "busy" } else { "idle" },
            "sleeper_late_us_p50": late[0],
            "sleeper_late_us_p99": late[1],
            "services_us": SERVICES_US,
            "share_that_meets_a_gap": met,
        })
    });
    json!({ "exchange_us_one_processor": exchange_us[0], "exchange_us_across": exchange_us[1],
            "hosts": hosts })
}

/// Probability that an operation of `service_us` meets a gap longer than what it may be late by: gaps
/// come independently of it.
fn met_share(gaps_ns: &[u64], service_us: u64) -> f64 {
    let beyond = gaps_ns
        .iter()
        .filter(|gap| **gap > allowed_ns(service_us * 1000));
    let per_s = beyond.count() as f64 / LOOKING.as_secs_f64();
    1.0 - (-per_s * service_us as f64 / 1e6).exp()
}

/// Times for which this thread did not run, nanoseconds; those below a microsecond are left out.
fn gaps_ns() -> Vec<u64> {
    let mut gaps = Vec::new();
    let began = Instant::now();
    let mut last = began;
    while last - began < LOOKING {
        let now = Instant::now();
        let gap = (now - last).as_nanos() as u64;
        if gap > 1000 {
            gaps.push(gap);
        }
        last = now;
    }
    gaps
}

/// By how much a thread oversleeps, microseconds, sorted.
fn sleeps_us() -> Vec<f64> {
    let mut late: Vec<_> = (0..SLEEPS)
        .map(|_| {
            let began = Instant::now();
            std::thread::sleep(SLEEP);
            (began.elapsed().as_secs_f64() - SLEEP.as_secs_f64()) * 1e6
        })
        .collect();
    late.sort_by(f64::total_cmp);
    late
}

/// Mean time in which a byte goes to a thread on `processor` and back, microseconds.
fn exchange_us(processor: usize) -> f64 {
    let (mut there, their_end) = std::os::unix::net::UnixStream::pair().unwrap();
    let echo = std::thread::spawn(move || {
        place(processor);
        let mut their_end = their_end;
        let mut byte = [0];
        while their_end.read_exact(&mut byte).is_ok() {
            their_end.write_all(&byte).unwrap();
        }
    });
    let asker = std::thread::spawn(move || {
        place(0);
        let times: Vec<_> = (0..5)
            .map(|_| {
                let began = Instant::now();
                for _ in 0..EXCHANGES / 5 {
                    there.write_all(&[0]).unwrap();
                    there.read_exact(&mut [0]).unwrap();
                }
                began.elapsed().as_secs_f64() * 1e6 / f64::from(EXCHANGES / 5)
            })
            .collect();
        median(&times)
    });
    let found = asker.join().unwrap();
    echo.join().unwrap();
    found
}

fn place(processor: usize) {
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set).unwrap();
}

fn at_real_time_priority<T: Send>(what: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                weir_drive::sharpen_timer();
                what()
            })
            .join()
            .unwrap()
    })
}
