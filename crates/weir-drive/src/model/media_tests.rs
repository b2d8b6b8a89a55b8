//! Tests of shared media: reads beside writes, a cache of single-bit blocks, flash that wears out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::{DeviceModel, DriveProfile, FileKind, Nanoseconds, Op, OpKind, Scale, SpaceState};

use super::Model;
use super::random::Random;
use crate::profiles;

fn op(kind: OpKind, offset: u64, bytes: u64, compressed_fraction: f64) -> Op {
    Op {
        kind,
        file: 1,
        file_kind: FileKind::Data,
        offset,
        bytes,
        compressed_fraction,
    }
}

/// Rates and latencies of a closed loop of clients that mix reads and writes.
struct MixedLoopResult {
    per_second: f64,
    read_us_p99: f64,
}

/// Random 4 KiB operations at queue depth 256, `read_share` of them reads.
fn mixed(profile: &DriveProfile, scale: Scale, read_share: f64, fraction: f64) -> MixedLoopResult {
    const OPERATIONS: usize = 200_000;
    let mut model = Model::new(profile, scale);
    let mut random = Random::seeded(9);
    let mut clients: BinaryHeap<Reverse<Nanoseconds>> =
        std::iter::repeat_n(Reverse(1000), 256).collect();
    let mut reads_us = Vec::new();
    let mut half_time = 0;
    let mut now = 0;
    for number in 0..OPERATIONS {
        Reverse(now) = clients.pop().unwrap();
        if number == OPERATIONS / 2 {
            half_time = now;
        }
        let kind = if random.unit() < read_share {
            OpKind::Read
        } else {
            OpKind::Write
        };
        let offset = random.below(1 << 24) * 4096;
        let done = model.submit(&op(kind, offset, 4096, fraction), now);
        if kind == OpKind::Read && number >= OPERATIONS / 2 {
            reads_us.push((done - now) as f64 / 1e3);
        }
        clients.push(Reverse(done));
    }
    reads_us.sort_by(f64::total_cmp);
    MixedLoopResult {
        per_second: (OPERATIONS / 2) as f64 / ((now - half_time) as f64 / 1e9),
        read_us_p99: reads_us[reads_us.len() * 99 / 100],
    }
}

fn profile(name: &str) -> DriveProfile {
    profiles::embedded(name).unwrap()
}

/// The maker of the CSD 3000 (blog): equal reads and writes saturate it at 950,000 operations with
/// 248 us at 99 % of the reads, a plain drive at 350,000 with 522 us. No profile has these figures
/// of a mix; the plain drive's program time was fitted to its 522 us.
#[test]
fn an_equal_mix_saturates_a_plain_drive_at_the_published_rate() {
    for scale in [Scale::FULL, "1/25".parse().unwrap()] {
        let plain = mixed(&profile("intel-p4610"), scale, 0.5, 1.0);
        let rate = plain.per_second / scale.factor();
        assert!((rate / 350e3 - 1.0).abs() < 0.1, "{scale}: {rate}");
        if scale == Scale::FULL {
            let p99 = plain.read_us_p99;
            assert!((p99 / 522.0 - 1.0).abs() < 0.15, "{p99}");
        }
    }
}

/// The maker's slides, SDC 2020: in a mix of 70 % reads, 170 % of what a plain drive does, of 2.5:1 data.
/// It is not reached, and cannot be: 170 % of the plain drive here is more than either reads when it does
/// nothing else, so the slides' plain drive did less in a mix than exact sharing of its media gives.
#[test]
fn data_that_compress_make_room_for_the_reads_beside_the_writes() {
    let plain = mixed(&profile("intel-p4610"), Scale::FULL, 0.7, 1.0);
    let compressing = mixed(&profile("scaleflux-csd2000"), Scale::FULL, 0.7, 0.4);
    let gain = compressing.per_second / plain.per_second;
    println!(
        "gain {gain}, p99 {} and {}",
        compressing.read_us_p99, plain.read_us_p99
    );
    assert!((1.3..=1.8).contains(&gain), "{gain}");
    let reads_alone = mixed(&profile("scaleflux-csd2000"), Scale::FULL, 1.0, 0.4);
    assert!(1.7 * plain.per_second > reads_alone.per_second);
}

/// Intel's data sheet (330566-010): up to 265,000 operations of which 70 % are reads; 460,000 reads or
/// 175,000 writes alone. Exact sharing of the media is 15 % above.
#[test]
fn a_mix_of_reads_and_writes_is_near_its_data_sheet() {
    let found = mixed(&profile("intel-p3700-2tb"), Scale::FULL, 0.7, 1.0).per_second;
    assert!((found / 265e3 - 1.0).abs() < 0.2, "{found}");
}

