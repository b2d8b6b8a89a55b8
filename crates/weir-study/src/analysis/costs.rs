//! Throughput for money, where the study declares prices (rule R17).

use weir_model::{CostRow, Plan};
use weir_stats::geometric_mean;

use crate::compare::context;
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
    let dominated: Vec<_> = rows
        .iter()
        .map(|row| rows.iter().any(|other| dominates(other, row)))
        .collect();
    for (row, dominated) in rows.iter_mut().zip(dominated) {
        row.dominated = dominated;
    }
    rows
}

/// Whether `other` is not slower and not dearer than `row` at the same place, and better in one.
fn dominates(other: &CostRow, row: &CostRow) -> bool {
    let throughput = |row: &CostRow| row.queries_per_s_per_price * row.price;
    let comparable = other.factor == row.factor
        && other.context == row.context
        && other.currency == row.currency
        && other.level != row.level;
    comparable
        && throughput(other) >= throughput(row)
        && other.price <= row.price
        && (throughput(other) > throughput(row) || other.price < row.price)
}
