//! From what the rounds have found to a profile.

use std::collections::BTreeMap;

use weir_model::{
    Atomicity, Bytes, Compression, DriveProfile, FlushTiming, Grade, ReadTiming, SlcCache,
    Throttle, ThrottleRate, WriteCache, WriteTiming,
};

use crate::measure::disk_arms::disks;
use crate::measure::facts::Facts;
use crate::measure::fast_start::{Credit, credit, first_drop, slc_cache};
use crate::measure::figure::Figure;
use crate::measure::job::Work;
use crate::measure::latencies::percentile;
use crate::measure::provider_limits::{most_reads_per_s, throttled};
use crate::measure::random_write_limit::{RandomWriteLimit, sustained};
use crate::measure::samples::{Cell, Samples, mean};
use crate::measure::session::{CACHE_BYTES, PAGE, SIZES};

/// Percentiles that a profile keeps, where enough operations were slower.
const PERCENTILES: [f64; 4] = [90.0, 99.0, 99.9, 99.99];
/// Size in place of a buffer that was not seen. It has no effect where the buffer never fills.
const BUFFER_UNSEEN: u64 = 1 << 20;
/// Rate in place of one that a limit hides, in limits: enough for the limit alone to count.
const HIDDEN: f64 = 4.0;
/// Share of a limit up to which an operation shows the drive, and not the limit.
const CLEAR: f64 = 0.9;

/// A profile with what is known of each of its figures.
#[derive(Debug, Clone)]
pub struct MeasuredProfile {
    /// As a drive is mounted with it.
    pub profile: DriveProfile,
    /// Measured figures.
    pub figures: Vec<Figure>,
    /// Keys that were not measured, with reasons.
    pub unknown: BTreeMap<&'static str, String>,
}

/// The profile that follows from `samples`; `None` where not even one round is complete.
pub fn learn(samples: &Samples, facts: &Facts) -> Option<MeasuredProfile> {
    let mut learner = Learner {
        samples,
        figures: Vec::new(),
        unknown: BTreeMap::new(),
    };
    let profile = learner.profile(facts)?;
    Some(MeasuredProfile {
        profile,
        figures: learner.figures,
        unknown: learner.unknown,
    })
}

/// Limits of a provider: operations, and 10^6 bytes a second.
#[derive(Clone, Copy)]
struct Limits {
    iops: f64,
    mb_per_s: f64,
}

struct Learner<'a> {
    samples: &'a Samples,
    figures: Vec<Figure>,
    unknown: BTreeMap<&'static str, String>,
}

