//! Settings against the counters: a table of checks. A check is a problem where its condition holds in the window.
//!
//! The counters' meanings: MySQL manual, "Server Status Variables" and "InnoDB `INFORMATION_SCHEMA` Metrics Table";
//! MariaDB Knowledge Base, "Server Status Variables" and "InnoDB Status Variables".

mod table;

use super::evidence::Evidence;
use super::finding::{CounterValue, Finding, Unit, Weight};
use table::CHECKS;

/// Source of all counters of the table.
const SOURCE: &str = "SHOW GLOBAL STATUS";
/// Least time since the start whose mean rates say anything, seconds.
const UPTIME_MIN_S: f64 = 3600.0;

/// A check of the table.
struct Check {
    /// Short name.
    name: &'static str,
    /// Counters that are shown, the deciding ones first.
    counters: &'static [Counter],
    /// Settings that they are set against.
    settings: &'static [&'static str],
    /// Condition under which it is a problem; `None` if the server lacks a counter of it.
    condition: fn(&Evidence) -> Option<bool>,
    /// Sentence on the problem.
    sentence: &'static str,
    /// True if it can be asked of all time since the start: of counters, not of levels.
    is_cumulative: bool,
}

/// A counter as it is shown.
enum Counter {
    /// Growth a second.
    Rate(&'static str),
    /// Growth of one as a part of another's.
    Share(&'static str, &'static str),
    /// Largest level.
    Most(&'static str, Unit),
}

impl Counter {
    fn read(&self, evidence: &Evidence) -> Option<CounterValue> {
        Some(match self {
            Self::Rate(name) => CounterValue::new(name, evidence.rate(name)?, Unit::PerSecond),
            Self::Share(part, whole) => {
                let share = evidence.share(part, whole)?;
                CounterValue::new(&format!("{part} / {whole}"), share, Unit::Fraction)
            }
            Self::Most(name, unit) => CounterValue::new(name, evidence.most(name)?, *unit),
        })
    }
}

impl Check {
    fn judge(&self, evidence: &Evidence) -> Option<Finding> {
        let weight = if (self.condition)(evidence)? {
            Weight::Problem
        } else {
            Weight::Fact
        };
        let readings = self
            .counters
            .iter()
            .filter_map(|counter| counter.read(evidence));
        let text = if weight == Weight::Problem {
            self.sentence
        } else {
            ""
        };
        let mut finding = Finding::new(self.name, weight, text, readings.collect(), SOURCE);
        let settings = self.settings.iter().filter_map(|name| {
            let value = evidence.settings.get(*name)?;
            Some(format!("{name} = {value}"))
        });
        finding.settings = settings.collect();
        Some(finding)
    }
}

/// All checks that this server has the counters for, problems first.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let all = evidence
        .since_start()
        .filter(|all| all.seconds >= UPTIME_MIN_S);
    let mut findings: Vec<Finding> = CHECKS
        .iter()
        .filter_map(|check| {
            let finding = check.judge(evidence)?;
            let before = all
                .as_ref()
                .filter(|_| check.is_cumulative && finding.weight == Weight::Fact);
            let since = before.and_then(|all| check.judge(all));
            let since = since.filter(|since| since.weight == Weight::Problem);
            Some(since.map_or(finding, |since| Finding {
                weight: Weight::SinceStart,
                ..since
            }))
        })
        .collect();
    findings.sort_by_key(|finding| finding.weight);
    findings
}

/// Settings of durability: they have a price, and no counter says whether it should be paid.
pub(super) fn durability(evidence: &Evidence) -> Finding {
    let names = [
        "innodb_flush_log_at_trx_commit",
        "sync_binlog",
        "innodb_doublewrite",
        "log_bin",
    ];
    let mut finding = Finding::new(
        "durability",
        Weight::Fact,
        "",
        Vec::new(),
        "SHOW GLOBAL VARIABLES",
    );
    finding.settings = names
        .iter()
        .filter_map(|name| Some(format!("{name} = {}", evidence.settings.get(*name)?)))
        .collect();
    finding
}

#[cfg(test)]
mod tests;
