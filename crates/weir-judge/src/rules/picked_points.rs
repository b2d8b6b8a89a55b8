//! R12: the headline is the whole curve or a point that was declared before.

use std::collections::BTreeSet;

use weir_model::{Finding, RuleId};

use super::evidence::some_of;
use super::{Design, ONLY_NOTES, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R12,
    title: "no picked points: the summary is the whole curve",
    checked: "A claim about one level of a factor (its `where`), if the study measures several. The report prints \
              each effect as geometric mean, smallest and largest over all contexts.",
    reason: "Tencent published +20, +22 and +18 %, each at another number of connections, chosen after the fact, \
             under a headline of \"20 % or more from 2 to 3,000\".",
    remedy: "Quote the geometric mean with the smallest and the largest, or one load that was declared before the \
             first run.",
    reference: "Tencent Cloud, 2022 (docs/studies/txsql-new-architecture.md); Fleming and Wallace, \"How Not to \
                Lie with Statistics\", Communications of the ACM 29, 1986",
    severities: ONLY_NOTES,
    design: |design| check(design).into_iter().collect(),
    study: |evidence| check(&evidence.design).into_iter().collect(),
    ..Rule::NONE
};

fn check(design: &Design<'_>) -> Option<Finding> {
    let levels = |factor: &str| {
        let cells = design.plan.cells.iter();
        cells
            .filter_map(|cell| cell.levels.get(factor))
            .collect::<BTreeSet<_>>()
            .len()
    };
    let claims = design.plan.claims.iter();
    let picked: BTreeSet<_> = claims
        .flat_map(|claim| &claim.at)
        .filter(|(factor, _)| levels(factor) > 1)
        .map(|(factor, level)| format!("{factor} {level}"))
        .collect();
    (!picked.is_empty()).then(|| {
        RULE.note(format!(
            "claims are about single points ({}) of the study's curve; read them beside the geometric \
             mean, the smallest and the largest of all points",
            some_of(picked, 6)
        ))
    })
}
