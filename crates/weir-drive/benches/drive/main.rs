//! Cost and accuracy of the emulated drive, measured from outside by fio.
//!
//! `make bench-drive` prints a table and writes JSON. What is compared alternates (A B A B), so
//! that a change of the machine's mood falls on both. Run it while nothing else runs.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be made ends with the reason"
)]

mod accuracy;
mod bare;
mod compression;
mod fio;
mod machine;
#[path = "../../tests/support/mod.rs"]
mod support;
mod throughput;

use serde_json::{Value, json};

fn main() {
    // `cargo bench` passes `--bench`.
    let out = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    println!("load at the start: {}", load());
    let machine = machine::measure();
    let round_trips = throughput::round_trips();
    let model = throughput::cost_of_the_model();
    let trace = throughput::cost_of_a_trace();
    let accuracy = accuracy::measure();
    let compression = compression::measure();
    println!("load at the end: {}", load());
    let result = json!({
        "machine": machine,
        "round_trips": round_trips,
        "cost_of_the_model": model,
        "cost_of_a_trace": trace,
        "accuracy": accuracy,
        "compression": compression,
        "fio": fio::version(),
        "kernel": std::fs::read_to_string("/proc/version").unwrap().trim(),
    });
    if let Some(out) = out {
        std::fs::write(&out, serde_json::to_string_pretty(&result).unwrap()).unwrap();
        println!("written to {out}");
    }
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Middle of the sorted values.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Median, smallest and largest.
fn spread(values: &[f64]) -> Value {
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(0.0, f64::max);
    json!({ "median": median(values), "min": smallest, "max": largest })
}
