//! A drive in a process of its own, as its user sees it.
//!
//! Apart because a file system that is served by the process that also uses it deadlocks, because
//! the drive's processor time must be told from the client's, and because a server's files outlive
//! a crash of Weir only as long as the file system under them ends in order.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use weir_model::DriveStatistics;
use weir_process::{Signal, spawn_tied};

use crate::{DriveError, MountOptions, control, mountpoint};

/// Time limit for a drive's process to end after it was asked to.
const PATIENCE: Duration = Duration::from_secs(10);

/// A mounted drive; dropping it unmounts.
#[derive(Debug)]
pub struct DriveProcess {
    child: Child,
    mountpoint: PathBuf,
    flushes_slowly: bool,
    /// Kept open: a process that writes to a closed pipe may die of it.
    _output: (BufReader<ChildStdout>, ChildStderr),
    ended: bool,
}

impl DriveProcess {
    /// Starts `weir_executable drive mount ...` and waits until the drive is mounted.
    ///
    /// The process gets SIGTERM, and unmounts, when the calling thread ends.
    ///
    /// # Errors
    ///
    /// A process that cannot be started, or that does not mount the drive.
    pub fn mount(weir_executable: &Path, options: &MountOptions) -> Result<Self, DriveError> {
        let failed = |message: String| DriveError::Start {
            name: options.profile.clone(),
            message,
        };
        let flushes_slowly = options.resolved_profile()?.flushes_slowly();
        let mut command = Command::new(weir_executable);
        command
            .args(options.to_arguments())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn_tied(&mut command, Signal::TERM)
            .map_err(DriveError::path("start", weir_executable))?;
        let stdout = child.stdout.take().expect("invariant: stdout is piped");
        let mut stderr = child.stderr.take().expect("invariant: stderr is piped");
        let mut stdout = BufReader::new(stdout);
        let read = stdout.read_line(&mut String::new());
        if !matches!(read, Ok(bytes) if bytes > 0) {
            // It ended without a word on stdout, so its stderr ends too and holds the reason.
            let mut said = String::new();
            let _ = stderr.read_to_string(&mut said);
            let status = child
                .wait()
                .map_err(DriveError::path("start", weir_executable))?;
            let reason = said.lines().rfind(|line| !line.trim().is_empty());
            let reason = reason.map(|line| line.trim_start_matches("weir: ").to_owned());
            return Err(failed(reason.unwrap_or_else(|| status.to_string())));
        }
        Ok(Self {
            child,
            mountpoint: mountpoint::resolved(&options.mountpoint)?,
            flushes_slowly,
            _output: (stdout, stderr),
            ended: false,
        })
    }

    /// Returns the drive's counters since it was mounted.
    ///
    /// # Errors
    ///
    /// A drive that does not answer, or that refuses.
    pub fn statistics(&self) -> Result<DriveStatistics, DriveError> {
        control::statistics(&self.mountpoint)
    }

    /// Id of the drive's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if a server on it should have its flushes made by [`weir_process::FlushCalls`].
    pub fn flushes_slowly(&self) -> bool {
        self.flushes_slowly
    }

    /// Returns the mountpoint of the drive.
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// Unmounts the drive, also while files are still open on it, and ends its process.
    ///
    /// # Errors
    ///
    /// A drive that does not answer, or that refuses.
    pub fn unmount(mut self) -> Result<(), DriveError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), DriveError> {
        if self.ended {
            return Ok(());
        }
        self.ended = true;
        // If it does not answer it is dead or dying, and what is left is removed below.
        let asked = control::unmount(&self.mountpoint);
        let patience = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > patience || asked.is_err() {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(weir_process::unmount(&self.mountpoint)?)
    }
}

impl Drop for DriveProcess {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
