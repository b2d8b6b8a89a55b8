//! Logs of what was changed on servers: files of JSON lines, appended to and made durable.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;
use weir_process::{PathError, create_private_directory};

use crate::ServerError;

/// Appends `record` to the log at `path`, readable by this user only.
pub(crate) fn append(path: &Path, record: &impl Serialize) -> Result<(), ServerError> {
    if let Some(parent) = path.parent() {
        create_private_directory(parent)?;
    }
    let mut line = serde_json::to_string(record).expect("invariant: a record is plain data");
    line.push('\n');
    let mut options = OpenOptions::new();
    let opened = options.append(true).create(true).mode(0o600).open(path);
    let written = opened.and_then(|mut file| {
        file.write_all(line.as_bytes())?;
        file.sync_all()
    });
    Ok(written.map_err(PathError::on("write", path))?)
}
