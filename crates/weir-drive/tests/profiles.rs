//! Truth by construction: measured in virtual time, each shipped drive has the figures of its profile.
//!
//! The drives are as new (`flash.fill = 0`) and as large as the file, so that sequential writes cost
//! nothing more and random ones reach the steady state that data sheets are for.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

use std::path::Path;
use std::time::Duration;

use weir_drive::measure::{
    Facts, MeasureOptions, MeasuredProfile, ModelStorage, Plan, Samples, learn, measure,
    profile_text,
};
use weir_drive::{Model, profiles};
use weir_model::{Bytes, DriveProfile, Scale, WriteCache};

/// Bytes of the file, and of the drive.
const FILE_BYTES: u64 = 256 << 20;

/// Profile whose cache answers reads, which then have other limits than writes.
const BEHIND_A_CACHE: &str = "alibaba-essd-pl1-io-acceleration";

/// Most bytes that are written.
const WRITE_LIMIT: u64 = 24 << 30;

/// Random 4 KiB writes a second in steady state, as their makers or publications say.
#[rustfmt::skip]
const RANDOM_WRITES: [(&str, f64); 21] = [
    ("alibaba-essd-pl1", 50e3),
    ("aws-gp3", 3e3),
    ("alibaba-essd-pl1-io-acceleration", 50e3),
    ("aws-io2", 64e3),
    ("consumer-tlc", 30e3),
    ("fusionio-iodrive-160-slc", 135e3),
    ("fusionio-iodrive-320-mlc", 29.4e3),
    ("intel-optane-p4800x", 500e3),
    ("intel-p3700-2tb", 175e3),
    ("intel-p3700-400gb", 75e3),
    ("intel-p4610", 220e3),
    ("intel-x25e-32gb", 3.3e3),
    // Eight arms, two copies, 4.9 ms.
    ("raid10-8x15k-bbu", 0.816e3),
    ("scaleflux-csd2000", 147e3),
    ("scaleflux-csd3000", 180e3),
    ("azure-premium-ssd-v2", 3e3),
    ("gcp-hyperdisk-balanced", 50e3),
    ("micron-7600-max", 675e3),
    ("samsung-990-pro-2tb", 47e3),
    ("samsung-pm9a3", 200e3),
    // Its single-bit cache is 30 % of it, and takes all that a measurement writes.
    ("wd-black-sn850x-1tb", 272e3),
];

/// The profile that follows from measuring a drive of `profile`, and its text.
fn learned(profile: &DriveProfile) -> (MeasuredProfile, String) {
    let (learned, samples) = learned_and_samples(profile, FILE_BYTES, 60);
    let text = profile_text(&learned, &samples, "a day").unwrap();
    (learned, text)
}

fn learned_with(profile: &DriveProfile, file_bytes: u64, budget_s: u64) -> MeasuredProfile {
    learned_and_samples(profile, file_bytes, budget_s).0
}

fn learned_and_samples(
    profile: &DriveProfile,
    file_bytes: u64,
    budget_s: u64,
) -> (MeasuredProfile, Samples) {
    learned_within(profile, file_bytes, budget_s, WRITE_LIMIT)
}

fn learned_within(
    profile: &DriveProfile,
    file_bytes: u64,
    budget_s: u64,
    write_limit: u64,
) -> (MeasuredProfile, Samples) {
    let model = Model::with_capacity(profile, Scale::FULL, file_bytes);
    let facts = Facts {
        device: profile.title.clone(),
        capacity_bytes: file_bytes,
        ..Facts::default()
    };
    let mut storage = ModelStorage::new(model, facts.clone(), file_bytes);
    let options = MeasureOptions {
        budget: Duration::from_secs(budget_s),
        write_limit: Bytes(write_limit),
        size: Bytes(file_bytes),
    };
    let plan = Plan::new(&options, 1 << 50).unwrap();
    let samples = measure(&mut storage, &plan, &mut |_| {}).unwrap();
    (learn(&samples, &facts).unwrap(), samples)
}

fn shipped(name: &str) -> DriveProfile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives");
    let mut profile = profiles::load(name, Some(&folder)).unwrap();
    // Arms over the whole disk, in no order: what is sorted depends on how much waits, and a measurement asks at many depths.
    if let Some(disks) = &mut profile.disks {
        (disks.seek_min_us, disks.sorted) = (None, 1);
    }
    if let Some(flash) = &mut profile.flash {
        flash.fill = 0.0;
    }
    profile
}

