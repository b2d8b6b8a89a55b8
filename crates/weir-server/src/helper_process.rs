//! Short-lived helper processes: run to the end, with a deadline, output kept.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use weir_process::{Signal, spawn_tied};

/// Output of a process, and its success.
#[derive(Debug)]
pub(crate) struct HelperOutput {
    /// Exit status 0.
    pub(crate) success: bool,
    /// Standard output.
    pub(crate) output: String,
}

/// Runs `command` to its end with `input` on its standard input; it is killed at `limit`, which is
/// an error. Standard error goes where `command` says.
pub(crate) fn run_within(
    command: &mut Command,
    input: Vec<u8>,
    limit: Duration,
) -> io::Result<HelperOutput> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = spawn_tied(command, Signal::KILL)?;
    let mut stdin = child
        .stdin
        .take()
        .expect("invariant: stdin was asked to be a pipe");
    let mut pipe = child
        .stdout
        .take()
        .expect("invariant: stdout was asked to be a pipe");
    // Beside the wait: a pipe holds 64 KiB, and a full one would stop the process. One that ends
    // early closes its input; its own words then say more than "broken pipe".
    thread::spawn(move || stdin.write_all(&input));
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).map(|_| bytes)
    });
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no end within {} s", limit.as_secs()),
            ));
        }
        thread::sleep(Duration::from_millis(2));
    };
    let bytes = reader
        .join()
        .map_err(|_| io::Error::other("the reader of its output ended early"))??;
    Ok(HelperOutput {
        success: status.success(),
        output: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_larger_than_a_pipe_is_kept_whole() {
        let mut command = Command::new("head");
        command.args(["-c", "300000", "/dev/zero"]);
        let finished = run_within(&mut command, Vec::new(), Duration::from_mins(1)).unwrap();
        assert!(finished.success);
        assert_eq!(finished.output.len(), 300_000);
    }

    #[test]
    fn input_larger_than_a_pipe_arrives_whole() {
        let mut command = Command::new("wc");
        command.arg("-c");
        let input = vec![b'x'; 300_000];
        let finished = run_within(&mut command, input, Duration::from_mins(1)).unwrap();
        assert_eq!(finished.output.trim(), "300000");
    }

    #[test]
    fn a_process_that_hangs_is_ended() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let error = run_within(&mut command, Vec::new(), Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
