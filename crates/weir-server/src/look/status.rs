//! Counters of the server: all of them at both ends of a look, some dozens each second between.

use std::time::{Duration, Instant};

use super::evidence::Values;
use super::moved;
use super::reader::Reader;
use super::series::{Series, median};
use crate::{ServerError, Stop};

/// Time between two samples.
const USUAL: Duration = Duration::from_secs(1);
/// Pause after a sample in times of its own length, so that samples take 1 % of a core at most.
const PAUSE_TIMES: f64 = 99.0;
/// Least time for which the rate of a stall is read, whatever a sample costs.
const SLOWEST: Duration = Duration::from_secs(10);

/// Counters of stalls and of levels, beside those that may have moved with them.
const SAMPLED: [&str; 9] = [
    "Com_commit",
    "Innodb_history_list_length",
    "Innodb_os_log_written",
    "Innodb_redo_log_checkpoint_lsn",
    "Innodb_redo_log_current_lsn",
    "Open_tables",
    "Questions",
    "Threads_running",
    "Threads_connected",
];

/// Reads all counters, by the names that `SHOW GLOBAL STATUS` has for them.
pub(super) fn all(reader: &mut Reader) -> Result<Values, ServerError> {
    // The alias tells the look's own statements from others: digests keep no values, and names.
    let mut values = reader.pairs("SHOW GLOBAL STATUS WHERE (SELECT 1 weir_look)")?;
    add_derived(&mut values);
    Ok(values)
}

/// Samples the counters until `length` is over or a stop is asked for; `each` is called after each sample.
pub(super) fn sample(
    reader: &mut Reader,
    length: Duration,
    stop: Stop,
    mut each: impl FnMut(&mut Reader) -> Result<(), ServerError>,
) -> Result<Series, ServerError> {
    let mut names: Vec<&'static str> = SAMPLED.to_vec();
    names.extend(
        moved::COUNTERS
            .iter()
            .chain(moved::LEVELS)
            .map(|(name, _)| *name),
    );
    names.sort_unstable();
    names.dedup();
    let query = query(&names);
    let began = Instant::now();
    let (mut series, mut costs) = (Series::default(), Vec::new());
    loop {
        let sent = Instant::now();
        let values = read(reader, &query)?;
        each(reader)?;
        costs.push(sent.elapsed().as_secs_f64());
        let at_s = (sent - began).as_secs_f64();
        series.push(at_s, &names, |name| values.get(name)?.parse().ok());
        let pause = (median(&costs) * PAUSE_TIMES).min(SLOWEST.as_secs_f64());
        let next = sent + USUAL.max(Duration::from_secs_f64(pause));
        if began.elapsed() >= length || stop.is_asked() {
            return Ok(series);
        }
        let end = began + length;
        stop.sleep(next.min(end).saturating_duration_since(Instant::now()));
        if stop.is_asked() {
            return Ok(series);
        }
    }
}

fn query(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    format!(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ({}) AND (SELECT 1 weir_look)",
        names.join(", ")
    )
}

fn read(reader: &mut Reader, query: &str) -> Result<Values, ServerError> {
    let mut values = reader.pairs(query)?;
    add_derived(&mut values);
    Ok(values)
}

/// `MySQL` from 8.0.30 on has two positions of the redo log in place of the age of its checkpoint.
fn add_derived(values: &mut Values) {
    let number = |name: &str| values.get(name)?.parse::<f64>().ok();
    let current = number("Innodb_redo_log_current_lsn");
    let checkpoint = number("Innodb_redo_log_checkpoint_lsn");
    if let (Some(current), Some(checkpoint)) = (current, checkpoint) {
        let age = (current - checkpoint).max(0.0);
        values.insert("Innodb_checkpoint_age".to_owned(), age.to_string());
    }
}
