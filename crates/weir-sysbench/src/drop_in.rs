//! Refusals under the name `sysbench`, in sysbench's form.

use super::value::UsageError;

/// Answer to a refused command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// On standard output.
    pub stdout: String,
    /// On standard error.
    pub stderr: String,
}

/// The answer to a command line that cannot be understood, in sysbench's form; the exit code is 1.
pub fn refusal(error: &UsageError) -> Refusal {
    let on_stdout = |stdout: String| Refusal {
        stdout,
        ..Refusal::default()
    };
    let on_stderr = |stderr: String| Refusal {
        stderr,
        ..Refusal::default()
    };
    match error {
        UsageError::UnknownOption { name, .. } => on_stderr(format!("invalid option: --{name}\n")),
        UsageError::Value { name, value, .. } => match name.replace('_', "-").as_str() {
            "rand-type" => on_stdout(format!(
                "FATAL: Invalid random numbers distribution: {value}.\n"
            )),
            "threads" if value == "0" => {
                on_stdout(format!("FATAL: Invalid value for --threads: {value}.\n\n"))
            }
            name => on_stderr(format!(
                "Invalid value for the '{name}' option: '{value}'\n"
            )),
        },
        UsageError::Argument(word) => {
            on_stderr(format!("Unrecognized command line argument: {word}\n"))
        }
        other => on_stdout(format!("FATAL: {other}\n")),
    }
}
