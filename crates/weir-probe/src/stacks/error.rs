//! Errors of a profile.

use std::io;

use thiserror::Error;

/// Reasons for which there is no profile of a process.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// The kernel does not permit it.
    #[error(
        "cannot sample stacks of process {pid} (the kernel refuses perf_event_open: kernel.perf_event_paranoid is \
         {paranoid}); set it to 2 with sysctl, run Weir as the server's user, permit perf_event_open in the container, \
         or leave the profile out"
    )]
    Forbidden {
        /// The process.
        pid: u32,
        /// Value of the setting, or why it cannot be read.
        paranoid: String,
    },
    /// The kernel has no such event, or the process none of the threads.
    #[error("cannot sample stacks of process {pid} ({source}); leave the profile out")]
    Kernel {
        /// The process.
        pid: u32,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The process has ended before its functions were named.
    #[error(
        "no stacks of process {pid} (it has ended, and with it the names of its functions); profile runs in which the \
         server lives to the end"
    )]
    Ended {
        /// The process.
        pid: u32,
    },
}
