//! Stacks of the server's process during a measurement, and their files beside the result.

use std::fs;
use std::path::Path;
use std::time::Instant;

use weir_model::{Cell, RunResult, StackCounts, StackProfile};
use weir_probe::StackSampler;
use weir_process::PathError;
use weir_report::{flame_graph, wait_graph};

use crate::RunError;
use crate::target::Target;

/// Folder of flame graphs and folded stacks in a result's folder.
const FOLDER: &str = "flames";

/// The sampling of a run, if its load asks for it.
pub(crate) struct RunProfile(Option<StackSampler>);

impl RunProfile {
    /// Begins to sample the server of `target`, if `cell` asks for it.
    ///
    /// # Errors
    /// If the server is on another host, or the kernel does not permit it.
    pub(crate) fn start(cell: &Cell, target: &dyn Target) -> Result<Self, RunError> {
        if !cell.spec.load.profile {
            return Ok(Self(None));
        }
        let pid = target.server_pid().ok_or(RunError::NoProcess)?;
        Ok(Self(Some(StackSampler::start(pid)?)))
    }

    /// The measurement begins at this time.
    pub(crate) fn begin_at(&self, at: Instant) {
        if let Some(sampler) = &self.0 {
            sampler.begin_at(at);
        }
    }

    /// Ends it.
    ///
    /// # Errors
    /// If the server has ended.
    pub(crate) fn finish(self) -> Result<Option<StackProfile>, RunError> {
        let profile = self.0.map(StackSampler::finish);
        Ok(profile.transpose()?)
    }
}

/// Writes the flame graphs and the folded stacks of `run`, of its CPU time and of its waits, into the result's folder `out`, if it has any.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write_files(out: &Path, cell: &Cell, run: &RunResult) -> Result<(), RunError> {
    let Some(profile) = &run.profile else {
        return Ok(());
    };
    let folder = out.join(FOLDER);
    fs::create_dir_all(&folder).map_err(PathError::on("create", &folder))?;
    let (label, record) = (cell.label(), &run.record);
    let name = format!(
        "{}-{}-run-{}",
        record.cell + 1,
        plain(&label),
        record.repetition
    );
    let write = |extension: &str, text: &str| {
        let path = folder.join(format!("{name}.{extension}"));
        fs::write(&path, text).map_err(PathError::on("write", &path))
    };
    let title = format!("{label}, run {}", record.repetition);
    write("folded", &profile.folded)?;
    write("waits.folded", &profile.waits)?;
    let folded = StackCounts::parse(&profile.folded);
    // A server that did nothing has no picture.
    if folded.samples() > 0 {
        write("svg", &flame_graph(&title, &folded)?)?;
    }
    if let Some(picture) = wait_graph(&title, profile)? {
        write("waits.svg", &picture)?;
    }
    Ok(())
}

/// A label as a part of a file's name.
fn plain(label: &str) -> String {
    let letters = label.chars().take(80);
    let letters = letters.map(|c| {
        if c.is_ascii_alphanumeric() || "._".contains(c) {
            c
        } else {
            '-'
        }
    });
    letters.collect()
}
