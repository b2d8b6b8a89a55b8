//! `weir report`.

use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::Context;
use weir_model::JudgedResult;

use crate::cli::{ReportArguments, ReportFormat};
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &ReportArguments) -> anyhow::Result<Outcome> {
    let result = weir_judge::read_result(&arguments.result)?;
    let report = render(&result, arguments)?;
    match &arguments.out {
        Some(file) => write(file, &report)?,
        None => std::io::stdout()
            .write_all(&report)
            .context("cannot write the report")?,
    }
    Ok(Outcome::Done)
}

/// The format that was asked for. Nothing on a terminal reads HTML.
fn format(arguments: &ReportArguments) -> ReportFormat {
    let is_shown = arguments.out.is_none() && std::io::stdout().is_terminal();
    arguments.format.unwrap_or(if is_shown {
        ReportFormat::Text
    } else {
        ReportFormat::Html
    })
}

fn render(result: &JudgedResult, arguments: &ReportArguments) -> anyhow::Result<Vec<u8>> {
    let text = match format(arguments) {
        ReportFormat::Html => weir_report::html(result)?,
        ReportFormat::Json => weir_report::json(result)?,
        ReportFormat::Csv => weir_report::csv(&result.evidence),
        ReportFormat::Text => {
            let colored = arguments.out.is_none() && output::is_colored();
            weir_report::terminal(result, colored)
        }
        ReportFormat::Md => weir_report::markdown(result),
        ReportFormat::Parquet => anyhow::bail!(
            "weir writes no Parquet: use --format csv, or read result.sqlite; DuckDB reads both"
        ),
    };
    Ok(text.into_bytes())
}

/// Writes a report to `file`, whole or not at all.
pub(crate) fn write(file: &Path, report: &[u8]) -> anyhow::Result<()> {
    let aside = file.with_extension("new");
    fs::write(&aside, report)
        .and_then(|()| fs::rename(&aside, file))
        .with_context(|| format!("cannot write `{}`", file.display()))
}
