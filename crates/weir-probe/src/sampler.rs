//! Asks all probes at the same instants, each from a thread of its own.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use weir_model::{Gap, Series};

use crate::{Probe, ProbeError, Readings};

/// Samples until it is finished or dropped.
#[derive(Debug)]
pub struct Sampler {
    stop: Arc<Stop>,
    /// Latest sample of each probe.
    latest: Vec<Latest>,
    threads: Vec<JoinHandle<(Vec<Series>, Vec<Gap>)>>,
}

/// The latest samples of one probe, for readers while it goes on.
type Latest = Arc<Mutex<Vec<Series>>>;

/// Samples of a series that can be looked at while it grows.
const LATEST: usize = 6;

impl Sampler {
    /// Asks each of `probes` now and at every multiple of `interval` since `origin`, which gives
    /// the samples their times; it may lie in the future.
    pub fn start(probes: Vec<Box<dyn Probe>>, interval: Duration, origin: Instant) -> Self {
        let stop = Arc::new(Stop::default());
        let clock = Clock { origin, interval };
        let latest: Vec<_> = probes.iter().map(|_| Latest::default()).collect();
        let threads = probes
            .into_iter()
            .zip(latest.iter().cloned())
            .map(|(probe, latest)| {
                let stop = Arc::clone(&stop);
                thread::spawn(move || Collector::new(probe, clock, latest).run(&stop))
            })
            .collect();
        Self {
            stop,
            latest,
            threads,
        }
    }

    /// The latest six samples of every series, in seconds since the origin. A probe that is waiting
    /// for its source keeps no other source waiting.
    pub fn latest(&self) -> Vec<Series> {
        let of_probe = |latest: &Latest| {
            let series = latest.lock().unwrap_or_else(PoisonError::into_inner);
            series.clone()
        };
        self.latest.iter().flat_map(of_probe).collect()
    }

    /// Stops and gives what was sampled, and what could not be, by time.
    ///
    /// A probe that is waiting for a stalled server ends when its own patience does.
    pub fn finish(mut self) -> (Vec<Series>, Vec<Gap>) {
        self.stop.set();
        let (mut all, mut gaps) = (Vec::new(), Vec::new());
        for handle in self.threads.drain(..) {
            match handle.join() {
                Ok((series, of_probe)) => {
                    all.extend(series);
                    gaps.extend(of_probe);
                }
                // A probe's bug: the samples of the others are worth nothing without being told.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        gaps.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
        (all, gaps)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.set();
    }
}

/// One probe in its thread.
struct Collector {
    probe: Box<dyn Probe>,
    clock: Clock,
    readings: Readings,
    latest: Latest,
    gaps: Vec<Gap>,
    /// The probe gave nothing the last time: its newest gap goes on.
    is_failing: bool,
}

impl Collector {
    fn new(probe: Box<dyn Probe>, clock: Clock, latest: Latest) -> Self {
        Self {
            probe,
            clock,
            readings: Readings::default(),
            latest,
            gaps: Vec::new(),
            is_failing: false,
        }
    }

    /// Samples at each tick until `stop` is set.
    fn run(mut self, stop: &Stop) -> (Vec<Series>, Vec<Gap>) {
        let mut lost = Vec::new();
        let mut tick = Instant::now();
        let mut has_read = false;
        loop {
            let had_read = has_read;
            has_read |= self.sample(tick);
            // What is refused when it is first asked for was never to be had, however late that was.
            let from_s = if had_read {
                self.clock.seconds(tick)
            } else {
                0.0
            };
            let losses = self.readings.take_losses().into_iter();
            lost.extend(losses.map(|loss| (from_s, loss)));
            // Ticks that passed during the reading are skipped, not caught up with.
            tick = self.clock.next_tick(Instant::now());
            if stop.wait_until(tick) {
                break;
            }
        }
        let to_s = self.clock.seconds(Instant::now());
        let lost = lost.into_iter().map(|(from_s, loss)| Gap {
            source: loss.source,
            from_s,
            to_s,
            reason: loss.error.to_string(),
        });
        self.gaps.extend(lost);
        (self.readings.into_series(), self.gaps)
    }

    /// Takes a sample; whether it is one.
    fn sample(&mut self, tick: Instant) -> bool {
        match self.read() {
            Ok(time_s) => {
                self.readings.complete(time_s);
                *self.latest.lock().unwrap_or_else(PoisonError::into_inner) =
                    self.readings.latest(LATEST);
                self.is_failing = false;
                true
            }
            Err(error) => {
                self.readings.discard();
                self.note_gap(self.clock.seconds(tick), &error);
                false
            }
        }
    }

    /// Reads once; when it was true: the middle of the time that the reading took.
    fn read(&mut self) -> Result<f64, ProbeError> {
        let began = Instant::now();
        self.probe.sample(&mut self.readings)?;
        let took = began.elapsed();
        let interval = self.clock.interval;
        if took > interval {
            return Err(ProbeError::Late { took, interval });
        }
        Ok(self.clock.seconds(began + took / 2))
    }

    /// Samples missing one after another are one gap, with the reason of the first.
    fn note_gap(&mut self, time_s: f64, error: &ProbeError) {
        match self.gaps.last_mut() {
            Some(gap) if self.is_failing => gap.to_s = time_s,
            _ => self.gaps.push(Gap {
                source: self.probe.name().to_owned(),
                from_s: time_s,
                to_s: time_s,
                reason: error.to_string(),
            }),
        }
        self.is_failing = true;
    }
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

    use weir_model::{Metric, metrics};

    use super::*;

    /// A probe that does what a closure does.
    struct ClosureProbe<F>(F);

    impl<F: FnMut(&mut Readings) -> Result<(), ProbeError> + Send> Probe for ClosureProbe<F> {
        fn name(&self) -> &'static str {
            "scripted"
        }

        fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
            (self.0)(readings)
        }
    }

