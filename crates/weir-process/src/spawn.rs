//! Children that do not outlive their parent, and those that are meant to. Neither inherits more than
//! standard input, output and error.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Signal, getppid, set_parent_process_death_signal, setsid};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::inherit_nothing;

/// Starts `command`; when the calling *thread* ends, however it ends, the child gets `signal`.
///
/// The kernel ties the child to the thread that forked it (prctl(2), `PR_SET_PDEATHSIG`), so call
/// this from a thread that lives as long as the child is wanted. The child also leaves the
/// terminal's foreground group: Ctrl-C reaches Weir alone, which then stops things in order.
///
/// # Errors
///
/// A program that cannot be started.
pub fn spawn_tied(command: &mut Command, signal: Signal) -> io::Result<Child> {
    let parent = rustix::process::getpid();
    inherit_nothing(command).process_group(0);
    let tie = move || {
        set_parent_process_death_signal(Some(signal))?;
        // The parent may have died between fork and prctl; then no signal would ever come.
        if getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::Error::other("the parent process has ended"))
        }
    };
    #[allow(unsafe_code)]
    // SAFETY: the closure makes two system calls and allocates only on the path on which the
    // child ends anyway; both are allowed between fork and exec.
    unsafe {
        command.pre_exec(tie);
    }
    command.spawn()
}

/// Starts `command` in a session of its own: it goes on when the caller and its terminal end.
///
/// Record it in the [`Registry`](crate::Registry), so that a later `weir clean` knows of it.
///
/// # Errors
///
/// A program that cannot be started.
pub fn spawn_standing(command: &mut Command) -> io::Result<Child> {
    inherit_nothing(command);
    #[allow(unsafe_code)]
    // SAFETY: the closure makes one system call, which is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(setsid().map(|_| ())?));
    }
    command.spawn()
}

/// Lets `command` run on the processors with these numbers only (`sched_setaffinity(2)`), with all
/// that it starts.
pub fn pin(command: &mut Command, cpus: &[u32]) {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu as usize);
    }
    #[allow(unsafe_code)]
    // SAFETY: the closure makes one system call on a value of its own, which is allowed between
    // fork and exec.
    unsafe {
        command.pre_exec(move || Ok(sched_setaffinity(None, &set)?));
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::ProcessIdentity;

    #[test]
    fn a_tied_child_dies_with_the_thread_that_started_it() {
        let child = std::thread::spawn(|| {
            let child = spawn_tied(Command::new("sleep").arg("60"), Signal::KILL).unwrap();
            let identity = ProcessIdentity::for_pid(child.id()).unwrap();
            (child, identity)
        });
        let (mut child, _identity) = child.join().unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while child.try_wait().unwrap().is_none() {
            assert!(
                Instant::now() < deadline,
                "the child outlived its parent thread"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
