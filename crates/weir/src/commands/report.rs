//! `weir report`.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use weir_model::StudyResult;

use crate::Outcome;
use crate::cli::{ReportArguments, ReportFormat};

pub(crate) fn execute(arguments: &ReportArguments) -> anyhow::Result<Outcome> {
    let result = weir_study::read_result(&arguments.result)?;
    let text = render(&result, arguments.format)?;
    match &arguments.out {
        Some(file) => write(file, &text)?,
        None => std::io::stdout()
            .write_all(text.as_bytes())
            .context("cannot write the report")?,
    }
    Ok(Outcome::Done)
}

fn render(result: &StudyResult, format: ReportFormat) -> anyhow::Result<String> {
    Ok(match format {
        ReportFormat::Html => weir_report::html(result)?,
        ReportFormat::Json => weir_report::json(result)?,
        ReportFormat::Csv => weir_report::csv(result),
        ReportFormat::Md => weir_report::markdown(result),
    })
}

/// Writes a report to `file`, whole or not at all.
pub(crate) fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let aside = file.with_extension("new");
    fs::write(&aside, text)
        .and_then(|()| fs::rename(&aside, file))
        .with_context(|| format!("cannot write `{}`", file.display()))
}