    fn times(all: &[Series], metric: Metric) -> &[f64] {
        Series::find(all, metric).map_or(&[], |series| &series.times_s)
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
        let stalling = ClosureProbe(move |readings: &mut Readings| {
            // Until the test lets go of its end of the channel.
            let _ = stalled.recv();
            readings.add(metrics::STATUS_QUESTIONS, 1.0);
            Ok(())
        });
        let steady = ClosureProbe(move |readings: &mut Readings| {
            let _ = count.send(());
            readings.add(metrics::HOST_CPU_USER, 1.0);
            Ok(())
        });
        let probes: Vec<Box<dyn Probe>> = vec![Box::new(stalling), Box::new(steady)];
        let running = Sampler::start(probes, Duration::from_millis(50), Instant::now());
        for _ in 0..12 {
            counted.recv_timeout(Duration::from_mins(1)).unwrap();
        }
        // A reader meanwhile does not wait either, and sees the end only.
        let latest = running.latest();
        let looked = times(&latest, metrics::HOST_CPU_USER);
        assert!((1..=LATEST).contains(&looked.len()), "{looked:?}");
        assert!(times(&latest, metrics::STATUS_QUESTIONS).is_empty());
        drop(release);
        let (series, gaps) = running.finish();
        // Not all five: on a busy machine a sample may be late, which is a gap.
        assert!(times(&series, metrics::HOST_CPU_USER).len() >= 2);
        let stalled = times(&series, metrics::STATUS_QUESTIONS);
        assert!(stalled.iter().all(|time_s| *time_s >= 0.05), "{stalled:?}");
        assert!(
            gaps[0].reason.contains("longer than the 0.05 s"),
            "{gaps:?}"
        );
    }

    #[test]
    fn failures_and_impossible_values_are_gaps_not_samples() {
        let mut turn = 0;
        let (count, counted) = mpsc::channel();
        let probe = ClosureProbe(move |readings: &mut Readings| {
            turn += 1;
            readings.add(metrics::DRIVE_READS, 1.0);
            readings.add(metrics::DRIVE_READ_BUSY, f64::NAN);
            let _ = count.send(());
            if turn <= 2 {
                Err(ProbeError::Drive)
            } else {
                Ok(())
            }
        });
        let running = Sampler::start(
            vec![Box::new(probe)],
            Duration::from_millis(50),
            Instant::now(),
        );
        for _ in 0..6 {
            counted.recv_timeout(Duration::from_mins(1)).unwrap();
        }
        let (series, gaps) = running.finish();
        // Two in a row are one gap.
        assert!(
            gaps[0].reason.contains("drive") && gaps[0].to_s > gaps[0].from_s,
            "{gaps:?}"
        );
        assert_eq!(series.len(), 1);
        let sampled = times(&series, metrics::DRIVE_READS);
        assert!(sampled.is_sorted() && sampled[0] > gaps[0].to_s);
    }

    /// As where a busy server let the probe in late.
    #[test]
    fn what_is_refused_at_the_first_success_was_never_to_be_had() {
        let (count, counted) = mpsc::channel();
        let mut turn = 0;
        let probe = ClosureProbe(move |readings: &mut Readings| {
            turn += 1;
            let _ = count.send(());
            if turn <= 2 {
                return Err(ProbeError::Drive);
            }
            if turn == 3 {
                readings.lose("INNODB_METRICS", ProbeError::Drive);
            }
            readings.add(metrics::STATUS_QUESTIONS, 1.0);
            Ok(())
        });
        let interval = Duration::from_millis(20);
        let running = Sampler::start(vec![Box::new(probe)], interval, Instant::now());
        for _ in 0..5 {
            counted.recv_timeout(Duration::from_mins(1)).unwrap();
        }
        let (_, gaps) = running.finish();
        let named = gaps.iter().find(|gap| gap.source == "INNODB_METRICS");
        assert!(named.is_some_and(|gap| gap.from_s <= 0.0), "{gaps:?}");
    }

    #[test]
    fn what_a_probe_lost_is_named_once_and_lasts_until_the_end() {
        let (count, counted) = mpsc::channel();
        let mut turn = 0;
        let probe = ClosureProbe(move |readings: &mut Readings| {
            turn += 1;
            if turn == 1 {
                readings.lose("INNODB_METRICS", ProbeError::Drive);
            }
            readings.add(metrics::STATUS_QUESTIONS, 1.0);
            let _ = count.send(());
            Ok(())
        });
        let interval = Duration::from_millis(50);
        let running = Sampler::start(vec![Box::new(probe)], interval, Instant::now());
        for _ in 0..3 {
            counted.recv_timeout(Duration::from_mins(1)).unwrap();
        }
        let (series, gaps) = running.finish();
        let named: Vec<_> = gaps
            .iter()
            .filter(|gap| gap.source == "INNODB_METRICS")
            .collect();
        assert_eq!(named.len(), 1);
        let last_s = *times(&series, metrics::STATUS_QUESTIONS).last().unwrap();
        assert!(named[0].to_s >= last_s);
    }
}
