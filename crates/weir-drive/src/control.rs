//! The control socket of a mounted drive: one line asked, one line answered, both JSON.
//!
//! It lies in the user's runtime directory under a name derived from the mountpoint, so that
//! a process that knows the mountpoint finds it.

mod listener;

pub(crate) use self::listener::Listener;

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weir_model::{DriveProfile, DriveStatistics, Faults};

use crate::DriveError;
use crate::mountpoint::resolved;
use crate::trace::TraceSummary;

/// A drive's process that does not answer within this has failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Request to a drive.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    /// Request for its statistics.
    Statistics,
    /// Request for its profile, with the settings that it was mounted with.
    Profile,
    /// To unmount.
    Unmount,
    /// To lose its power.
    Cut,
    /// To change these faults, in this order.
    Set(Vec<(String, String)>),
    /// To have no faults.
    Reset,
    /// To record its operations in this new file.
    StartTrace(PathBuf),
    /// To end that.
    StopTrace,
}

/// A drive whose power was cut: what is needed to find out what survived.
#[derive(Debug, Serialize, Deserialize)]
pub struct Cut {
    /// Recording, which ends at the cut.
    pub recording: PathBuf,
    /// Content of the drive when the recording began.
    pub base: PathBuf,
    /// Profile of the drive.
    pub profile: DriveProfile,
}

/// Answer: a value that depends on the request, or the reason of a refusal.
pub(crate) type Answer = Result<serde_json::Value, String>;

/// Returns the counters of the drive that is mounted at `mountpoint`.
///
/// # Errors
///
/// A drive that does not answer, or that refuses.
pub fn statistics(mountpoint: &Path) -> Result<DriveStatistics, DriveError> {
    ask(mountpoint, &Request::Statistics)
}

/// Returns the profile of the drive that is mounted at `mountpoint`, with the settings of the
/// mount.
///
/// # Errors
///
/// A drive that does not answer, or that refuses.
pub fn profile(mountpoint: &Path) -> Result<DriveProfile, DriveError> {
    ask(mountpoint, &Request::Profile)
}

/// Sets faults of the drive at `mountpoint`, pairs of key and value (see [`Faults`]); returns all.
///
/// # Errors
///
/// An unknown key or a wrong value; a drive that does not answer.
pub fn set_faults(
    mountpoint: &Path,
    settings: Vec<(String, String)>,
) -> Result<Faults, DriveError> {
    ask(mountpoint, &Request::Set(settings))
}

/// Takes all faults off the drive at `mountpoint`; a stuck queue moves again.
///
/// # Errors
///
/// A drive that does not answer, or that refuses.
pub fn reset_faults(mountpoint: &Path) -> Result<(), DriveError> {
    ask(mountpoint, &Request::Reset)
}

/// Makes the drive at `mountpoint` record its operations in the new file `path`.
///
/// # Errors
///
/// A file that is there already or cannot be written; a drive that does not answer.
pub fn start_trace(mountpoint: &Path, path: &Path) -> Result<(), DriveError> {
    // The drive's process has a working directory of its own.
    let path = std::path::absolute(path).map_err(DriveError::path("find", path))?;
    ask(mountpoint, &Request::StartTrace(path))
}

/// Ends the recording of the drive at `mountpoint`.
///
/// # Errors
///
/// A drive that does not answer, or that refuses.
pub fn stop_trace(mountpoint: &Path) -> Result<TraceSummary, DriveError> {
    ask(mountpoint, &Request::StopTrace)
}

/// Unmounts the drive at `mountpoint` and returns when it is gone.
///
/// # Errors
///
/// A drive that does not answer, or that refuses.
pub fn unmount(mountpoint: &Path) -> Result<(), DriveError> {
    let mountpoint = resolved(mountpoint)?;
    let () = ask(&mountpoint, &Request::Unmount)?;
    wait_until_gone(&mountpoint)
}

/// Cuts the power of the recorded drive at `mountpoint` and returns when it is gone. Its backing then
/// holds all that it was ever told, which is not what survived.
///
/// # Errors
///
/// A drive that does not answer, or that refuses.
pub fn cut(mountpoint: &Path) -> Result<Cut, DriveError> {
    let mountpoint = resolved(mountpoint)?;
    let cut = ask(&mountpoint, &Request::Cut)?;
    wait_until_gone(&mountpoint)?;
    Ok(cut)
}

/// The answer comes first and the unmount follows.
fn wait_until_gone(mountpoint: &Path) -> Result<(), DriveError> {
    let patience = Instant::now() + PATIENCE;
    while weir_process::is_mounted(mountpoint) {
        if Instant::now() > patience {
            return Err(no_answer(mountpoint, &"it is still mounted"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn ask<T: DeserializeOwned>(mountpoint: &Path, request: &Request) -> Result<T, DriveError> {
    let path = socket_path(&resolved(mountpoint)?)?;
    let no_answer = |why: &dyn ToString| no_answer(mountpoint, why);
    let line = exchange(&path, request).map_err(|error| no_answer(&error))?;
    let answer: Answer = serde_json::from_str(&line).map_err(|error| no_answer(&error))?;
    let value = answer.map_err(DriveError::Refused)?;
    serde_json::from_value(value).map_err(|error| no_answer(&error))
}

fn exchange(socket: &Path, request: &Request) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    writeln!(stream, "{}", serde_json::to_string(request)?)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(answer)
}

fn no_answer(mountpoint: &Path, why: &dyn ToString) -> DriveError {
    DriveError::NoAnswer {
        mountpoint: mountpoint.to_owned(),
        why: why.to_string(),
    }
}

/// Returns the socket of the drive at the resolved `mountpoint`.
fn socket_path(mountpoint: &Path) -> Result<PathBuf, DriveError> {
    let directory = weir_process::runtime_directory()?;
    let name = weir_process::short_name(mountpoint.as_os_str().as_bytes());
    Ok(directory.join(format!("drive-{name}.sock")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_answers_where_no_drive_is() {
        let folder = tempfile::tempdir().unwrap();
        let error = statistics(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("no drive answers at"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}
