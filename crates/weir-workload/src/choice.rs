//! Which workload: one of sysbench's, several of them in proportion, or a user's own file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use weir_model::{
    FileWorkload, SysbenchWorkload, TableSize, WorkloadName, WorkloadShares, WorkloadSpec,
};

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
    Sysbench(WorkloadShares),
    File(Arc<WorkloadFile>),
}

impl From<WorkloadName> for Workload {
    fn from(name: WorkloadName) -> Self {
        Self(Kind::Sysbench(name.into()))
    }
}

impl TryFrom<&WorkloadSpec> for Workload {
    type Error = String;

    /// The workload of a run; one of the user's own is made of the text in the spec, and its file is
    /// not looked at.
    fn try_from(spec: &WorkloadSpec) -> Result<Self, String> {
        Ok(Self(match spec {
            WorkloadSpec::Sysbench(SysbenchWorkload { shares, .. }) => {
                Kind::Sysbench(shares.clone())
            }
            WorkloadSpec::File(FileWorkload { path, text, .. }) => {
                Kind::File(Arc::new(WorkloadFile::parse(path, text)?))
            }
        }))
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if Self::is_file(text) {
            let file = WorkloadFile::read(Path::new(text))?;
            return Ok(Self(Kind::File(Arc::new(file))));
        }
        text.parse().map(|shares| Self(Kind::Sysbench(shares)))
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::File(file) => file.path().display().fmt(f),
            Kind::Sysbench(shares) => shares.fmt(f),
        }
    }
}

impl Workload {
    /// Whether `text` is meant to be the path of a workload's file.
    pub fn is_file(text: &str) -> bool {
        let extension = Path::new(text).extension();
        extension.is_some_and(|extension| extension == "toml")
    }

    /// The text of its file; `None` for sysbench's workloads.
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            Kind::File(file) => Some(file.text()),
            Kind::Sysbench(_) => None,
        }
    }

    /// The book that its file takes lines of, if it names one.
    pub fn book(&self) -> Option<PathBuf> {
        match &self.0 {
            Kind::File(file) => file.book(),
            Kind::Sysbench(_) => None,
        }
    }

    /// The tables of its file; none for sysbench's workloads, whose tables are as many and as large as
    /// one asks for.
    pub fn table_sizes(&self) -> Vec<TableSize> {
        match &self.0 {
            Kind::File(file) => file.table_sizes(),
            Kind::Sysbench(_) => Vec::new(),
        }
    }

    /// Whether its transactions change nothing.
    pub fn only_reads(&self) -> bool {
        match &self.0 {
            Kind::Sysbench(shares) => shares.all(WorkloadName::only_reads),
            Kind::File(file) => file.only_reads(),
        }
    }

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
            Kind::Sysbench(shares) => shares.any(is),
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
            Kind::Sysbench(_) => sbtest::tables(plan, self.has(WorkloadName::has_text)),
            Kind::File(file) => file.tables(plan.distribution),
        }
    }
}
