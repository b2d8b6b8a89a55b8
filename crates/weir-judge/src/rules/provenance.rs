//! R18: a result holds what it takes to make it again and to look behind its means.

use weir_model::{Finding, RunResult};

use super::{Evidence, ONLY_WARNS, Rule};

pub(super) const RULE: Rule = Rule {
    id: "R18",
    title: "a result can be made again and looked behind",
    checked: "Each run has its seconds, its histogram, its server's variables; the result has the study \
              file and the commit of Weir. Results that Weir makes have all of it unless they were made \
              by an early version.",
    reason: "The numbers of all five studies are in pictures only. The command of study 5 checks out one \
             version of sysbench and uses the options of another: it cannot be run as printed.",
    remedy: "Run the study again with this version of Weir.",
    reference: "published studies, section 6",
    severities: ONLY_WARNS,
    study: |evidence| check(evidence).into_iter().collect(),
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
        RULE.warning(format!(
            "the result lacks {}: it cannot be checked in full; run the study again with this weir",
            lacks.join(", ")
        ))
    })
}
