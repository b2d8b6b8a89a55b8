//! A drive's profile as a data sheet: every figure with its label, unit and source.

use std::collections::BTreeMap;

use serde::Serialize;
use weir_model::{
    Atomicity, Bytes, CacheFill, CachedWrites, Compression, DriveProfile, FrontDrive, ThrottleRate,
    WriteCache,
};

use crate::number::{bytes_words, grouped};

/// A drive's profile, figure by figure.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DataSheet<'a> {
    name: &'a str,
    title: &'a str,
    figures: Vec<Figure<'a>>,
    /// Sources of the profile that belong to none of the figures.
    other_sources: BTreeMap<&'a str, &'a str>,
}

/// A figure of a data sheet with its source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Figure<'a> {
    label: &'static str,
    text: String,
    source: Option<&'a str>,
}

/// Key in the profile's file, label, value with unit.
type Line = (&'static str, &'static str, String);

impl<'a> DataSheet<'a> {
    pub(crate) fn new(drive: &'a DriveProfile) -> Self {
        let lines = lines(drive);
        let sources = drive.sources.iter();
        let other_sources = sources
            .filter(|(key, _)| !lines.iter().any(|(known, ..)| known == key))
            .map(|(key, source)| (key.as_str(), source.as_str()))
            .collect();
        let figure = |(key, label, text): Line| {
            let source = drive.sources.get(key).map(String::as_str);
            Figure {
                label,
                text,
                source,
            }
        };
        Self {
            name: &drive.name,
            title: &drive.title,
            figures: lines.into_iter().map(figure).collect(),
            other_sources,
        }
    }
}

/// A drive's figures as pairs of label and text.
pub fn data_sheet(drive: &DriveProfile) -> Vec<(&'static str, String)> {
    let lines = lines(drive).into_iter();
    lines.map(|(_, label, text)| (label, text)).collect()
}

fn lines(drive: &DriveProfile) -> Vec<Line> {
    let sections = [
        reads(drive),
        writes(drive),
        media(drive),
        nand(drive),
        guarantees(drive),
        front(drive),
        evidence(drive),
    ];
    sections.into_iter().flatten().collect()
}

fn reads(drive: &DriveProfile) -> Vec<Line> {
    let read = &drive.read;
    let mut lines = vec![
        ("capacity", "Capacity", bytes_words(drive.capacity.0)),
        (
            "read.latency_us",
            "Read latency, 4 KiB, queue depth 1",
            microseconds(read.latency_us),
        ),
        ("read.iops_max", "Random 4 KiB reads", rate(read.iops_max)),
        (
            "read.bandwidth_mb_per_s",
            "Sequential reads",
            bandwidth(read.bandwidth_mb_per_s),
        ),
    ];
    if !read.percentiles_us.is_empty() {
        let point = |(percentile, us): &(f64, f64)| format!("p{percentile} {}", microseconds(*us));
        let tail: Vec<_> = read.percentiles_us.iter().map(point).collect();
        lines.push(("read.percentiles_us", "Read latency, tail", tail.join(", ")));
    }
    lines
}

fn writes(drive: &DriveProfile) -> Vec<Line> {
    let write = &drive.write;
    let mut lines = vec![
        (
            "write.latency_us",
            "Write latency, 4 KiB, queue depth 1",
            microseconds(write.latency_us),
        ),
        ("write.iops_max", "Writes", rate(write.iops_max)),
    ];
    if let Some(most) = write.iops_max_random {
        lines.push((
            "write.iops_max_random",
            "Random writes, controller's limit",
            rate(most),
        ));
    }
    lines.push((
        "write.bandwidth_mb_per_s",
        "Sequential writes",
        bandwidth(write.bandwidth_mb_per_s),
    ));
    lines.push(("write.buffer", "Write buffer", bytes_words(write.buffer.0)));
    lines
}

