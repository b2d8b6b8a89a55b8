//! A child without the open files and the signal settings of Weir's caller.
//!
//! `flock FILE weir server up NAME` would leave the lock with the server for as long as that runs, and a
//! script that reads Weir's pipe would wait for the server's end. A caller that blocks or ignores signals
//! (`nohup`, a supervisor) would do so for the server.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The first descriptor after standard input, output and error.
const FIRST: libc::c_int = 3;

/// Largest number of a signal on Linux.
const SIGNAL_MAX: libc::c_int = 64;

/// Lets `command` start with descriptors 0 to 2 only, no signal blocked and none ignored.
pub fn inherit_nothing(command: &mut Command) -> &mut Command {
    // Where close_range(2) is missing: before Linux 5.11, or filtered.
    let last = last_descriptor();
    #[allow(unsafe_code)]
    // SAFETY: the closure makes system calls on values of its own and allocates nothing, which is allowed
    // between fork and exec.
    unsafe {
        command.pre_exec(move || {
            default_signals();
            close_at_exec(last)
        })
    }
}

/// The largest number of an open file of this process.
fn last_descriptor() -> libc::c_int {
    let entries = fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.max().unwrap_or(FIRST)
}

/// Marks open files but the first three: they close when the program starts. Until then they are of use, such
/// as the pipe that says why a program cannot start.
fn close_at_exec(last: libc::c_int) -> io::Result<()> {
    #[allow(unsafe_code)]
    // SAFETY: the calls take numbers only.
    unsafe {
        let flags = libc::CLOSE_RANGE_CLOEXEC;
        if libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, flags) == 0 {
            return Ok(());
        }
        for number in FIRST..=last {
            if libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) < 0 {
                let error = io::Error::last_os_error();
                // Not every number is one of an open file.
                if error.raw_os_error() != Some(libc::EBADF) {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// Handlers end with the program that set them; what is ignored or blocked stays so.
fn default_signals() {
    const MASK_BYTES: usize = 8;
    // `struct sigaction` of the kernel: no handler, no flags, nothing masked.
    let default = [0_u64; 4];
    for number in 1..=SIGNAL_MAX {
        #[allow(unsafe_code)]
        // SAFETY: the call reads a live value as large as the kernel's. It fails for signals that cannot be ignored.
        // glibc's own function leaves out the two that glibc keeps for itself.
        unsafe {
            let old = std::ptr::null_mut::<u64>();
            libc::syscall(
                libc::SYS_rt_sigaction,
                number,
                &raw const default,
                old,
                MASK_BYTES,
            );
        }
    }
    #[allow(unsafe_code)]
    // SAFETY: zeros are the empty set; the call reads a live value of its type and cannot fail with it.
    unsafe {
        let none: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::{AsFd, AsRawFd};

    use rustix::io::{FdFlags, fcntl_setfd};

    use super::*;

    fn make_inheritable(file: &impl AsFd) {
        fcntl_setfd(file, FdFlags::empty()).unwrap();
    }

    /// The output of a program of coreutils, and the same without an inheritance.
    fn printed(program: &str, argument: &str) -> [String; 2] {
        let mut commands = [0, 1].map(|_| Command::new(program));
        for command in &mut commands {
            command.arg(argument);
        }
        inherit_nothing(&mut commands[1]);
        commands.map(|mut command| String::from_utf8(command.output().unwrap().stdout).unwrap())
    }

    #[test]
    fn a_child_has_three_files() {
        let file = fs::File::open("/proc/self/status").unwrap();
        make_inheritable(&file);
        let [inherits, inherits_nothing] = printed("ls", "/proc/self/fd");
        let number = file.as_raw_fd().to_string();
        assert!(inherits.lines().any(|line| line == number), "{inherits}");
        // The fourth is the directory that it lists.
        assert_eq!(inherits_nothing, "0\n1\n2\n3\n");
    }

    #[test]
    #[allow(unsafe_code)]
    fn a_child_ignores_and_blocks_no_signal() {
        // SAFETY: both calls read live values of their types; no other test uses these signals.
        unsafe {
            libc::signal(libc::SIGUSR2, libc::SIG_IGN);
            let mut blocked: libc::sigset_t = std::mem::zeroed();
            libc::sigaddset(&raw mut blocked, libc::SIGUSR1);
            let block = libc::SIG_BLOCK;
            libc::pthread_sigmask(block, &raw const blocked, std::ptr::null_mut());
        }
        let [inherits, inherits_nothing] = printed("cat", "/proc/self/status");
        let set = |status: &str, name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
        };
        assert_ne!(set(&inherits, "SigIgn:") & 1 << (libc::SIGUSR2 - 1), 0);
        assert_eq!(set(&inherits_nothing, "SigIgn:"), 0);
        assert_eq!(set(&inherits_nothing, "SigBlk:"), 0);
    }

    #[test]
    fn files_close_without_close_range_too() {
        let (mut reader, writer) = io::pipe().unwrap();
        make_inheritable(&writer);
        let mut command = Command::new("sleep");
        weir_testing::refuse_calls(command.arg("60"), &[libc::SYS_close_range]);
        let mut child = inherit_nothing(&mut command).spawn().unwrap();
        drop(writer);
        // The end comes once no other process holds the other end.
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
