//! Ascending numbers of new rows.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that all connections of a process share. Of several processes each takes a residue class, so that their
/// numbers never meet, whatever the others have counted.
#[derive(Debug)]
pub struct Sequence {
    next: AtomicU64,
    step: AtomicU64,
}

impl Sequence {
    /// From `first` on.
    pub fn new(first: u64) -> Self {
        Self {
            next: AtomicU64::new(first),
            step: AtomicU64::new(1),
        }
    }

    /// The next number.
    pub fn draw(&self) -> u64 {
        let step = self.step.load(Ordering::Relaxed);
        self.next.fetch_add(step, Ordering::Relaxed)
    }

    /// Goes on at `least` at the earliest. Before the first number is drawn.
    pub fn begin_at(&self, least: u64) {
        self.next.fetch_max(least, Ordering::Relaxed);
    }

    /// From here on only numbers that leave `part` when they are divided by `parts`. Before the first number is drawn.
    pub fn take_class(&self, part: u64, parts: u64) {
        let parts = parts.max(1);
        let next = self.next.load(Ordering::Relaxed);
        let missing = (part % parts + parts - next % parts) % parts;
        self.next.store(next + missing, Ordering::Relaxed);
        self.step.store(parts, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    // Acceptance S11: numbers of several agents do not meet, and none is below the least.
    #[test]
    fn numbers_of_processes_never_meet() {
        for firsts in [
            &[1_u64, 1, 1, 1][..],
            &[0, 17, 3],
            &[9],
            &[5, 4, 1_000, 7, 7, 2, 31],
        ] {
            let parts = firsts.len() as u64;
            let mut seen = BTreeSet::new();
            for (part, first) in firsts.iter().enumerate() {
                let sequence = Sequence::new(1);
                sequence.begin_at(*first);
                sequence.take_class(part as u64, parts);
                for _ in 0..100 {
                    let number = sequence.draw();
                    assert!(number >= *first && number <= first.max(&1) + 100 * parts);
                    assert!(seen.insert(number), "{number} twice of {firsts:?}");
                }
            }
        }
    }

    #[test]
    fn a_process_alone_counts_in_ones() {
        let sequence = Sequence::new(7);
        sequence.take_class(0, 1);
        assert_eq!([sequence.draw(), sequence.draw()], [7, 8]);
    }
}
