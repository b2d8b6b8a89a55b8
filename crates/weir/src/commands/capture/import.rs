//! `weir capture import`.

use weir_capture::import_logs;

use super::proxy::tell;
use crate::Outcome;
use crate::cli::CaptureImportArguments;

pub(super) fn execute(arguments: &CaptureImportArguments) -> anyhow::Result<Outcome> {
    let imported = import_logs(
        &arguments.logs,
        arguments.format,
        &arguments.output,
        arguments.literals,
    )?;
    eprintln!("{}", imported.head.source.name());
    for sentence in &imported.head.guarantees {
        eprintln!("note: {sentence}");
    }
    tell(&imported.tail);
    if let Some(why) = &imported.tail.failure {
        eprintln!("note: the capture ends early: {why}");
    }
    Ok(Outcome::Done)
}
