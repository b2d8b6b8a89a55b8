//! Accuracy of the sampled estimate of compression, and its cost, on real data.
//!
//! `cargo run --release -p weir-lab --bin compression_sampled -- TABLE.ibd ...` writes the pages of
//! each file in random order, 10,000 a second as a busy server does, for 5 seconds: once through the
//! sampler, as a drive does, and once compressing all of them.

#![allow(clippy::print_stdout, missing_docs)] // What a measurement is for.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use weir_drive::{BlockCompressor, CompressionSampler};
use weir_model::BlockCost;
use weir_model::FileKind;

const PAGE: usize = 16_384;
const PAGES_PER_SECOND: u64 = 10_000;
const SECONDS: u64 = 5;
const SEED: u64 = 20_261_120;

fn main() -> std::io::Result<()> {
    println!("seed {SEED}; {PAGES_PER_SECOND} pages of 16 KiB a second, {SECONDS} s for each file");
    for file in std::env::args().skip(1) {
        let data = std::fs::read(&file)?;
        let pages: Vec<&[u8]> = data.chunks_exact(PAGE).collect();
        if pages.is_empty() {
            println!("{file}: no page in it");
            continue;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let written: Vec<&[u8]> = (0..PAGES_PER_SECOND * SECONDS)
            .map(|_| pages[random.random_range(0..pages.len())])
            .collect();
        let began = cpu_s(ClockId::ThreadCPUTime);
        let exact = exact_fraction(&written);
        let exact_cpu_s = cpu_s(ClockId::ThreadCPUTime) - began;
        let (sampled, sampled_cpu_s) = sampled_fraction(&written)?;
        println!(
            "{file}: {} pages; exact {exact:.4} ({:.0} % of a core), sampled {sampled:.4} ({:.2} % \
             of a core), error {:+.2} %",
            pages.len(),
            exact_cpu_s / SECONDS as f64 * 100.0,
            sampled_cpu_s / SECONDS as f64 * 100.0,
            (sampled / exact - 1.0) * 100.0
        );
    }
    Ok(())
}

fn exact_fraction(written: &[&[u8]]) -> f64 {
    let mut compressor = BlockCompressor::default();
    let sum: f64 = written.iter().map(|page| compressor.fraction(page)).sum();
    sum / written.len() as f64
}

/// The mean of what the sampler said of each write, and the processor seconds of all that it does.
fn sampled_fraction(written: &[&[u8]]) -> std::io::Result<(f64, f64)> {
    let sampler = CompressionSampler::start(BlockCost::default())?;
    let (all, own) = (
        cpu_s(ClockId::ProcessCPUTime),
        cpu_s(ClockId::ThreadCPUTime),
    );
    let began = Instant::now();
    let mut sum = 0.0;
    let mut asking = Duration::ZERO;
    // A millisecond's pages at a time: sleeping for each would cost more than what is measured.
    for (millisecond, pages) in (0_u64..).zip(written.chunks((PAGES_PER_SECOND / 1000) as usize)) {
        let due = Duration::from_millis(millisecond);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        let asked = Instant::now();
        for page in pages {
            let now = began.elapsed().as_nanos() as u64 + 1_000_000_000;
            sampler.observe(FileKind::Data, page, now);
            sum += sampler.fraction(FileKind::Data, page);
        }
        asking += asked.elapsed();
    }
    let pacing_s = cpu_s(ClockId::ThreadCPUTime) - own;
    let of_worker_s = cpu_s(ClockId::ProcessCPUTime) - all - pacing_s;
    Ok((
        sum / written.len() as f64,
        of_worker_s + asking.as_secs_f64(),
    ))
}

fn cpu_s(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
