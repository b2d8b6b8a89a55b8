//! Effect of a power cut on the writes that it may take back.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::device_rules::{DeviceRules, OpenWrite};

/// Up to so many pieces all combinations are tried, one after the other.
const EXHAUSTIVE_PIECES: usize = 5;

/// The parts of one write that reached the media, as byte ranges of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriteOutcome {
    pub(crate) write: OpenWrite,
    /// In order, without overlaps.
    pub(crate) written: Vec<Range<u64>>,
}

/// Part of a range that reached the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    Some,
    None,
}

impl WriteOutcome {
    /// Returns the part of the writes into `range` of the file that is there.
    pub(crate) fn part_in(&self, range: Range<u64>) -> Part {
        let overlap = |part: &Range<u64>| {
            let end = part.end.min(range.end);
            end.saturating_sub(part.start.max(range.start))
        };
        let wanted = overlap(&(self.write.offset..self.write.offset + self.write.bytes));
        match self.written.iter().map(overlap).sum() {
            0 => Part::None,
            written if written == wanted => Part::All,
            _ => Part::Some,
        }
    }
}

/// Decides over `open`, oldest first: branch number `branch` of the cut with this seed.
///
/// With few pieces the branches count through all their combinations. With many, each branch draws
/// how likely a write survives and how likely it tears, so that nearly all, nearly none and mixed
/// outcomes are all met; of the writes in flight that the cut is aimed at, the newest tears if it can
/// at all.
pub(crate) fn decide<'a>(
    open: impl Iterator<Item = &'a OpenWrite>,
    rules: &DeviceRules,
    is_aimed_at: impl Fn(&OpenWrite) -> bool,
    (seed, branch): (u64, u32),
) -> Vec<WriteOutcome> {
    let mut writes: Vec<(&OpenWrite, Vec<Range<u64>>)> = open
        .map(|write| (write, rules.pieces(write).collect()))
        .collect();
    let pieces: usize = writes.iter().map(|(_, pieces)| pieces.len()).sum();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(u64::from(branch)));
    if pieces <= EXHAUSTIVE_PIECES {
        let mut index = 0;
        for (_, pieces) in &mut writes {
            pieces.retain(|_| {
                index += 1;
                branch & (1 << (index - 1)) != 0
            });
        }
    } else {
        draw(&mut writes, is_aimed_at, &mut random);
    }
    let outcome = |(write, written): (&OpenWrite, _)| WriteOutcome {
        write: write.clone(),
        written,
    };
    writes.into_iter().map(outcome).collect()
}

/// Returns the number of outcomes of a cut, if they are few enough to try them all.
pub(crate) fn outcomes<'a>(
    open: impl Iterator<Item = &'a OpenWrite>,
    rules: &DeviceRules,
) -> Option<u32> {
    let pieces = open
        .flat_map(|write| rules.pieces(write))
        .take(EXHAUSTIVE_PIECES + 1)
        .count();
    (pieces <= EXHAUSTIVE_PIECES).then(|| 1 << pieces)
}

/// Returns the outcome of `kill -9`: all that the kernel was handed, but of a write in flight without `O_DIRECT`
/// perhaps only the first pages. The kernel copies those one by one and looks for a signal in between
/// (`generic_perform_write`, mm/filemap.c).
pub(crate) fn of_kill<'a>(
    open: impl Iterator<Item = &'a OpenWrite>,
    seed: u64,
) -> Vec<WriteOutcome> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    open.map(|write| {
        let mut written: Vec<_> = write.kernel_pages().collect();
        if write.is_in_flight() && !write.is_direct {
            written.truncate(random.random_range(0..=written.len()));
        }
        WriteOutcome {
            write: write.clone(),
            written,
        }
    })
    .collect()
}

fn draw(
    writes: &mut [(&OpenWrite, Vec<Range<u64>>)],
    is_aimed_at: impl Fn(&OpenWrite) -> bool,
    random: &mut Xoshiro256PlusPlus,
) {
    let survival = [0.0, 0.25, 0.5, 0.75, 1.0][random.random_range(0..5)];
    let tearing = [0.0, 0.5, 1.0][random.random_range(0..3)];
    let tearable = |(write, pieces): &(&OpenWrite, Vec<Range<u64>>)| {
        write.is_in_flight() && pieces.len() > 1 && is_aimed_at(write)
    };
    let aimed_at = writes.iter().rposition(tearable);
    for (index, (_, pieces)) in writes.iter_mut().enumerate() {
        if pieces.len() > 1 && (Some(index) == aimed_at || random.random_bool(tearing)) {
            tear(pieces, random);
        } else if !random.random_bool(survival) {
            pieces.clear();
        }
    }
}

