use std::process;

use super::*;

/// A function that a test can find again.
#[inline(never)]
fn burn_for_the_test(until: Instant) -> u64 {
    let mut sum = 1_u64;
    while Instant::now() < until {
        for _ in 0..1_000 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
    }
    sum
}

#[test]
fn a_busy_function_of_this_process_is_found() {
    let sampler = StackSampler::start(process::id()).unwrap();
    sampler.begin_at(Instant::now());
    burn_for_the_test(Instant::now() + Duration::from_secs(3));
    let profile = sampler.finish().unwrap();
    assert_eq!(profile.frequency_hz, FREQUENCY_HZ);
    let busy = profile
        .folded
        .lines()
        .filter(|line| line.contains("burn_for_the_test"));
    let samples: u64 = busy
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok())
        .sum();
    assert!(samples > 5, "{}", profile.folded);
    assert_eq!(profile.lost, 0);
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    // Above any pid that Linux gives (PID_MAX_LIMIT in linux/threads.h).
    let error = StackSampler::start(4_194_305).unwrap_err();
    assert!(error.to_string().contains("process 4194305"), "{error}");
}
