//! Judges a replayed state whose files somebody changed: `judge_changed TEST STATE DIRECTORY`, where
//! `weir crash-test replay TEST --state STATE` made DIRECTORY. For questions like "does it recover without
//! this copy of the page?".
#![allow(
    clippy::print_stdout,
    reason = "it is a program, and this is its output"
)]

use std::path::Path;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [test, state, directory] = arguments.as_slice() else {
        return Err("usage: judge_changed TEST STATE DIRECTORY".into());
    };
    let result = weir_crash::judge_changed_state(
        Path::new(test),
        state.parse()?,
        Path::new("/dev/shm"),
        Path::new(directory),
        &AtomicBool::new(false),
    )?;
    println!("{}", serde_json::to_string_pretty(&result.judgement)?);
    Ok(())
}