/// Returns the differences of more than `allowed`.
fn differences(name: &str, pairs: &[(&str, f64, f64)], allowed: f64) -> Vec<String> {
    // What is no number is off, too.
    let off = |(_, found, wanted): &&(&str, f64, f64)| {
        let deviation = (found / wanted - 1.0).abs();
        deviation.is_nan() || deviation > allowed
    };
    let words = |(key, found, wanted): &(&str, f64, f64)| {
        format!("{name}: {key} {found:.1}, not {wanted:.1}")
    };
    pairs.iter().filter(off).map(words).collect()
}

/// Random 4 KiB writes a second that a learned profile stands for.
fn random_writes_per_s(profile: &DriveProfile) -> f64 {
    let write = &profile.write;
    let by_media = write.bandwidth_mb_per_s * 1e6 / (4096.0 * write.amplification_random);
    let by_operations = write.iops_max_random.unwrap_or(f64::INFINITY);
    let by_arms = profile.disks.as_ref().map_or(f64::INFINITY, |disks| {
        let copies = if disks.mirrored { 2.0 } else { 1.0 };
        f64::from(disks.count) * 1e6 / (disks.seek_us + disks.rotation_us / 2.0) / copies
    });
    let by_throttle = profile
        .throttle
        .as_ref()
        .map_or(f64::INFINITY, |limit| limit.iops.base);
    [
        by_media,
        by_operations,
        by_arms,
        by_throttle,
        write.iops_max,
    ]
    .into_iter()
    .fold(f64::INFINITY, f64::min)
}

/// The figures of `profile` that a measurement can see.
fn missed(name: &str) -> Vec<String> {
    let truth = shipped(name);
    let (learned, text) = learned(&truth);
    let found = &learned.profile;
    let limit = |of: fn(&weir_model::Throttle) -> &weir_model::ThrottleRate| {
        truth.throttle.as_ref().map_or(f64::INFINITY, |throttle| {
            of(throttle).per_second(truth.capacity.0)
        })
    };
    let (iops, mb_per_s) = (limit(|limit| &limit.iops), limit(|limit| &limit.mb_per_s));
    // One read says how fast its bytes come, if a limit was found.
    let seen_mb_per_s = found.throttle.as_ref().map_or(mb_per_s, |_| f64::INFINITY);
    // Bytes that have to go to the media in the end; a cache of single-bit blocks is emptied in between.
    let media = truth
        .slc
        .as_ref()
        .map_or(truth.write.bandwidth_mb_per_s, |slc| slc.bandwidth_mb_per_s);
    let mut pairs = vec![
        (
            "read.latency_us",
            found.read.latency_us,
            truth.read.latency_us,
        ),
        (
            "read.iops_max",
            found.read.iops_max,
            truth.read.iops_max.min(iops),
        ),
        (
            "read.bandwidth_mb_per_s",
            found.read.bandwidth_mb_per_s,
            truth.read.bandwidth_mb_per_s.min(seen_mb_per_s),
        ),
        (
            "write.latency_us",
            found.write.latency_us,
            truth.write.latency_us,
        ),
        (
            "write.iops_max",
            found.write.iops_max,
            truth.write.iops_max.min(iops),
        ),
        (
            "write.bandwidth_mb_per_s",
            found.write.bandwidth_mb_per_s,
            media.min(mb_per_s),
        ),
        (
            "flush.latency_us",
            found.flush.latency_us,
            truth.flush.latency_us,
        ),
    ];
    let sheet = RANDOM_WRITES.iter().find(|(known, _)| *known == name);
    if let Some((_, wanted)) = sheet {
        pairs.push(("random writes", random_writes_per_s(found), *wanted));
    }
    let buffer = truth.write.buffer.0 as f64;
    pairs.push(("write.buffer", found.write.buffer.0 as f64, buffer));
    if let Some(found) = &found.throttle {
        pairs.push(("throttle.iops", found.iops.base, iops));
        pairs.push(("throttle.mb_per_s", found.mb_per_s.base, mb_per_s));
    }
    // What is unknown has a word for it, and no figure.
    let is_known = |key: &str| {
        let why = learned.unknown.get(key);
        why.is_none_or(|why| why.starts_with("measured: "))
    };
    pairs.retain(|(key, ..)| is_known(key));
    let mut missed = differences(name, &pairs, 0.1);
    let is_told = learned.unknown.contains_key("throttle");
    if found.throttle.is_none() != is_told
        || (truth.throttle.is_none() != is_told && name != BEHIND_A_CACHE)
    {
        missed.push(format!("{name}: limits {:?}", found.throttle));
    }
    if found.write.cache != truth.write.cache {
        missed.push(format!("{name}: cache {:?}", found.write.cache));
    }
    if found.slc.is_some() {
        missed.push(format!(
            "{name}: a cache that begins empty: {:?}",
            found.slc
        ));
    }
    if found.disks.is_some() != truth.disks.is_some() {
        missed.push(format!("{name}: disks {:?}", found.disks));
    }
    // What is written is a profile, and measured again it is the same.
    missed.extend(missed_again(name, &learned, &text));
    missed
}

