//! `weir predict`.

mod observe;
mod verify;

use std::path::Path;

use weir_model::{Bytes, StudyResult};
use weir_predict::from_result::{
    CalibratedModel, ChosenCells, DataModel, Forecast, PriceList, Query,
};
use weir_predict::{PAGE_BYTES, PageReads, READS_MAX};
use weir_study::Overrides;

use crate::cli::{
    LevelsArgument, PredictCommand, PredictResultArguments, PredictStudyArguments,
    PredictTraceArguments,
};
use crate::commands::{report, study_file};
use crate::{Outcome, output};

pub(crate) fn execute(command: &PredictCommand) -> anyhow::Result<Outcome> {
    match command {
        PredictCommand::Observe(arguments) => return observe::execute(arguments),
        PredictCommand::Verify(arguments) => {
            let (result, _) = chosen_result(&arguments.result, &arguments.levels)?;
            return verify::execute(&result, arguments);
        }
        PredictCommand::Result(arguments) => of_result(arguments)?,
        PredictCommand::Study(arguments) => of_study(arguments)?,
        PredictCommand::Trace(arguments) => of_trace(arguments)?,
    }
    Ok(Outcome::Done)
}

/// The part of a result that is asked about, and what was assumed in choosing it.
fn chosen_result(
    path: &Path,
    levels: &LevelsArgument,
) -> anyhow::Result<(StudyResult, Vec<String>)> {
    let result = weir_judge::read_evidence(path)?;
    let chosen = ChosenCells::choose(&result.plan, &levels.at)?;
    let result = weir_judge::part_of_result(result, &chosen.cells);
    // A server of the user's has settings that no study says.
    for run in &result.runs {
        weir_predict::check_variables(&run.variables)?;
    }
    Ok((result, chosen.assumed))
}

/// Returns the line on those drives of a result, and of those that are named, that no independent figures confirm.
fn validation_line(result: &StudyResult, named: &[String]) -> Option<String> {
    let named = study_file::found_profiles(named.iter().map(String::as_str));
    weir_model::validation_line(result.drives.iter().chain(&named))
}

/// Throughput and latency, by the runs of a result.
fn of_result(arguments: &PredictResultArguments) -> anyhow::Result<()> {
    let (result, assumed) = chosen_result(&arguments.result, &arguments.levels)?;
    let forecast = forecast(&result, arguments)?;
    if let Some(file) = &arguments.report {
        let judged = weir_judge::evaluate(result.clone())?;
        let page = weir_report::html_with_predictions(&judged, &forecast.figures())?;
        report::write(file, page.as_bytes())?;
    }
    if arguments.json {
        return output::line(serde_json::to_string_pretty(&forecast)?);
    }
    if let Some(line) = validation_line(&result, &arguments.places.drive) {
        output::line(line)?;
    }
    output::line(format_args!("{}", result.plan.title))?;
    for part in forecast.parts() {
        output::line(format_args!("\n{}", part.title()))?;
        output::text(part.table())?;
        output::line(part.places())?;
        for line in part.break_even().into_iter().chain(part.growth()) {
            output::line(line)?;
        }
    }
    if let Some((title, table)) = forecast.promise() {
        output::line(format_args!("\n{title}"))?;
        output::text(table)?;
    }
    print_assumed(assumed.iter().chain(&forecast.assumed()))?;
    if let Some(line) = forecast.agreement() {
        output::line(line)?;
    }
    output::line(
        "throughput and latency can be far off where the server writes much (docs/predict.md); check them on this machine \
         with `weir predict verify`",
    )
}

fn forecast(result: &StudyResult, arguments: &PredictResultArguments) -> anyhow::Result<Forecast> {
    let pools = arguments.pools.pool.as_deref();
    let places = &arguments.places;
    let mut data = DataModel::from_plan(&result.plan, pools)?;
    let mut calibrated =
        CalibratedModel::from_result(result, &data, &places.drive, &places.threads)?;
    if arguments.full_size {
        data = DataModel::from_plan(&weir_study::full_size(&result.plan), pools)?;
        calibrated = calibrated.at_full_size(&result.plan, &data)?;
    }
    let calibrated = calibrated.on_cores(arguments.cores);
    let drives: Vec<_> = calibrated.drives().collect();
    let query = Query {
        growth: arguments.growth,
        objective: arguments.objective,
        prices: PriceList::new(&result.plan, &arguments.price, &drives)?,
    };
    Ok(Forecast::predict(&calibrated, &data, &query)?)
}

/// Misses alone, before any run.
fn of_study(arguments: &PredictStudyArguments) -> anyhow::Result<()> {
    let overrides = Overrides {
        server: None,
        seed: study_file::clock_seed(),
    };
    let text = study_file::read(&arguments.study, false)?;
    let plan = study_file::resolve(&arguments.study, &text, &overrides)?;
    let chosen = ChosenCells::choose(&plan, &arguments.levels.at)?;
    let plan = weir_judge::part_of_plan(plan, &chosen.cells);
    let data = DataModel::from_plan(&plan, arguments.pools.pool.as_deref())?;
    let misses = weir_predict::from_result::misses(&plan, &data)?;
    if arguments.json {
        return output::line(serde_json::to_string_pretty(&misses)?);
    }
    output::line(format_args!(
        "{}: {} of pages in use, {:.1} asked for by a transaction\n",
        plan.title,
        data.data_bytes(),
        data.references()
    ))?;
    output::text(misses.table())?;
    output::line("")?;
    print_assumed(chosen.assumed.iter())?;
    output::line(
        "assumed: steady state, independent keys, leaves as full as after loading. `frozen`: if the \
         pool's old part turns over within innodb_old_blocks_time. Throughput needs a result of one run.",
    )
}

/// Misses, by the pages that a recorded run read.
fn of_trace(arguments: &PredictTraceArguments) -> anyhow::Result<()> {
    let path = &arguments.trace;
    let reads = PageReads::read(path)?;
    let misses = weir_predict::from_result::trace_misses(&reads, arguments.pools.pool.as_deref())?;
    if arguments.json {
        return output::line(serde_json::to_string_pretty(&misses)?);
    }
    output::line(format_args!(
        "{}: {} page reads in {:.0} s, of {} pages ({})\n",
        path.display(),
        reads.pages.len(),
        reads.length_s,
        reads.distinct,
        Bytes((f64::from(reads.distinct) * PAGE_BYTES) as u64)
    ))?;
    output::text(misses.table())?;
    if reads.has_more {
        output::line(format_args!(
            "\nthe recording is longer: its first {} million reads were taken",
            READS_MAX / 1_000_000
        ))?;
    }
    output::line(
        "\nassumed: steady state, a list of least recent use (InnoDB's misses up to a tenth less), and a recorded pool so small \
         that nearly every reference was read: say nothing of pools less than five times as large",
    )
}

fn print_assumed<'a>(lines: impl Iterator<Item = &'a String>) -> anyhow::Result<()> {
    for line in lines {
        output::line(format_args!("assumed: {line}"))?;
    }
    Ok(())
}
