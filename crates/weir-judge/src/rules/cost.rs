//! R17: what has to be bought has a price.

use std::collections::BTreeSet;

use weir_model::{Finding, RuleId};

use super::evidence::some_of;
use super::{Design, ONLY_NOTES, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R17,
    title: "levels that have to be bought have a dated price",
    checked: "A factor whose levels are different drives, and levels without a price in `[prices]` (amount, \
              currency, date). With prices the report prints queries per second for money, and names levels that \
              another one beats in both. Weir does not know discounts, power, rack space or the minutes of a \
              restart.",
    reason: "In 2009 the fastest of three storages (17,372 TPM) was the worst for its money: 3.6 TPM per dollar \
             against 27 of an SSD. None of the five studies computed it.",
    remedy: "Declare `[prices]`, each with the day on which you saw it.",
    reference: "Percona, \"Should I buy a Fast SSD or more memory?\", 2010 (docs/studies/memory-or-ssd.md); TPC \
                Pricing Specification",
    severities: ONLY_NOTES,
    design: |design| check(design).into_iter().collect(),
    study: |evidence| check(&evidence.design).into_iter().collect(),
    ..Rule::NONE
};

fn check(design: &Design<'_>) -> Option<Finding> {
    let mut without = BTreeSet::new();
    for contrast in &design.contrasts {
        if design.differing(contrast).contains("drive") {
            let levels = [&contrast.baseline, &contrast.level];
            let unpriced = levels
                .into_iter()
                .filter(|level| !design.plan.prices.contains_key(*level));
            without.extend(unpriced.cloned());
        }
    }
    (!without.is_empty()).then(|| {
        RULE.note(format!(
            "no price for {}: the result says which is faster, not which is worth its money; declare [prices]",
            some_of(without, 4)
        ))
    })
}
