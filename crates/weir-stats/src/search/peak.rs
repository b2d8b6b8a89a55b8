//! The best concurrency: the thread count with the highest throughput.
//!
//! Powers of two find the neighbourhood, golden section (Kiefer, "Sequential minimax search for a
//! maximum", Proceedings of the American Mathematical Society 4, 1953) narrows it on a logarithmic
//! scale. It assumes one peak. On a flat top noise may lead it anywhere on the flat, which costs no
//! throughput; so the answer also names the fewest threads that are as good within the tolerance.

use super::{Replay, Runs, SearchRange, Step, geometric_middle, step};
use crate::StatsError;

/// The smaller part of the golden section.
const GOLDEN: f64 = 0.381_966;

/// The best place found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// The measured place with the highest result.
    pub best: u64,
    /// Geometric mean of its runs. The best of several noisy places flatters itself: measure it
    /// again before quoting it.
    pub result: f64,
    /// The smallest measured place within the tolerance of that result.
    pub enough: u64,
}

/// The search. Places are thread counts.
#[derive(Debug, Clone, PartialEq)]
pub struct PeakSearch {
    range: SearchRange,
    runs: Runs,
}

impl PeakSearch {
    /// Searches all of `range`.
    ///
    /// # Errors
    ///
    /// A range that is empty, or whose search would not end.
    pub fn new(range: SearchRange) -> Result<Self, StatsError> {
        range.check()?;
        Ok(Self {
            range,
            runs: Runs::default(),
        })
    }

    /// Records the result of a run, above zero, at a thread count.
    ///
    /// # Errors
    ///
    /// A result that is not above zero.
    pub fn record(&mut self, threads: u64, result: f64) -> Result<(), StatsError> {
        self.runs.record(threads, result)
    }

    /// Runs recorded so far.
    pub fn evaluations(&self) -> usize {
        self.runs.count()
    }

    /// The next thread count to measure, or the best one.
    pub fn next_step(&self) -> Step<Peak> {
        step(self.replay())
    }

    fn replay(&self) -> Replay<Peak> {
        let (mut low, mut middle, mut high) = self.neighbourhood()?;
        while !self.range.is_narrow(low, high) {
            let upwards = high as f64 / middle as f64 >= middle as f64 / low as f64;
            // Next to an end that is the best so far one side is empty; integers may run out.
            let (from, to) = if upwards {
                (middle, high)
            } else {
                (low, middle)
            };
            if to - from < 2 {
                break;
            }
            let share = if upwards { GOLDEN } else { 1.0 - GOLDEN };
            let probe = geometric_middle(from, to, share);
            let better = self.height(probe)? > self.height(middle)?;
            match (upwards, better) {
                (true, true) => (low, middle) = (middle, probe),
                (true, false) => high = probe,
                (false, true) => (high, middle) = (middle, probe),
                (false, false) => low = probe,
            }
        }
        Ok(self.answer())
    }

    /// The best power of two times the lowest count, between its neighbours.
    fn neighbourhood(&self) -> Replay<(u64, u64, u64)> {
        let mut places = vec![self.range.low];
        while let Some(&last) = places.last().filter(|last| **last < self.range.high) {
            places.push(last.saturating_mul(2).min(self.range.high));
        }
        let mut best = (0, f64::MIN);
        for (index, place) in places.iter().enumerate() {
            let height = self.height(*place)?;
            if height > best.1 {
                best = (index, height);
            }
        }
        let at = |index: usize| places[index.min(places.len() - 1)];
        Ok((at(best.0.saturating_sub(1)), at(best.0), at(best.0 + 1)))
    }

    fn height(&self, place: u64) -> Replay<f64> {
        self.runs.log_mean(place, self.range.repeats)
    }

    fn answer(&self) -> Peak {
        let places = self.runs.complete(&self.range);
        let (best, height, _) = places
            .iter()
            .copied()
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .expect("invariant: the neighbourhood was measured");
        let enough = places
            .iter()
            .find(|place| place.1 >= height - self.range.tolerance.ln_1p())
            .map_or(best, |place| place.0);
        Peak {
            best,
            result: height.exp(),
            enough,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Noise;

    /// Scalability law with its peak at 69.6 threads.
    fn throughput(threads: u64) -> f64 {
        let n = threads as f64;
        1_000.0 * n / (1.0 + 0.03 * (n - 1.0) + 0.000_2 * n * (n - 1.0))
    }

    fn search(range: SearchRange, mut result: impl FnMut(u64) -> f64) -> (Peak, usize) {
        let mut search = PeakSearch::new(range).unwrap();
        loop {
            match search.next_step() {
                Step::Measure(threads) => search.record(threads, result(threads)).unwrap(),
                Step::Done(peak) => return (peak, search.evaluations()),
            }
            assert!(search.evaluations() < 1_000, "endless");
        }
    }

    fn range(high: u64, tolerance: f64, repeats: usize) -> SearchRange {
        SearchRange {
            low: 1,
            high,
            tolerance,
            repeats,
        }
    }

    #[test]
    fn without_noise_the_peak_is_found() {
        let (peak, evaluations) = search(range(1_000, 0.05, 1), throughput);
        assert!((66..=73).contains(&peak.best), "{peak:?}");
        assert!((peak.result - throughput(peak.best)).abs() < 1e-6);
        assert!(peak.enough < peak.best);
        assert!(throughput(peak.enough) * 1.05 >= throughput(peak.best));
        assert!(evaluations <= 11 + 9, "{evaluations}");
    }

    #[test]
    fn peaks_at_the_ends_are_found() {
        let (rising, _) = search(range(100, 0.05, 1), |threads| threads as f64);
        assert_eq!(rising.best, 100);
        let (falling, _) = search(range(100, 0.05, 1), |threads| 1.0 / threads as f64);
        assert_eq!(falling.best, 1);
        let (two, _) = search(range(2, 0.05, 1), |threads| threads as f64);
        assert_eq!(two.best, 2);
    }

    /// A narrow peak off the powers of two.
    #[test]
    fn a_sharp_peak_is_found_to_the_thread() {
        let sharp = |threads: u64| 1.0 / (1.0 + (threads as f64 / 23.0).ln().abs());
        let (peak, _) = search(range(256, 0.01, 1), sharp);
        assert_eq!(peak.best, 23);
    }

    #[test]
    fn noise_costs_little_throughput() {
        let mut noise = Noise::seeded(151);
        let best = throughput(70);
        let (trials, mut good, mut most) = (300, 0, 0);
        for _ in 0..trials {
            let (peak, evaluations) = search(range(1_000, 0.10, 3), |threads| {
                throughput(threads) * (0.03 * noise.normal()).exp()
            });
            most = most.max(evaluations);
            good += usize::from(throughput(peak.best) >= 0.97 * best);
        }
        println!("coverage of peak search: {good} of {trials} within 3 %, at most {most} runs");
        assert!(good as f64 >= 0.95 * f64::from(trials));
        assert!(most <= 3 * (11 + 8), "{most}");
    }
}
