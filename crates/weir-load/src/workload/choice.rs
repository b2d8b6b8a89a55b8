//! Which workload: one of sysbench's, several of them in proportion, or a user's own file.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use weir_model::WorkloadName;

use super::file::WorkloadFile;
use super::{Script, Table, oltp, sbtest};
use crate::LoadError;
use crate::plan::{LoadPlan, PreparePlan};

/// Which transactions a load has, and on which tables.
///
/// As text: a workload's name, names with weights as in
/// `oltp_point_select:80,oltp_write_only:20`, or the path of a workload file that ends in `.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// sysbench's workloads with their weights.
    Sysbench(Vec<(WorkloadName, u32)>),
    File(Arc<WorkloadFile>),
}

impl From<WorkloadName> for Workload {
    fn from(name: WorkloadName) -> Self {
        Self(Kind::Sysbench(vec![(name, 1)]))
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = Path::new(text);
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            return WorkloadFile::read(path).map(|file| Self(Kind::File(Arc::new(file))));
        }
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
        Ok(Self(Kind::Sysbench(shares)))
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::File(file) => file.path().display().fmt(f),
            Kind::Sysbench(shares) => {
                if let [(name, _)] = shares[..] {
                    return name.fmt(f);
                }
                for (position, (name, weight)) in shares.iter().enumerate() {
                    let comma = if position == 0 { "" } else { "," };
                    write!(f, "{comma}{name}:{weight}")?;
                }
                Ok(())
            }
        }
    }
}

impl Workload {
    /// Whether each connection fills an empty table of its own instead of loading filled ones.
    pub fn is_bulk(&self) -> bool {
        self.has(|name| name == WorkloadName::BulkInsert)
    }

    /// Whether it works on sysbench's tables, filled.
    pub fn is_on_sbtest(&self) -> bool {
        matches!(self.0, Kind::Sysbench(_)) && !self.is_bulk()
    }

    fn has(&self, is: impl Fn(WorkloadName) -> bool) -> bool {
        match &self.0 {
            Kind::Sysbench(shares) => shares.iter().any(|(name, _)| is(*name)),
            Kind::File(_) => false,
        }
    }

    /// What its connections do.
    pub(crate) fn script(&self, plan: &LoadPlan) -> Result<Script, LoadError> {
        match &self.0 {
            Kind::Sysbench(shares) => oltp::script(plan, shares),
            Kind::File(file) => file.script(plan.seed, plan.distribution),
        }
    }

    /// The tables to be made and filled.
    pub(crate) fn tables(&self, plan: &PreparePlan) -> Result<Vec<Table>, LoadError> {
        match &self.0 {
            Kind::Sysbench(_) => sbtest::tables(plan, self.has(oltp::has_text)),
            Kind::File(file) => file.tables(plan.distribution),
        }
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
