//! Names of runs, which tell whose they are.

use std::sync::OnceLock;

use weir_process::monotonic_ns;

/// The name of a new run of this process.
pub(crate) fn new_run() -> String {
    format!("{}-{:x}", of_this_process(), monotonic_ns())
}

/// True of a run that this process leads or has led.
pub(crate) fn is_own(run: &str) -> bool {
    run.split('-').next() == Some(of_this_process())
}

/// The beginning of the names of this process's runs. The moment of the first one tells processes apart.
fn of_this_process() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| format!("{:x}", monotonic_ns() ^ u64::from(std::process::id()) << 40))
}
