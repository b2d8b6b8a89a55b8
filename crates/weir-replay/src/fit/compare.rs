//! Distance of a workload from a capture: the same figures of both, and how far they are apart.
//!
//! The workload's transactions are drawn as the load engine draws them, without a server.

mod captured;
mod drawn;

use std::path::Path;

use serde::Serialize;
use weir_model::WorkloadSpec;
use weir_workload::{ScriptInputs, Workload};

use crate::fit::FitError;
use crate::fit::distance::{noise, place_distance, popularity_distance};
use crate::fit::load_profile::{Mark, total_variation};
use crate::fit::workload_form::{Form, form};
use captured::{CaptureProfile, captured};
use drawn::{WorkloadProfile, drawn};

/// Fewer values of a place are not compared.
const VALUES_MIN: usize = 200;

/// Limits of the distances of figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitLimits {
    /// Of shares: statements, transactions, repeated values.
    pub shares: f64,
    /// Of distributions of values, beside what chance makes.
    pub values: f64,
    /// Of the capture's time, the share that the workload has statements for.
    pub time: f64,
}

impl Default for FitLimits {
    fn default() -> Self {
        Self {
            shares: 0.10,
            values: 0.05,
            time: 0.95,
        }
    }
}

/// A figure of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Subject of the figure.
    pub name: String,
    /// The capture's, where it is one number.
    pub capture: Option<f64>,
    /// The workload's.
    pub workload: Option<f64>,
    /// Distance between both.
    pub distance: f64,
    /// Largest distance that is allowed.
    pub limit: f64,
    /// Where it is furthest, for figures of many.
    pub at: Option<String>,
}

impl Figure {
    /// Returns true if the figure is within its limit.
    pub fn holds(&self) -> bool {
        self.distance <= self.limit
    }
}

/// All figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Each with its distance.
    pub figures: Vec<Figure>,
}

impl Comparison {
    /// Returns true if all are within their limits.
    pub fn holds(&self) -> bool {
        self.figures.iter().all(Figure::holds)
    }
}

/// Compares a workload file with a capture.
///
/// # Errors
///
/// A capture that cannot be read, a workload that is no file of transactions.
pub fn compare(
    path: &Path,
    schema: Option<String>,
    spec: &WorkloadSpec,
    limits: &FitLimits,
) -> Result<Comparison, FitError> {
    let wrong = |why: String| FitError::Workload {
        path: spec.to_string(),
        why,
    };
    let workload = Workload::try_from(spec).map_err(wrong)?;
    let inputs = ScriptInputs {
        tables: 1,
        rows: 10_000,
        connections: 1,
        seed: 1,
        auto_increment: true,
    };
    let script = workload
        .script(&inputs)
        .map_err(|error| wrong(error.to_string()))?;
    if script.transactions.is_empty() {
        return Err(wrong(
            "its transactions are known only when it runs; name a file of transactions".to_owned(),
        ));
    }
    let forms: Vec<Form> = script
        .statements
        .iter()
        .map(|statement| form(&statement.sql(0)))
        .collect();
    let captured = captured(path, schema, &forms)?;
    if captured.profile.transactions == 0 {
        return Err(FitError::NoTransactions {
            path: path.display().to_string(),
        });
    }
    let drawn = drawn(&script, &forms);
    Ok(Comparison {
        figures: figures(&captured, &drawn, limits),
    })
}

fn figures(captured: &CaptureProfile, drawn: &WorkloadProfile, limits: &FitLimits) -> Vec<Figure> {
    let (a, b) = (&captured.profile, &drawn.profile);
    let one = |name: &str, a: f64, b: f64, distance: f64, limit: f64| Figure {
        name: name.to_owned(),
        capture: Some(a),
        workload: Some(b),
        distance,
        limit,
        at: None,
    };
    let shares = |name: &str, distance: f64| Figure {
        name: name.to_owned(),
        capture: None,
        workload: None,
        distance,
        limit: limits.shares,
        at: None,
    };
    let known = captured.known_us as f64 / captured.time_us.max(1) as f64;
    let (mean_a, mean_b) = (a.mean_statements(), b.mean_statements());
    let (repeated_a, repeated_b) = (a.repeated(), b.repeated());
    vec![
        one(
            "time of statements that the workload has",
            1.0,
            known,
            1.0 - known,
            1.0 - limits.time,
        ),
        shares(
            "mix of statements",
            total_variation(&a.by_fingerprint, &b.by_fingerprint),
        ),
        shares(
            "mix of transactions",
            total_variation(&a.by_sequence, &b.by_sequence),
        ),
        one(
            "statements in a transaction",
            mean_a,
            mean_b,
            (mean_b / mean_a.max(1e-9) - 1.0).abs(),
            limits.shares,
        ),
        one(
            "values that repeat in a transaction",
            repeated_a,
            repeated_b,
            (repeated_a - repeated_b).abs(),
            limits.shares,
        ),
        furthest("popularity of values", captured, drawn, limits, false),
        furthest("places of values", captured, drawn, limits, true),
    ]
}

/// The value whose distribution is furthest beyond its limit.
fn furthest(
    name: &str,
    captured: &CaptureProfile,
    drawn: &WorkloadProfile,
    limits: &FitLimits,
    of_places: bool,
) -> Figure {
    let mut figure = Figure {
        name: name.to_owned(),
        capture: None,
        workload: None,
        distance: 0.0,
        limit: limits.values,
        at: None,
    };
    let mut worst = f64::NEG_INFINITY;
    let mut keys: Vec<_> = captured.profile.values.keys().collect();
    keys.sort();
    for key in keys {
        let (Some(a), Some(b)) = (
            captured.profile.values.get(key),
            drawn.profile.values.get(key),
        ) else {
            continue;
        };
        if a.len() < VALUES_MIN
            || b.len() < VALUES_MIN
            || of_places && drawn.scattered.contains(key)
        {
            continue;
        }
        if [a, b].iter().any(|values| values.contains(&Mark::Unknown)) {
            continue;
        }
        let distance = if of_places {
            let Some(distance) = place_distance(a, b) else {
                continue;
            };
            distance
        } else {
            popularity_distance(a, b)
        };
        let limit = limits.values + noise(a.len(), b.len());
        if distance - limit > worst {
            worst = distance - limit;
            figure.distance = distance;
            figure.limit = limit;
            figure.at = Some(format!("value {} of: {}", key.1 + 1, key.0));
        }
    }
    figure
}
