//! R19: nothing is said about what was not measured.

use weir_model::{Finding, RuleId};

use super::{Design, FORBIDS, Rule};
use crate::claim_contrasts::{Subject, subject};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R19,
    title: "claims stay within the measurements",
    checked: "A claim whose levels, metric or conditions (`where`) are not in the study: it is neither confirmed \
              nor refuted. Every sentence of a report names the levels at which it holds. Curves and \
              memory-equivalents end where the measurements end.",
    reason: "\"10x\", \"about 1x\" and \"at least 2x\" were all published for the P4800X. All are true, at \
             different metrics, percentiles and buffer pools: an effect without its conditions is no result. A \
             scalability law fitted to 32 clients missed 128 by 33 to 46 %.",
    remedy: "Add the levels of the claim, or correct its `factor`, `level`, `baseline`, `metric` and `where`.",
    reference: "P4800X reviews, 2017 (docs/studies/optane-p4800x.md)",
    severities: FORBIDS,
    design: check,
    study: |evidence| check(&evidence.design),
    ..Rule::NONE
};

fn check(design: &Design<'_>) -> Vec<Finding> {
    let claims = design.plan.claims.iter();
    claims
        .filter(|claim| claim.untestable.is_none())
        .filter_map(|claim| match subject(design.plan, &design.index, claim) {
            Subject::Contrasts(_) => None,
            Subject::Unknown(why) => Some(RULE.error(format!(
                "the claim \"{}\" cannot be tested: {why}; measure it or name what you measure",
                claim.says
            ))),
        })
        .collect()
}
