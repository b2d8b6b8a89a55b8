//! `weir upgrade`: which statements get slower, or answer differently, on another server.
//!
//! It writes a study that replays a capture on both servers, each with the same data, and runs it. The study can be changed
//! and run again with `weir run`.

mod checks;
mod settings;
pub(in crate::commands) mod source;
mod study;

use std::path::Path;

use anyhow::bail;
use weir_capture::CaptureReader;
use weir_model::variables::LOG_BIN;
use weir_model::{Bytes, option_variable, with_headroom};
use weir_server::{ServerBinary, cache_directory, check_space_together, space_available};
use weir_study::named_program;

use crate::cli::UpgradeArguments;
use crate::commands::{run, study_file};
use crate::{Outcome, interrupt, output};

use checks::Checks;
use settings::Settings;
use source::Source;
use study::Study;

/// File of the study in the result's folder.
const STUDY: &str = "upgrade.toml";

pub(crate) fn execute(arguments: &UpgradeArguments) -> anyhow::Result<Outcome> {
    let from = named_program(&arguments.from)?;
    let to = named_program(&arguments.to)?;
    if from == to {
        bail!(
            "both servers are `{}`; name another version, or another server's path",
            from.path.display()
        );
    }
    // Its whole content is read by the study.
    CaptureReader::open(&arguments.capture)?;
    let stop = interrupt::stop_flag()?;
    let source = Source::find(&arguments.data, &from)?;
    let work = weir_run::data_folder(arguments.work.as_deref())?;
    check_space(&source, &to, &work)?;
    let snapshot = source.snapshot()?;
    let mut settings = Settings::read(arguments.option_file.as_deref(), (&from, &to))?;
    let mut checks = Checks::make((&from, &to), (&snapshot, &work), settings.lost)?;
    let mut named = settings.kept.keys().map(|name| option_variable(name));
    if !named.any(|variable| variable == LOG_BIN) {
        checks.decide_binary_log(&mut settings.kept);
    }
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| run::default_folder(Path::new(STUDY)));
    let study = Study {
        arguments,
        from: &from,
        to: &to,
        snapshot: &snapshot,
        settings: &settings.kept,
    };
    let path = study_file::write_new(&out, STUDY, &study.text()?)?;
    if arguments.plan {
        output::text(checks.text())?;
        output::line(format_args!(
            "study: {0}\nnext: the same command without --plan, or `weir run {0}`",
            path.display()
        ))?;
        return Ok(Outcome::Done);
    }
    run::run_written((&path, &out), arguments.work.clone(), stop, |outcome| {
        let statements = weir_report::upgrade(&outcome.result);
        Ok(format!(
            "{statements}\n{}{}",
            checks.text(),
            run::places(outcome, &out)
        ))
    })
}

/// Tells all copies of the data, and refuses those that do not fit, before the first of them is made.
fn check_space(source: &Source<'_>, to: &ServerBinary, work: &Path) -> anyhow::Result<()> {
    let (cache, size) = (cache_directory(), source.size);
    let kept = source.snapshots_to_make(to)?;
    eprintln!(
        "space: {} of data; snapshots to make: {kept} ({} free in {}); a copy for each run, one at a time ({} free \
         in {})",
        source.size_in_words(),
        space_available(&cache)?,
        cache.display(),
        space_available(work)?,
        work.display()
    );
    if let Some(beside) = source.loaded_in() {
        check_space_together(&[(&beside, size), (&cache, size)])?;
    }
    let of_run = (work, with_headroom(size));
    Ok(check_space_together(&[
        of_run,
        (&cache, Bytes(kept * size.0)),
    ])?)
}
