//! `weir workload check`.

use anyhow::anyhow;
use serde_json::json;
use weir_replay::fit::{Figure, FitLimits, compare};
use weir_replay::{ReplayOptions, Survey};
use weir_workload::read_spec;

use crate::cli::WorkloadCheckArguments;
use crate::{Outcome, output};

pub(super) fn execute(arguments: &WorkloadCheckArguments) -> anyhow::Result<Outcome> {
    let name = arguments.workload.to_string_lossy();
    let spec = read_spec(&name).map_err(|why| anyhow!("{why}"))?;
    let schema = if let Some(schema) = &arguments.schema {
        Some(schema.clone())
    } else {
        let survey = Survey::read(&arguments.capture, &ReplayOptions::default())?;
        survey.schema().map(str::to_owned)
    };
    let limits = FitLimits {
        shares: arguments.limit_shares,
        values: arguments.limit_values,
        ..FitLimits::default()
    };
    let comparison = compare(&arguments.capture, schema, &spec, &limits)?;
    if arguments.json {
        output::line(json!({ "holds": comparison.holds(), "figures": comparison.figures }))?;
    } else {
        print(&comparison.figures)?;
    }
    Ok(if comparison.holds() {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

fn print(figures: &[Figure]) -> anyhow::Result<()> {
    output::line(format_args!(
        "{:<42} {:>8} {:>8} {:>8} {:>6}",
        "figure", "capture", "workload", "distance", "limit"
    ))?;
    for figure in figures {
        let number =
            |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.3}"));
        let judged = if figure.holds() {
            ""
        } else {
            "  beyond its limit"
        };
        output::line(format_args!(
            "{:<42} {:>8} {:>8} {:>8.3} {:>6.3}{judged}",
            figure.name,
            number(figure.capture),
            number(figure.workload),
            figure.distance,
            figure.limit
        ))?;
        if let Some(at) = &figure.at {
            let at: String = at.chars().take(110).collect();
            output::line(format_args!("  furthest: {at}"))?;
        }
    }
    Ok(())
}
