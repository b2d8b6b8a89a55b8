//! Cost of the model itself: nanoseconds of processor time for each operation, by profile.
//!
//! `cargo run --release -p weir-lab --bin model_cost [-- PROFILE ...]`: random 16 KiB
//! operations at queue depth 32 in virtual time, 70 % of them reads, over 8 GB of data on a drive of
//! 16 GB.

#![allow(clippy::print_stdout, missing_docs)] // What a measurement is for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_drive::{DriveError, Model, profiles};
use weir_model::{Compression, DeviceModel, DriveProfile, FileKind, Op, OpKind, Scale};

const OPERATIONS: usize = 1_000_000;
const CAPACITY: u64 = 16_000_000_000;
const PAGE: u64 = 16_384;

fn main() -> Result<(), DriveError> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let mut found = profiles::list(None)?;
    found.retain(|profile| named.is_empty() || named.contains(&profile.name));
    let bare_ns = loop_ns(|_, now| now + 100_000);
    println!("the loop without a model: {bare_ns:.0} ns an operation");
    for profile in found {
        let began = Instant::now();
        let mut model = Model::with_capacity(&profile, Scale::FULL, CAPACITY);
        let made_ms = began.elapsed().as_secs_f64() * 1e3;
        let fraction = match profile.compression {
            Compression::None => 1.0,
            Compression::Zlib4k => 0.45,
        };
        let ns = loop_ns(|op, now| {
            let compressed_fraction = fraction;
            model.submit(
                &Op {
                    compressed_fraction,
                    ..*op
                },
                now,
            )
        });
        println!("{}", line(&profile, ns - bare_ns, made_ms));
    }
    Ok(())
}

fn line(profile: &DriveProfile, ns: f64, made_ms: f64) -> String {
    format!("{:34} {ns:5.0} ns, made in {made_ms:.0} ms", profile.name)
}

fn loop_ns(mut submit: impl FnMut(&Op, u64) -> u64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut clients: BinaryHeap<Reverse<u64>> = std::iter::repeat_n(Reverse(1000), 32).collect();
    let began = Instant::now();
    for _ in 0..OPERATIONS {
        let Some(Reverse(now)) = clients.pop() else {
            break;
        };
        let op = Op {
            kind: if random.random_range(0..10) < 7 {
                OpKind::Read
            } else {
                OpKind::Write
            },
            file: 1,
            file_kind: FileKind::Data,
            offset: random.random_range(0..CAPACITY / 2 / PAGE) * PAGE,
            bytes: PAGE,
            compressed_fraction: 1.0,
        };
        clients.push(Reverse(submit(&op, now)));
    }
    began.elapsed().as_secs_f64() * 1e9 / OPERATIONS as f64
}
