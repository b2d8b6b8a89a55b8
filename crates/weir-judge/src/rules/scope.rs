//! R19: nothing is said about what was not measured.

use weir_model::{Finding, RuleId};

use super::{Design, FORBIDS, Rule};
use crate::claim_contrasts::{Subject, subject};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R19,
    title: "nothing is said about what was not measured",
    checked: "A claim whose levels, metric or conditions (`where`) are not in the study: it is neither \
              borne out nor refuted. Every sentence of a report names the levels at which it holds; \
              curves and memory-equivalents end where the measurements end.",
    reason: "\"10x\", \"about 1x\" and \"at least 2x\" were all published for the same drive and all are true, \
             at different metrics, percentiles and buffer pools: an effect without its conditions is no \
             result. A scalability law fitted to 32 clients missed 128 by 33 to 46 %.",
    remedy: "Add the levels that the claim speaks of, or correct its `factor`, `level`, `baseline`, \
             `metric` and `where`.",
    reference: "published studies, sections 4 and 9",
    severities: FORBIDS,
    design: check,
    study: |evidence| check(&evidence.design),
    ..Rule::NONE
};

fn check(design: &Design<'_>) -> Vec<Finding> {
    let claims = design.plan.claims.iter();
    claims
        .filter(|claim| claim.untestable.is_none())
        .filter_map(|claim| match subject(design.plan, claim) {
            Subject::Contrasts(_) => None,
            Subject::Unknown(why) => Some(RULE.error(format!(
                "the claim \"{}\" cannot be tested: {why}; measure it or name what you measure",
                claim.says
            ))),
        })
        .collect()
}
