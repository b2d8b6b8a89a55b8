//! Differences of two profiles, by function.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::StackCounts;

/// A function's share of the samples of two profiles, itself and what it calls.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameChange {
    /// Name of the function.
    pub function: String,
    /// Share in the first profile, 0 to 1.
    pub before: f64,
    /// Share in the second.
    pub after: f64,
    /// Half the width of the difference's interval.
    margin: f64,
}

impl FrameChange {
    /// Difference of the shares.
    pub fn change(&self) -> f64 {
        self.after - self.before
    }

    /// Lower and upper end of the 99.9 % interval of the difference.
    pub fn interval(&self) -> (f64, f64) {
        (self.change() - self.margin, self.change() + self.margin)
    }

    /// Size of the difference that is sure; 0 or less if none is.
    fn sure(&self) -> f64 {
        self.change().abs() - self.margin
    }
}

/// Half the width of a 99.9 % interval in standard deviations: hundreds of functions are looked at.
const DEVIATIONS: f64 = 3.29;

/// Half the width of the interval of a difference of two shares, of so many samples (Wald's interval; one sample of a
/// thread says nothing about the next, which comes 20 ms of CPU time later).
fn margin(shares: [f64; 2], totals: [u64; 2]) -> f64 {
    let variance = |side: usize| shares[side] * (1.0 - shares[side]) / totals[side] as f64;
    DEVIATIONS * (variance(0) + variance(1)).sqrt()
}

/// Samples of a function, and how far from the thread's beginning it stands.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    samples: u64,
    /// Sum of the depths of its samples.
    depths: u64,
}

/// Returns the `count` functions whose shares of the samples differ most beyond chance, the surest first; none whose
/// difference may be chance.
///
/// Shares make the function that the second profile has anew come first: those that call it were there before, and
/// have less to gain. Of functions that always call each other the outermost stands first.
pub fn largest_changes(
    before: &StackCounts,
    after: &StackCounts,
    count: usize,
) -> Vec<FrameChange> {
    let (totals, weights) = (
        [before.samples(), after.samples()],
        [weights(before), weights(after)],
    );
    if totals.contains(&0) {
        return Vec::new();
    }
    let names: BTreeSet<_> = weights.iter().flat_map(BTreeMap::keys).copied().collect();
    let changes = names.into_iter().map(|name| {
        let of = [0, 1].map(|side: usize| weights[side].get(name).copied().unwrap_or_default());
        let share = |side: usize| of[side].samples as f64 / totals[side] as f64;
        let depths = (of[0].depths + of[1].depths) as f64;
        let depth = depths / (of[0].samples + of[1].samples).max(1) as f64;
        let change = FrameChange {
            function: name.to_owned(),
            before: share(0),
            after: share(1),
            margin: margin([share(0), share(1)], totals),
        };
        (change, depth)
    });
    let mut changes: Vec<_> = changes.filter(|(change, _)| change.sure() > 0.0).collect();
    changes.sort_by(|(a, a_depth), (b, b_depth)| {
        let sizes = b.sure().total_cmp(&a.sure());
        sizes.then(a_depth.total_cmp(b_depth))
    });
    changes.truncate(count);
    changes.into_iter().map(|(change, _)| change).collect()
}

/// Weights of all functions; one that calls itself counts once for a sample.
fn weights(folded: &StackCounts) -> BTreeMap<&str, Weight> {
    let mut weights = BTreeMap::<&str, Weight>::new();
    for (stack, samples) in folded.iter() {
        let mut seen = BTreeSet::new();
        for (depth, name) in (0_u64..).zip(stack.split(';')) {
            if seen.insert(name) {
                let weight = weights.entry(name).or_default();
                weight.samples += samples;
                weight.depths += depth * samples;
            }
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_function_comes_before_those_that_call_it_and_those_that_it_calls() {
        let before = StackCounts::parse("m;run;select;read 800\nm;run;send 200");
        let after = StackCounts::parse(
            "m;run;select;read 800\nm;run;send 200\nm;run;select;trigger;insert 500\nm;run;select;trigger 50",
        );
        let changes = largest_changes(&before, &after, 2);
        assert_eq!(changes[0].function, "trigger");
        assert!((changes[0].change() - 550.0 / 1550.0).abs() < 1e-9);
        assert_eq!(changes[1].function, "insert");
    }

    #[test]
    fn of_functions_with_the_same_samples_the_outermost_is_first() {
        let changes = largest_changes(
            &StackCounts::parse("m;a 100"),
            &StackCounts::parse("m;a 100\nm;x;b;c 100"),
            3,
        );
        let names: Vec<_> = changes
            .iter()
            .map(|change| change.function.as_str())
            .collect();
        // Half of all samples are new, and `a` has lost as many.
        assert_eq!(names, ["a", "x", "b"]);
    }

    #[test]
    fn a_function_that_calls_itself_counts_once() {
        let changes = largest_changes(
            &StackCounts::parse("m;a 100"),
            &StackCounts::parse("m;b;b;b 100"),
            9,
        );
        let b = changes
            .iter()
            .find(|change| change.function == "b")
            .unwrap();
        assert!((b.after - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_difference_that_may_be_chance_is_not_told() {
        let changes = largest_changes(
            &StackCounts::parse("m;a 50\nm;b 50"),
            &StackCounts::parse("m;a 58\nm;b 42"),
            3,
        );
        assert_eq!(changes, []);
        let changes = largest_changes(
            &StackCounts::parse("m;a 5000\nm;b 5000"),
            &StackCounts::parse("m;a 5800\nm;b 4200"),
            3,
        );
        assert_eq!(changes.len(), 2);
        let gain = changes
            .iter()
            .find(|change| change.function == "a")
            .unwrap();
        let (low, high) = gain.interval();
        assert!(
            0.05 < low && low < 0.08 && 0.08 < high && high < 0.11,
            "{low} to {high}"
        );
    }

    #[test]
    fn nothing_is_said_of_a_profile_without_samples() {
        assert!(
            largest_changes(&StackCounts::default(), &StackCounts::parse("m;a 1"), 3).is_empty()
        );
    }
}
