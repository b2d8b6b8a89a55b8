//! Times of a slow log's entries, bounded by their neighbours.
//!
//! Entries stand in the order of their ends. A session that has set its own `timestamp` gives `MariaDB`'s entries another time,
//! perhaps of years ago, and a server's clock may be set. The longest run of entries whose ends do not go back is taken for
//! right (Fredman, "On computing the length of longest increasing subsequences", 1975). Any other is put beside its
//! neighbours.

use std::collections::{HashSet, VecDeque};

use super::slow::Step;
use crate::CaptureError;
use crate::sql::sets_own_clock;

/// Entries that are compared with each other; half of them are placed at a time.
const WINDOW: usize = 2_048;
/// Time by which ends may be out of order: of clocks with seconds, and of sessions that end at the same time.
const TOLERANCE_US: i64 = 2_000_000;
/// An entry at either end of a log that is further from its one neighbour,
const LONELY_US: i64 = 30 * 86_400 * 1_000_000;
/// and so many times as far as all others are from each other, is out of place.
const LONELY_SPANS: i64 = 10;

/// A step of the log whose entry has its place in time.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) step: Step,
    /// True if its time did not fit its neighbours.
    pub(super) is_moved: bool,
}

type Put<'a> = dyn FnMut(Placement) -> Result<(), CaptureError> + 'a;

/// Places entries.
#[derive(Debug, Default)]
pub(super) struct Placer {
    /// With the end of each that its session's clock does not make up.
    waiting: VecDeque<(Step, Option<i64>)>,
    /// Connections that have set their own time.
    own_clocks: HashSet<u64>,
    /// The end of the last entry that was right.
    last_us: Option<i64>,
    /// Microseconds that are added to ends since the log's clock went back for good.
    shift_us: i64,
}

impl Placer {
    /// Takes a step, and gives those that are placed to `put`.
    pub(super) fn push(&mut self, step: Step, put: &mut Put<'_>) -> Result<(), CaptureError> {
        let end_us = self.trusted_end(&step);
        self.waiting.push_back((step, end_us));
        if self.waiting.len() >= WINDOW {
            self.place(WINDOW / 2, false, put)?;
        }
        Ok(())
    }

    /// Places the rest.
    pub(super) fn finish(&mut self, put: &mut Put<'_>) -> Result<(), CaptureError> {
        self.place(self.waiting.len(), true, put)
    }

    /// When an entry ended, unless its session has its own clock.
    fn trusted_end(&mut self, step: &Step) -> Option<i64> {
        let entry = step.entry()?;
        let had_own = self.own_clocks.contains(&entry.connection);
        let sets = sets_own_clock(&entry.text);
        match sets {
            Some(true) => drop(self.own_clocks.insert(entry.connection)),
            Some(false) => drop(self.own_clocks.remove(&entry.connection)),
            None => {}
        }
        let is_sure = entry.is_of_server_clock || !had_own && sets.is_none();
        is_sure.then(|| entry.ended_us())
    }

    fn place(&mut self, count: usize, is_end: bool, put: &mut Put<'_>) -> Result<(), CaptureError> {
        let ends: Vec<_> = self.waiting.iter().map(|(_, end_us)| *end_us).collect();
        let right = self.right(&ends, is_end);
        let mut next = 0;
        for at in 0..count {
            let Some((mut step, _)) = self.waiting.pop_front() else {
                break;
            };
            let is_right = right.get(next) == Some(&at);
            next += usize::from(is_right);
            let following = right.get(next).and_then(|at| ends[*at]);
            let following = following.map(|end_us| end_us + self.shift_us);
            let end_us = ends[at].map(|end_us| end_us + self.shift_us);
            let is_moved = !is_right && !self.fits(end_us, following);
            if let Some(entry) = step.entry_mut() {
                let own_us = end_us.unwrap_or_else(|| entry.ended_us());
                let placed_us = if is_moved {
                    self.last_us.or(following).unwrap_or(own_us)
                } else {
                    own_us
                };
                entry.end_at(placed_us);
                if !is_moved {
                    self.last_us = self.last_us.max(Some(placed_us));
                }
            }
            let is_moved = is_moved && step.entry().is_some();
            put(Placement { step, is_moved })?;
        }
        Ok(())
    }

