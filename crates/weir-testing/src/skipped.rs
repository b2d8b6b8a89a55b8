//! Reasons of this machine to leave a test out.

/// Names on the standard error, and in the file that the environment calls `WEIR_SKIPS`, what a test leaves
/// out on this machine and why: `make test` counts and lists them.
#[allow(
    clippy::print_stderr,
    reason = "who runs the tests is told what was left out"
)]
pub fn skipped(what: &str, why: &str) {
    use std::io::Write as _;
    let line = format!("SKIPPED {what}: {why}\n");
    eprint!("{line}");
    let Some(path) = std::env::var_os("WEIR_SKIPS") else {
        return;
    };
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path);
    // The tests themselves do not fail for that.
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}
