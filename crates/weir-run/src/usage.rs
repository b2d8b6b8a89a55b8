//! Utilization of each resource, and places of the connections: from the probes' samples and the
//! counts of load engine and drive.

use weir_load::LoadOutcome;
use weir_model::{
    ConnectionTime, DriveStatistics, FileKind, LoadSpec, Metric, OtherProcess, Series, Utilization,
    metrics,
};

/// `performance_schema`'s class of waits for rows, with all that lies below: locks, pages, reads.
const TABLE_WAITS: &str = "io/table";

/// Waits for a free page, by transactions, from which on what is left of the time at tables is theirs.
const FREE_PAGE_WAITS_MIN: f64 = 0.5;

/// Writes of pages under way from which on it is theirs, too.
const PAGE_WRITES_MIN: f64 = 1.0;

/// Share of the host's cores from which on time that no readable process used counts as others'.
const UNSEEN_MIN: f64 = 0.15;
/// Other processes that are named, and the fewest cores that they used.
const OTHERS_MAX: usize = 3;
const OTHER_MIN: f64 = 0.01;

/// Load of a run, as the load engine knows it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfferedLoad {
    pub(crate) connections: f64,
    /// Transactions begin at a rate, or at the times of a capture.
    pub(crate) has_own_times: bool,
    /// Round-trip time that the load engine adds.
    pub(crate) rtt_s: f64,
    pub(crate) measured_s: f64,
    pub(crate) transactions_per_s: f64,
    /// Statements per second: each is a round trip.
    pub(crate) statements_per_s: f64,
    /// Transactions per second that changed something, at most.
    pub(crate) commits_per_s: f64,
    /// Connections whose COMMIT was under way at the server, on average; `None` where statements commit by
    /// themselves.
    pub(crate) committing: Option<f64>,
    /// Mean latency of transactions.
    pub(crate) latency_s: f64,
    /// Share of a core that the busiest reactor used, which no probe sees from outside.
    pub(crate) client_cpu: f64,
    /// The host is the server's and another one than the load generator's.
    pub(crate) client_is_apart: bool,
}

impl OfferedLoad {
    pub(crate) fn new(outcome: &LoadOutcome, settings: &LoadSpec, threads: u32) -> Self {
        let per_s = |count: u64| count as f64 / outcome.measured_s;
        let counts = &outcome.counts;
        let rtt_s = settings.rtt.as_secs_f64();
        let commits = outcome
            .kinds
            .iter()
            .filter(|kind| kind.is_statement && kind.name.eq_ignore_ascii_case("commit"));
        let committing = commits.map(|commit| {
            let at_server_s = commit.latency.us_mean * 1e-6 - rtt_s;
            per_s(commit.count) * at_server_s.max(0.0)
        });
        Self {
            connections: f64::from(threads),
            has_own_times: settings.has_own_times(),
            rtt_s,
            measured_s: outcome.measured_s,
            transactions_per_s: per_s(counts.transactions),
            statements_per_s: per_s(counts.queries),
            commits_per_s: per_s(counts.transactions.min(counts.writes)),
            committing: committing.reduce(|sum, commit| sum + commit),
            latency_s: outcome.latency.us_mean * 1e-6,
            client_cpu: outcome.client_utilization(),
            client_is_apart: false,
        }
    }
}

/// Utilisation during the measurement. `device` is the block device below the data, if there is
/// one and no emulated drive; `drive` has the counters of the emulated one.
pub(crate) fn utilization(
    series: &[Series],
    drive: Option<&DriveStatistics>,
    device: Option<&str>,
    load: &OfferedLoad,
) -> Utilization {
    let samples = Samples {
        series,
        from_s: 0.0,
        to_s: load.measured_s,
    };
    usage(&samples, drive, device, load)
}

