//! Everything that a look found.

use std::collections::BTreeMap;

use serde::Serialize;

use super::digests::Statements;
use super::finding::{CounterValue, Finding, Unseen, Weight};
use super::moved::MovedCounter;
use super::plans::MissingIndex;
use super::questions::Questions;
use super::stalls::Stall;
use super::wait_events::Wait;

/// Findings of a look, with the values that they follow from.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct LookReport {
    /// The server: `mysql 9.7.4`.
    pub server: String,
    /// Length of the window, seconds.
    pub seconds: f64,
    /// Statements of clients a second, by the counter `Questions`.
    pub questions_per_s: Option<f64>,
    /// Time since the server started, seconds.
    pub uptime_s: Option<f64>,
    /// Statements that the look sent, from its first to its last.
    pub statements_sent: u64,
    /// Waits by `performance_schema`; none if it does not show them.
    pub waits: Option<Vec<Wait>>,
    /// Waits by counters of the status, which each server has.
    pub counted_waits: Vec<CounterValue>,
    /// Median and largest number of sessions that execute at the same time (`Threads_running`).
    pub threads_running: Option<(f64, f64)>,
    /// Statements by digest; none if the server does not count them.
    pub statements: Option<Statements>,
    /// Stalls of statements and commits.
    pub stalls: Vec<StallReport>,
    /// Settings against counters, problems first.
    pub checks: Vec<Finding>,
    /// Indexes that are redundant or unused.
    pub indexes: Vec<Finding>,
    /// Indexes that heavy statements lack.
    pub missing_indexes: Vec<MissingIndex>,
    /// Replication.
    pub replication: Vec<Finding>,
    /// Memory of the server and its host.
    pub memory: Vec<Finding>,
    /// Data files.
    pub disk: Vec<Finding>,
    /// Parts that could not be seen.
    pub unseen: Vec<Unseen>,
    /// Questions that runs on a copy can answer.
    #[serde(skip)]
    pub questions: Questions,
    /// The server's own settings.
    #[serde(skip)]
    pub settings: BTreeMap<String, String>,
}

/// Stalls of one rate.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StallReport {
    /// The counter.
    pub counter: &'static str,
    /// Median of the rate, 1/s.
    pub median_per_s: f64,
    /// Stalls in the order of their times.
    pub stalls: Vec<Stall>,
    /// Time between the beginnings of stalls, seconds, if it is always the same.
    pub period_s: Option<f64>,
    /// Number of stalls that the period and the counters are of: all, or the long ones alone.
    pub periodic: usize,
    /// Counters that rose in these stalls, the largest rise first.
    pub moved: Vec<MovedCounter>,
    /// True if the rate is low at the end of the window.
    pub is_low_at_end: bool,
    /// Reason that no stall could be found.
    pub blind: Option<&'static str>,
}

impl LookReport {
    /// Returns all problems, in the order of the report.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        let all = [
            &self.checks,
            &self.indexes,
            &self.replication,
            &self.memory,
            &self.disk,
        ];
        all.into_iter()
            .flatten()
            .filter(|finding| finding.weight == Weight::Problem)
    }
}