    /// Positions of the entries whose ends are taken for right.
    fn right(&mut self, ends: &[Option<i64>], is_end: bool) -> Vec<usize> {
        let Some(last_us) = self.last_us else {
            let mut right = longest_run(ends, i64::MIN);
            leave_lonely_first(ends, &mut right);
            if is_end {
                leave_lonely_last(ends, &mut right);
            }
            return right;
        };
        let mut right = longest_run(ends, last_us - self.shift_us - TOLERANCE_US);
        let all = longest_run(ends, i64::MIN);
        if all.len() > 2 * right.len() {
            // The clock has gone back for good.
            self.shift_us = last_us - ends[all[0]].unwrap_or(0);
            return all;
        }
        if is_end {
            leave_lonely_last(ends, &mut right);
        }
        right
    }

    /// Returns true if an end stands between those of its neighbours, about.
    fn fits(&self, end_us: Option<i64>, following: Option<i64>) -> bool {
        let Some(end_us) = end_us else { return false };
        let earliest = self.last_us.or(following).unwrap_or(end_us);
        let latest = match following {
            Some(next_us) => next_us + TOLERANCE_US,
            None => earliest.saturating_add(LONELY_US),
        };
        (earliest - TOLERANCE_US..=latest).contains(&end_us)
    }
}

/// Leaves out the first of a run where they are very far from all others.
fn leave_lonely_first(ends: &[Option<i64>], right: &mut Vec<usize>) {
    while let [first, second, third, ..] = right[..]
        && is_lonely(ends, (first, second), (second, third), right)
    {
        right.remove(0);
    }
}

/// Leaves out the last of a run where they are very far from all others.
fn leave_lonely_last(ends: &[Option<i64>], right: &mut Vec<usize>) {
    while let [.., third, second, last] = right[..]
        && is_lonely(ends, (second, last), (third, second), right)
    {
        right.pop();
    }
}

/// Returns true if two neighbours of a run are so far from each other that the outer one is out of place. Of three
/// entries, the other two are the measure; of more, all but both outer ones.
fn is_lonely(
    ends: &[Option<i64>],
    gap: (usize, usize),
    others: (usize, usize),
    right: &[usize],
) -> bool {
    let between = |(from, to): (usize, usize)| ends[to].unwrap_or(0) - ends[from].unwrap_or(0);
    let core = match right {
        [_, second, .., last_but_one, _] if right.len() > 3 => (*second, *last_but_one),
        _ => others,
    };
    between(gap) > LONELY_US && between(gap) / LONELY_SPANS > between(core)
}

/// Positions of the longest run of ends that do not go back, of those from `least_us` on. Of two runs that are as long, it
/// is the shorter one in time.
fn longest_run(ends: &[Option<i64>], least_us: i64) -> Vec<usize> {
    let chosen: Vec<_> = ends
        .iter()
        .map(|end_us| end_us.filter(|end_us| *end_us >= least_us))
        .collect();
    let forwards = run_of_least(&chosen);
    let mirrored: Vec<_> = chosen
        .iter()
        .rev()
        .map(|end_us| end_us.map(|end_us| -end_us))
        .collect();
    let mut backwards = run_of_least(&mirrored);
    backwards.reverse();
    for at in &mut backwards {
        *at = ends.len() - 1 - *at;
    }
    let span = |run: &[usize]| match run {
        [first, .., last] => ends[*last].unwrap_or(0) - ends[*first].unwrap_or(0),
        _ => 0,
    };
    if span(&backwards) < span(&forwards) {
        backwards
    } else {
        forwards
    }
}