/// The same during `load.measured_s` before `now_s`, as far as the samples tell by themselves.
pub(crate) fn utilization_now(
    series: &[Series],
    now_s: f64,
    device: Option<&str>,
    load: &OfferedLoad,
) -> Utilization {
    let samples = Samples {
        series,
        from_s: now_s - load.measured_s,
        to_s: now_s,
    };
    usage(&samples, None, device, load)
}

/// Returns the utilization of a server's host during `measured_s` from time 0 of the samples on,
/// whatever loaded it.
pub fn host_utilization(series: &[Series], device: Option<&str>, measured_s: f64) -> Utilization {
    let load = OfferedLoad {
        measured_s,
        ..OfferedLoad::default()
    };
    utilization(series, None, device, &load)
}

fn usage(
    samples: &Samples<'_>,
    drive: Option<&DriveStatistics>,
    device: Option<&str>,
    load: &OfferedLoad,
) -> Utilization {
    let rate = |metric| samples.rate(metric, "").unwrap_or(0.0);
    let busy = rate(metrics::HOST_CPU_USER) + rate(metrics::HOST_CPU_SYSTEM);
    let stolen = rate(metrics::HOST_CPU_STEAL);
    let waiting = rate(metrics::HOST_CPU_IOWAIT);
    let all = busy + stolen + waiting + rate(metrics::HOST_CPU_IDLE);
    let share = |part: f64| if all > 0.0 { part / all } else { 0.0 };
    let (drive_read, drive_write) = match device {
        Some(device) if drive.is_none() => device_usage(samples, device),
        _ => (
            rate(metrics::DRIVE_READ_BUSY),
            rate(metrics::DRIVE_WRITE_BUSY),
        ),
    };
    Utilization {
        host_cpu: share(busy + stolen),
        host_cores: all,
        server_cores: rate(metrics::SERVER_CPU),
        server_cores_allowed: samples.mean(metrics::SERVER_CORES).unwrap_or(0.0),
        client_cpu: load.client_cpu,
        client_cores: rate(metrics::CLIENT_CPU),
        client_is_apart: load.client_is_apart,
        drive_cores: rate(metrics::DRIVE_CPU),
        drive_read,
        drive_write,
        steal: share(stolen),
        iowait: share(waiting),
        memory: samples.rate(metrics::HOST_PRESSURE_MEMORY_SOME, ""),
        core_wait: samples.rate(metrics::HOST_PRESSURE_CPU_SOME, ""),
        other_cores: other_cores(samples, busy),
        others: others(samples),
        connections: connections(samples, drive, load),
    }
}

/// Cores that processes used which are not part of the run: those that can be read and, if it is much, what
/// no process that can be read has used. A little of that is the kernel's work for all.
fn other_cores(samples: &Samples<'_>, busy: f64) -> f64 {
    let Some(of_run) = samples.rate(metrics::HOST_RUN_CPU, "") else {
        return 0.0;
    };
    let all = Series::instances(samples.series, metrics::HOST_OTHER_CPU);
    let named: f64 = all.map(|series| samples.growth_per_s(series)).sum();
    let kernel = samples.rate(metrics::HOST_KERNEL_CPU, "").unwrap_or(0.0);
    let unseen = busy - of_run - kernel - named;
    let cores = busy + samples.rate(metrics::HOST_CPU_IDLE, "").unwrap_or(0.0);
    named
        + if unseen >= UNSEEN_MIN * cores {
            unseen
        } else {
            0.0
        }
}

/// The processes among them that used most.
fn others(samples: &Samples<'_>) -> Vec<OtherProcess> {
    let all = Series::instances(samples.series, metrics::HOST_OTHER_CPU);
    let mut others: Vec<_> = all
        .map(|series| OtherProcess {
            name: series.instance.clone(),
            cores: samples.growth_per_s(series),
        })
        .filter(|other| other.cores >= OTHER_MIN)
        .collect();
    others.sort_by(|a, b| {
        b.cores
            .total_cmp(&a.cores)
            .then_with(|| a.name.cmp(&b.name))
    });
    others.truncate(OTHERS_MAX);
    others
}

