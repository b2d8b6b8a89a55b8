//! A study file as `run` and `plan` read it.

use std::fs;
use std::path::Path;

use anyhow::Context;
use weir_model::Plan;
use weir_server::ServerBinary;
use weir_study::{Overrides, StudyFile};

/// Reads and resolves the study at `path`.
pub(crate) fn resolve(path: &Path, overrides: &Overrides) -> anyhow::Result<Plan> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read study `{name}`"))?;
    let file = StudyFile::parse(&name, &text)?;
    let flavor_of = |program: &Path| Ok(ServerBinary::at(program)?.flavor);
    Ok(weir_study::resolve(&name, &file, overrides, &flavor_of)?)
}

/// A seed that nobody chose: the clock's nanoseconds, kept short because it is printed and typed.
pub(crate) fn clock_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::from(now.unwrap_or_default().subsec_nanos())
}
