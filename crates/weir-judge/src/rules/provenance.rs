//! R18: a result holds what it takes to make it again and to look behind its means.

use std::collections::BTreeMap;

use weir_model::{Finding, Gap, RuleId, RunResult};

use super::{Evidence, ONLY_NOTES, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R18,
    title: "a result can be reproduced and checked",
    checked: "Each run has its seconds, its histogram and its server's variables; the result has the study file \
              and the commit of Weir. Only results of early versions lack them. On your own server: Weir could \
              read every source of metrics in every run.",
    reason: "The numbers of all five studies are in pictures only. Alibaba's command checks out one version of \
             sysbench and uses the options of another: it cannot be run as printed.",
    remedy: "Run the study again with this version of Weir. Give the account the privileges that the sources need \
             (`docs/your-server.md`).",
    reference: "five published studies (docs/studies/README.md); Alibaba Cloud \
                (docs/studies/alibaba-write-optimisation.md)",
    severities: ONLY_NOTES,
    study: |evidence| {
        let found = [check(evidence), lost_sources(evidence)];
        found.into_iter().flatten().collect()
    },
    ..Rule::NONE
};

fn check(evidence: &Evidence<'_>) -> Option<Finding> {
    let result = evidence.result;
    let any = |lacks: fn(&RunResult) -> bool| result.runs.iter().any(lacks);
    let lacks = [
        ("the study file", result.provenance.study_file.is_empty()),
        ("weir's commit", result.provenance.weir_commit.is_empty()),
        ("seconds of a run", any(|run| run.intervals.is_empty())),
        ("a latency histogram", any(|run| run.histogram.is_empty())),
        ("a server's variables", any(|run| run.variables.is_empty())),
    ];
    let lacks = lacks.iter().filter(|(_, lacks)| *lacks);
    let lacks: Vec<_> = lacks.map(|(what, _)| *what).collect();
    (!lacks.is_empty()).then(|| {
        RULE.note(format!(
            "the result lacks {}: it cannot be checked in full; run the study again with this weir",
            lacks.join(", ")
        ))
    })
}

/// Sources of metrics that a user's server gave nothing of for the whole of a run: privileges are missing.
fn lost_sources(evidence: &Evidence<'_>) -> Option<Finding> {
    let mut lost: BTreeMap<&str, &Gap> = BTreeMap::new();
    // A private server's account may read all that there is.
    let on_given = |run: &&RunResult| evidence.given(&run.record).is_some();
    for run in evidence.result.runs.iter().filter(on_given) {
        let is_whole = |gap: &&Gap| gap.from_s <= 0.0 && gap.to_s >= run.record.measured_s;
        for gap in run.gaps.iter().filter(is_whole) {
            lost.entry(&gap.source).or_insert(gap);
        }
    }
    let named: Vec<_> = lost
        .iter()
        .map(|(source, gap)| format!("{source} ({})", gap.reason))
        .collect();
    if named.is_empty() {
        return None;
    }
    let message = format!(
        "could not be read for the whole of a run, so what depends on it is not known: {}",
        named.join("; ")
    );
    Some(RULE.note(message))
}
