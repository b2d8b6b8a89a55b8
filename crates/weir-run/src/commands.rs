//! The commands of a run as a reader would type them, for the result: no secrets, no paths of ours.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use weir_drive::MountOptions;
use weir_load::LoadPlan;
use weir_model::{LoadSpec, REPLAY_OPTIONS, ReplaySpec, Warmup};
use weir_server::{ServerBinary, StartOptions};

use crate::RunError;
use weir_judge::RUN_DIRECTORY;

/// `weir drive mount ...`.
pub(crate) fn mount(options: &MountOptions) -> String {
    let words = options.to_arguments();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    format!("weir {}", words.join(" "))
}

/// The server with every option that Weir gives it; sockets, paths and the log are its own affair.
pub(crate) fn server(binary: &ServerBinary, options: &StartOptions) -> Result<String, RunError> {
    let variables = weir_server::translate(binary.flavor, binary.version, &options.variables)?;
    let program = binary.path.file_name().unwrap_or_default();
    let mut line = format!(
        "{} --no-defaults --datadir={}",
        program.to_string_lossy(),
        options.data_dir.display()
    );
    for (name, value) in variables {
        // Writing to a String cannot fail.
        let _ = write!(line, " --{name}={value}");
    }
    Ok(line)
}

/// `weir load ... run`, without the server's address. A warm-up that lasts until throughput is
/// steady has its longest time.
pub(crate) fn load(plan: &LoadPlan, warmup: Warmup) -> String {
    if let Some(replay) = &plan.load.replay {
        return of_capture(replay, plan.load.measure.0 + warmup.most().0);
    }
    weir_sysbench::command_line(&LoadPlan {
        load: LoadSpec {
            warmup: warmup.most().0.into(),
            ..plan.load.clone()
        },
        ..plan.clone()
    })
}

/// `weir load CAPTURE run`, for so long.
fn of_capture(replay: &ReplaySpec, length: Duration) -> String {
    let mut line = format!(
        "weir load {} run",
        weir_sysbench::shell_word(&replay.path.display().to_string())
    );
    for option in REPLAY_OPTIONS {
        if let Some(value) = option.written(replay) {
            let name = option.name.replace('_', "-");
            // Writing to a String cannot fail.
            let _ = write!(line, " --{name}={}", weir_sysbench::shell_word(&value));
        }
    }
    let of_capture = length.mul_f64(replay.speed);
    let _ = write!(line, " --length={}ms --allow-write", of_capture.as_millis());
    line
}

/// `command` without the run's own `directory`.
pub(crate) fn anonymous(command: &str, directory: &Path) -> String {
    command.replace(&directory.display().to_string(), RUN_DIRECTORY)
}
