//! Costs of a query: how much of a resource a run took for each statement that it completed.
//!
//! A drive or a lock can hide a change of the server's work from throughput; the cost of a query shows it.

use crate::{Metric, RunRecord, RunResult, metrics};

/// A cost of a query: one resource of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostPerQuery {
    /// Name, with its unit: `server_cpu_us_per_query`.
    pub name: &'static str,
    /// Title for a reader, which stands after `per query:`.
    pub title: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    /// Processor time of the server, from the run's utilization.
    ServerCores,
    /// A sampled counter.
    Counter(&'static Metric),
}

const fn counted(
    name: &'static str,
    (title, unit): (&'static str, &'static str),
    counter: &'static Metric,
) -> CostPerQuery {
    CostPerQuery {
        name,
        title,
        unit,
        source: Source::Counter(counter),
    }
}

impl CostPerQuery {
    /// Processor time of the server: the one cost that each run with a server on this host has.
    pub const SERVER_CPU: Self = Self {
        name: "server_cpu_us_per_query",
        title: "server CPU",
        unit: "us",
        source: Source::ServerCores,
    };

    /// All costs. Context switches are the whole host's, as in the published tables.
    pub const ALL: [Self; 7] = [
        Self::SERVER_CPU,
        counted(
            "context_switches_per_query",
            ("context switches of the host", "switches"),
            &metrics::HOST_CONTEXT_SWITCHES,
        ),
        counted(
            "drive_read_bytes_per_query",
            ("bytes read from the drive", "bytes"),
            &metrics::DRIVE_READ_BYTES,
        ),
        counted(
            "drive_written_bytes_per_query",
            ("bytes written to the drive", "bytes"),
            &metrics::DRIVE_WRITE_BYTES,
        ),
        counted(
            "innodb_read_bytes_per_query",
            ("bytes that InnoDB read", "bytes"),
            &metrics::STATUS_DATA_READ,
        ),
        counted(
            "innodb_written_bytes_per_query",
            ("bytes that InnoDB wrote", "bytes"),
            &metrics::STATUS_DATA_WRITTEN,
        ),
        counted(
            "sent_bytes_per_query",
            ("bytes sent to clients", "bytes"),
            &metrics::STATUS_SENT,
        ),
    ];

    /// The cost of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        const ALL: &[CostPerQuery] = &CostPerQuery::ALL;
        ALL.iter().find(|cost| cost.name == name)
    }

    /// The cost in `run`; `None` where it was not sampled, or nothing was completed.
    pub fn value(&self, run: &RunResult) -> Option<f64> {
        match self.source {
            Source::ServerCores => self.recorded(&run.record),
            Source::Counter(counter) => per_query(run.level(counter)?, run.record.queries_per_s),
        }
    }

    /// The cost by a run's record alone; `None` for a cost that needs the run's samples.
    pub fn recorded(&self, record: &RunRecord) -> Option<f64> {
        match self.source {
            Source::ServerCores => {
                per_query(record.utilization.server_cores * 1e6, record.queries_per_s)
            }
            Source::Counter(_) => None,
        }
    }
}

/// A rate per second, for each query; of nothing there is no ratio.
fn per_query(per_s: f64, queries_per_s: f64) -> Option<f64> {
    (queries_per_s > 0.0 && per_s > 0.0).then(|| per_s / queries_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_what_they_are_for_and_are_found() {
        for cost in CostPerQuery::ALL {
            assert!(cost.name.ends_with("_per_query"), "{}", cost.name);
            assert_eq!(CostPerQuery::find(cost.name), Some(&cost));
        }
        assert_eq!(CostPerQuery::find("queries_per_s"), None);
    }

    #[test]
    fn what_was_not_used_or_not_completed_has_no_cost() {
        assert_eq!(per_query(8e5, 20_000.0), Some(40.0));
        assert_eq!(per_query(8e5, 0.0), None);
        assert_eq!(per_query(0.0, 20_000.0), None);
    }
}
