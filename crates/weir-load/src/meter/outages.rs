//! Periods in which connections were lost.

use serde::{Deserialize, Serialize};

/// A time during which at least one connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outage {
    /// Nanoseconds since the run began.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
}

/// Joins outages that overlap, such as those of several reactors.
pub(crate) fn join(mut outages: Vec<Outage>) -> Vec<Outage> {
    outages.sort_by_key(|outage| outage.from_ns);
    let mut joined: Vec<Outage> = Vec::new();
    for outage in outages {
        match joined.last_mut() {
            Some(last) if outage.from_ns <= last.to_ns => {
                last.to_ns = last.to_ns.max(outage.to_ns);
            }
            _ => joined.push(outage),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::{Outage, join};

    #[test]
    fn overlapping_outages_are_one() {
        let outages = [(50, 60), (10, 20), (15, 30), (30, 40), (12, 13)];
        let outages = outages.map(|(from_ns, to_ns)| Outage { from_ns, to_ns });
        let joined: Vec<_> = join(outages.to_vec())
            .iter()
            .map(|outage| (outage.from_ns, outage.to_ns))
            .collect();
        assert_eq!(joined, [(10, 40), (50, 60)]);
    }
}
