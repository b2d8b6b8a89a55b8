//! R24: the cores were the run's.

use weir_model::{Comparison, Finding, RuleId, RunRecord, RunResult};

use super::bound::Bound;
use super::{Evidence, NOTES_WARNS_OR_FORBIDS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R24,
    title: "no other program took the cores",
    checked: "Cores that other programs used during each run: neither server, load generator, drive nor \
              kernel. They are named where they can be read. Error: the host's cores were all busy or waited \
              for, and others used too many of them. Too many are 20 % in a cell's runs, or 10 % more than \
              in the other cell's. Warning: as many with idle cores. Both limits are chosen, not measured. \
              Of other virtual machines Weir sees stolen time only. A run would have been faster by at most \
              the stolen time, if all of it fell on the busiest core. This bounds the ratio. Error: the \
              bound is as large as the effect. Warning: without the stolen time the interval might include 1. \
              Note: neither.",
    reason: "A backup or a compiler that runs during one of two levels makes a difference that the setting does \
             not make. During both it slows down both.",
    remedy: "Run the study again while nothing else works on the host; see with `top` who does.",
    reference: "Brendan Gregg, \"Systems Performance\", 2nd edition, 12.1; published studies, section 9",
    severities: NOTES_WARNS_OR_FORBIDS,
    comparison: check,
    ..Rule::NONE
};

/// Share of the host's cores that others may not take: chosen, not measured.
const SHARE_MAX: f64 = 0.20;
/// By how much the shares of two cells may differ: chosen, too. A load that wants all cores loses about as much.
const DIFFERENCE_MAX: f64 = 0.10;

/// The runs of a cell.
struct Arm<'a> {
    runs: Vec<&'a RunRecord>,
    /// Mean share of the host's cores that others used.
    share: f64,
}

impl<'a> Arm<'a> {
    fn new(evidence: &Evidence<'a>, comparison: &Comparison, cell: usize) -> Self {
        let runs = evidence.runs_of(comparison).map(|run| &run.record);
        let runs: Vec<_> = runs.filter(|record| record.cell == cell).collect();
        let sum: f64 = runs.iter().map(|run| run.utilization.others_share()).sum();
        Self {
            share: sum / runs.len().max(1) as f64,
            runs,
        }
    }

    /// Returns true if most of its runs wanted the cores that others had.
    fn wants_cores(&self) -> bool {
        let wanted = self.runs.iter().filter(|run| run.utilization.wants_cores());
        2 * wanted.count() > self.runs.len()
    }

    /// `1.1 of 2 cores (cc1, make)`.
    fn words(&self) -> String {
        let cores = self
            .runs
            .first()
            .map_or(0.0, |run| run.utilization.host_cores);
        let mut names: Vec<&str> = Vec::new();
        for other in self.runs.iter().flat_map(|run| &run.utilization.others) {
            if !names.contains(&other.name.as_str()) {
                names.push(&other.name);
            }
        }
        names.truncate(NAMES_MAX);
        let names = if names.is_empty() {
            String::new()
        } else {
            format!(" ({})", names.join(", "))
        };
        format!("{:.1} of {cores:.0} cores{names}", self.share * cores)
    }
}

/// Of a core of which all time is stolen nothing can be said.
const STOLEN_MAX: f64 = 0.99;
/// Names in a message.
const NAMES_MAX: usize = 3;

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let found = [
        of_this_host(evidence, comparison),
        stolen(evidence, comparison),
    ];
    let found = found.into_iter().flatten();
    found.max_by_key(|finding| finding.severity)
}

/// Time that the hypervisor gave to others.
fn stolen(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let of_a_core = |run: &RunResult| {
        let used = &run.record.utilization;
        (used.steal * used.host_cores.max(1.0)).clamp(0.0, STOLEN_MAX)
    };
    let slowed = |run: &RunResult| of_a_core(run) / (1.0 - of_a_core(run));
    let bound = Bound::new(evidence, comparison, slowed);
    let worst = evidence.runs_of(comparison).map(of_a_core);
    let worst = worst.fold(0.0, f64::max);
    (!bound.is_small()).then(|| {
        let message = format!(
            "the hypervisor took up to {:.1} % of a core's time from a run: {}; use a host with cores of its own",
            worst * 100.0,
            bound.words()
        );
        RULE.finding(bound.severity(comparison), message)
    })
}

fn of_this_host(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let mut cells: Vec<_> = evidence
        .runs_of(comparison)
        .map(|run| run.record.cell)
        .collect();
    cells.sort_unstable();
    cells.dedup();
    let arms = cells
        .into_iter()
        .map(|cell| Arm::new(evidence, comparison, cell));
    let mut arms: Vec<_> = arms.collect();
    arms.sort_by(|a, b| b.share.total_cmp(&a.share));
    let (most, least) = (arms.first()?, arms.last()?);
    let differs = most.share - least.share >= DIFFERENCE_MAX;
    if !differs && most.share < SHARE_MAX {
        return None;
    }
    let used = most.words();
    let message = if differs {
        format!(
            "other processes used {used} beside one level and {:.1} beside the other; run it again on a calm host",
            least.share * most.runs.first()?.utilization.host_cores
        )
    } else {
        format!("other processes used {used}; run it again on a calm host")
    };
    Some(if most.wants_cores() {
        RULE.error(message)
    } else {
        RULE.warning(message)
    })
}
