//! Latencies counted by size, so that percentiles of any span of time can be told afterwards.
//!
//! Buckets are log-linear, as in an HDR histogram (Tene, hdrhistogram.org): 32 of equal width to
//! each power of two, so that a percentile is off by 1.6 % at most. Unlike that library's, the
//! buckets can be counted by atomic increments and written as plain JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Nanoseconds;

const STEPS_LOG2: u32 = 5;
const STEPS: u64 = 1 << STEPS_LOG2;
/// Longest time that has a bucket of its own, about 137 s; longer ones count as this.
const NANOSECONDS_MAX: Nanoseconds = (1 << 37) - 1;

/// Counts of operations by time taken.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Latencies {
    counts: BTreeMap<u16, u64>,
}

impl Latencies {
    /// Number of buckets.
    pub const BUCKETS: usize = bucket_of(NANOSECONDS_MAX) + 1;

    /// The bucket that counts `latency`, below [`Self::BUCKETS`].
    pub const fn bucket(latency: Nanoseconds) -> usize {
        if latency > NANOSECONDS_MAX {
            return Self::BUCKETS - 1;
        }
        bucket_of(latency)
    }

    /// From the counts of the buckets, beginning with the first.
    pub fn from_counts(counts: impl IntoIterator<Item = u64>) -> Self {
        let counts = (0..).zip(counts).filter(|(_, count)| *count > 0).collect();
        Self { counts }
    }

    /// Number of operations.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The latency that the share `quantile` (0 to 1) of the operations did not exceed,
    /// microseconds; `None` without operations.
    pub fn quantile_us(&self, quantile: f64) -> Option<f64> {
        let wanted = (self.count() as f64 * quantile).ceil().max(1.0) as u64;
        let mut seen = 0;
        let (bucket, _) = self.counts.iter().find(|(_, count)| {
            seen += **count;
            seen >= wanted
        })?;
        Some(middle_ns(*bucket) / 1e3)
    }

    /// Operations of `before`, an earlier state of this, taken off.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let earlier = |bucket: &u16| before.counts.get(bucket).copied().unwrap_or(0);
        let left = |(bucket, count): (&u16, &u64)| (*bucket, count.saturating_sub(earlier(bucket)));
        let counts = self.counts.iter().map(left);
        Self {
            counts: counts.filter(|(_, count)| *count > 0).collect(),
        }
    }

    /// Takes in the operations of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.counts {
            *self.counts.entry(*bucket).or_default() += count;
        }
    }
}

/// The first two powers' worth of buckets are one nanosecond wide; each power after them has
/// `STEPS`.
const fn bucket_of(latency: Nanoseconds) -> usize {
    if latency < STEPS {
        return latency as usize;
    }
    let power = latency.ilog2() - STEPS_LOG2;
    (STEPS * power as u64 + (latency >> power)) as usize
}

fn middle_ns(bucket: u16) -> f64 {
    let bucket = u64::from(bucket);
    let power = (bucket / STEPS).saturating_sub(1);
    let start = (bucket - STEPS * power) << power;
    start as f64 + ((1_u64 << power) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_list(latencies: &[Nanoseconds]) -> Latencies {
        let mut counts = vec![0; Latencies::BUCKETS];
        for latency in latencies {
            counts[Latencies::bucket(*latency)] += 1;
        }
        Latencies::from_counts(counts)
    }

    #[test]
    fn a_bucket_is_off_by_no_more_than_a_sixtieth() {
        let mut latency = 1_u64;
        while latency < NANOSECONDS_MAX {
            let found = middle_ns(Latencies::bucket(latency) as u16);
            let error = (found - latency as f64).abs() / latency as f64;
            assert!(error <= 1.0 / 60.0, "{latency}: {found}");
            latency += latency / 7 + 1;
        }
        assert_eq!(Latencies::bucket(u64::MAX), Latencies::BUCKETS - 1);
    }

    #[test]
    fn buckets_ascend_without_gaps() {
        let mut last = 0;
        for latency in 0..100_000 {
            let bucket = Latencies::bucket(latency);
            assert!(bucket == last || bucket == last + 1, "{latency}");
            last = bucket;
        }
    }

    #[test]
    fn percentiles_are_of_what_was_counted_in_between() {
        let before = from_list(&[1_000_000; 50]);
        let mut after = before.clone();
        after.merge(&from_list(&[80_000; 98]));
        after.merge(&from_list(&[900_000; 2]));
        let between = after.since(&before);
        assert_eq!(between.count(), 100);
        let at = |quantile| between.quantile_us(quantile).unwrap();
        assert!((at(0.5) - 80.0).abs() < 1.5 && (at(0.99) - 900.0).abs() < 15.0);
        assert_eq!(Latencies::default().quantile_us(0.5), None);
        let text = serde_json::to_string(&after).unwrap();
        assert_eq!(serde_json::from_str::<Latencies>(&text).unwrap(), after);
    }
}
