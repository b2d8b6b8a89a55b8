//! Disks, cloud volumes and tails: behaviour that data sheets do not have a figure for.

use weir_model::{Bytes, DeviceModel, FileKind, Nanoseconds, Op, OpKind, Scale};

use super::Model;
use super::closed_loop::{Job, random, run};
use crate::profiles;

const MILLISECOND: Nanoseconds = 1_000_000;

fn model(name: &str) -> Model {
    let mut profile = profiles::embedded(name).unwrap();
    // Arms that go over the whole disk, in no order: what a data sheet has figures for.
    if let Some(disks) = &mut profile.disks {
        disks.seek_min_us = None;
        disks.sorted = 1;
    }
    Model::new(&profile, Scale::FULL)
}

fn op(kind: OpKind, page: u64) -> Op {
    Op {
        kind,
        file: 1,
        file_kind: FileKind::Data,
        offset: page * 4096,
        bytes: 4096,
        compressed_fraction: 1.0,
    }
}

/// Latencies in microseconds of random operations that follow one another from `now` on.
fn one_by_one(model: &mut Model, kind: OpKind, now: &mut Nanoseconds, count: u64) -> Vec<f64> {
    let random = (0..count).map(|number| op(kind, number * 7919 % 1_000_003));
    random
        .map(|op| {
            let began = *now;
            *now = model.submit(&op, began);
            (*now - began) as f64 / 1e3
        })
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_battery_backed_cache_absorbs_writes_until_it_is_full() {
    let mut raid = model("raid10-8x15k-bbu");
    let mut now = 0;
    let fitting = (256 << 20) / 4096;
    let absorbed = one_by_one(&mut raid, OpKind::Write, &mut now, fitting);
    assert!((mean(&absorbed) - 75.0).abs() < 1.0, "{}", mean(&absorbed));
    // What the disks drained meanwhile has room as well.
    one_by_one(&mut raid, OpKind::Write, &mut now, fitting / 10);
    let waiting = one_by_one(&mut raid, OpKind::Write, &mut now, 1000);
    let disks_us = 1e6 / 750.0;
    assert!(
        (mean(&waiting) / disks_us - 1.0).abs() < 0.1,
        "{}",
        mean(&waiting)
    );
}

#[test]
fn reads_wait_for_the_arms_that_write_and_hold_up_the_drain() {
    let mut raid = model("raid10-8x15k-bbu");
    let mut now = 0;
    let alone = mean(&one_by_one(&mut raid, OpKind::Read, &mut now, 1000));
    one_by_one(&mut raid, OpKind::Write, &mut now, 20_000);
    let drained_at = raid.device.drained_at();
    let beside = mean(&one_by_one(&mut raid, OpKind::Read, &mut now, 1000));
    assert!((alone - 4900.0).abs() < 100.0, "{alone}");
    assert!(
        (beside / alone - 1.5).abs() < 0.05,
        "{beside}, alone {alone}"
    );
    let held_up_ns = raid.device.drained_at() - drained_at;
    assert!((held_up_ns as f64 / (1000.0 / 1520.0 * 1e9) - 1.0).abs() < 0.01);
}

#[test]
fn disks_read_on_without_a_seek() {
    let mut raid = model("raid10-8x15k-bbu");
    raid.submit(&op(OpKind::Read, 10), 0);
    let now = 100 * MILLISECOND;
    assert!(raid.submit(&op(OpKind::Read, 11), now) - now < MILLISECOND / 10);
    assert!(raid.submit(&op(OpKind::Read, 13), now) - now > 2 * MILLISECOND);
}

/// Alibaba Cloud: min(1800 + 50 x GiB, 50,000) and min(120 + 0.5 x GiB, 350).
#[test]
fn an_essd_is_as_fast_as_its_size_allows_for_reads_and_writes_together() {
    for (gib, iops, mb_per_s) in [
        (20, 2800.0, 130.0),
        (100, 6800.0, 170.0),
        (2000, 50e3, 350.0),
    ] {
        let mut profile = profiles::embedded("alibaba-essd-pl1").unwrap();
        profile.capacity = Bytes(gib << 30);
        for kind in [OpKind::Read, OpKind::Write] {
            let job = |bytes| Job {
                operations: 20_000,
                ..random(kind, bytes, 64)
            };
            let small = run(&profile, Scale::FULL, job(4096)).per_second;
            assert!((small / iops - 1.0).abs() < 0.02, "{gib} GiB: {small}");
            let large = run(&profile, Scale::FULL, job(262_144)).bytes_per_second / 1e6;
            assert!((large / mb_per_s - 1.0).abs() < 0.02, "{gib} GiB: {large}");
        }
        let mut volume = Model::new(&profile, Scale::FULL);
        for number in 0..10_000 {
            volume.submit(&op(OpKind::Read, number), 0);
            volume.submit(&op(OpKind::Write, number), 0);
        }
        let done_s = volume.submit(&op(OpKind::Read, 0), 0) as f64 / 1e9;
        assert!((done_s * iops / 20_000.0 - 1.0).abs() < 0.02, "{done_s}");
    }
}

/// Burst credit is saved at the volume's rate, so it lasts as long at any scale.
#[test]
fn burst_credit_is_spent_after_the_same_time_at_every_scale() {
    for scale in ["1", "1/25"] {
        let mut profile = profiles::embedded("aws-gp3").unwrap();
        profile.throttle.as_mut().unwrap().iops.burst_credit = 30_000.0;
        let mut volume = Model::new(&profile, scale.parse().unwrap());
        // Twice what is provisioned: the credit lasts ten seconds.
        let gap_ns = 1e9 / (6000.0 * scale.parse::<Scale>().unwrap().factor());
        let first_late = (1_u64..200_000).find_map(|number| {
            let now = (number as f64 * gap_ns) as Nanoseconds;
            let done = volume.submit(&op(OpKind::Read, number * 7919 % 1_000_003), now);
            (done - now > 10 * MILLISECOND).then_some(now)
        });
        let lasted_s = first_late.unwrap() as f64 / 1e9;
        assert!((lasted_s / 10.0 - 1.0).abs() < 0.15, "{scale}: {lasted_s}");
    }
}

#[test]
fn a_volume_at_its_limit_is_busy_although_what_is_behind_it_is_not() {
    let mut volume = model("aws-gp3");
    let mut clients = [0; 64];
    for number in 0..30_000 {
        let client = &mut clients[number as usize % 64];
        *client = volume.submit(&op(OpKind::Read, number * 7919 % 1_000_003), *client);
    }
    let usage = volume.usage(clients[0]);
    let elapsed_s = clients[0] as f64 / 1e9;
    assert!(
        (usage.read_busy_s / elapsed_s - 1.0).abs() < 0.02,
        "{usage:?}, {elapsed_s}"
    );
    assert!(usage.write_busy_s < 0.01, "{usage:?}");
}

#[test]
fn writes_in_between_take_the_arms_away_from_a_scan() {
    let mut raid = model("raid10-8x15k-bbu");
    raid.submit(&op(OpKind::Read, 10), 0);
    raid.submit(&op(OpKind::Write, 5000), 100 * MILLISECOND);
    let now = 100 * MILLISECOND;
    assert!(raid.submit(&op(OpKind::Read, 11), now) - now > 2 * MILLISECOND);
}

/// anandtech 11930: 60 us at 99.999 % and queue depth 1, where flash has milliseconds.
#[test]
fn optane_has_shorter_tails_than_flash() {
    let longest_of = |name| {
        let reads = one_by_one(&mut model(name), OpKind::Read, &mut 0, 400_000);
        let mut reads = reads;
        reads.sort_by(f64::total_cmp);
        (reads[reads.len() / 100 * 99], reads[reads.len() - 4])
    };
    let (optane_p99, optane_p99999) = longest_of("intel-optane-p4800x");
    assert!((optane_p99 / 10.0 - 1.0).abs() < 0.05, "{optane_p99}");
    assert!((40.0..=61.0).contains(&optane_p99999), "{optane_p99999}");
    // At queue depth 16: 150 us (data sheet), 81 us (measured).
    let mut drive = model("intel-optane-p4800x");
    let mut clients = [0; 16];
    let mut reads: Vec<_> = (0..400_000_usize)
        .map(|number| {
            let client = &mut clients[number % 16];
            let began = *client;
            *client = drive.submit(&op(OpKind::Read, number as u64 * 7919 % 1_000_003), began);
            *client - began
        })
        .collect();
    reads.sort_unstable();
    let at_depth_us = reads[reads.len() - 4] as f64 / 1e3;
    assert!((60.0..=150.0).contains(&at_depth_us), "{at_depth_us}");
    let (flash_p99, flash_p99999) = longest_of("intel-p3700-400gb");
    assert!(flash_p99 > 9.0 * optane_p99 && flash_p99999 > 10.0 * optane_p99999);
}
