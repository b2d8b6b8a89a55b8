//! `weir capture import`.

use weir_capture::{import_log, log_format};

use super::proxy::tell;
use crate::Outcome;
use crate::cli::CaptureImportArguments;

pub(super) fn execute(arguments: &CaptureImportArguments) -> anyhow::Result<Outcome> {
    let format = match arguments.format {
        Some(format) => format,
        None => log_format(&arguments.log)?,
    };
    let imported = import_log(
        &arguments.log,
        format,
        &arguments.output,
        arguments.literals,
    )?;
    eprintln!("{}", imported.head.source.name());
    for sentence in &imported.head.guarantees {
        eprintln!("note: {sentence}");
    }
    tell(&imported.tail);
    Ok(Outcome::Done)
}