/// The samples of a measurement, or of a part of it.
struct Samples<'a> {
    series: &'a [Series],
    from_s: f64,
    to_s: f64,
}

impl Samples<'_> {
    /// Growth of a counter per second.
    fn rate(&self, metric: Metric, instance: &str) -> Option<f64> {
        let mut all = Series::instances(self.series, metric);
        let series = all.find(|series| series.instance == instance)?;
        series.rate(self.from_s, self.to_s)
    }

    /// Growth per second of a counter that is 0 until it is first seen.
    fn growth_per_s(&self, series: &Series) -> f64 {
        let before = series.between(f64::MIN, self.from_s).last();
        let last = series.between(f64::MIN, self.to_s).last();
        let value = |point: Option<(f64, f64)>| point.map_or(0.0, |(_, value)| value);
        (value(last) - value(before)) / (self.to_s - self.from_s)
    }

    fn mean(&self, metric: Metric) -> Option<f64> {
        Series::find(self.series, metric)?.mean(self.from_s, self.to_s)
    }
}

/// For how long a block device was busy, by what its operations' time went into.
fn device_usage(samples: &Samples<'_>, device: &str) -> (f64, f64) {
    let rate = |metric| samples.rate(metric, device).unwrap_or(0.0);
    let busy = rate(metrics::HOST_DEVICE_BUSY);
    let reads = rate(metrics::HOST_DEVICE_READ_TIME);
    let writes = rate(metrics::HOST_DEVICE_WRITE_TIME) + rate(metrics::HOST_DEVICE_FLUSH_TIME);
    let all = reads + writes;
    if all > 0.0 {
        (busy * reads / all, busy * writes / all)
    } else {
        (0.0, 0.0)
    }
}

/// Little's law for each place: time spent there per second is the mean number that are there.
fn connections(
    samples: &Samples<'_>,
    drive: Option<&DriveStatistics>,
    load: &OfferedLoad,
) -> ConnectionTime {
    let all = load.connections;
    let in_transactions = load.transactions_per_s * load.latency_s;
    let busy = if load.has_own_times {
        in_transactions.min(all)
    } else {
        all
    };
    let at_most_busy = |place: f64| place.clamp(0.0, busy);
    let of_kind = |kind| FileTime::new(samples, drive, kind);
    let pages = of_kind(FileKind::Data);
    let read = pages.map(|file| file.read);
    let logs = [of_kind(FileKind::Redo), of_kind(FileKind::Binlog)];
    let flush = logs
        .into_iter()
        .flatten()
        .map(|log| log.waiting(load))
        .reduce(|sum, log| sum + log)
        .map(|at_least| at_least.max(committing(samples, load)));
    let server_cpu = samples.rate(metrics::SERVER_CPU, "").unwrap_or(0.0);
    let mut places = ConnectionTime {
        all,
        busy,
        server_cpu: at_most_busy(server_cpu),
        read: read.map(at_most_busy),
        free_page: None,
        flush: flush.map(at_most_busy),
        lock: samples
            .rate(metrics::STATUS_ROW_LOCK_TIME, "")
            .map(at_most_busy),
        network: Some(at_most_busy(load.rtt_s * load.statements_per_s)),
    };
    places.free_page = waiting_for_page_writes(samples, load, pages, &places);
    places
}

