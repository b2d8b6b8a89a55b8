//! Waiting for a moment that several reactors or hosts have agreed on.

use std::time::{Duration, Instant};

/// Time before the moment for which the clock is polled in place of a sleep, which ends up to so much late.
const LOOKING: Duration = Duration::from_micros(200);

/// Waits until `moment`, to some microseconds.
pub(crate) fn wait_until(moment: Instant) {
    loop {
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > LOOKING {
            std::thread::sleep(left.saturating_sub(LOOKING));
        } else {
            std::hint::spin_loop();
        }
    }
}
