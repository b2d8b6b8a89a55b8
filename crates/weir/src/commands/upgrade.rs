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
use weir_model::option_variable;
use weir_model::variables::LOG_BIN;
use weir_server::{ServerBinary, Snapshots, cache_directory, space_available};
use weir_study::named_program;

use crate::cli::UpgradeArguments;
use crate::commands::{run, study_file};
use crate::{Outcome, interrupt, output};

use checks::Checks;
use settings::Settings;
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
    let snapshot = source::snapshot(&arguments.data, &from)?;
    let work = arguments.work.clone().unwrap_or_else(std::env::temp_dir);
    tell_space(&snapshot, (&from, &to), &work)?;
    let mut settings = Settings::read(arguments.option_file.as_deref(), (&from, &to))?;
    let mut checks = Checks::make((&from, &to), (&snapshot, &work), settings.lost)?;
    if !settings
        .kept
        .keys()
        .any(|name| option_variable(name) == LOG_BIN)
    {
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

/// Tells all copies of the data before the first of them is made.
fn tell_space(
    snapshot: &str,
    (from, to): (&ServerBinary, &ServerBinary),
    work: &Path,
) -> anyhow::Result<()> {
    let cache = cache_directory();
    let size = Snapshots::open(&cache)?.named(snapshot)?.size;
    let again = if (from.flavor, from.version) == (to.flavor, to.version) {
        String::new()
    } else {
        format!("as much again for {} {} ", to.flavor, to.version)
    };
    eprintln!(
        "space: {size} are in the snapshot `{snapshot}` of {} {}; {again}({} free in {}); as much for each run, one at a time \
         ({} free in {})",
        from.flavor,
        from.version,
        space_available(&cache)?,
        cache.display(),
        space_available(work)?,
        work.display()
    );
    Ok(())
}
