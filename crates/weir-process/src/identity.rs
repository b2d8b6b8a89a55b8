//! A process's identity: its id alone is not enough, as the kernel gives ids out again.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::ProcessError;

/// A process, told from all later ones with the same id by its start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot: field 22 of `/proc/PID/stat` (`proc_pid_stat(5)`).
    pub started_ticks: u64,
}

impl ProcessIdentity {
    /// The process that is `pid` now; `None` if there is none, or only its zombie.
    pub fn for_pid(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The command's name (field 2) may hold spaces and brackets; it ends at the last bracket.
        let mut after_name = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = after_name.next()?;
        if state == "Z" || state == "X" {
            return None;
        }
        // State is field 3, so the start time (field 22) is 18 fields further on.
        let started_ticks = after_name.nth(18)?.parse().ok()?;
        Some(Self { pid, started_ticks })
    }

    /// The calling process.
    pub fn current() -> Self {
        let pid = std::process::id();
        Self::for_pid(pid).expect("invariant: the calling process is alive and /proc is mounted")
    }

    /// Returns true if exactly this process still runs.
    pub fn is_alive(self) -> bool {
        Self::for_pid(self.pid) == Some(self)
    }

    /// Sends `signal` to exactly this process; `Ok(false)` if it no longer runs.
    ///
    /// The pidfd pins the id before the start time is compared, so a newcomer is never hit.
    ///
    /// # Errors
    ///
    /// A process that belongs to another user.
    pub fn signal(self, signal: Signal) -> Result<bool, ProcessError> {
        let Some(pid) = Pid::from_raw(self.pid.cast_signed()) else {
            return Ok(false);
        };
        let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
            return Ok(false);
        };
        if !self.is_alive() {
            return Ok(false);
        }
        pidfd_send_signal(&pidfd, signal)
            .map(|()| true)
            .map_err(|errno| ProcessError::Signal {
                pid: self.pid,
                source: errno.into(),
            })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_alive_until_it_is_ended_and_a_reused_id_is_another_process() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let identity = ProcessIdentity::for_pid(child.id()).unwrap();
        let impostor = ProcessIdentity {
            started_ticks: identity.started_ticks + 1,
            ..identity
        };
        assert!(identity.is_alive());
        assert!(!impostor.is_alive());
        assert!(!impostor.signal(Signal::KILL).unwrap());
        assert!(identity.signal(Signal::KILL).unwrap());
        child.wait().unwrap();
        assert!(!identity.is_alive());
        assert!(!identity.signal(Signal::KILL).unwrap());
    }
}
