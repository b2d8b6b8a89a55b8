//! A study file as `run` and `plan` read it, and as other commands write it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, anyhow, bail};
use weir_model::{DriveProfile, Plan};
use weir_server::ServerBinary;
use weir_study::{Overrides, StudyFile};

/// The text of the study at `path`, of its shorter version where that is asked for.
pub(crate) fn read(path: &Path, reduced: bool) -> anyhow::Result<String> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| {
        let or_make = match error.kind() {
            io::ErrorKind::NotFound => format!(", or make one with `weir init {name}`"),
            _ => String::new(),
        };
        anyhow!("cannot read study `{name}` ({error}); name a study file{or_make}")
    })?;
    if reduced {
        return Ok(weir_study::reduced(&name, &text)?);
    }
    Ok(text)
}

/// Resolves the study that `path` has and `text` is.
pub(crate) fn resolve(path: &Path, text: &str, overrides: &Overrides) -> anyhow::Result<Plan> {
    let name = path.display().to_string();
    let file = StudyFile::parse(&name, text)?;
    let flavor_of = |program: &Path| Ok(ServerBinary::at(program)?.flavor);
    Ok(weir_study::resolve(&name, &file, overrides, &flavor_of)?)
}

/// Returns a line if flushes of the study's drives hold up writes on this host.
pub(crate) fn flush_line(plan: &Plan) -> Option<String> {
    weir_study::flush_obstacle(plan).map(|obstacle| {
        format!(
            "drives: flushes hold up writes to the same file here, and MySQL commits up to a quarter less often \
             ({obstacle})"
        )
    })
}

/// Returns the line on those of the study's drives that no independent figures confirm.
pub(crate) fn validation_line(plan: &Plan) -> Option<String> {
    let names = plan.cells.iter().filter_map(|cell| cell.spec.drive_name());
    let names: std::collections::BTreeSet<String> = names.collect();
    weir_model::validation_line(&found_profiles(names.iter().map(String::as_str)))
}

/// Profiles of the drives that are found by their names; another one fails the run, with its own line.
pub(crate) fn found_profiles<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<DriveProfile> {
    let names = names.into_iter();
    names
        .filter_map(|name| weir_drive::profiles::load(name, None).ok())
        .collect()
}

/// A seed where the study has none: the clock's nanoseconds, kept short because it is printed and typed.
pub(crate) fn clock_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::from(now.unwrap_or_default().subsec_nanos())
}

/// Writes a study as `name` into `out`, the folder of its result; one that is there is kept.
pub(super) fn write_new(out: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let path = out.join(name);
    let failed = || format!("cannot write study `{}`", path.display());
    fs::create_dir_all(out).with_context(failed)?;
    if path.exists() {
        bail!("{} (it exists); name another folder with --out", failed());
    }
    fs::write(&path, text).with_context(failed)?;
    Ok(path)
}

/// A text as a study has it.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
