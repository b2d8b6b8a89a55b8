//! A share of a run: what one of several processes does of it.
//!
//! Connections keep the numbers that they have in the whole run. Their random numbers, schedules and tables follow
//! from these, so that all shares together do what one process would do.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// One of several shares of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Numbers of its connections among those of the run, from 0.
    pub connections: Range<u32>,
    /// Numbers of its idle connections; they follow those of the load.
    pub idle: Range<u32>,
    /// Transactions after which it ends, if the run has a number of them.
    pub max_events: Option<u64>,
    /// Number of the share, from 0.
    pub part: u32,
    /// Number of shares.
    pub parts: u32,
}

impl Share {
    /// All of a run with so many connections and idle connections.
    pub fn whole(connections: u32, idle: u32, max_events: Option<u64>) -> Self {
        Self {
            connections: 0..connections,
            idle: connections..connections.saturating_add(idle),
            max_events,
            part: 0,
            parts: 1,
        }
    }

    /// This in `parts` shares as equal as can be; the first ones are larger by one. At most as many as there are
    /// connections.
    pub fn deal(&self, parts: u32) -> Vec<Self> {
        let parts = parts.clamp(1, self.count().max(1));
        (0..parts)
            .map(|index| Self {
                connections: part(&self.connections, index, parts),
                idle: part(&self.idle, index, parts),
                max_events: self.max_events.map(|events| {
                    let (index, parts) = (u64::from(index), u64::from(parts));
                    events / parts + u64::from(index < events % parts)
                }),
                part: index,
                parts,
            })
            .collect()
    }

    /// Returns the number of connections of the load.
    pub fn count(&self) -> u32 {
        self.connections.len() as u32
    }
}

/// Part `index` of `parts` of these numbers.
fn part(all: &Range<u32>, index: u32, parts: u32) -> Range<u32> {
    let count = all.len() as u32;
    let (each, more) = (count / parts, count % parts);
    let start = all.start + index * each + index.min(more);
    start..start + each + u32::from(index < more)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_are_all_of_a_run_and_nothing_twice(
            connections in 1_u32..5_000,
            idle in 0_u32..500,
            events in proptest::option::of(0_u64..1_000_000),
            parts in 1_u32..40,
        ) {
            let shares = Share::whole(connections, idle, events).deal(parts);
            let numbers: Vec<u32> = shares.iter().flat_map(|share| share.connections.clone()).collect();
            prop_assert_eq!(numbers, (0..connections).collect::<Vec<_>>());
            let numbers: Vec<u32> = shares.iter().flat_map(|share| share.idle.clone()).collect();
            prop_assert_eq!(numbers, (connections..connections + idle).collect::<Vec<_>>());
            let sum: Option<u64> = shares.iter().map(|share| share.max_events).sum();
            prop_assert_eq!(sum, events);
            let counts: Vec<_> = shares.iter().map(Share::count).collect();
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
    }
}
