//! Time that this machine takes from any program, so that the drive's figures can be told from its host's.
//!
//! A thread at real-time priority that does nothing but look at the clock finds the times at which its
//! processor was taken away: by the kernel's interrupts and, on a virtual machine, by its host. An operation
//! of a given length meets one of them with a known probability, by any program that serves it.
//!
//! And a thread as a client's that the kernel's own timer wakes sees what an operation on a perfect device
//! would look like: also an interrupt that comes in time has to find a processor for the one that sleeps.

use std::io::{Read, Write};
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::{Value, json};

use crate::accuracy::{Loader, SERVICES_US, allowed_ns};
use crate::median;

const LOOKING: Duration = Duration::from_secs(2);
const EXCHANGES: u32 = 20_000;

/// Everything about the machine, on an idle host and beside a process that keeps a processor busy.
pub(crate) fn measure() -> Value {
    let _awake = weir_drive::keep_processors_awake();
    let exchange_us = [0, 1].map(exchange_us);
    println!(
        "\nthis machine: two threads exchange a byte in {:.1} us on one processor, {:.1} us across",
        exchange_us[0], exchange_us[1]
    );
    println!("host  share of operations that meet a gap beyond the bound");
    let hosts = [false, true].map(|busy| {
        let _loader = busy.then(Loader::start);
        let gaps = at_real_time_priority(gaps_ns);
        let met = SERVICES_US.map(|service_us| met_share(&gaps, service_us));
        let shares = met.map(|share| format!("{:.2} %", share * 100.0));
        println!(
            "{}  {}",
            if busy { "busy" } else { "idle" },
            shares.join("  ")
        );
        json!({
            "host": if busy { "busy" } else { "idle" },
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

/// Operations on a perfect device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Perfect {
    /// By how much their mean is above their median, as a share of the service time: a device can be set right
    /// by what a wake-up usually takes, not by what this one will take.
    pub(crate) error_of_mean: f64,
    /// Those that are later than the median by more than the bound.
    pub(crate) late_share: f64,
}

/// Sleeps of `service_us`, one after the other, of a thread with a client's priority.
pub(crate) fn perfect(service_us: u64) -> Perfect {
    let sleep = Duration::from_micros(service_us);
    let mut late_ns: Vec<u64> = std::thread::spawn(move || {
        // Where it can't be set, the kernel merges wake-ups and the median is 50 us.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let began = Instant::now();
        std::iter::from_fn(|| (began.elapsed() < LOOKING).then(|| late_ns(sleep))).collect()
    })
    .join()
    .unwrap();
    late_ns.sort_unstable();
    let median_ns = late_ns[late_ns.len() / 2];
    let allowed_ns = median_ns + allowed_ns(service_us * 1000);
    let count = late_ns.len() as f64;
    let mean_ns = late_ns.iter().sum::<u64>() as f64 / count;
    let late = late_ns.iter().filter(|late| **late > allowed_ns).count();
    Perfect {
        error_of_mean: (mean_ns - median_ns as f64) / (service_us * 1000) as f64,
        late_share: late as f64 / count,
    }
}

/// By how much this thread oversleeps.
fn late_ns(sleep: Duration) -> u64 {
    let began = Instant::now();
    std::thread::sleep(sleep);
    (began.elapsed().saturating_sub(sleep)).as_nanos() as u64
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