/// Returns the lines on the media behind the write buffer: flash, disks or a cloud's limits.
fn media(drive: &DriveProfile) -> Vec<Line> {
    let mut lines = Vec::new();
    match &drive.flash {
        Some(flash) => lines.extend([
            (
                "flash.over_provisioning",
                "Spare flash",
                percent(flash.over_provisioning),
            ),
            ("flash.fill", "Filled before the run", percent(flash.fill)),
        ]),
        None => lines.push((
            "write.amplification_random",
            "Media bytes per byte of random writes, full drive",
            drive.write.amplification_random.to_string(),
        )),
    }
    if let Some(disks) = &drive.disks {
        let mirrored = if disks.mirrored { ", mirrored" } else { "" };
        lines.extend([
            ("disks.count", "Disks", format!("{}{mirrored}", disks.count)),
            ("disks.seek_us", "Mean seek", microseconds(disks.seek_us)),
            (
                "disks.rotation_us",
                "One turn",
                microseconds(disks.rotation_us),
            ),
        ]);
    }
    if let Some(throttle) = &drive.throttle {
        let limit = |limit: &ThrottleRate| limit.per_second(drive.capacity.0);
        let credit = |limit: &ThrottleRate| match limit.burst_credit {
            0.0 => String::new(),
            credit => format!(", and {} saved up for bursts", grouped(credit)),
        };
        lines.extend([
            (
                "throttle.iops",
                "Volume's limit, operations",
                rate(limit(&throttle.iops)) + &credit(&throttle.iops),
            ),
            (
                "throttle.mb_per_s",
                "Volume's limit, bytes",
                bandwidth(limit(&throttle.mb_per_s)) + &credit(&throttle.mb_per_s),
            ),
        ]);
    }
    lines
}

/// Returns the lines on the timing of flash, and its lifetime.
fn nand(drive: &DriveProfile) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(nand) = &drive.nand {
        lines.push((
            "nand",
            "A die that programs or erases",
            format!(
                "{} for {}, {} for a block; reads wait for it",
                microseconds(nand.program_us),
                nand.program_bytes,
                microseconds(nand.erase_us)
            ),
        ));
    }
    if let Some(slc) = &drive.slc {
        lines.push((
            "slc",
            "Single-bit cache",
            format!(
                "{} at {}, {} on a full drive",
                bytes_words(slc.capacity.0),
                bandwidth(slc.bandwidth_mb_per_s),
                bytes_words(slc.capacity_when_full.0)
            ),
        ));
    }
    if let Some(endurance) = &drive.endurance {
        lines.push((
            "endurance",
            "Guaranteed writes",
            format!(
                "{} capacities a day for {} years",
                endurance.drive_writes_per_day, endurance.years
            ),
        ));
    }
    lines
}

/// The fast drive before the slow one.
fn front(drive: &DriveProfile) -> Vec<Line> {
    let Some(cache) = &drive.cache else {
        return Vec::new();
    };
    let name = match &cache.drive {
        FrontDrive::Named(name) => name,
        FrontDrive::Found(front) => &front.name,
    };
    let writes = match cache.writes {
        CachedWrites::Back => format!(
            "write-back: acknowledged by the cache, up to {} dirty",
            percent(cache.dirty_share_max)
        ),
        CachedWrites::Through => "write-through: acknowledged by both".to_owned(),
        CachedWrites::Around => "around the cache".to_owned(),
    };
    let fill = match cache.fill {
        CacheFill::Read => "when it is read".to_owned(),
        CacheFill::Eviction { host_cache } => {
            format!("when a server's own cache of {host_cache} has dropped it")
        }
    };
    vec![
        ("cache.drive", "Drive in front as a cache", name.clone()),
        (
            "cache.capacity",
            "Size of the cache",
            bytes_words(cache.capacity.0),
        ),
        ("cache.writes", "Writes", writes),
        ("cache.fill", "A page enters", fill),
    ]
}

/// Returns the lines on the evidence for the figures, and measurements by others.
fn evidence(drive: &DriveProfile) -> Vec<Line> {
    let grade = drive
        .grade
        .map(|grade| ("grade", "The figures rest on", grade.words().to_owned()));
    let points = drive.published.iter();
    let points = points.map(|point| ("published", "Measured by others", point.words()));
    let none = drive.published.is_empty().then_some(&drive.sources);
    let none = none.and_then(|sources| sources.get("published"));
    let none = none.map(|why| ("published", "Measured by others", why.clone()));
    grade.into_iter().chain(points).chain(none).collect()
}

