//! The commands of a run as a reader would type them, for the result: no secrets, no paths of ours.

use std::fmt::Write as _;
use std::path::Path;

use weir_drive::MountOptions;
use weir_load::LoadPlan;
use weir_model::{LoadSpec, Warmup};
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
/// steady is told with its most.
pub(crate) fn load(plan: &LoadPlan, warmup: Warmup) -> String {
    weir_sysbench::command_line(&LoadPlan {
        load: LoadSpec {
            warmup: warmup.most().0.into(),
            ..plan.load.clone()
        },
        ..plan.clone()
    })
}

/// `command` without the run's own `directory`.
pub(crate) fn anonymous(command: &str, directory: &Path) -> String {
    command.replace(&directory.display().to_string(), RUN_DIRECTORY)
}
