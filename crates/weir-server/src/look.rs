//! A look at a running server: what it waits for, its heavy statements, stalls, settings against counters, indexes,
//! replication, memory and disk.
//! Change here: a check of a setting: `look/checks/table.rs`; a question for `weir advise`: `look/questions/table.rs`; a counter that may explain a stall: `look/moved.rs`; the
//! next command: `look/next_command.rs`.
//!
//! It only reads: each statement passes the gate, and has the alias `weir_look` by which it is left out of what is
//! found. Counters are read once a second; the tables of `performance_schema` and the files' sizes at both ends.

mod checks;
mod digests;
mod disk;
mod evidence;
mod filter_columns;
mod finding;
mod indexes;
mod memory;
mod moved;
mod next_command;
mod period;
mod plans;
mod questions;
mod reader;
mod redo_age;
mod redundant;
mod replication;
mod report;
mod runnable;
mod series;
mod sightings;
mod stalls;
mod status;
mod transactions;
mod wait_events;

use std::time::Duration;

use digests::Digests;
use disk::Disk;
use evidence::{Evidence, Values};
use reader::Reader;
use sightings::Sightings;
use wait_events::WaitEvents;

use crate::{ExternalServer, ServerError, Stop};

pub use digests::{DigestUse, Statements};
pub use finding::{CounterValue, Finding, Unit, Unseen, Weight};
pub use moved::MovedCounter;
pub use next_command::{NextCommand, next_command, shell_word};
pub use plans::MissingIndex;
pub use questions::{IndexQuestion, QUESTIONS_MAX, Question, Questions};
pub use report::{LookReport, StallReport};
pub use stalls::Stall;
pub use wait_events::Wait;

/// Length of a look that sees waits.
const USUAL: Duration = Duration::from_mins(1);
/// Length of one that sees counters alone.
const SHORT: Duration = Duration::from_secs(10);
/// Rates that are searched for stalls.
const STALLING: [&str; 2] = ["Questions", "Com_commit"];

/// Tables that are read at both ends of a window.
struct Window {
    waits: Option<WaitEvents>,
    digests: Option<Digests>,
    /// Where the server has no digests, or none with an example.
    sightings: Option<Sightings>,
    disk: Disk,
    settings: Values,
    has_schema: bool,
}

/// Looks at a server for `length`; `None`: for 60 s, or 10 s if it shows no waits. A stop ends the window early, and the
/// report has what was seen until then. `announce` gets the length before the window begins.
///
/// # Errors
///
/// A server that is gone, or an account that may not read its status.
pub fn look(
    server: &ExternalServer,
    length: Option<Duration>,
    stop: Stop,
    announce: impl FnOnce(Duration),
) -> Result<LookReport, ServerError> {
    let identity = (server.url.flavor, server.version);
    let mut reader = Reader::open(&server.endpoint, server.gate(), identity)?;
    let mut window = Window::begin(&mut reader)?;
    let is_seen = window.waits.is_some();
    let length = length.unwrap_or(if is_seen { USUAL } else { SHORT });
    announce(length);
    let before = status::all(&mut reader)?;
    let sent_before = reader.statements;
    let series = status::sample(&mut reader, length, stop, |reader| {
        let sightings = window.sightings.as_mut();
        sightings.map_or(Ok(()), |sightings| sightings.look(reader))
    })?;
    let mut after = status::all(&mut reader)?;
    let own = reader.statements - sent_before;
    let history = transactions::history(&mut reader)?;
    add(&mut after, "Innodb_history_list_length", history);
    if !after.contains_key("Innodb_checkpoint_age") {
        let age = redo_age::look(&mut reader)?;
        add(&mut after, "Innodb_checkpoint_age", age);
    }
    let settings = window.settings.clone();
    let seconds = series.seconds();
    let mut evidence = Evidence::of_window(settings, (before, after), series, seconds, own);
    evidence.memory_bytes = memory::host_bytes();
    window.end(&mut reader, server, &evidence, history)
}

/// Adds a value under the name that newer servers have for it.
fn add(status: &mut Values, name: &str, value: Option<f64>) {
    if let Some(value) = value {
        status
            .entry(name.to_owned())
            .or_insert_with(|| value.to_string());
    }
}

