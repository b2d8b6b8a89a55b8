//! A program run to its end, and what it cost.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Output and usage of a program.
#[derive(Debug)]
pub(crate) struct ToolOutput {
    pub(crate) output: String,
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) resident_bytes_max: u64,
}

/// Lets children open as many files as this user may.
pub(crate) fn raise_file_limit() -> anyhow::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, limit).context("while raising the limit of open files")
}

/// Runs `command` to its end.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<ToolOutput> {
    let name = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("while starting {name}"))?;
    let pipe = child.stdout.take().context("a pipe was asked for")?;
    let output = std::io::read_to_string(pipe)?;
    let (status, usage) = wait(child.id())?;
    ensure!(status == 0, "{name} ended with status {status}:\n{output}");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(ToolOutput {
        output,
        wall_s: began.elapsed().as_secs_f64(),
        cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        resident_bytes_max: usage.ru_maxrss as u64 * 1024,
    })
}

/// Waits for a child; its status and what it used, which the standard library does not tell.
#[allow(unsafe_code)] // rustix has no wait4
fn wait(process: u32) -> anyhow::Result<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is a valid one.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live values of the types that the call fills in; the process is
    // a child that nobody has waited for.
    let waited = unsafe { libc::wait4(process.cast_signed(), &raw mut status, 0, &raw mut usage) };
    if waited < 0 {
        bail!(std::io::Error::last_os_error());
    }
    Ok((status, usage))
}
