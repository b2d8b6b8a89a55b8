//! Spinning disks: an arm that seeks and a platter that turns.
//!
//! A random access takes a seek and, uniformly, up to one turn; its mean is the textbook's seek + half a turn.
//! A seek takes a + b x sqrt(distance) (Ruemmler and Wilkes, "An introduction to disk drive modeling", 1994,
//! for all but long distances). Between random places of a span, the mean root of the distance is 8/15 of the
//! root of the span; so the mean seek over the whole disk gives b. Data that fill a part of the disks make
//! short seeks, and so does a controller that sorts what waits.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use weir_model::{Disks, Op};

/// Mean root of the gap between neighbours of a sorted sweep (half the root of pi, for exponential gaps), over
/// the mean root of the distance between two random places (8/15). Of n sorted places and the arm's, a gap is a
/// share 1 / (n + 1.5) of the span.
const SWEEP: f64 = 0.886_226_925_452_758 * 15.0 / 8.0;

/// The arms of all disks, and what they have to reach.
#[derive(Debug)]
pub(super) struct Arms {
    disks: Disks,
    capacity_bytes: f64,
    /// File -> end of its furthest operation.
    ends: HashMap<u64, u64, FixedState>,
    span_bytes: u64,
}

/// Seek times of the moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seek {
    least_ns: f64,
    /// Mean over the span, unsorted, beyond the least.
    beyond_ns: f64,
    rotation_ns: f64,
    /// Mean access over the whole disk, unsorted.
    sheet_access_ns: f64,
    sorted: f64,
    copies: f64,
    count: f64,
}

impl Arms {
    pub(super) fn new(disks: &Disks, capacity_bytes: u64) -> Self {
        Self {
            disks: disks.clone(),
            capacity_bytes: capacity_bytes as f64,
            ends: HashMap::default(),
            span_bytes: 0,
        }
    }

    /// Counts the first `end` bytes of a file as data that the arms have to reach.
    pub(super) fn reach(&mut self, file: u64, end: u64) {
        let known = self.ends.entry(file).or_default();
        self.span_bytes += end.saturating_sub(*known);
        *known = end.max(*known);
    }

    /// Takes back a file that is gone, as its discard tells.
    pub(super) fn discard(&mut self, op: &Op) {
        let end = op.offset.saturating_add(op.bytes);
        if let Some(known) = self.ends.get_mut(&op.file).filter(|known| **known <= end) {
            self.span_bytes -= known.saturating_sub(op.offset);
            *known = op.offset.min(*known);
        }
    }

    pub(super) fn seek(&self) -> Seek {
        let disks = &self.disks;
        let least_us = disks.seek_min_us.unwrap_or(disks.seek_us);
        let share = (self.span_bytes as f64 / self.capacity_bytes).min(1.0);
        Seek {
            least_ns: least_us * 1e3,
            beyond_ns: (disks.seek_us - least_us) * 1e3 * share.sqrt(),
            rotation_ns: disks.rotation_us * 1e3,
            sheet_access_ns: (disks.seek_us + disks.rotation_us / 2.0) * 1e3,
            sorted: f64::from(disks.sorted),
            copies: if disks.mirrored { 2.0 } else { 1.0 },
            count: f64::from(disks.count),
        }
    }
}

impl Seek {
    /// Mean seek while `waiting` requests wait for all disks together, nanoseconds.
    fn ns(&self, waiting: f64) -> f64 {
        let sorted = (waiting / self.count).clamp(1.0, self.sorted);
        self.least_ns + self.beyond_ns * (SWEEP / (sorted + 1.5).sqrt()).min(1.0)
    }

    /// Mean time of a random access, nanoseconds.
    pub(super) fn access_ns(&self, waiting: f64) -> f64 {
        self.ns(waiting) + self.rotation_ns / 2.0
    }

    /// The time of one random access at `turn`, 0 to 1, of the platter.
    pub(super) fn draw_access_ns(&self, waiting: f64, turn: f64) -> f64 {
        self.ns(waiting) + turn * self.rotation_ns
    }

    /// Mean access / the one over the whole disk without sorting, which a data sheet's rate is for.
    pub(super) fn cost_factor(&self, waiting: f64) -> f64 {
        self.access_ns(waiting) / self.sheet_access_ns
    }

    /// Returns the time that one random write takes of all disks together, nanoseconds. `waiting`: writes in
    /// the buffer.
    pub(super) fn random_write_ns(&self, waiting: f64) -> f64 {
        self.access_ns(waiting * self.copies) * self.copies / self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arms(sorted: u32) -> Arms {
        let disks = Disks {
            count: 1,
            mirrored: false,
            seek_us: 3000.0,
            seek_min_us: Some(1000.0),
            rotation_us: 4000.0,
            sorted,
        };
        Arms::new(&disks, 1000)
    }

    /// Numerical means over random places, which the closed forms have to meet.
    fn mean_seek_us(span: f64, waiting: usize) -> f64 {
        let mut random = super::super::random::Random::seeded(11);
        let (count, mut sum) = (20_000, 0.0);
        let by_root = 2000.0 * 15.0 / 8.0;
        for _ in 0..count {
            let mut places: Vec<f64> = (0..=waiting).map(|_| random.unit() * span).collect();
            if waiting > 1 {
                places.sort_by(f64::total_cmp);
            }
            let gaps = places
                .windows(2)
                .map(|pair| (pair[1] - pair[0]).abs().sqrt());
            sum += 1000.0 + by_root * gaps.sum::<f64>() / waiting as f64;
        }
        sum / f64::from(count)
    }

    #[test]
    fn seeks_grow_with_the_root_of_the_span() {
        for span in [0.04, 0.25, 1.0] {
            let mut arms = arms(1);
            arms.reach(7, (span * 1000.0) as u64);
            let found = arms.seek().ns(0.0) / 1e3;
            assert!(
                (found / mean_seek_us(span, 1) - 1.0).abs() < 0.02,
                "{found}"
            );
        }
    }

    #[test]
    fn sorted_seeks_are_those_of_a_sweep() {
        for waiting in [8, 32] {
            let mut arms = arms(32);
            arms.reach(7, 1000);
            let found = arms.seek().ns(waiting as f64) / 1e3;
            let wanted = mean_seek_us(1.0, waiting);
            assert!(
                (found / wanted - 1.0).abs() < 0.05,
                "{found}, wanted {wanted}"
            );
        }
    }

    #[test]
    fn a_file_that_is_gone_is_no_longer_reached() {
        let mut arms = arms(1);
        arms.reach(1, 500);
        arms.reach(1, 300);
        arms.reach(2, 100);
        assert_eq!(arms.span_bytes, 600);
        let mut op = Op {
            kind: weir_model::OpKind::Discard,
            file: 1,
            file_kind: weir_model::FileKind::Data,
            offset: 0,
            bytes: 400,
            compressed_fraction: 1.0,
        };
        arms.discard(&op);
        assert_eq!(arms.span_bytes, 600, "a hole in the middle");
        op.bytes = u64::MAX;
        arms.discard(&op);
        assert_eq!(arms.span_bytes, 100);
    }
}
