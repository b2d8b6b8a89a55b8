//! Latency of one operation at queue depth 1: a figure, or a distribution.

use super::random::Random;

/// The distribution of one operation's latency at queue depth 1.
#[derive(Debug)]
pub(super) struct Latency {
    shape: Shape,
    random: Random,
}

#[derive(Debug)]
enum Shape {
    Fixed { latency_ns: f64 },
    Percentiles(Percentiles),
}

impl Latency {
    /// A mean and the percentiles around it, or exactly that latency without any. The same `seed`
    /// makes the same waits.
    pub(super) fn new(latency_us: f64, percentiles_us: &[(f64, f64)], seed: u64) -> Self {
        let latency_ns = latency_us * 1e3;
        let shape = if percentiles_us.is_empty() {
            Shape::Fixed { latency_ns }
        } else {
            Shape::Percentiles(Percentiles::new(latency_ns, percentiles_us))
        };
        Self {
            shape,
            random: Random::seeded(seed),
        }
    }

    /// The latency of the next operation, nanoseconds.
    pub(super) fn draw_ns(&mut self) -> f64 {
        match &self.shape {
            Shape::Fixed { latency_ns } => *latency_ns,
            Shape::Percentiles(percentiles) => percentiles.at(self.random.unit()),
        }
    }
}

/// A quantile function: flat up to the median, then linear in the number of nines from one given
/// percentile to the next, and flat after the last. The median follows from the mean.
#[derive(Debug)]
struct Percentiles {
    /// (nines, latency in nanoseconds): 99 % are 2 nines, 99.9 % are 3.
    points: Vec<(f64, f64)>,
}

impl Percentiles {
    fn new(mean_ns: f64, percentiles_us: &[(f64, f64)]) -> Self {
        let given = percentiles_us
            .iter()
            .map(|&(percent, latency_us)| (nines(percent / 100.0), latency_us * 1e3));
        let points = |median_ns| {
            let points = std::iter::once((nines(0.5), median_ns)).chain(given.clone());
            Self {
                points: points.collect(),
            }
        };
        // The mean is linear in the median.
        let (at_zero, at_one) = (points(0.0).mean(), points(1.0).mean());
        points(((mean_ns - at_zero) / (at_one - at_zero)).max(0.0))
    }

    /// The quantile of `share`, in [0, 1).
    fn at(&self, share: f64) -> f64 {
        let nines = nines(share);
        let next = self.points.partition_point(|&(point, _)| point <= nines);
        let Some(&(from, low)) = next.checked_sub(1).and_then(|last| self.points.get(last)) else {
            return self.points[0].1;
        };
        let Some(&(to, high)) = self.points.get(next) else {
            return low;
        };
        low + (high - low) * (nines - from) / (to - from)
    }

    /// The number of nines is distributed exponentially, `P(> n) = 10^-n`, which makes the integral
    /// over a linear piece a closed form.
    fn mean(&self) -> f64 {
        let beyond = |nines: f64| 10_f64.powf(-nines);
        let mut mean = 0.0;
        for pair in self.points.windows(2) {
            let [(from, low), (to, high)] = [pair[0], pair[1]];
            let slope = (high - low) / (to - from);
            mean += low * beyond(from) - high * beyond(to)
                + slope * (beyond(from) - beyond(to)) / std::f64::consts::LN_10;
        }
        let (first, last) = (self.points[0], self.points[self.points.len() - 1]);
        mean + first.1 * (1.0 - beyond(first.0)) + last.1 * beyond(last.0)
    }
}

fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_latencies_have_the_given_mean_and_percentiles() {
        let mut latency = Latency::new(80.0, &[(99.0, 120.0), (99.99, 600.0)], 0x1a7e);
        let mut drawn: Vec<f64> = (0..400_000).map(|_| latency.draw_ns() / 1e3).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((mean / 80.0 - 1.0).abs() < 0.01, "{mean}");
        drawn.sort_by(f64::total_cmp);
        let at = |share: f64| drawn[(drawn.len() as f64 * share) as usize];
        assert!((at(0.99) / 120.0 - 1.0).abs() < 0.02, "{}", at(0.99));
        assert!((at(0.9999) / 600.0 - 1.0).abs() < 0.1, "{}", at(0.9999));
        assert!(at(0.5) < 80.0 && at(0.5) > 60.0, "{}", at(0.5));
    }
}