/// Figures that a drive with the learned profile shows otherwise.
fn missed_again(name: &str, first: &MeasuredProfile, text: &str) -> Vec<String> {
    let (second, _) = learned(&DriveProfile::parse("mine", text).unwrap());
    let value = |key: &str| {
        let figure = second.figures.iter().find(|figure| figure.key == key);
        figure.map_or(f64::NAN, |figure| figure.value)
    };
    let figures = first.figures.iter();
    let pairs: Vec<_> = figures
        .map(|figure| (figure.key, value(figure.key), figure.value))
        .collect();
    assert!(pairs.len() >= 4, "{name}: {pairs:?}");
    let mut missed = differences(&format!("{name} again"), &pairs, 0.1);
    if first.profile.write.cache != second.profile.write.cache {
        missed.push(format!("{name} again: another cache"));
    }
    missed
}

#[test]
fn every_shipped_drive_is_measured_as_its_profile_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let names: Vec<String> = files
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 25);
    let missed: Vec<String> = std::thread::scope(|scope| {
        let parts = names.chunks(8);
        let running: Vec<_> = parts
            .map(|part| {
                scope.spawn(|| {
                    part.iter()
                        .flat_map(|name| missed(name))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        running
            .into_iter()
            .flat_map(|part| part.join().unwrap())
            .collect()
    });
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_volatile_cache_is_told_from_a_protected_one() {
    for (cache, set) in [
        (WriteCache::Volatile, "volatile"),
        (WriteCache::PowerProtected, "power-protected"),
    ] {
        let profile = shipped("intel-p4610").with("write.cache", set).unwrap();
        assert_eq!(learned(&profile).0.profile.write.cache, cache);
    }
}

/// A cache of single-bit blocks shows as a drop of the first write.
#[test]
fn a_cache_of_single_bit_blocks_is_found() {
    let with = |name: &str, settings: &[(&str, &str)]| {
        let profile = settings
            .iter()
            .fold(shipped(name), |profile, (key, value)| {
                profile.with(key, value).unwrap()
            });
        learned_with(&profile, 4 << 30, 240).profile
    };
    let near = |what: &str, found: f64, wanted: f64| {
        assert!(
            (found / wanted - 1.0).abs() < 0.1,
            "{what}: {found}, not {wanted}"
        );
    };
    let slc = "{ capacity = 2_000_000_000, capacity_when_full = 2_000_000_000, bandwidth_mb_per_s = 2_500, \
               fold_mb_per_s = 100 }";
    let found = with("fusionio-iodrive-160-slc", &[("slc", slc)]);
    let cache = found.slc.unwrap();
    near("slc.capacity", cache.capacity.0 as f64, 2e9);
    near("slc.bandwidth_mb_per_s", cache.bandwidth_mb_per_s, 2500.0);
    near("slc.fold_mb_per_s", cache.fold_mb_per_s, 100.0);
    near(
        "write.bandwidth_mb_per_s",
        found.write.bandwidth_mb_per_s,
        600.0,
    );
}

/// Credit that a volume has saved up shows as a drop in the long goes, and the limits are those after it.
#[test]
fn a_volumes_limits_and_its_credit_are_found() {
    let truth = shipped("aws-gp3")
        .with("throttle.iops", "{ base = 3_000, burst_credit = 60_000 }")
        .and_then(|it| it.with("throttle.mb_per_s", "{ base = 131, burst_credit = 1_000 }"))
        .unwrap();
    let (found, samples) = learned_and_samples(&truth, 2 << 30, 240);
    let text = profile_text(&found, &samples, "a day").unwrap();
    let again = learned_with(&DriveProfile::parse("mine", &text).unwrap(), 2 << 30, 240);
    for (turn, profile) in [("first", &found.profile), ("second", &again.profile)] {
        let throttle = profile.throttle.as_ref().unwrap();
        let pairs = [
            ("throttle.iops.base", throttle.iops.base, 3e3),
            (
                "throttle.iops.burst_credit",
                throttle.iops.burst_credit,
                60e3,
            ),
            ("throttle.mb_per_s.base", throttle.mb_per_s.base, 131.0),
            (
                "throttle.mb_per_s.burst_credit",
                throttle.mb_per_s.burst_credit,
                1e3,
            ),
            ("read.iops_max", profile.read.iops_max, 16e3),
            (
                "write.bandwidth_mb_per_s",
                profile.write.bandwidth_mb_per_s,
                1049.0,
            ),
        ];
        let missed = differences(turn, &pairs, 0.1);
        assert!(missed.is_empty(), "{missed:#?}");
        assert!(profile.slc.is_none(), "{turn}");
    }
}
