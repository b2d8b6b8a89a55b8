//! Time that the machine itself adds to a reply: from a write into a socket to the return of the
//! read that slept for it. The read is in another thread on another processor.
//!
//! No client that sleeps sees a reply earlier. The writer spins until its time has come, so that it
//! is never late itself.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::processors::{ANSWERING, ASKING, on};

/// Time between two writes.
const GAP: Duration = Duration::from_micros(100);

/// Wake-up times, microseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Floor {
    us_p50: f64,
    us_p99: f64,
    us_p999: f64,
}

/// Measures for so long.
pub(crate) fn measure(time: Duration) -> anyhow::Result<Floor> {
    let (mut near, mut far) = UnixStream::pair()?;
    let zero = Instant::now();
    let mut histogram = Histogram::<u64>::new(3)?;
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            on(ASKING, || {
                let mut sent_ns = [0; 8];
                while far.read_exact(&mut sent_ns).is_ok() {
                    let now_ns = zero.elapsed().as_nanos() as u64;
                    histogram.record(now_ns - u64::from_le_bytes(sent_ns))?;
                }
                Ok(())
            })
        });
        on(ANSWERING, move || {
            for turn in 0..(time.as_nanos() / GAP.as_nanos()) as u32 {
                while zero.elapsed() < GAP * turn {
                    std::hint::spin_loop();
                }
                let now_ns = zero.elapsed().as_nanos() as u64;
                near.write_all(&now_ns.to_le_bytes())?;
            }
            Ok(())
        })
        .context("while writing into a socket")?;
        reader
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    let us = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e3;
    let floor = Floor {
        us_p50: us(0.5),
        us_p99: us(0.99),
        us_p999: us(0.999),
    };
    println!(
        "  the machine itself: a reader that sleeps wakes up after {:.1} us (p50), {:.1} us (p99), {:.1} us (p99.9)",
        floor.us_p50, floor.us_p99, floor.us_p999
    );
    Ok(floor)
}