/// Leaves some pieces and not all: the first ones, the last ones, or any.
fn tear(pieces: &mut Vec<Range<u64>>, random: &mut Xoshiro256PlusPlus) {
    let kept = random.random_range(1..pieces.len());
    match random.random_range(0..3) {
        0 => pieces.truncate(kept),
        1 => drop(pieces.drain(..kept)),
        _ => {
            // Sampled without replacement, in order.
            let mut wanted = kept;
            let mut left = pieces.len();
            pieces.retain(|_| {
                let keep = random.random_range(0..left) < wanted;
                wanted -= usize::from(keep);
                left -= 1;
                keep
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_drive::OpenMode;
    use weir_model::{Atomicity, Bytes};

    use super::*;
    use crate::device_rules::{Cache, CacheRule};

    const DIRECT: OpenMode = OpenMode {
        durable: false,
        direct: true,
    };

    fn open_pages(count: u64) -> Cache {
        open_writes(count, DIRECT)
    }

    fn open_writes(count: u64, opened: OpenMode) -> Cache {
        let mut cache = Cache::new(atomic(512));
        for sequence in 0..count {
            cache.write(sequence, (1, sequence * 16_384, 16_384), opened);
        }
        cache
    }

    fn atomic(unit: u64) -> DeviceRules {
        DeviceRules {
            cache: CacheRule::PowerProtected,
            cache_size: Bytes(1 << 20),
            atomicity: Atomicity {
                unit: Bytes(unit),
                ..Atomicity::default()
            },
        }
    }

    fn parts(outcomes: &[WriteOutcome]) -> Vec<Part> {
        outcomes
            .iter()
            .map(|outcome| outcome.part_in(0..u64::MAX))
            .collect()
    }

    #[test]
    fn an_atomic_drive_never_tears() {
        let cache = open_pages(8);
        for branch in 0..200 {
            let outcomes = decide(cache.open(), &atomic(16_384), |_| true, (1, branch));
            assert!(!parts(&outcomes).contains(&Part::Some), "{outcomes:?}");
        }
    }

    #[test]
    fn sectors_tear_and_every_outcome_is_met() {
        let cache = open_pages(8);
        let mut met = [false; 3];
        for branch in 0..200 {
            let outcomes = decide(cache.open(), &atomic(512), |_| true, (1, branch));
            assert_eq!(
                outcomes,
                decide(cache.open(), &atomic(512), |_| true, (1, branch))
            );
            let parts = parts(&outcomes);
            assert_eq!(parts[7], Part::Some, "the newest write is aimed at");
            for (met, part) in met.iter_mut().zip([Part::None, Part::Some, Part::All]) {
                *met |= parts[..7].contains(&part);
            }
        }
        assert_eq!(met, [true; 3]);
    }

    #[test]
    fn few_pieces_are_counted_through() {
        let cache = open_pages(5);
        assert_eq!(outcomes(cache.open(), &atomic(16_384)), Some(32));
        let mut seen = std::collections::BTreeSet::new();
        for branch in 0..32 {
            let outcomes = decide(cache.open(), &atomic(16_384), |_| true, (1, branch));
            seen.insert(format!("{:?}", parts(&outcomes)));
        }
        assert_eq!(seen.len(), 32);
        assert_eq!(outcomes(open_pages(0).open(), &atomic(512)), Some(1));
        assert_eq!(outcomes(cache.open(), &atomic(512)), None);
    }

    #[test]
    fn a_kill_cuts_what_is_copied_page_by_page_and_no_more() {
        let whole = of_kill(open_pages(3).open(), 1);
        assert_eq!(parts(&whole), [Part::All; 3]);
        let buffered = open_writes(1, OpenMode::default());
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let outcomes = of_kill(buffered.open(), seed);
            let bytes: u64 = outcomes[0]
                .written
                .iter()
                .map(|part| part.end - part.start)
                .sum();
            assert!(bytes == 0 || outcomes[0].written[0].start == 0);
            seen.insert(bytes / 4096);
        }
        assert_eq!(seen.len(), 5, "{seen:?}");
    }
}