/// Connections that wait until changed pages are written: for the place of one, or since `InnoDB` lets no transaction change a
/// page while it is written. They are at a table, but neither reading nor on a core nor waiting for a row lock.
/// Where a server does not time tables, these are all that `others` leave.
fn waiting_for_page_writes(
    samples: &Samples<'_>,
    load: &OfferedLoad,
    pages: Option<FileTime>,
    others: &ConnectionTime,
) -> Option<f64> {
    let waits_per_s = samples.rate(metrics::STATUS_POOL_WAIT_FREE, "")?;
    let has_waited = waits_per_s >= FREE_PAGE_WAITS_MIN * load.transactions_per_s;
    let are_written = pages.is_some_and(|pages| pages.write >= PAGE_WRITES_MIN);
    if !has_waited && !are_written {
        return Some(0.0);
    }
    let known = |place: Option<f64>| place.unwrap_or(0.0);
    let outside = known(others.flush) + known(others.network);
    let at_tables = match samples.rate(metrics::WAIT_TIME, TABLE_WAITS) {
        Some(timed) => timed,
        None if has_waited => others.busy - outside,
        None => return Some(0.0),
    };
    let elsewhere = others.server_cpu + known(others.read) + known(others.lock);
    Some((at_tables - elsewhere).clamp(0.0, others.busy))
}

/// Connections that are in their commit, as far as it was measured.
///
/// A statement that commits by itself works on tables before (the server counts that time), and is neither
/// there nor on a core nor waiting for one while it commits.
fn committing(samples: &Samples<'_>, load: &OfferedLoad) -> f64 {
    if let Some(seen) = load.committing {
        return seen;
    }
    let tables = samples.rate(metrics::WAIT_TIME, TABLE_WAITS);
    let runnable = samples.mean(metrics::HOST_THREADS_RUNNABLE);
    let (Some(tables), Some(runnable), true) = (tables, runnable, load.commits_per_s > 0.0) else {
        return 0.0;
    };
    let in_statements =
        load.transactions_per_s * load.latency_s - load.rtt_s * load.statements_per_s;
    (in_statements - tables - runnable).max(0.0)
}

/// Time that operations on a kind of file took, per second.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FileTime {
    read: f64,
    /// Writes and flushes: a commit waits for both.
    write: f64,
    flushes_per_s: f64,
}

impl FileTime {
    /// As the drive counted it, in its totals or in its samples, else as the server did
    /// (`performance_schema`); `None` if neither.
    fn new(samples: &Samples<'_>, drive: Option<&DriveStatistics>, kind: FileKind) -> Option<Self> {
        if let Some(drive) = drive {
            let file = drive.by_kind.get(&kind).copied().unwrap_or_default();
            let per_s = |total: f64| total / (samples.to_s - samples.from_s);
            return Some(Self {
                read: per_s(file.read_latency_s),
                write: per_s(file.write_latency_s + file.flush_latency_s),
                flushes_per_s: per_s(file.flushes as f64),
            });
        }
        let rate = |metric| samples.rate(metric, kind.name());
        let of_drive = || {
            Some(Self {
                read: rate(metrics::DRIVE_FILE_READ_TIME)?,
                write: rate(metrics::DRIVE_FILE_WRITE_TIME)?
                    + rate(metrics::DRIVE_FILE_FLUSH_TIME)?,
                flushes_per_s: rate(metrics::DRIVE_FILE_FLUSHES)?,
            })
        };
        let of_server = || {
            Some(Self {
                read: rate(metrics::FILE_READ_TIME)?,
                write: rate(metrics::FILE_WRITE_TIME)? + rate(metrics::FILE_SYNC_TIME)?,
                flushes_per_s: rate(metrics::FILE_SYNCS)?,
            })
        };
        of_drive().or_else(of_server)
    }

    /// Connections that wait until a log is written and flushed: each commit for at least one
    /// flush, and all of them only while one is under way. The second bound tells a commit that
    /// waits from one that does not (`innodb_flush_log_at_trx_commit = 2`): then there is one flush
    /// a second, however many commits.
    fn waiting(&self, load: &OfferedLoad) -> f64 {
        if self.flushes_per_s <= 0.0 {
            return 0.0;
        }
        let latency_s = self.write / self.flushes_per_s;
        let under_way = self.write.min(1.0);
        (load.commits_per_s * latency_s).min(under_way * load.connections)
    }
}

#[cfg(test)]
mod tests;
