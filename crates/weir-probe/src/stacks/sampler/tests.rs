use std::process;

use super::*;

/// Computes until `until`.
fn burn(until: Instant) -> u64 {
    let mut sum = 1_u64;
    while Instant::now() < until {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
    }
    sum
}

/// CPU time of this thread as the kernel counts it, seconds (proc(5), `schedstat`: nanoseconds come first).
fn cpu_s() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let first = text.split_whitespace().next().unwrap();
    first.parse::<f64>().unwrap() / 1e9
}

/// Computes until this thread has had so much CPU time; returns what it had.
fn burn_cpu(wanted_s: f64) -> f64 {
    let before_s = cpu_s();
    while cpu_s() - before_s < wanted_s {
        burn(Instant::now() + Duration::from_millis(50));
    }
    cpu_s() - before_s
}

/// A sampler of this process; `None`, said aloud, where the kernel lends no samples, as in many containers.
fn sampler(test: &str) -> Option<StackSampler> {
    let sampler = StackSampler::start(process::id());
    if let Err(error) = &sampler {
        weir_testing::skipped(test, &error.to_string());
    }
    sampler.ok()
}

#[test]
fn samples_of_a_thread_are_its_cpu_time() {
    let Some(sampler) = sampler("stacks of a thread") else {
        return;
    };
    // Samples before it do not count.
    burn(Instant::now() + Duration::from_millis(300));
    sampler.begin_at(Instant::now());
    let used_s = burn_cpu(1.5);
    let profile = sampler.finish().unwrap();
    assert_eq!((profile.frequency_hz, profile.lost), (FREQUENCY_HZ, 0));
    // The rhythm of looks decides on a fifth of a second at the beginning.
    let error_s = (profile.cpu_s() - used_s).abs();
    assert!(error_s < 0.5, "{error_s} s of {used_s}: {}", profile.folded);
    assert!(profile.folded.contains("core::"), "{}", profile.folded);
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    // Above any pid that Linux gives (PID_MAX_LIMIT in linux/threads.h).
    let error = StackSampler::start(4_194_305).unwrap_err();
    assert!(error.to_string().contains("process 4194305"), "{error}");
}

#[test]
fn processors_are_read_as_the_kernel_writes_them() {
    assert_eq!(processors("0-2,5\n").unwrap().numbers(), [0, 1, 2, 5]);
    assert_eq!(processors("0\n").unwrap().numbers(), [0]);
}

#[test]
fn without_the_privilege_threads_are_sampled() {
    if sampler("stacks by thread").is_none() {
        return;
    }
    let mut rings = Rings::open(process::id()).unwrap();
    rings.begin_by_thread().unwrap();
    rings
        .rings
        .retain(|place, _| threads(process::id()).contains(place));
    burn_cpu(0.5);
    rings.look(Some(Instant::now()));
    let profile = rings.collected.into_profile(process::id()).unwrap();
    assert!(profile.samples > 3, "{}", profile.folded);
}