impl Learner<'_> {
    fn profile(&mut self, facts: &Facts) -> Option<DriveProfile> {
        let mut read = self.read()?;
        let mut write = self.write(facts)?;
        let flush = self.flush()?;
        let disks = disks(self.samples);
        let slc = self.slc(&mut write);
        let throttle = self.throttle(&mut read, &mut write);
        if throttle.is_none() {
            let why = "reads, writes and both together end at different rates: no limit of a provider shows";
            self.unknown.insert("throttle", why.to_owned());
        }
        if throttle.is_some() {
            let why = "a limit of the provider hides it";
            self.unknown
                .insert("write.amplification_random", why.to_owned());
        } else if disks.is_none() {
            self.random_writes(&mut write, facts);
        }
        self.never_measured(facts);
        let atomicity = Atomicity {
            unit: Bytes(facts.atomic_unit_bytes.unwrap_or(512)),
            granularity: Bytes(facts.logical_block_bytes.unwrap_or(512)),
            ..Atomicity::default()
        };
        Some(DriveProfile {
            name: String::new(),
            title: format!("Measured: {}", facts.device),
            capacity: Bytes(facts.capacity_bytes.max(self.samples.file_bytes)),
            read,
            write,
            flush,
            compression: Compression::None,
            block_cost: None,
            compressed_sizes: weir_model::CompressedSizes::default(),
            provisioning: None,
            flash: None,
            nand: None,
            slc,
            endurance: None,
            disks,
            throttle,
            cache: None,
            atomicity,
            grade: Some(Grade::Measured),
            intervals: BTreeMap::new(),
            published: Vec::new(),
            sources: BTreeMap::new(),
        })
    }

    /// Adds a figure; its value.
    fn figure(&mut self, key: &'static str, values: &[f64], how: &str) -> Option<f64> {
        let figure = Figure::of_rounds(key, values, how)?;
        let value = figure.value;
        self.figures.push(figure);
        Some(value)
    }

    fn rounds(&mut self, key: &'static str, name: &str, unit: f64, how: &str) -> Option<f64> {
        let values: Vec<f64> = self
            .samples
            .values(name)
            .iter()
            .map(|value| value / unit)
            .collect();
        self.figure(key, &values, how)
    }

    fn read(&mut self) -> Option<ReadTiming> {
        let latency_us = self.rounds(
            "read.latency_us",
            "read_us",
            1.0,
            "mean of random 4 KiB reads, one at a time",
        )?;
        let most = most_reads_per_s(self.samples)?;
        let iops_max = self.figure(
            "read.iops_max",
            &most,
            "random 4 KiB reads at the depth of 1 to 256 that gives most",
        )?;
        let bandwidth_mb_per_s = self.rounds(
            "read.bandwidth_mb_per_s",
            "read_bytes_per_s",
            1e6,
            "sequential 128 KiB reads, 32 under way",
        )?;
        Some(ReadTiming {
            latency_us,
            iops_max,
            bandwidth_mb_per_s,
            percentiles_us: percentiles(&self.samples.read_us, latency_us),
        })
    }

    fn write(&mut self, facts: &Facts) -> Option<WriteTiming> {
        let latency_us = self.rounds(
            "write.latency_us",
            "write_us",
            1.0,
            "mean of 4 KiB writes that find an idle drive",
        )?;
        let iops_max = self.rounds(
            "write.iops_max",
            "writes_per_s",
            1.0,
            "4 KiB writes in sequence, 256 under way, before the buffer is full",
        )?;
        let bandwidth_mb_per_s = self.rounds(
            "write.bandwidth_mb_per_s",
            "write_bytes_per_s",
            1e6,
            "sequential 128 KiB writes, 32 under way, once the buffer is full",
        )?;
        let buffer = self.buffer();
        Some(WriteTiming {
            latency_us,
            iops_max,
            iops_max_random: None,
            bandwidth_mb_per_s,
            percentiles_us: percentiles(&self.samples.write_us, latency_us),
            buffer,
            amplification_random: 1.0,
            cache: self.cache(facts, bandwidth_mb_per_s),
        })
    }

    /// Seen in at least half of the rounds, or not at all.
    fn buffer(&mut self) -> Bytes {
        let seen = self.samples.values("buffer_bytes");
        let is_seen = !seen.is_empty() && seen.len() * 2 >= self.samples.rounds as usize;
        if is_seen {
            let how = "bytes accepted beyond what the media take, in a go of sequential writes";
            if let Some(bytes) = self.rounds("write.buffer", "buffer_bytes", 1.0, how) {
                return Bytes(bytes as u64);
            }
        }
        let why =
            "it never filled before another limit, or holds less than 768 KiB; 1M stands for it";
        self.unknown.insert("write.buffer", why.to_owned());
        Bytes(BUFFER_UNSEEN)
    }

    /// A volatile cache is emptied by a flush, so that one after many writes takes longer.
    fn cache(&mut self, facts: &Facts, mb_per_s: f64) -> WriteCache {
        let (empty, full) = (
            self.samples.mean("flush_us"),
            self.samples.mean("flush_full_us"),
        );
        let drain_us = CACHE_BYTES as f64 / mb_per_s;
        let measured = match (empty, full) {
            (Some(empty), Some(full)) if full - empty > (0.4 * empty).max(0.3 * drain_us) => {
                WriteCache::Volatile
            }
            (Some(_), Some(_)) => WriteCache::PowerProtected,
            _ => WriteCache::Volatile,
        };
        let said = match facts.write_cache {
            Some(WriteCache::Volatile) => "; the kernel says it is volatile",
            Some(WriteCache::PowerProtected) => "; the kernel says that it needs no flush",
            None => "",
        };
        let why = match measured {
            WriteCache::Volatile => {
                "a flush after 8 MiB of writes takes longer: it empties a cache"
            }
            WriteCache::PowerProtected => {
                "a flush after 8 MiB of writes takes no longer. No measurement shows what a power cut loses"
            }
        };
        // The careful reading of two that differ.
        let found = facts
            .write_cache
            .filter(|_| measured == WriteCache::PowerProtected);
        self.unknown.insert("write.cache", format!("{why}{said}"));
        found.unwrap_or(measured)
    }

    fn flush(&mut self) -> Option<FlushTiming> {
        let latency_us = self.rounds(
            "flush.latency_us",
            "flush_us",
            1.0,
            "mean of fdatasync after one 4 KiB write",
        )?;
        Some(FlushTiming {
            latency_us,
            percentiles_us: percentiles(&self.samples.flush_us, latency_us),
            ignored: false,
        })
    }

    fn random_writes(&mut self, write: &mut WriteTiming, facts: &Facts) {
        let bytes_per_s = write.bandwidth_mb_per_s * 1e6;
        match sustained(self.samples, bytes_per_s, facts.capacity_bytes) {
            RandomWriteLimit::Amplification(figure) => {
                write.amplification_random = figure.value;
                self.figures.push(figure);
            }
            RandomWriteLimit::Operations(figure) => {
                write.iops_max_random = Some(figure.value);
                self.figures.push(figure);
            }
            RandomWriteLimit::Unknown(why) => {
                self.unknown.insert("write.amplification_random", why);
            }
        }
    }

    /// A cache of single-bit blocks: then the bandwidth of the media is the one after the drop.
    fn slc(&mut self, write: &mut WriteTiming) -> Option<SlcCache> {
        if throttled(self.samples).is_some() {
            return None;
        }
        let drop = first_drop(self.samples)?;
        let (cache, how) = slc_cache(self.samples, &drop)?;
        write.bandwidth_mb_per_s = drop.after / 1e6;
        self.figures
            .retain(|figure| figure.key != "write.bandwidth_mb_per_s");
        self.unknown.insert("slc", how);
        Some(cache)
    }

    fn throttle(&mut self, read: &mut ReadTiming, write: &mut WriteTiming) -> Option<Throttle> {
        let found = throttled(self.samples)?;
        let credit = credit(&found);
        self.hidden("write.buffer", "1M stands for it");
        write.buffer = Bytes(BUFFER_UNSEEN);
        let iops = found.iops.value;
        let mb_per_s = if let Some(figure) = &found.mb_per_s {
            figure.value
        } else {
            let why =
                "reads and writes in sequence end at different rates; the faster stands for it";
            self.unknown
                .insert("throttle.mb_per_s.base", why.to_owned());
            found.most_mb_per_s
        };
        let limits = Limits { iops, mb_per_s };
        self.hide_behind(limits, &credit, read, write);
        self.note_credit(&credit);
        let rate = |base: f64, burst_credit: f64| ThrottleRate {
            base,
            per_gib: 0.0,
            max: None,
            burst_credit,
        };
        let throttle = Throttle {
            iops: rate(iops, credit.operations),
            mb_per_s: rate(mb_per_s, credit.megabytes),
        };
        self.figures.push(found.iops);
        self.figures.extend(found.mb_per_s);
        Some(throttle)
    }

    /// Gives the figures that limits hide a value that lets the limits alone count.
    fn hide_behind(
        &mut self,
        limits: Limits,
        credit: &Credit,
        read: &mut ReadTiming,
        write: &mut WriteTiming,
    ) {
        let Limits { iops, mb_per_s } = limits;
        let of_one_read = bandwidth_of_one_read(self.samples, mb_per_s);
        // Until the credit was spent, the drive showed more of itself.
        for (key, figure, limit, seen) in [
            (
                "read.iops_max",
                &mut read.iops_max,
                iops,
                credit.operations_per_s,
            ),
            ("write.iops_max", &mut write.iops_max, iops, None),
            (
                "read.bandwidth_mb_per_s",
                &mut read.bandwidth_mb_per_s,
                mb_per_s,
                of_one_read,
            ),
            (
                "write.bandwidth_mb_per_s",
                &mut write.bandwidth_mb_per_s,
                mb_per_s,
                credit.mb_per_s,
            ),
        ] {
            let seen = seen.filter(|seen| *seen > limit);
            *figure = seen.unwrap_or(HIDDEN * limit);
            self.hidden(key, "four times the limit stands for it");
            if seen.is_some() {
                let why = "measured: what the limit let through at first or of one operation; the drive may have more";
                self.unknown.insert(key, why.to_owned());
            }
        }
    }

    /// Notes the way in which the credit that a volume had saved was found, or the reason that it
    /// was not.
    fn note_credit(&mut self, credit: &Credit) {
        for (key, spent, unit, go) in [
            (
                "throttle.iops.burst_credit",
                credit.operations,
                "operations",
                "the long go of reads",
            ),
            (
                "throttle.mb_per_s.burst_credit",
                credit.megabytes,
                "MB",
                "the first write of the file",
            ),
        ] {
            let why = if spent > 0.0 {
                format!("measured: {go} dropped when {spent:.0} {unit} beyond the limit were spent")
            } else {
                format!(
                    "unknown: no drop in {go}; run again after an hour without load, with a larger --size and --budget"
                )
            };
            self.unknown.insert(key, why);
        }
    }

    /// A figure that the limit does not let out.
    fn hidden(&mut self, key: &'static str, instead: &str) {
        let why = format!("a limit of the provider hides it; {instead}");
        self.unknown.insert(key, why);
        self.figures.retain(|figure| figure.key != key);
    }

    fn never_measured(&mut self, facts: &Facts) {
        let unit = match facts.atomic_unit_bytes {
            Some(bytes) => format!("the kernel's word ({bytes} bytes): no measurement shows it"),
            None => "no promise of the kernel's; only a power cut shows it".to_owned(),
        };
        self.unknown.insert("atomicity.unit", unit);
        let why = "the file held data that do not compress";
        self.unknown.insert("compression", why.to_owned());
        let why = format!(
            "no drop of the write rate in {:.1} GB of sequential writes",
            self.samples.file_bytes as f64 / 1e9
        );
        self.unknown.entry("slc").or_insert(why);
    }
}

