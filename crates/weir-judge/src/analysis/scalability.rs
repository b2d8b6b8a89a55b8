//! The Universal Scalability Law where the number of connections is a factor.

use weir_model::Scalability;
use weir_stats::{geometric_mean, scalability_law};

use crate::measured::{RunsByCell, THROUGHPUT};
use crate::rules::Design;

const THREADS: &str = "threads";

/// One law per context with four or more numbers of connections.
pub(super) fn laws(design: &Design<'_>, runs: &RunsByCell<'_>) -> Vec<Scalability> {
    let contexts = design.index.by_context(&[THREADS]).into_iter();
    contexts
        .filter_map(|(context, cells)| {
            let points: Vec<_> = cells
                .iter()
                .filter_map(|cell| {
                    let mean = geometric_mean(&runs.values(*cell, THROUGHPUT))?;
                    Some((
                        f64::from(design.plan.cells[*cell].spec.load.connections),
                        mean,
                    ))
                })
                .collect();
            let law = scalability_law(&points).ok()?;
            Some(Scalability {
                context,
                lambda: law.lambda,
                sigma: law.sigma,
                kappa: law.kappa,
                connections_min: law.concurrency_min as u32,
                connections_max: law.concurrency_max as u32,
                peak: law.peak(),
                relative_error: law.relative_error,
            })
        })
        .collect()
}
