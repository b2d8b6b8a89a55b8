//! Truth by construction: measured in virtual time, each shipped drive has the figures of its profile.
//!
//! The drives are as new (`flash.fill = 0`) and as large as the file, so that sequential writes cost
//! nothing more and random ones reach the steady state that data sheets are for.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

use std::path::Path;
use std::time::Duration;

use weir_drive::{Model, profiles};
use weir_drive_measure::{
    Facts, Learned, MeasureOptions, ModelStorage, Plan, Samples, learn, measure, profile_text,
};
use weir_model::{Bytes, DriveProfile, Scale, WriteCache};

/// Bytes of the file, and of the drive.
const FILE_BYTES: u64 = 256 << 20;

/// Random 4 KiB writes a second in steady state, as their makers or publications say. Of the others
/// the profile has the figure. Not `consumer-tlc`: its cache of single-bit blocks takes the random writes of a
/// measurement, which come out 1.6 times too fast.
#[rustfmt::skip]
const RANDOM_WRITES: [(&str, f64); 13] = [
    ("alibaba-essd-pl1", 50e3),
    ("aws-gp3", 3e3),
    ("aws-io2", 64e3),
    ("fusionio-iodrive-160-slc", 135e3),
    ("fusionio-iodrive-320-mlc", 29.4e3),
    ("intel-optane-p4800x", 500e3),
    ("intel-p3700-2tb", 175e3),
    ("intel-p3700-400gb", 75e3),
    ("intel-p4610", 220e3),
    ("intel-x25e-32gb", 3.3e3),
    ("raid10-8x15k-bbu", 0.75e3),
    ("scaleflux-csd2000", 147e3),
    ("scaleflux-csd3000", 180e3),
];

fn facts(profile: &DriveProfile) -> Facts {
    Facts {
        device: profile.title.clone(),
        capacity_bytes: profile.capacity.0,
        ..Facts::default()
    }
}

/// The profile that follows from measuring a drive of `profile`, and its text.
fn learned(profile: &DriveProfile) -> (Learned, String) {
    let (learned, samples) = learned_and_samples(profile, FILE_BYTES, 60);
    let text = profile_text(&learned, &samples, "a day").unwrap();
    (learned, text)
}

fn learned_with(profile: &DriveProfile, file_bytes: u64, budget_s: u64) -> Learned {
    learned_and_samples(profile, file_bytes, budget_s).0
}

fn learned_and_samples(
    profile: &DriveProfile,
    file_bytes: u64,
    budget_s: u64,
) -> (Learned, Samples) {
    let model = Model::with_capacity(profile, Scale::FULL, file_bytes);
    let facts = facts(profile);
    let mut storage = ModelStorage::new(model, facts.clone(), file_bytes);
    let options = MeasureOptions {
        budget: Duration::from_secs(budget_s),
        write_limit: Bytes(24 << 30),
        size: Bytes(file_bytes),
    };
    let plan = Plan::new(&options, 1 << 50).unwrap();
    let samples = measure(&mut storage, &plan, &mut |_| {}).unwrap();
    (learn(&samples, &facts).unwrap(), samples)
}

fn shipped(name: &str) -> DriveProfile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives");
    let mut profile = profiles::load(name, Some(&folder)).unwrap();
    if let Some(flash) = &mut profile.flash {
        flash.fill = 0.0;
    }
    profile
}

/// What differs by more than `allowed`.
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
            truth.read.bandwidth_mb_per_s.min(mb_per_s),
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
    let is_seen = !learned.unknown.contains_key("write.buffer");
    if is_seen {
        let buffer = truth.write.buffer.0 as f64;
        pairs.push(("write.buffer", found.write.buffer.0 as f64, buffer));
    }
    if let (Some(found), Some(_)) = (&found.throttle, &truth.throttle) {
        pairs.push(("throttle.iops", found.iops.base, iops));
        pairs.push(("throttle.mb_per_s", found.mb_per_s.base, mb_per_s));
    }
    let mut missed = differences(name, &pairs, 0.1);
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
    // What is written is a profile, and the same.
    let again = DriveProfile::parse("mine", &text).unwrap();
    missed.extend(differences(
        name,
        &[(
            "read.latency_us as written",
            again.read.latency_us,
            found.read.latency_us,
        )],
        0.001,
    ));
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
        .filter(|name| name != "null")
        .collect();
    assert_eq!(names.len(), 15);
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

/// The learned profile, mounted and measured again, agrees with the first. Not that of a volume with a limit: its second
/// measurement does not see the limit as one.
#[test]
fn a_learned_profile_is_measured_as_it_was_learned() {
    for name in ["intel-p4610", "intel-x25e-32gb", "raid10-8x15k-bbu"] {
        let (first, text) = learned(&shipped(name));
        let (second, _) = learned(&DriveProfile::parse("mine", &text).unwrap());
        let value = |of: &Learned, key: &str| {
            let figure = of.figures.iter().find(|figure| figure.key == key);
            figure.map_or(f64::NAN, |figure| figure.value)
        };
        let pairs: Vec<_> = first
            .figures
            .iter()
            .map(|figure| (figure.key, value(&second, figure.key), figure.value))
            .collect();
        assert!(pairs.len() >= 8, "{name}: {pairs:?}");
        let differences = differences(name, &pairs, 0.1);
        assert!(differences.is_empty(), "{differences:#?}");
        assert_eq!(
            first.profile.write.cache, second.profile.write.cache,
            "{name}"
        );
    }
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