fn guarantees(drive: &DriveProfile) -> Vec<Line> {
    let cache = match drive.write.cache {
        WriteCache::PowerProtected => "survives a power cut, its maker says",
        WriteCache::Volatile => "lost in a power cut unless flushed",
    };
    let compression = match drive.compression {
        Compression::None => "none".to_owned(),
        Compression::Zlib4k => format!("zlib, each 4 KiB on its own{}", block_cost(drive)),
    };
    let lies = if drive.flush.ignored {
        ", but it flushes nothing"
    } else {
        ""
    };
    let mut lines = vec![
        ("write.cache", "Write buffer's content", cache.to_owned()),
        (
            "flush.latency_us",
            "Flush latency, idle",
            microseconds(drive.flush.latency_us) + lies,
        ),
        ("compression", "Compression", compression),
        (
            "atomicity.unit",
            "Largest write that its maker says is never torn",
            untorn(&drive.atomicity),
        ),
    ];
    if let Some(provisioning) = &drive.provisioning {
        lines.push((
            "provisioning.logical_capacity",
            "Shown to the host",
            format!(
                "{}; warns at {} of its flash and urgently at {}",
                bytes_words(provisioning.logical_capacity.0),
                percent(provisioning.warning_above),
                percent(provisioning.critical_above)
            ),
        ));
    }
    lines
}

/// Returns the words for the bytes of a compressed block beyond its data.
fn block_cost(drive: &DriveProfile) -> String {
    drive.block_cost.map_or(String::new(), |cost| {
        format!(
            "; a block takes {} bytes more and {} of its data, {} at most; {} at least; stored as it is unless it \
             shrinks by {}",
            cost.base_bytes,
            percent(cost.share),
            cost.bytes_max,
            cost.stored_bytes_min,
            percent(cost.saving_min)
        )
    })
}

fn untorn(atomicity: &Atomicity) -> String {
    let boundary = match atomicity.boundary {
        None => ", if it is aligned to that".to_owned(),
        Some(Bytes(0)) => ", wherever it lies".to_owned(),
        Some(boundary) => format!(", if it crosses no multiple of {boundary}"),
    };
    let told = if atomicity.advertise {
        "; servers that ask get this answer"
    } else {
        ""
    };
    bytes_words(atomicity.unit.0) + &boundary + told
}

fn microseconds(value: f64) -> String {
    format!("{value} \u{b5}s")
}

fn rate(value: f64) -> String {
    format!("{} per s", grouped(value))
}

fn bandwidth(value: f64) -> String {
    format!("{} MB/s", grouped(value))
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1000.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_stand_beside_their_figures_and_the_others_are_kept() {
        let mut drive = crate::sample::study(1, 1).evidence.drives.remove(0);
        drive.sources = [("flush.latency_us", "seen"), ("firmware", "unknown")]
            .map(|(key, source)| (key.to_owned(), source.to_owned()))
            .into();
        let sheet = DataSheet::new(&drive);
        let sourced: Vec<_> = sheet
            .figures
            .iter()
            .filter_map(|figure| Some((figure.label, figure.source?)))
            .collect();
        assert_eq!(sourced, [("Flush latency, idle", "seen")]);
        assert_eq!(
            sheet.other_sources,
            BTreeMap::from([("firmware", "unknown")])
        );
    }

    #[test]
    fn a_cloud_volume_shows_its_limits_at_its_size() {
        let text = include_str!("../../../drives/alibaba-essd-pl1.toml");
        let drive = DriveProfile::parse("essd", text).unwrap();
        let sheet = DataSheet::new(&drive);
        let limit = sheet
            .figures
            .iter()
            .find(|figure| figure.label == "Volume's limit, operations");
        assert_eq!(limit.unwrap().text, "50,000 per s");
    }

    #[test]
    fn every_section_of_every_profile_has_a_line_of_its_own() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let drive = DriveProfile::parse("drive", &text).unwrap();
            let lines = lines(&drive);
            let sections = serde_json::to_value(&drive).unwrap();
            // `block_cost` stands in the words of `compression`.
            let no_figures = ["name", "title", "compressed_sizes", "sources", "block_cost"];
            for section in sections.as_object().unwrap().keys() {
                let is_shown = lines
                    .iter()
                    .any(|(key, ..)| key.split('.').next() == Some(section));
                assert!(
                    is_shown || no_figures.contains(&section.as_str()),
                    "{}: {section}",
                    drive.title
                );
            }
        }
    }
}
