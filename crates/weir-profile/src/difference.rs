//! What two profiles differ in, by function.

use std::collections::{BTreeMap, BTreeSet};

use crate::Folded;

/// A function's share of the samples of two profiles, itself and what it calls.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameChange {
    /// Name of the function.
    pub function: String,
    /// Share in the first profile, 0 to 1.
    pub before: f64,
    /// Share in the second.
    pub after: f64,
}

impl FrameChange {
    /// Difference of the shares.
    pub fn change(&self) -> f64 {
        self.after - self.before
    }
}

/// Samples of a function, and how far from the thread's beginning it stands.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    samples: u64,
    /// Sum of the depths of its samples.
    depths: u64,
}

/// Returns the `count` functions whose shares of the samples differ most, the largest first.
///
/// Shares make the function that the second profile has anew come first: those that call it were there before, and
/// have less to gain. Of functions that always call each other the outermost stands first.
pub fn largest_changes(before: &Folded, after: &Folded, count: usize) -> Vec<FrameChange> {
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
        };
        (change, depth)
    });
    let mut changes: Vec<_> = changes.collect();
    changes.sort_by(|(a, a_depth), (b, b_depth)| {
        let sizes = b.change().abs().total_cmp(&a.change().abs());
        sizes.then(a_depth.total_cmp(b_depth))
    });
    changes.truncate(count);
    changes.into_iter().map(|(change, _)| change).collect()
}

/// Weights of all functions; one that calls itself counts once for a sample.
fn weights(folded: &Folded) -> BTreeMap<&str, Weight> {
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

    fn folded(text: &str) -> Folded {
        let mut folded = Folded::default();
        folded.add_text(text);
        folded
    }

    #[test]
    fn a_new_function_comes_before_those_that_call_it_and_those_that_it_calls() {
        let before = folded("m;run;select;read 80\nm;run;send 20");
        let after = folded(
            "m;run;select;read 80\nm;run;send 20\nm;run;select;trigger;insert 50\nm;run;select;trigger 5",
        );
        let changes = largest_changes(&before, &after, 2);
        assert_eq!(changes[0].function, "trigger");
        assert!((changes[0].change() - 55.0 / 155.0).abs() < 1e-9);
        assert_eq!(changes[1].function, "insert");
    }

    #[test]
    fn of_functions_with_the_same_samples_the_outermost_is_first() {
        let changes = largest_changes(&folded("m;a 10"), &folded("m;a 10\nm;x;b;c 10"), 3);
        let names: Vec<_> = changes
            .iter()
            .map(|change| change.function.as_str())
            .collect();
        assert_eq!(names[0], "a");
        assert_eq!(names[1..], ["x", "b"]);
    }

    #[test]
    fn a_function_that_calls_itself_counts_once() {
        let changes = largest_changes(&folded("m;a 1"), &folded("m;b;b;b 1"), 9);
        let b = changes
            .iter()
            .find(|change| change.function == "b")
            .unwrap();
        assert!((b.after - 1.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_said_of_a_profile_without_samples() {
        assert!(largest_changes(&Folded::default(), &folded("m;a 1"), 3).is_empty());
    }
}
