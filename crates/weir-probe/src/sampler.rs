//! Asks all probes at the same instants, each from a thread of its own.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use weir_model::Sample;

use crate::{Probe, ProbeError, Reading};

/// A sample that could not be taken.
#[derive(Debug)]
pub struct Gap {
    /// The probe.
    pub probe: &'static str,
    /// When it should have been taken, seconds since the origin.
    pub time_s: f64,
    /// Why it was not.
    pub error: ProbeError,
}

/// Samples until it is finished or dropped.
#[derive(Debug)]
pub struct Sampler {
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<Collected>>,
}

/// What one probe's thread has gathered.
#[derive(Debug, Default)]
struct Collected {
    samples: Vec<Sample>,
    gaps: Vec<Gap>,
}

impl Sampler {
    /// Asks each of `probes` now and at every multiple of `interval` since `origin`, which gives
    /// the samples their times; it may lie in the future.
    pub fn start(probes: Vec<Box<dyn Probe>>, interval: Duration, origin: Instant) -> Self {
        let stop = Arc::new(Stop::default());
        let clock = Clock { origin, interval };
        let threads = probes
            .into_iter()
            .map(|probe| {
                let stop = Arc::clone(&stop);
                thread::spawn(move || collect(probe, clock, &stop))
            })
            .collect();
        Self { stop, threads }
    }