/// Returns the rate at which more bytes of one read come, 10^6 bytes a second: of the largest reads that, one at a
/// time, keep clear of the limit.
fn bandwidth_of_one_read(samples: &Samples, limit_mb_per_s: f64) -> Option<f64> {
    let latency_us = |bytes: u64| {
        let is_it = |cell: &&Cell| (cell.work, cell.bytes, cell.depth) == (Work::Read, bytes, 1);
        mean(&samples.cells.iter().find(is_it)?.mean_us)
    };
    let first_us = latency_us(PAGE)?;
    let sizes = SIZES.iter().rev();
    let mut timed = sizes.filter_map(|&bytes| Some((bytes, latency_us(bytes)?)));
    let (bytes, us) = timed.find(|&(bytes, us)| bytes as f64 / us < CLEAR * limit_mb_per_s)?;
    (us > first_us).then(|| (bytes - PAGE) as f64 / (us - first_us))
}

/// Percentiles around the mean, ascending; none for a drive that always takes the same.
fn percentiles(latencies_us: &[f64], mean_us: f64) -> Vec<(f64, f64)> {
    let mut found: Vec<(f64, f64)> = Vec::new();
    for percent in PERCENTILES {
        let Some(us) = percentile(latencies_us, percent) else {
            continue;
        };
        let above = found.last().map_or(mean_us * 1.02, |&(_, before)| before);
        if us > above {
            found.push((percent, (us * 10.0).round() / 10.0));
        }
    }
    found.dedup_by(|a, b| a.1 <= b.1);
    found
}