impl Window {
    fn begin(reader: &mut Reader) -> Result<Self, ServerError> {
        let settings = reader.pairs("SHOW GLOBAL VARIABLES WHERE (SELECT 1 weir_look)")?;
        let has_schema = settings
            .get("performance_schema")
            .is_some_and(|value| value == "ON");
        let waits = WaitEvents::start(reader, has_schema)?;
        let digests = Digests::start(reader, has_schema)?;
        let has_samples = digests.as_ref().is_some_and(|digests| digests.has_samples);
        let is_sighted = !has_samples && Sightings::are_possible(reader);
        Ok(Self {
            waits,
            digests,
            sightings: is_sighted.then(Sightings::default),
            disk: Disk::start(reader)?,
            settings,
            has_schema,
        })
    }

    fn end(
        self,
        reader: &mut Reader,
        server: &ExternalServer,
        evidence: &Evidence,
        history: Option<f64>,
    ) -> Result<LookReport, ServerError> {
        let waits = self.waits.map(|waits| waits.end(reader)).transpose()?;
        let counted = self
            .digests
            .map(|digests| digests.end(reader))
            .transpose()?;
        let statements = counted.or_else(|| self.sightings.as_ref().map(Sightings::statements));
        let disk = self.disk.end(reader, server.data_dir.as_deref())?;
        let mut checks = checks::check(evidence);
        checks.extend(transactions::look(reader, history)?);
        checks.push(checks::durability(evidence));
        checks.sort_by_key(|finding| finding.weight);
        let heavy = statements.as_ref().map_or(&[][..], |found| &found.digests);
        let missing_indexes = plans::look(reader, heavy, self.sightings.as_ref())?;
        let running = |value: f64| (value - 1.0).max(0.0);
        let threads = evidence
            .series
            .median("Threads_running")
            .zip(evidence.most("Threads_running"));
        Ok(LookReport {
            server: format!("{} {}", reader.flavor, reader.version),
            seconds: evidence.seconds,
            questions_per_s: evidence.rate("Questions"),
            uptime_s: evidence.last("Uptime"),
            waits,
            counted_waits: counted_waits(evidence),
            // One of them is the look itself.
            threads_running: threads.map(|(median, most)| (running(median), running(most))),
            statements,
            stalls: STALLING
                .iter()
                .filter_map(|counter| stall_report(evidence, counter))
                .collect(),
            checks,
            indexes: indexes::look(reader, evidence, self.has_schema)?,
            questions: questions::questions(evidence, &missing_indexes),
            missing_indexes,
            replication: replication::look(reader)?,
            memory: memory::look(evidence, server.pid),
            disk,
            statements_sent: reader.statements,
            unseen: std::mem::take(&mut reader.unseen),
            settings: evidence.settings.clone(),
        })
    }
}

/// Waits that each server counts.
fn counted_waits(evidence: &Evidence) -> Vec<CounterValue> {
    let waiting = |name: &str, factor: f64| {
        let rate = evidence.rate(name)?;
        Some(CounterValue::new(
            &format!("threads in {name}"),
            rate * factor,
            Unit::Count,
        ))
    };
    let rate = |name: &str| {
        Some(CounterValue::new(
            name,
            evidence.rate(name)?,
            Unit::PerSecond,
        ))
    };
    [
        // Milliseconds.
        waiting("Innodb_row_lock_time", 1e-3),
        rate("Innodb_row_lock_waits"),
        rate("Table_locks_waited"),
        rate("Innodb_log_waits"),
        rate("Innodb_buffer_pool_wait_free"),
        rate("Innodb_buffer_pool_reads"),
        rate("Innodb_os_log_fsyncs"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn stall_report(evidence: &Evidence, counter: &'static str) -> Option<StallReport> {
    let series = &evidence.series;
    let rates = series.rates(counter)?;
    let starts: Vec<f64> = (0..=series.intervals())
        .map(|at| series.start_s(at))
        .collect();
    let found = stalls::search(&rates, &starts);
    let (period_s, ones) = period::periodic(&found.stalls);
    Some(StallReport {
        counter,
        median_per_s: found.median_per_s,
        period_s,
        periodic: ones.len(),
        moved: moved::moved(series, &ones),
        stalls: found.stalls,
        is_low_at_end: found.is_low_at_end,
        blind: found.blind,
    })
}