    /// Stops and gives what was sampled, by time, and what could not be.
    ///
    /// A probe that is waiting for a stalled server ends when its own patience does.
    pub fn finish(mut self) -> (Vec<Sample>, Vec<Gap>) {
        self.stop.set();
        let mut all = Collected::default();
        for handle in self.threads.drain(..) {
            match handle.join() {
                Ok(collected) => {
                    all.samples.extend(collected.samples);
                    all.gaps.extend(collected.gaps);
                }
                // A probe's bug: the samples of the others are worth nothing without being told.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all.samples.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        all.gaps.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        (all.samples, all.gaps)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.set();
    }
}

fn collect(mut probe: Box<dyn Probe>, clock: Clock, stop: &Stop) -> Collected {
    let mut collected = Collected::default();
    let mut tick = Instant::now();
    loop {
        match read(probe.as_mut(), clock) {
            Ok((time_s, readings)) => collected.samples.extend(
                readings
                    .into_iter()
                    .filter(|(_, value)| value.is_finite())
                    .map(|(metric, value)| Sample {
                        metric: metric.name.to_owned(),
                        time_s,
                        value,
                    }),
            ),
            Err(error) => collected.gaps.push(Gap {
                probe: probe.name(),
                time_s: clock.seconds(tick),
                error,
            }),
        }
        // Ticks that passed during the reading are skipped, not caught up with.
        tick = clock.next_tick(Instant::now());
        if stop.wait_until(tick) {
            return collected;
        }
    }
}

/// One reading with its time: the middle of the time that it took.
fn read(probe: &mut dyn Probe, clock: Clock) -> Result<(f64, Vec<Reading>), ProbeError> {
    let began = Instant::now();
    let readings = probe.sample()?;
    let took = began.elapsed();
    if took > clock.interval {
        return Err(ProbeError::Late {
            took,
            interval: clock.interval,
        });
    }
    Ok((clock.seconds(began + took / 2), readings))
}

/// The ticks that all probes share.
#[derive(Debug, Clone, Copy)]
struct Clock {
    origin: Instant,
    interval: Duration,
}

impl Clock {
    /// Seconds from the origin to `instant`, negative before it.
    fn seconds(self, instant: Instant) -> f64 {
        match instant.checked_duration_since(self.origin) {
            Some(after) => after.as_secs_f64(),
            None => -self.origin.duration_since(instant).as_secs_f64(),
        }
    }

    /// The first tick after `now`.
    fn next_tick(self, now: Instant) -> Instant {
        let interval = self.interval.as_nanos().max(1);
        // Nanoseconds of 64 bits are 584 years.
        let nanoseconds = |count: u128| Duration::from_nanos(count as u64);
        if let Some(after) = now.checked_duration_since(self.origin) {
            return now + nanoseconds(interval - after.as_nanos() % interval);
        }
        let rest = self.origin.duration_since(now).as_nanos() % interval;
        now + nanoseconds(if rest == 0 { interval } else { rest })
    }
}

/// A flag that sleepers wake up to.
#[derive(Debug, Default)]
struct Stop {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Sleeps until `deadline`; true as soon as the flag is set.
    fn wait_until(&self, deadline: Instant) -> bool {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = deadline.saturating_duration_since(Instant::now());
        let (is_set, _) = self
            .changed
            .wait_timeout_while(is_set, rest, |is_set| !*is_set)
            .unwrap_or_else(PoisonError::into_inner);
        *is_set
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use weir_model::metrics;

    use super::*;

    /// A probe that does what a closure does.
    struct Scripted<F>(F);

    impl<F: FnMut() -> Result<Vec<Reading>, ProbeError> + Send> Probe for Scripted<F> {
        fn name(&self) -> &'static str {
            "scripted"
        }

        fn sample(&mut self) -> Result<Vec<Reading>, ProbeError> {
            (self.0)()
        }
    }

    #[test]
    fn ticks_are_multiples_of_the_interval_before_and_after_the_origin() {
        let ms = Duration::from_millis;
        let start = Instant::now();
        let clock = Clock {
            origin: start + ms(10_000),
            interval: ms(1000),
        };
        // now -> next tick, milliseconds since the start.
        let cases = [
            (8_999, 9_000),
            (9_000, 10_000),
            (9_999, 10_000),
            (10_000, 11_000),
            (11_999, 12_000),
        ];
        for (now, tick) in cases {
            assert_eq!(clock.next_tick(start + ms(now)), start + ms(tick), "{now}");
        }
        assert!((clock.seconds(start + ms(9_500)) + 0.5).abs() < 1e-9);
        assert!((clock.seconds(start + ms(10_500)) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_stalled_probe_does_not_stall_another_and_its_sample_is_a_gap() {
        let (release, stalled) = mpsc::channel::<()>();
        let (count, counted) = mpsc::channel();
        let stalling = Scripted(move || {
            // Until the test lets go of its end of the channel.
            let _ = stalled.recv();
            Ok(vec![(metrics::STATUS_QUESTIONS, 1.0)])
        });
        let steady = Scripted(move || {
            let _ = count.send(());
            Ok(vec![(metrics::HOST_CPU_USER, 1.0)])
        });
        let probes: Vec<Box<dyn Probe>> = vec![Box::new(stalling), Box::new(steady)];
        let running = Sampler::start(probes, Duration::from_millis(50), Instant::now());
        for _ in 0..5 {
            counted.recv_timeout(Duration::from_mins(1)).unwrap();
        }
        drop(release);
        let (samples, gaps) = running.finish();
        let steady = samples
            .iter()
            .filter(|sample| sample.metric == metrics::HOST_CPU_USER.name);
        // Not all five: on a busy machine a sample may be late, which is a gap.
        assert!(steady.count() >= 2);
        let stalled = metrics::STATUS_QUESTIONS.name;
        assert!(
            !samples
                .iter()
                .any(|sample| sample.metric == stalled && sample.time_s < 0.05)
        );
        assert!(matches!(gaps[0].error, ProbeError::Late { .. }), "{gaps:?}");
    }

    #[test]
    fn failures_and_impossible_values_are_gaps_not_samples() {
        let mut turn = 0;
        let (count, counted) = mpsc::channel();
        let probe = Scripted(move || {
            turn += 1;
            let _ = count.send(());
            if turn == 1 {
                return Err(ProbeError::Drive);
            }
            Ok(vec![
                (metrics::DRIVE_READS, 1.0),
                (metrics::DRIVE_READ_BUSY, f64::NAN),
            ])
        });
        let running = Sampler::start(
            vec![Box::new(probe)],
            Duration::from_millis(50),
            Instant::now(),
        );
        for _ in 0..5 {
            counted.recv_timeout(Duration::from_mins(1)).unwrap();
        }
        let (samples, gaps) = running.finish();
        assert!(
            gaps.iter()
                .any(|gap| matches!(gap.error, ProbeError::Drive))
        );
        assert!(!samples.is_empty());
        assert!(samples.iter().all(|sample| sample.metric == "drive.reads"));
        let times: Vec<f64> = samples.iter().map(|sample| sample.time_s).collect();
        assert!(times.is_sorted());
    }
}
