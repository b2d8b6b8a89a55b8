//! Which workload: one of sysbench's, or several of them in proportion.

use std::fmt;
use std::str::FromStr;

use weir_model::WorkloadName;

use super::oltp;
use super::{Script, Table, sbtest};
use crate::LoadError;
use crate::plan::{LoadPlan, PreparePlan};

/// Which transactions a load has, and on which tables.
///
/// As text: a workload's name, or names with weights as in
/// `oltp_point_select:80,oltp_write_only:20`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// sysbench's workloads with their weights.
    shares: Vec<(WorkloadName, u32)>,
}

impl From<WorkloadName> for Workload {
    fn from(name: WorkloadName) -> Self {
        Self {
            shares: vec![(name, 1)],
        }
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = |part: &str| {
            let (name, weight) = part.split_once(':').unwrap_or((part, "1"));
            let name = name.trim().parse::<WorkloadName>()?;
            let weight = weight
                .trim()
                .parse()
                .map_err(|_| format!("weight of {name}: `{weight}` (must be a whole number)"))?;
            Ok((name, weight))
        };
        let shares: Vec<_> = text.split(',').map(share).collect::<Result<_, String>>()?;
        for (position, (name, _)) in shares.iter().enumerate() {
            if shares[..position].iter().any(|(other, _)| other == name) {
                return Err(format!(
                    "workload {name} is named twice; add the weights up"
                ));
            }
        }
        Ok(Self { shares })
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(name, _)] = self.shares[..] {
            return name.fmt(f);
        }
        for (position, (name, weight)) in self.shares.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(f, "{comma}{name}:{weight}")?;
        }
        Ok(())
    }
}

impl Workload {
    /// Whether each connection fills an empty table of its own instead of loading filled ones.
    pub fn is_bulk(&self) -> bool {
        let is_bulk = |(name, _): &(WorkloadName, u32)| *name == WorkloadName::BulkInsert;
        self.shares.iter().any(is_bulk)
    }

    /// What its connections do.
    pub(crate) fn script(&self, plan: &LoadPlan) -> Result<Script, LoadError> {
        oltp::script(plan, &self.shares)
    }

    /// The tables to be made and filled.
    pub(crate) fn tables(&self, plan: &PreparePlan) -> Result<Vec<Table>, LoadError> {
        let has_text = self.shares.iter().any(|(name, _)| oltp::has_text(*name));
        sbtest::tables(plan, has_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_written_as_they_are_read() {
        for text in [
            "oltp_read_write",
            "oltp_point_select:80,oltp_write_only:20",
            "bulk_insert",
        ] {
            assert_eq!(text.parse::<Workload>().unwrap().to_string(), text);
        }
        let spaced: Workload = "oltp_delete : 3, oltp_insert".parse().unwrap();
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
            let refused = text.parse::<Workload>().unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
    }
}
