//! Bins over a table's rows, narrow at both ends.

/// Rows at each end with a bin of their own.
const SINGLE: u64 = 64;
/// Further bins from each end are so much wider than the one before.
const WIDER: f64 = 1.1;
/// Equal parts on top.
const PARTS: u64 = 512;

/// Where bins end: each holds the keys above the end before, up to its own.
#[derive(Debug)]
pub(super) struct Bins {
    pub(super) rows: u64,
    ends: Vec<u64>,
}

impl Bins {
    pub(super) fn new(rows: u64) -> Self {
        let mut ends: Vec<u64> = (1..=SINGLE.min(rows)).collect();
        let mut end = SINGLE as f64;
        while end < rows as f64 {
            end *= WIDER;
            ends.push((end as u64).min(rows));
        }
        let mirrored: Vec<u64> = ends.iter().map(|end| rows - end).collect();
        ends.extend(mirrored);
        ends.extend((1..=PARTS).map(|part| border(part, PARTS, rows)));
        ends.sort_unstable();
        ends.dedup();
        ends.retain(|end| *end > 0);
        Self { rows, ends }
    }

    pub(super) fn count(&self, keys: impl Iterator<Item = u32>) -> Vec<u64> {
        let mut counts = vec![0; self.ends.len()];
        for key in keys {
            let at = self.ends.partition_point(|end| *end < u64::from(key));
            counts[at.min(self.ends.len() - 1)] += 1;
        }
        counts
    }

    /// The mass of each bin, of the share of the keys up to a row.
    pub(super) fn masses(&self, up_to: impl Fn(u64) -> f64) -> Vec<f64> {
        let mut before = 0.0;
        let masses = self.ends.iter().map(|end| {
            let share = up_to(*end);
            share - std::mem::replace(&mut before, share)
        });
        masses.collect()
    }

    /// Returns how likely two keys are the same, if the rows of a bin are alike.
    pub(super) fn collisions(&self, masses: &[f64]) -> f64 {
        let mut before = 0;
        let pairs = self.ends.iter().zip(masses).map(|(end, mass)| {
            let width = end - std::mem::replace(&mut before, *end);
            mass * mass / width as f64
        });
        pairs.sum()
    }

    /// Counts of equal parts; a bin that lies in two is shared by its rows.
    pub(super) fn parts(&self, counts: &[u64], parts: u64) -> Vec<f64> {
        let mut weights = vec![0.0; parts as usize];
        let mut start = 0;
        for (end, count) in self.ends.iter().zip(counts) {
            let width = (end - start) as f64;
            let mut at = start;
            while at < *end {
                let part = (u128::from(at) * u128::from(parts) / u128::from(self.rows)) as u64;
                let mut next = border(part + 1, parts, self.rows);
                if next <= at {
                    next = at + 1;
                }
                let to = next.min(*end);
                weights[part as usize] += *count as f64 * (to - at) as f64 / width;
                at = to;
            }
            start = *end;
        }
        weights
    }
}

fn border(part: u64, parts: u64, rows: u64) -> u64 {
    (u128::from(part) * u128::from(rows) / u128::from(parts)) as u64
}
