//! sysbench's workloads in proportion, as text: `oltp_point_select:80,oltp_write_only:20`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::WorkloadName;

/// A workload's part in a mix of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadShare {
    /// Workload of the share.
    pub workload: WorkloadName,
    /// Weight: its share of the transactions is this out of the sum of all weights.
    pub weight: u32,
}

/// Workloads in proportion: each transaction is of one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct WorkloadShares(pub Vec<WorkloadShare>);

impl WorkloadShares {
    /// Returns true if `is` holds for one of them.
    pub fn any(&self, is: impl Fn(WorkloadName) -> bool) -> bool {
        self.0.iter().any(|share| is(share.workload))
    }

    /// Returns true if `is` holds for all of them.
    pub fn all(&self, is: impl Fn(WorkloadName) -> bool) -> bool {
        self.0.iter().all(|share| is(share.workload))
    }

    /// The workload, if there is but one.
    pub fn single(&self) -> Option<WorkloadName> {
        match self.0[..] {
            [WorkloadShare { workload, .. }] => Some(workload),
            _ => None,
        }
    }
}

impl From<WorkloadName> for WorkloadShares {
    fn from(workload: WorkloadName) -> Self {
        Self(vec![WorkloadShare {
            workload,
            weight: 1,
        }])
    }
}

impl FromStr for WorkloadShares {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = |part: &str| {
            let (name, weight) = part.split_once(':').unwrap_or((part, "1"));
            let name = name.trim().parse::<WorkloadName>()?;
            let weight = weight
                .trim()
                .parse()
                .map_err(|_| format!("weight of {name}: `{weight}` (must be a whole number)"))?;
            Ok(WorkloadShare {
                workload: name,
                weight,
            })
        };
        let shares: Vec<_> = text.split(',').map(share).collect::<Result<_, String>>()?;
        for (position, WorkloadShare { workload, .. }) in shares.iter().enumerate() {
            let mut before = shares[..position].iter();
            if before.any(|other| other.workload == *workload) {
                return Err(format!(
                    "workload {workload} is named twice; add the weights up"
                ));
            }
        }
        Ok(Self(shares))
    }
}

impl fmt::Display for WorkloadShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.single() {
            return name.fmt(f);
        }
        for (position, WorkloadShare { workload, weight }) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(f, "{comma}{workload}:{weight}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_written_as_they_are_read() {
        for text in [
            "oltp_read_write",
            "oltp_point_select:80,oltp_write_only:20",
            "bulk_insert",
        ] {
            assert_eq!(text.parse::<WorkloadShares>().unwrap().to_string(), text);
        }
        let spaced: WorkloadShares = "oltp_delete : 3, oltp_insert".parse().unwrap();
        assert_eq!(spaced.to_string(), "oltp_delete:3,oltp_insert:1");
    }

    #[test]
    fn what_is_no_workload_is_named() {
        for (text, part) in [
            ("oltp_read_wrote", "oltp_read_write"),
            ("oltp_insert:x", "whole number"),
            ("oltp_insert,oltp_insert", "twice"),
            ("", "workload"),
        ] {
            let refused = text.parse::<WorkloadShares>().unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
    }
}
