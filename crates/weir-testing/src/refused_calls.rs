//! System calls that a container's profile refuses, refused here.

#![allow(
    unsafe_code,
    reason = "a filter of system calls is installed between fork and exec"
)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets the `calls` of what `command` starts fail with `EPERM`, as Docker's and Podman's profiles do
/// (`seccomp(2)`).
pub fn refuse_calls<'a>(command: &'a mut Command, calls: &[libc::c_long]) -> &'a mut Command {
    let mut program = vec![instruction(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        0,
    )];
    for call in calls {
        let is = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        program.push(instruction(is, 1, *call as u32));
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        program.push(instruction(libc::BPF_RET | libc::BPF_K, 0, refused));
    }
    let allowed = libc::SECCOMP_RET_ALLOW;
    program.push(instruction(libc::BPF_RET | libc::BPF_K, 0, allowed));
    // SAFETY: the closure makes system calls on values of its own and allocates nothing.
    unsafe { command.pre_exec(move || install(&program)) }
}

/// An instruction of the kernel's packet filter; a jump passes over `jump_else` instructions if it is not so.
fn instruction(code: u32, jump_else: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: jump_else,
        k,
    }
}

fn install(program: &[libc::sock_filter]) -> io::Result<()> {
    let filter = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: the calls read a live program.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                0,
                &raw const filter,
            ) == 0
    };
    installed.then_some(()).ok_or_else(io::Error::last_os_error)
}
