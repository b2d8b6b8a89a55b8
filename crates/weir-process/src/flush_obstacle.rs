//! Reason that the flushes of a server cannot be made beside its writes.

use std::io;

use thiserror::Error;

/// The option that lets Docker's default profile pass `pidfd_getfd(2)`, and `ptrace_scope` of Yama too.
const CAPABILITY: &str = "in a container add --cap-add SYS_PTRACE";
/// No capability lets a call pass that a profile refuses to all.
const PROFILE: &str = "in a container name a seccomp profile that allows it";

/// A system call or a program that [`crate::FlushCalls`] needs and that failed; what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{call}: {why}; {}", self.remedy())]
pub struct FlushObstacle {
    call: &'static str,
    why: String,
}

impl FlushObstacle {
    /// `call` failed with `error`.
    pub(crate) fn new(call: &'static str, error: &io::Error) -> Self {
        Self {
            call,
            why: error.to_string().to_lowercase(),
        }
    }

    /// The failed call, and the system's reason.
    pub fn cause(&self) -> String {
        format!("{}: {}", self.call, self.why)
    }

    /// The remedy.
    pub fn remedy(&self) -> &'static str {
        match self.call {
            "pidfd_getfd" => CAPABILITY,
            "cat" => "install coreutils",
            _ => PROFILE,
        }
    }
}
