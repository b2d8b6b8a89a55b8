//! Throughput for money, where the study declares prices (rule R17).

use std::collections::BTreeMap;

use weir_model::{CostRow, Plan};
use weir_stats::geometric_mean;

use crate::cell_index::context;
use crate::measured::{RunsByCell, THROUGHPUT};

/// A row for every cell and every one of its levels that has a price.
pub(super) fn rows(plan: &Plan, runs: &RunsByCell<'_>) -> Vec<CostRow> {
    let mut rows = Vec::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        let Some(throughput) = geometric_mean(&runs.values(index, THROUGHPUT)) else {
            continue;
        };
        for (factor, level) in &cell.levels {
            if let Some(price) = plan.prices.get(level) {
                rows.push(CostRow {
                    factor: factor.clone(),
                    level: level.clone(),
                    context: context(cell, factor),
                    price: price.amount,
                    currency: price.currency.clone(),
                    queries_per_s_per_price: throughput / price.amount,
                    dominated: false,
                });
            }
        }
    }
    mark_dominated(&mut rows);
    rows
}

/// Marks rows at whose place another one is not slower and not dearer, and better in one.
fn mark_dominated(rows: &mut [CostRow]) {
    let mut places: BTreeMap<_, Vec<&mut CostRow>> = BTreeMap::new();
    for row in rows {
        let place = (
            row.factor.clone(),
            row.context.clone(),
            row.currency.clone(),
        );
        places.entry(place).or_default().push(row);
    }
    for mut rows in places.into_values() {
        let offers: Vec<_> = rows
            .iter()
            .map(|row| (row.price, throughput(row)))
            .collect();
        for row in &mut rows {
            let (price, throughput) = (row.price, throughput(row));
            row.dominated = offers.iter().any(|(other_price, other)| {
                *other >= throughput
                    && *other_price <= price
                    && (*other > throughput || *other_price < price)
            });
        }
    }
}

fn throughput(row: &CostRow) -> f64 {
    row.queries_per_s_per_price * row.price
}
