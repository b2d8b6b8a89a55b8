//! `weir load CAPTURE run`: a capture in the place of a workload.

mod differences;
mod line;
mod report;

use std::path::Path;
use std::sync::atomic::Ordering;

use weir_load::{LoadError, Progress};
use weir_mysql::{ChangeLog, ClientConfig, Gate, Permissions};
use weir_replay::{CapturePart, ReplayError, Survey, replay};

use crate::commands::external_server;
use crate::{Outcome, interrupt, output};
use line::ReplayLine;

/// The words of a command line with its capture in front, if it has one. Options may stand before it, as before the name
/// of a workload.
pub(crate) fn capture_first(words: &[String]) -> Option<Vec<String>> {
    let is_capture = |word: &String| {
        let extension = Path::new(word).extension();
        !word.starts_with('-') && extension.is_some_and(|extension| extension == "weircap")
    };
    let at = words.iter().position(is_capture)?;
    let mut words = words.to_vec();
    words[..=at].rotate_right(1);
    Some(words)
}

#[cfg(test)]
pub(crate) use line::HELP;

/// Checks that a command line is understood.
#[cfg(test)]
pub(crate) fn check(arguments: &[String]) -> anyhow::Result<()> {
    ReplayLine::read(arguments, &ClientConfig::default()).map(drop)
}

pub(super) fn execute(arguments: &[String], config: &ClientConfig) -> anyhow::Result<Outcome> {
    let Some(line) = ReplayLine::read(arguments, config)? else {
        output::text(line::HELP)?;
        return Ok(Outcome::Done);
    };
    let stop = interrupt::stop_flag_then_exit()?;
    let survey = Survey::read(&line.capture, &line.options)?;
    for sentence in &survey.head.guarantees {
        eprintln!("note: {sentence}");
    }
    if survey.tail.is_none() {
        eprintln!(
            "note: the capture has no end: it is still written, damaged, or its writer was killed ({} bytes after the last whole \
             block are not read)",
            survey.cut_bytes
        );
    }
    if let Some(why) = survey.tail.as_ref().and_then(|tail| tail.failure.as_ref()) {
        eprintln!("note: the capture ends before its source did: {why}");
    }
    let gate = gate(&line);
    let mut warn = |progress: Progress<'_>| {
        if let Progress::Warning(warning) = progress {
            eprintln!("WARNING: {warning}");
        }
    };
    let outcome = replay(
        &line.plan,
        CapturePart {
            path: &line.capture,
            survey: &survey,
            options: &line.options,
        },
        (&gate, line.allow_write),
        stop,
        &mut warn,
    );
    external_server::tell_remarks(&gate);
    let outcome = outcome.map_err(|error| match error {
        // Its exit code is that of a load.
        ReplayError::Load(error @ (LoadError::InitTimeout { .. } | LoadError::Unfinished(_))) => {
            error.into()
        }
        error => anyhow::Error::from(error),
    })?;
    if line.is_json {
        output::line(report::document(&line, &survey, &outcome))?;
    } else {
        output::text(report::text(&line, &survey, &outcome))?;
    }
    if stop.load(Ordering::SeqCst) {
        return Ok(Outcome::Stopped);
    }
    outcome.check()?;
    Ok(Outcome::Done)
}

/// Reads only, unless writes are allowed; then in the one schema.
fn gate(line: &ReplayLine) -> Gate {
    if !line.allow_write {
        return Gate::reading();
    }
    Gate::new(Permissions {
        schema: Some(line.plan.endpoint.database.clone()),
        log: Some(ChangeLog::at(weir_server::change_log())),
        writes_replicas: line.allow_replica,
        ..Permissions::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_stand_before_the_capture() {
        let words = |line: &str| shlex::split(line).unwrap();
        let found = capture_first(&words("--threads=2 tuesday.weircap --allow-write run"));
        assert_eq!(
            found,
            Some(words("tuesday.weircap --threads=2 --allow-write run"))
        );
        assert_eq!(
            capture_first(&words("oltp_read_only --log=a.weircap run")),
            None
        );
    }
}
