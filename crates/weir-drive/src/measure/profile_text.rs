//! A learned profile as the file that a user keeps: words as comments, then TOML.

use std::fmt::Write;

use crate::measure::MeasureError;
use crate::measure::figure::Figure;
use crate::measure::job::Work;
use crate::measure::measured_profile::MeasuredProfile;
use crate::measure::samples::{Cell, Samples, mean};

/// The text of the profile; `when`: the date, for the first line.
///
/// # Errors
/// If a figure cannot be written as TOML.
pub fn profile_text(
    learned: &MeasuredProfile,
    samples: &Samples,
    when: &str,
) -> Result<String, MeasureError> {
    let mut profile = learned.profile.clone();
    profile.sources = learned
        .unknown
        .iter()
        .map(|(key, why)| ((*key).to_owned(), unknown(why)))
        .collect();
    for figure in &learned.figures {
        if let Some(interval) = figure.interval {
            profile.intervals.insert(figure.key.to_owned(), interval);
        }
        let source = source(figure, profile.sources.get(figure.key));
        profile.sources.insert(figure.key.to_owned(), source);
    }
    let mut table =
        toml::Table::try_from(&profile).map_err(|error| MeasureError::Text(error.to_string()))?;
    table.remove("name");
    round(&mut table);
    let toml =
        toml::to_string_pretty(&table).map_err(|error| MeasureError::Text(error.to_string()))?;
    Ok(words(samples, when) + &toml)
}

/// Some of what is no figure of the rounds was measured nevertheless, and says so.
fn unknown(why: &str) -> String {
    if why.starts_with("measured: ") || why.starts_with("unknown: ") {
        why.to_owned()
    } else {
        format!("unknown: {why}")
    }
}

fn source(figure: &Figure, unknown: Option<&String>) -> String {
    let interval = match figure.interval {
        Some((low, high)) => format!("95 % interval {} to {}", number(low), number(high)),
        None => "one round, no interval".to_owned(),
    };
    let lower_bound = unknown.map_or(String::new(), |why| format!("; {why}"));
    format!("measured: {}; {interval}{lower_bound}", figure.how)
}

/// Three digits that count, and no more than a measurement has.
fn number(value: f64) -> String {
    let magnitude = value.abs().max(1e-9).log10().floor() as i32;
    let decimals = (3 - magnitude).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

/// Figures with four digits: more is noise, and unreadable.
fn round(table: &mut toml::Table) {
    for (_, value) in table.iter_mut() {
        round_value(value);
    }
}

fn round_value(value: &mut toml::Value) {
    match value {
        toml::Value::Float(figure) => {
            if let Ok(rounded) = number(*figure).parse() {
                *figure = rounded;
            }
        }
        toml::Value::Table(inner) => round(inner),
        toml::Value::Array(values) => values.iter_mut().for_each(round_value),
        _ => {}
    }
}

fn words(samples: &Samples, when: &str) -> String {
    let mut text = format!(
        "# Measured by `weir drive measure` on {when}: {} rounds, a file of {} MiB, {:.1} GB written.\n",
        samples.rounds,
        samples.file_bytes >> 20,
        samples.written_bytes as f64 / 1e9
    );
    if samples.is_cut_short {
        text += "# Ended by the user before it was complete.\n";
    }
    text += "#\n# operation  bytes  depth  per second  mean us  p99 us\n";
    let mut cells: Vec<&Cell> = samples.cells.iter().collect();
    cells.sort_by_key(|cell| (cell.work != Work::Read, cell.bytes, cell.depth));
    for cell in cells {
        let name = match cell.work {
            Work::Read => "read",
            Work::Write => "write",
            Work::Mixed => "both",
        };
        let value = |values: &[f64]| mean(values).map_or("-".to_owned(), number);
        let _ = writeln!(
            text,
            "# {name:<9} {:>6} {:>6} {:>11} {:>8} {:>7}",
            cell.bytes,
            cell.depth,
            value(&cell.per_second),
            value(&cell.mean_us),
            value(&cell.p99_us)
        );
    }
    text + "\n"
}
