//! The check after a cut: reads the files of each run and compares them with the witness's log.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use weir_model::Bytes;
use weir_process::PathError;

use super::error::PowercutError;
use super::judge::{FileIdentity, LanePages, PageState, judge};
use super::lane::{LANES, Lane};
use super::order::WriteOrder;
use super::run_directory::RunDirectory;
use super::verdict::{CutKind, CutRecord, PowercutVerdict};
use super::witness_log::{LoggedRun, LoggedRuns};
use super::witness_message::boot_id;

const NAME_ANOTHER: &str =
    "name the --dir of `weir drive powercut write` and the --log of its witness";

/// Options of a check.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// Folder that the writer was given.
    pub directory: PathBuf,
    /// Log of the witness, or a copy of it.
    pub log: PathBuf,
    /// Earlier verdict, which this one goes on from.
    pub verdict: PathBuf,
    /// Kind of the cut.
    pub cut: CutKind,
}

/// Result of a check.
#[derive(Debug)]
pub struct CheckReport {
    /// Verdict over all cuts, of this check and of earlier ones.
    pub verdict: PowercutVerdict,
    /// Runs that say nothing, and why.
    pub left_out: Vec<String>,
}

/// Checks each run below the folder, writes nothing.
///
/// # Errors
///
/// Files that cannot be read, runs that were not cut, or none at all.
pub fn check(options: &CheckOptions) -> Result<CheckReport, PowercutError> {
    let directory = options.directory.canonicalize();
    let directory = directory.map_err(PathError::on("use", &options.directory))?;
    let logged = LoggedRuns::read(&options.log)?;
    let mut verdict = if options.verdict.exists() {
        PowercutVerdict::read(&options.verdict)?
    } else {
        PowercutVerdict::default()
    };
    let mut left_out = Vec::new();
    if logged.unreadable_lines > 0 {
        left_out.push(format!(
            "{} lines of the log are not whole",
            logged.unreadable_lines
        ));
    }
    for (found, run) in to_check(&directory, &logged, &verdict)? {
        match run {
            None => left_out.push(format!("run {}: the log does not know it", found.run)),
            _ if found.is_locked() => {
                left_out.push(format!("run {}: its writer is still at work", found.run));
            }
            Some(run) if run.ended || found.has_ended() => {
                left_out.push(format!("run {}: stopped before any cut", found.run));
            }
            Some(run) if !run.filled => {
                left_out.push(format!(
                    "run {}: it ended before its files were filled",
                    found.run
                ));
            }
            Some(run) => {
                if options.cut != CutKind::Detach && run.start.boot == boot_id() {
                    return Err(PowercutError::NotCut(found.run));
                }
                verdict.add(check_run(&found, run, options.cut)?);
            }
        }
    }
    if verdict.cuts.is_empty() {
        let why = if left_out.is_empty() {
            "no folder of a run is there".to_owned()
        } else {
            left_out.join("; ")
        };
        return Err(PowercutError::NothingToCheck {
            directory,
            why,
            remedy: NAME_ANOTHER,
        });
    }
    Ok(CheckReport { verdict, left_out })
}

/// Returns the runs whose folders are in `directory`, and those that were there by the log and are gone. One that an
/// earlier check has seen may have been removed by the user.
fn to_check<'a>(
    directory: &Path,
    logged: &'a LoggedRuns,
    verdict: &PowercutVerdict,
) -> Result<Vec<(RunDirectory, Option<&'a LoggedRun>)>, PowercutError> {
    let mut found = RunDirectory::find(directory)?;
    for (run, logged) in &logged.runs {
        let is_known = found.iter().any(|found| found.run == *run) || verdict.has(*run);
        if logged.start.directory == directory && logged.filled && !is_known {
            found.push(RunDirectory::new(directory, *run));
        }
    }
    let with_log = |found: RunDirectory| {
        let run = logged.runs.get(&found.run);
        (found, run)
    };
    Ok(found.into_iter().map(with_log).collect())
}

/// Judges one run.
fn check_run(
    directory: &RunDirectory,
    logged: &LoggedRun,
    kind: CutKind,
) -> Result<CutRecord, PowercutError> {
    let start = &logged.start;
    if !start.pages.is_power_of_two() || start.lanes.iter().any(|lane| usize::from(*lane) >= LANES)
    {
        return Err(PowercutError::NothingToCheck {
            directory: directory.path.clone(),
            why: "the log describes files that no writer makes".to_owned(),
            remedy: NAME_ANOTHER,
        });
    }
    let order = WriteOrder::new(start.pages);
    let (all, mut flushed) = (Lane::all(), [0; LANES]);
    let mut pages = LanePages::new();
    for number in &start.lanes {
        let expected = FileIdentity {
            run: directory.run,
            lane: *number,
            order,
        };
        let lane = &all[usize::from(*number)];
        let read = read_lane(&directory.file(lane), lane.page, expected, &mut flushed);
        pages.insert(*number, read?);
    }
    Ok(CutRecord {
        run: directory.run,
        kind,
        storage: start.storage.clone(),
        lanes: judge(&pages, order, &logged.acknowledged, &flushed),
    })
}

/// Reads the pages of a lane. A file that is gone or too short has pages that were never written.
fn read_lane(
    path: &Path,
    page: Bytes,
    expected: FileIdentity,
    flushed: &mut [u64; LANES],
) -> Result<Vec<PageState>, PowercutError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        opened => Some(opened.map_err(PathError::on("open", path))?),
    };
    let length = match &file {
        Some(_) => fs::metadata(path)
            .map_err(PathError::on("read", path))?
            .len(),
        None => 0,
    };
    let mut content = vec![0; page.0 as usize];
    let mut read = |number: u64| {
        let offset = number * page.0;
        let there = length.saturating_sub(offset).min(page.0) as usize;
        content.fill(0);
        let of_file = file
            .as_ref()
            .map(|file| file.read_exact_at(&mut content[..there], offset));
        match of_file {
            // A device may answer the read of a half-written block with an error.
            Some(Err(_)) => PageState::UNREADABLE,
            _ => PageState::read(&content, number, expected, flushed),
        }
    };
    Ok((0..expected.order.pages()).map(&mut read).collect())
}

#[cfg(test)]
mod tests;
