//! The control socket of a mounted drive: one line asked, one line answered.
//!
//! It lies in the user's runtime directory under a name derived from the mountpoint, so that
//! whoever knows the mountpoint finds it.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_model::DriveStatistics;

use crate::DriveError;
use crate::mountpoint::resolved;
use crate::stop::Stop;

const STATISTICS: &str = "stat";
const UNMOUNT: &str = "unmount";
const DONE: &str = "ok";
/// A drive's process that does not answer within this has failed.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the listener looks whether it should end.
const POLL: Duration = Duration::from_millis(100);

/// What the drive that is mounted at `mountpoint` has counted.
pub fn statistics(mountpoint: &Path) -> Result<DriveStatistics, DriveError> {
    let answer = ask(mountpoint, STATISTICS)?;
    serde_json::from_str(&answer).map_err(|error| no_answer(mountpoint, &error))
}

/// Unmounts the drive at `mountpoint` and returns when it is gone.
pub fn unmount(mountpoint: &Path) -> Result<(), DriveError> {
    let mountpoint = resolved(mountpoint)?;
    ask(&mountpoint, UNMOUNT)?;
    // The answer comes first and the unmount follows.
    let patience = std::time::Instant::now() + PATIENCE;
    while weir_process::is_mounted(&mountpoint) {
        if std::time::Instant::now() > patience {
            return Err(no_answer(&mountpoint, &"it is still mounted"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn ask(mountpoint: &Path, request: &str) -> Result<String, DriveError> {
    let path = socket_path(&resolved(mountpoint)?)?;
    exchange(&path, request).map_err(|error| no_answer(mountpoint, &error))
}

fn exchange(socket: &Path, request: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    writeln!(stream, "{request}")?;
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

/// Where the drive at the resolved `mountpoint` listens.
fn socket_path(mountpoint: &Path) -> Result<PathBuf, DriveError> {
    let directory = weir_process::runtime_directory()?;
    let name = weir_process::short_name(mountpoint.as_os_str().as_bytes());
    Ok(directory.join(format!("drive-{name}.sock")))
}

/// The drive's end of the socket.
#[derive(Debug)]
pub(crate) struct Listener {
    path: PathBuf,
    socket: UnixListener,
}

impl Listener {
    pub(crate) fn bind(mountpoint: &Path) -> Result<Self, DriveError> {
        let path = socket_path(mountpoint)?;
        // A killed drive leaves its socket; the mountpoint was found free, so nobody listens.
        let _ = std::fs::remove_file(&path);
        let bind = || {
            let socket = UnixListener::bind(&path)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = bind().map_err(DriveError::path("listen on", &path))?;
        Ok(Self { path, socket })
    }

    /// Answers requests until `stop`.
    pub(crate) fn serve(&self, stop: &Stop, statistics: impl Fn() -> DriveStatistics) {
        while !stop.wait_for(Duration::ZERO) {
            match self.socket.accept() {
                // A client that went away in the middle concerns nobody else.
                Ok((stream, _)) => drop(answer(stream, stop, &statistics)),
                Err(_) => drop(stop.wait_for(POLL)),
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn answer(
    mut stream: UnixStream,
    stop: &Stop,
    statistics: &impl Fn() -> DriveStatistics,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut request = String::new();
    BufReader::new(&stream).read_line(&mut request)?;
    match request.trim() {
        STATISTICS => {
            let text = serde_json::to_string(&statistics())?;
            writeln!(stream, "{text}")
        }
        UNMOUNT => {
            writeln!(stream, "{DONE}")?;
            stop.request();
            Ok(())
        }
        other => writeln!(stream, "unknown request `{other}`"),
    }
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