/// Waits of a read beside writes at a tenth of the write bandwidth: nothing on 3D `XPoint`.
#[test]
fn reads_beside_writes_have_a_tail_on_flash_and_none_on_3d_xpoint() {
    let beside_writes = |name: &str| {
        let profile = profile(name);
        let mut model = Model::new(&profile, Scale::FULL);
        let mut random = Random::seeded(3);
        let gap_ns = (65_536e3 / (profile.write.bandwidth_mb_per_s * 0.1)) as Nanoseconds;
        let mut reads_us: Vec<_> = (1..100_000)
            .map(|number| {
                let now = number * gap_ns;
                model.submit(&op(OpKind::Write, (number % 4096) << 16, 65_536, 1.0), now);
                let offset = random.below(1 << 20) * 4096;
                let read_at = now + gap_ns / 2;
                (model.submit(&op(OpKind::Read, offset, 4096, 1.0), read_at) - read_at) as f64 / 1e3
            })
            .collect();
        reads_us.sort_by(f64::total_cmp);
        reads_us[reads_us.len() / 100 * 99] / profile.read.latency_us
    };
    let (flash, xpoint) = (
        beside_writes("intel-p3700-2tb"),
        beside_writes("intel-optane-p4800x"),
    );
    assert!(flash > 5.0 && xpoint < 1.5, "{flash}, {xpoint}");
}

fn mb_per_s(model: &mut Model, now: &mut Nanoseconds, at: u64, megabytes: u64) -> f64 {
    let began = *now;
    for number in 0..megabytes {
        *now = model.submit(
            &op(OpKind::Write, (at + number) * 1_000_000, 1_000_000, 1.0),
            *now,
        );
    }
    megabytes as f64 / ((*now - began) as f64 / 1e9)
}

#[test]
fn a_consumer_drive_falls_off_its_cliff_and_climbs_back_when_it_idles() {
    let mut profile = profile("consumer-tlc");
    profile.flash.as_mut().unwrap().fill = 0.0;
    let scale = "1/10".parse().unwrap();
    let mut model = Model::new(&profile, scale);
    let mut now = 0;
    let fresh = mb_per_s(&mut model, &mut now, 0, 3500);
    assert!((fresh / 250.0 - 1.0).abs() < 0.05, "{fresh}");
    // 42 GB of cache at a tenth; what was written made the drive 4 % fuller, and the cache smaller.
    mb_per_s(&mut model, &mut now, 3500, 1000);
    let fallen = mb_per_s(&mut model, &mut now, 4500, 1000);
    assert!((fallen / 100.0 - 1.0).abs() < 0.05, "{fallen}");
    // Twenty seconds fold 1.2 GB.
    now += 20_000_000_000;
    let again = mb_per_s(&mut model, &mut now, 5500, 1000);
    assert!((again / 250.0 - 1.0).abs() < 0.1, "{again}");
    let fallen = mb_per_s(&mut model, &mut now, 6500, 1000);
    assert!(fallen < 130.0, "{fallen}");
}

#[test]
fn a_full_consumer_drive_has_little_of_its_fast_cache() {
    let profile = profile("consumer-tlc");
    let mut model = Model::new(&profile, "1/10".parse().unwrap());
    // It was in use: nothing is left of the cache until it has idled.
    let mut now = 1_000_000;
    let used = mb_per_s(&mut model, &mut now, 0, 200);
    assert!(used < 110.0, "{used}");
    now += 60_000_000_000;
    mb_per_s(&mut model, &mut now, 200, 600);
    let after = mb_per_s(&mut model, &mut now, 800, 200);
    assert!(after < 110.0, "{after}");
}

/// Intel: 17 drive writes a day for five years.
#[test]
fn a_year_of_its_guaranteed_writes_uses_a_fifth_of_a_drive() {
    let mut profile = profile("intel-p3700-400gb");
    let capacity = 400_000_000;
    profile.flash.as_mut().unwrap().fill = 1.0;
    let mut model = Model::with_capacity(&profile, Scale::FULL, capacity);
    let mut random = Random::seeded(1);
    // A hundredth of a year of random writes; as small as it is, the drive ages as much.
    let writes = (capacity as f64 * 17.0 * 3.6525 / 16_384.0) as u64;
    for number in 0..writes {
        let offset = random.below(capacity / 16_384) * 16_384;
        model.submit(&op(OpKind::Write, offset, 16_384, 1.0), number * 1_000_000);
    }
    let usage = model.usage(writes * 1_000_000);
    let used = usage.endurance_used.unwrap();
    assert!((used / 0.002 - 1.0).abs() < 0.1, "{used}");
    assert_eq!(usage.host_written_bytes, writes * 16_384);
}

#[test]
fn a_compressing_drive_warns_and_then_has_no_room_for_more() {
    let profile = profile("scaleflux-csd2000");
    let mut model = Model::with_capacity(&profile, Scale::FULL, 64 << 20);
    let mut state = SpaceState::Normal;
    let mut seen = vec![state];
    let mut written = 0;
    while model.has_room(1 << 20) {
        model.submit(&op(OpKind::Write, written, 1 << 20, 0.6), written);
        written += 1 << 20;
        let now = model.usage(written).space_state;
        if now != state {
            state = now;
            seen.push(now);
        }
    }
    let share = written as f64 / f64::from(64 << 20);
    assert!((share * 0.6 - 0.99).abs() < 0.02, "{share}");
    assert_eq!(
        seen,
        [
            SpaceState::Normal,
            SpaceState::Warning,
            SpaceState::Critical
        ]
    );
    // Data that compress less, where there were some before, are refused as well.
    assert!(!model.has_room(1 << 20));
    model.submit(&op(OpKind::Discard, 0, 32 << 20, 1.0), written);
    assert!(model.has_room(16 << 20));
}
