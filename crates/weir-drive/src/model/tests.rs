//! The data sheet's points, measured on the model in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::{DeviceModel, DriveProfile, FileKind, Nanoseconds, Op, OpKind, Scale};

use super::Model;
use super::closed_loop::{Job, assert_near, random, run};
use crate::profiles;

/// Without simulated pages, whose history each model of the drive would have to make first.
fn p4610() -> DriveProfile {
    with_amplification_of("intel-p4610")
}

fn csd2000() -> DriveProfile {
    with_amplification_of("scaleflux-csd2000")
}

fn with_amplification_of(name: &str) -> DriveProfile {
    let mut profile = profiles::embedded(name).unwrap();
    profile.flash = None;
    profile.write.amplification_random = 3.33;
    profile
}

fn scales() -> [Scale; 2] {
    [Scale::FULL, "1/25".parse().unwrap()]
}

#[test]
fn saturated_random_reads_give_the_data_sheets_iops_at_every_scale() {
    for scale in scales() {
        let seen = run(&p4610(), scale, random(OpKind::Read, 4096, 256));
        assert_near("IOPS", seen.per_second, 638_000.0 * scale.factor());
    }
}

#[test]
fn a_single_read_takes_the_data_sheets_latency_at_every_scale() {
    for scale in scales() {
        let seen = run(&p4610(), scale, random(OpKind::Read, 4096, 1));
        assert_near("latency", seen.latency_us_mean, 77.0);
    }
}

#[test]
fn large_reads_give_the_data_sheets_bandwidth() {
    for scale in scales() {
        let seen = run(&p4610(), scale, random(OpKind::Read, 131_072, 64));
        assert_near("bandwidth", seen.bytes_per_second, 3.2e9 * scale.factor());
    }
}

#[test]
fn saturated_random_writes_fall_to_the_steady_state_of_garbage_collection() {
    for scale in scales() {
        let seen = run(&p4610(), scale, random(OpKind::Write, 4096, 64));
        assert_near("IOPS", seen.per_second, 220_000.0 * scale.factor());
    }
}

#[test]
fn sequential_writes_give_the_data_sheets_bandwidth() {
    for scale in scales() {
        let job = random(OpKind::Write, 65_536, 32).sequential();
        let seen = run(&p4610(), scale, job);
        assert_near("bandwidth", seen.bytes_per_second, 3.0e9 * scale.factor());
    }
}

#[test]
fn a_single_write_that_finds_room_takes_the_data_sheets_latency() {
    let mut model = Model::new(&p4610(), "1/25".parse().unwrap());
    for number in 0..1000_u64 {
        // One write a millisecond: the buffer is always empty again.
        let now = 1_000_000 * (number + 1);
        let op = Op {
            kind: OpKind::Write,
            file: 1,
            file_kind: FileKind::Data,
            offset: (number * 7919) % 1000 * 4096,
            bytes: 4096,
            compressed_fraction: 1.0,
        };
        assert_eq!(model.submit(&op, now) - now, 18_000);
    }
}

#[test]
fn a_full_buffer_makes_writes_wait() {
    let scale = "1/25".parse().unwrap();
    let seen = run(&p4610(), scale, random(OpKind::Write, 16_384, 32));
    // Little's law: 32 in flight at the saturated rate.
    let wanted = 32.0 / seen.per_second * 1e6;
    assert!(seen.latency_us_mean > 1000.0, "{}", seen.latency_us_mean);
    assert_near("latency", seen.latency_us_mean, wanted);
}

#[test]
fn compression_gives_the_published_gain_over_a_plain_drive() {
    // ScaleFlux, SDC 2020: 2.5:1 data, 8 x QD32; 230 % for 4 KiB writes, 220 % for 16 KiB.
    for (bytes, published) in [(4096, 2.3), (16_384, 2.2)] {
        let plain = run(&p4610(), Scale::FULL, random(OpKind::Write, bytes, 256));
        let job = Job {
            compressed_fraction: 0.4,
            ..random(OpKind::Write, bytes, 256)
        };
        let compressing = run(&csd2000(), Scale::FULL, job);
        let gain = compressing.per_second / plain.per_second;
        assert!((gain / published - 1.0).abs() < 0.1, "{bytes}: {gain}");
    }
}

#[test]
fn a_volatile_cache_drains_before_a_flush_returns() {
    let mut profile = p4610();
    let write = Op {
        kind: OpKind::Write,
        file: 1,
        file_kind: FileKind::Data,
        offset: 0,
        bytes: 8 << 20,
        compressed_fraction: 1.0,
    };
    let flush = Op {
        kind: OpKind::Flush,
        bytes: 0,
        ..write
    };
    let mut flush_time = |cache| {
        profile.write.cache = cache;
        let mut model = Model::new(&profile, Scale::FULL);
        model.submit(&write, 1000);
        model.submit(&flush, 1000) - 1000
    };
    let drain_ns = f64::from(8 << 20) / 3.0;
    assert!((flush_time(weir_model::WriteCache::Volatile) as f64) > drain_ns);
    assert!((flush_time(weir_model::WriteCache::PowerProtected) as f64) < drain_ns / 10.0);
}

#[test]
fn usage_is_one_second_per_second_at_saturation() {
    let profile = p4610();
    for kind in [OpKind::Read, OpKind::Write] {
        let mut model = Model::new(&profile, Scale::FULL);
        let mut clients: BinaryHeap<Reverse<Nanoseconds>> =
            std::iter::repeat_n(Reverse(0), 256).collect();
        let mut now = 0;
        for number in 0..200_000_u64 {
            Reverse(now) = clients.pop().unwrap();
            let op = Op {
                kind,
                file: 1,
                file_kind: FileKind::Data,
                offset: (number * 7919) % 200_000 * 4096,
                bytes: 4096,
                compressed_fraction: 1.0,
            };
            clients.push(Reverse(model.submit(&op, now)));
        }
        let usage = model.usage(now);
        let busy_s = if kind == OpKind::Read {
            usage.read_busy_s
        } else {
            usage.write_busy_s
        };
        assert_near("busy", busy_s, now as f64 / 1e9);
    }
}
