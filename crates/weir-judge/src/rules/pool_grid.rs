//! R11: a sweep of memory is dense where the data just fit.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::variables::BUFFER_POOL_SIZE;
use weir_model::{Bytes, Finding, RuleId};

use super::{Design, ONLY_WARNS, Rule};
use weir_model::data_size;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R11,
    title: "a sweep of the buffer pool has 3 sizes within 20 % of the data",
    checked: "Designs with three or more buffer pools, some smaller and some larger than the data. At least three \
              pools must be within 20 % of the estimated size of the data. The working set of a skewed workload \
              may be smaller than the data; Weir does not know it before a run.",
    reason: "Where the data just exceed the pool, 10 % less memory made a server 2.6 times slower: an elasticity \
             of 9, against 1.3 to 1.5 far below. Between two far sizes that cliff becomes a straight line without \
             a measurement.",
    remedy: "Add buffer pools around the size of the data, or let a `[search]` find the knee.",
    reference: "Percona, \"Should I buy a Fast SSD or more memory?\", 2010 (docs/studies/memory-or-ssd.md)",
    severities: ONLY_WARNS,
    design: |design| check(design, |_| None).into_iter().collect(),
    study: |evidence| {
        let measured = |cell| evidence.variables(cell)?.buffer_pool_size();
        check(&evidence.design, measured).into_iter().collect()
    },
    ..Rule::NONE
};

const NEAR: f64 = 0.20;
const POINTS_MIN: usize = 3;

/// The first size of data whose sweep lacks points. The pool of a cell is the one that its server had, `measured`,
/// else the one that it will make of the setting.
fn check(design: &Design<'_>, measured: impl Fn(usize) -> Option<Bytes>) -> Option<Finding> {
    let mut sweeps: BTreeMap<Bytes, BTreeSet<u64>> = BTreeMap::new();
    for (index, cell) in design.plan.cells.iter().enumerate() {
        if cell.spec.variable(BUFFER_POOL_SIZE).is_none() {
            continue;
        }
        let foretold = || design.variables(index).buffer_pool_size();
        if let Some(pool) = measured(index).or_else(foretold) {
            let data = data_size(&cell.spec);
            sweeps.entry(data).or_default().insert(pool.0);
        }
    }
    sweeps
        .into_iter()
        .find_map(|(data, pools)| few_near(data, &pools))
}

fn few_near(data: Bytes, pools: &BTreeSet<u64>) -> Option<Finding> {
    let spans = pools.iter().any(|pool| *pool < data.0) && pools.iter().any(|pool| *pool >= data.0);
    let near = pools
        .iter()
        .filter(|pool| (**pool as f64 / data.0 as f64 - 1.0).abs() <= NEAR)
        .count();
    (pools.len() >= POINTS_MIN && spans && near < POINTS_MIN).then(|| {
        RULE.warning(format!(
            "{near} of the {} buffer pools lie within {:.0} % of the data ({data}), where memory matters \
             most; add some there",
            pools.len(),
            NEAR * 100.0,
        ))
    })
}