/// Positions of the longest run of ends that do not go back; of several, that of the least ends.
fn run_of_least(ends: &[Option<i64>]) -> Vec<usize> {
    // Of the runs of each length, the one with the least end; and what stands before each position in its run.
    let mut lasts: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; ends.len()];
    for (at, end_us) in ends.iter().enumerate() {
        let Some(end_us) = end_us else { continue };
        let length = lasts.partition_point(|last| ends[*last] <= Some(*end_us));
        before[at] = length.checked_sub(1).map(|shorter| lasts[shorter]);
        match lasts.get_mut(length) {
            Some(last) => *last = at,
            None => lasts.push(at),
        }
    }
    let mut run: Vec<_> = std::iter::successors(lasts.last().copied(), |at| before[*at]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::sessions::Entry;

    const SECOND_US: i64 = 1_000_000;
    /// As many as the window has.
    const COUNT: i64 = 2_048;

    /// Ends as they are placed, in seconds, and how many were moved.
    fn placed(entries: &[(u64, i64, &str)]) -> (Vec<i64>, usize) {
        let mut placer = Placer::default();
        let (mut ends, mut moved) = (Vec::new(), 0);
        let mut put = |placed: Placement| {
            ends.push(placed.step.entry().unwrap().ended_us() / SECOND_US);
            moved += usize::from(placed.is_moved);
            Ok(())
        };
        for (connection, end_s, text) in entries {
            let entry = Entry {
                connection: *connection,
                began_us: end_s * SECOND_US,
                took_us: Some(0),
                text: text.as_bytes().to_vec(),
                ..Entry::default()
            };
            placer
                .push(Step::Statement(Box::new(entry)), &mut put)
                .unwrap();
        }
        placer.finish(&mut put).unwrap();
        (ends, moved)
    }

    #[test]
    fn times_of_other_clocks_stand_beside_their_neighbours() {
        const NOW: i64 = 1_795_000_000;
        let plain = |ends: &[i64]| {
            let entries: Vec<_> = ends.iter().map(|end_s| (1, *end_s, "SELECT 1")).collect();
            placed(&entries)
        };
        // Between neighbours, at the beginning and at the end.
        let (ends, moved) = plain(&[NOW, 1_700_000_000, NOW + 1, 1_900_000_000, NOW + 2]);
        assert_eq!(
            (ends, moved),
            (vec![NOW, NOW, NOW + 1, NOW + 1, NOW + 2], 2)
        );
        let (ends, moved) = plain(&[1_700_000_000, NOW, NOW + 1, NOW + 2, 1_900_000_000]);
        assert_eq!(
            (ends, moved),
            (vec![NOW, NOW, NOW + 1, NOW + 2, NOW + 2], 2)
        );
        // Days without a statement, and small steps back, are as they are.
        for ends in [
            &[NOW, NOW + 86_400, NOW + 5 * 86_400, NOW + 5 * 86_400 + 1][..],
            &[NOW, NOW + 2, NOW + 1, NOW + 3],
        ] {
            assert_eq!(plain(ends), (ends.to_vec(), 0));
        }
        // A session's own clock, which fits by chance, is none of the log's.
        let own = [
            (1, NOW, "SELECT 1"),
            (2, NOW + 50_000_000, "SET @@session.timestamp = 1845000000"),
            (2, NOW + 50_000_001, "SELECT 2"),
            (2, NOW + 1, "SET timestamp = DEFAULT"),
            (2, NOW + 2, "SELECT 3"),
        ];
        assert_eq!(placed(&own), (vec![NOW, NOW, NOW, NOW, NOW + 2], 3));
    }

    #[test]
    fn a_clock_that_was_set_back_goes_on() {
        let steps = |from: i64| (0..3 * COUNT).map(move |step| (1, from + step, "SELECT 1"));
        let entries: Vec<_> = steps(20_000).chain(steps(10_000)).collect();
        let (ends, moved) = placed(&entries);
        assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]));
        let all = 6 * COUNT;
        assert!(ends[ends.len() - 1] - ends[0] >= all - 2 * COUNT);
        assert!(moved <= WINDOW, "{moved}");
    }
}
