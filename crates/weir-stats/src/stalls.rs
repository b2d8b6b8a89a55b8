//! Stalls: seconds in which little happened, which a mean hides.
//!
//! A second is stalled when it did less than half of the median second. In the published memory
//! sweep one engine's worst second was 67 transactions against a mean of 4,206.

use crate::median;

/// A second below this share of the median is stalled.
const STALL_SHARE: f64 = 0.5;

/// Neighbouring stalled seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Index of the first one.
    pub start: usize,
    /// Length of the stall, seconds.
    pub seconds: usize,
}

/// The stalls of a per-second series.
#[derive(Debug, Clone, PartialEq)]
pub struct Stalls {
    /// The median second.
    pub median: f64,
    /// Every stall, in the order of time.
    pub stalls: Vec<Stall>,
}

impl Stalls {
    /// Stalled seconds of all stalls together.
    pub fn seconds(&self) -> usize {
        self.stalls.iter().map(|stall| stall.seconds).sum()
    }

    /// The longest stall; the first of equals.
    pub fn longest(&self) -> Option<Stall> {
        let by_length = |stall: &&Stall| (stall.seconds, usize::MAX - stall.start);
        self.stalls.iter().max_by_key(by_length).copied()
    }
}

/// Finds the stalls of a series with one value per second.
///
/// `None` when the median is not above zero: a series that stands still half of the time has no pace to
/// fall behind.
pub fn stalls(series: &[f64]) -> Option<Stalls> {
    let median = median(series).filter(|median| *median > 0.0)?;
    let mut stalls: Vec<Stall> = Vec::new();
    for (second, value) in series.iter().enumerate() {
        if *value >= STALL_SHARE * median {
            continue;
        }
        match stalls.last_mut() {
            Some(last) if last.start + last.seconds == second => last.seconds += 1,
            _ => stalls.push(Stall {
                start: second,
                seconds: 1,
            }),
        }
    }
    Some(Stalls { median, stalls })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_stall() {
        let found = stalls(&[10.0, 4.9, 1.0, 10.0, 5.0, 10.0, 0.0, 11.0]).unwrap();
        assert!((found.median - 7.5).abs() < 1e-12);
        // Half of the median is 3.75, so 4.9 is no stall.
        let at = |start| Stall { start, seconds: 1 };
        assert_eq!(found.stalls, [at(2), at(6)]);
        assert_eq!(found.seconds(), 2);
    }

    #[test]
    fn the_longest_of_several() {
        let mut series = vec![100.0; 60];
        series[0] = 0.0;
        series[20..25].fill(30.0);
        series[40..45].fill(10.0);
        let found = stalls(&series).unwrap();
        assert_eq!((found.stalls.len(), found.seconds()), (3, 11));
        let longest = found.longest().unwrap();
        assert_eq!((longest.start, longest.seconds), (20, 5));
    }

    #[test]
    fn steady_or_dead_series_have_none() {
        let steady = stalls(&[100.0, 90.0, 51.0]).unwrap();
        assert_eq!((steady.seconds(), steady.longest()), (0, None));
        assert_eq!(stalls(&[0.0; 10]), None);
        assert_eq!(stalls(&[]), None);
    }
}
