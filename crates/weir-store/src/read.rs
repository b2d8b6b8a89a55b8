//! Reading a result back, whole or some of its cells.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use rusqlite::{Params, Row};
use weir_model::{
    Approach, Bottleneck, ConnectionLosses, EventRecord, Gap, IntervalRecord, KindLatency,
    LatencySummary, LoadHost, Plan, Provenance, ReplayRecord, RunRecord, RunResult, Series,
    ServerHost, ShortInterval, StackProfile, StudyResult, Utilization,
};

use crate::earlier_plan::EarlierPlan;
use crate::rows::decode;
use crate::{Store, StoreError};

/// Columns that [`RecordRow::from_row`] reads: those before the long ones.
const RECORD: &str = "cell, repetition, started_at, measured_s, queries_per_s, transactions_per_s, \
    errors, unfinished, limiter, latency, utilization, approach";
/// Columns that [`RunRow::from_row`] reads after that.
const REST: &str = "id, variable_set, commands, drive";

impl Store {
    /// The whole result. Comparisons and findings are empty: they are computed, not stored.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn read(&self) -> Result<StudyResult, StoreError> {
        let mut result = self.header()?;
        let cells: Vec<_> = (0..result.plan.cells.len()).collect();
        result.runs = self.runs_of(&cells, Parts::All)?;
        Ok(result)
    }

    /// The result without samples, gaps, latencies by statement, histograms and logs: what two results are compared by, a
    /// small part of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn read_without_samples(&self) -> Result<StudyResult, StoreError> {
        let mut result = self.header()?;
        let cells: Vec<_> = (0..result.plan.cells.len()).collect();
        result.runs = self.runs_of(&cells, Parts::WithoutSamples)?;
        Ok(result)
    }

    /// The result with the runs of `cells` only: what a comparison of two of thousands needs.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn read_cells(&self, cells: &[usize]) -> Result<StudyResult, StoreError> {
        let mut result = self.header()?;
        result.runs = self.runs_of(cells, Parts::All)?;
        Ok(result)
    }

    /// The result without its runs.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn header(&self) -> Result<StudyResult, StoreError> {
        let sql = "SELECT started_at, weir_version, data_bytes, study_file, weir_commit, \
                   flavor, server_version, plan, host, drives, command FROM study";
        let header = self.connection.query_row(sql, [], |row| {
            let text = |index| row.get::<_, String>(index);
            let plain = [text(0)?, text(1)?, text(3)?, text(4)?];
            let coded = [text(5)?, text(6)?, text(7)?, text(8)?, text(9)?, text(10)?];
            Ok((plain, row.get::<_, u64>(2)?, coded))
        });
        let (plain, data_bytes, coded) = header.map_err(self.error("read"))?;
        let [started_at, weir_version, study_file, weir_commit] = plain;
        let [flavor, server_version, plan, host, drives, command] = coded;
        Ok(StudyResult {
            plan: self.plan(&plan)?,
            started_at,
            weir_version,
            flavor: decode(&self.path, "study.flavor", &flavor)?,
            server_version: decode(&self.path, "study.server_version", &server_version)?,
            host: decode(&self.path, "study.host", &host)?,
            drives: decode(&self.path, "study.drives", &drives)?,
            data_bytes,
            runs: Vec::new(),
            provenance: Provenance {
                study_file,
                weir_commit,
                command: decode(&self.path, "study.command", &command)?,
            },
        })
    }

    /// The plan that a column holds.
    fn plan(&self, text: &str) -> Result<Plan, StoreError> {
        if !self.has_earlier_plan {
            return decode(&self.path, "study.plan", text);
        }
        let EarlierPlan(plan) = decode(&self.path, "study.plan", text)?;
        Ok(plan)
    }

    /// `(cell, repetition)` of the runs that are complete.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn completed(&self) -> Result<Vec<(usize, u32)>, StoreError> {
        self.collect("SELECT cell, repetition FROM run ORDER BY id", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }

    /// Identity and summary of every run, in the order in which they were made.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn records(&self) -> Result<Vec<RunRecord>, StoreError> {
        let sql = format!("SELECT {RECORD} FROM run ORDER BY id");
        let rows = self.collect(&sql, [], RecordRow::from_row)?;
        rows.into_iter().map(|row| self.read_record(row)).collect()
    }

    /// One run with all that was measured; `None` if it was not made.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn run(&self, cell: usize, repetition: u32) -> Result<Option<RunResult>, StoreError> {
        let sql = format!("SELECT {RECORD}, {REST} FROM run WHERE cell = ? AND repetition = ?");
        let rows = self.collect(&sql, (cell, repetition), RunRow::from_row)?;
        let Some(row) = rows.into_iter().next() else {
            return Ok(None);
        };
        let variables = self.read_variables(row.variable_set)?;
        self.read_run(row, Arc::new(variables), Parts::All)
            .map(Some)
    }

    pub(crate) fn schema_version(&self) -> Result<i64, StoreError> {
        let sql = "SELECT schema_version FROM study";
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(self.error("read"))
    }

    fn runs_of(&self, cells: &[usize], parts: Parts) -> Result<Vec<RunResult>, StoreError> {
        let sql = format!(
            "SELECT {RECORD}, {REST} FROM run \
             WHERE cell IN (SELECT value FROM json_each(?)) ORDER BY id"
        );
        let wanted = serde_json::json!(cells).to_string();
        let rows = self.collect(&sql, [wanted], RunRow::from_row)?;
        let mut sets = BTreeMap::new();
        rows.into_iter()
            .map(|row| {
                let variables = match sets.entry(row.variable_set) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        new.insert(Arc::new(self.read_variables(row.variable_set)?))
                    }
                };
                let variables = Arc::clone(variables);
                self.read_run(row, variables, parts)
            })
            .collect()
    }

    fn read_run(
        &self,
        row: RunRow,
        variables: Arc<BTreeMap<String, String>>,
        parts: Parts,
    ) -> Result<RunResult, StoreError> {
        let id = row.id;
        let drive = row
            .drive
            .as_ref()
            .map(|text| decode(&self.path, "run.drive", text))
            .transpose()?;
        let mut run = RunResult {
            record: self.read_record(row.record)?,
            intervals: self.read_intervals(id)?,
            series: Vec::new(),
            gaps: Vec::new(),
            variables,
            variables_changed: self.read_changed(id)?,
            drive,
            commands: decode(&self.path, "run.commands", &row.commands)?,
            server_log: String::new(),
            kinds: Vec::new(),
            events: self.read_events(id)?,
            short_intervals: Vec::new(),
            losses: self.read_losses(id)?,
            hosts: self.read_hosts(id)?,
            server_host: self.read_server_host(id)?,
            profile: None,
            replay: self.read_replay(id)?,
            histogram: Vec::new(),
        };
        if let Parts::All = parts {
            run.series = self.read_series(id)?;
            run.gaps = self.read_gaps(id)?;
            run.kinds = self.read_kinds(id)?;
            run.short_intervals = self.read_short_intervals(id)?;
            run.server_log = self.read_server_log(id)?;
            run.histogram = self.read_histogram(id)?;
            run.profile = self.read_profile(id)?;
        }
        Ok(run)
    }

    fn read_record(&self, row: RecordRow) -> Result<RunRecord, StoreError> {
        let [bottleneck, latency, utilization, approach] = row.coded;
        let mut record = row.record;
        record.bottleneck = decode(&self.path, "run.limiter", &bottleneck)?;
        record.latency = decode(&self.path, "run.latency", &latency)?;
        record.utilization = decode(&self.path, "run.utilization", &utilization)?;
        record.approach = decode(&self.path, "run.approach", &approach)?;
        Ok(record)
    }

    fn read_intervals(&self, run: i64) -> Result<Vec<IntervalRecord>, StoreError> {
        let sql = "SELECT time_s, length_s, transactions, queries, reads, writes, errors, \
                   latency_us_p50, latency_us_p95, latency_us_p99, latency_us_max \
                   FROM interval WHERE run = ? ORDER BY time_s";
        self.collect(sql, [run], |row| {
            Ok(IntervalRecord {
                time_s: row.get(0)?,
                length_s: row.get(1)?,
                transactions: row.get(2)?,
                queries: row.get(3)?,
                reads: row.get(4)?,
                writes: row.get(5)?,
                errors: row.get(6)?,
                latency_us_p50: row.get(7)?,
                latency_us_p95: row.get(8)?,
                latency_us_p99: row.get(9)?,
                latency_us_max: row.get(10)?,
            })
        })
    }

    fn read_series(&self, run: i64) -> Result<Vec<Series>, StoreError> {
        let sql = "SELECT metric, time_s, value FROM sample WHERE run = ? ORDER BY metric, time_s";
        let points: Vec<(i64, f64, f64)> = self.collect(sql, [run], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        points
            .chunk_by(|a, b| a.0 == b.0)
            .map(|points| {
                let mut series = self.series_of(points[0].0)?;
                for (_, time_s, value) in points {
                    series.push(*time_s, *value);
                }
                Ok(series)
            })
            .collect()
    }

    /// A series of the metric with this number, without samples.
    fn series_of(&self, metric: i64) -> Result<Series, StoreError> {
        let sql = "SELECT name, instance FROM metric WHERE id = ?";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([metric], |row| {
                Ok(Series {
                    metric: row.get(0)?,
                    instance: row.get(1)?,
                    ..Series::default()
                })
            })
        };
        read().map_err(self.error("read"))
    }

    fn read_gaps(&self, run: i64) -> Result<Vec<Gap>, StoreError> {
        let sql =
            "SELECT source, from_s, to_s, reason FROM gap WHERE run = ? ORDER BY from_s, source";
        self.collect(sql, [run], |row| {
            Ok(Gap {
                source: row.get(0)?,
                from_s: row.get(1)?,
                to_s: row.get(2)?,
                reason: row.get(3)?,
            })
        })
    }

    fn read_kinds(&self, run: i64) -> Result<Vec<KindLatency>, StoreError> {
        let sql = "SELECT name, is_statement, count, latency FROM kind_latency WHERE run = ? \
                   ORDER BY position";
        let rows: Vec<(String, bool, u64, String)> = self.collect(sql, [run], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        let kind = |(name, is_statement, count, latency): (String, bool, u64, String)| {
            Ok(KindLatency {
                name,
                is_statement,
                count,
                latency: decode(&self.path, "kind_latency.latency", &latency)?,
            })
        };
        rows.into_iter().map(kind).collect()
    }

    fn read_events(&self, run: i64) -> Result<Vec<EventRecord>, StoreError> {
        let sql = "SELECT name, kind, began_s, ended_s, tries, lock_wait_s, ending, session, detail \
                   FROM event LEFT JOIN event_detail USING (run, position) \
                   WHERE run = ? ORDER BY position";
        let rows = self.collect(sql, [run], |row| {
            let texts: [String; 4] = [row.get(0)?, row.get(1)?, row.get(6)?, row.get(7)?];
            let times: [f64; 3] = [row.get(2)?, row.get(3)?, row.get(5)?];
            let rest: (u32, Option<String>) = (row.get(4)?, row.get(8)?);
            Ok((texts, times, rest))
        })?;
        let event = |(texts, times, (tries, detail)): EventRow| {
            let [name, kind, ending, session] = texts;
            let [began_s, ended_s, lock_wait_s] = times;
            let detail = detail.map(|detail| decode(&self.path, "event_detail.detail", &detail));
            Ok(EventRecord {
                name,
                kind,
                began_s,
                ended_s,
                tries,
                lock_wait_s,
                ending: decode(&self.path, "event.ending", &ending)?,
                session: decode(&self.path, "event.session", &session)?,
                detail: detail.transpose()?.unwrap_or_default(),
            })
        };
        rows.into_iter().map(event).collect()
    }

    fn read_short_intervals(&self, run: i64) -> Result<Vec<ShortInterval>, StoreError> {
        let sql = "SELECT time_s, transactions, statements, pause_s, latency_us_p99 \
                   FROM short_interval WHERE run = ? ORDER BY time_s";
        self.collect(sql, [run], |row| {
            Ok(ShortInterval {
                time_s: row.get(0)?,
                transactions: row.get(1)?,
                statements: row.get(2)?,
                pause_s: row.get(3)?,
                latency_us_p99: row.get(4)?,
            })
        })
    }

    /// Of runs that several hosts loaded; other results have no such table.
    fn read_hosts(&self, run: i64) -> Result<Vec<LoadHost>, StoreError> {
        if !self.has_table("load_host")? {
            return Ok(Vec::new());
        }
        let sql = "SELECT name, host, cores, connections, clock_ahead_s, clock_error_us, began_late_us, transactions, \
                   cpu_s, longest_silence_s FROM load_host WHERE run = ? ORDER BY position";
        let mut hosts = self.collect(sql, [run], |row| {
            Ok(LoadHost {
                name: row.get(0)?,
                host: row.get(1)?,
                cores: row.get(2)?,
                connections: row.get(3)?,
                clock_ahead_s: row.get(4)?,
                clock_error_us: row.get(5)?,
                clock_moved_us: None,
                clock_moved_error_us: None,
                began_late_us: row.get(6)?,
                transactions: row.get(7)?,
                cpu_s: row.get(8)?,
                longest_silence_s: row.get(9)?,
            })
        })?;
        if self.has_table("load_host_clock")? {
            let sql = "SELECT position, moved_us, error_us FROM load_host_clock WHERE run = ?";
            let clocks: Vec<(usize, f64, f64)> = self.collect(sql, [run], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            for (position, moved_us, error_us) in clocks {
                if let Some(host) = hosts.get_mut(position) {
                    (host.clock_moved_us, host.clock_moved_error_us) =
                        (Some(moved_us), Some(error_us));
                }
            }
        }
        Ok(hosts)
    }

    /// Of runs whose server's host was sampled by an agent; other results have no such table.
    fn read_server_host(&self, run: i64) -> Result<Option<ServerHost>, StoreError> {
        if !self.has_table("server_host")? {
            return Ok(None);
        }
        let sql = "SELECT host FROM server_host WHERE run = ?";
        let texts: Vec<String> = self.collect(sql, [run], |row| row.get(0))?;
        let host = texts.first();
        let host = host.map(|text| decode(&self.path, "server_host.host", text));
        host.transpose()
    }

    /// Of runs whose server was profiled; other results have no such table.
    fn read_profile(&self, run: i64) -> Result<Option<StackProfile>, StoreError> {
        if !self.has_table("stack_profile")? {
            return Ok(None);
        }
        let sql = "SELECT record, folded FROM stack_profile WHERE run = ?";
        let rows: Vec<(String, String)> =
            self.collect(sql, [run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let profile = rows.into_iter().next().map(|(record, folded)| {
            let profile = decode(&self.path, "stack_profile.record", &record);
            profile.map(|profile: StackProfile| StackProfile { folded, ..profile })
        });
        profile.transpose()
    }

    fn has_table(&self, name: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
        let found = self.collect(sql, [name], |row| row.get::<_, i64>(0))?;
        Ok(!found.is_empty())
    }

    fn read_losses(&self, run: i64) -> Result<ConnectionLosses, StoreError> {
        let sql = "SELECT losses FROM connection_loss WHERE run = ?";
        let texts: Vec<String> = self.collect(sql, [run], |row| row.get(0))?;
        let losses = texts.first();
        let losses = losses.map(|text| decode(&self.path, "connection_loss.losses", text));
        Ok(losses.transpose()?.unwrap_or_default())
    }

    /// Returns the record of a replay; `None` where none was made.
    fn read_replay(&self, run: i64) -> Result<Option<ReplayRecord>, StoreError> {
        let sql = "SELECT record FROM replay WHERE run = ?";
        let texts: Vec<String> = self.collect(sql, [run], |row| row.get(0))?;
        let text = texts.into_iter().next();
        text.map(|text| decode(&self.path, "replay.record", &text))
            .transpose()
    }

    fn read_histogram(&self, run: i64) -> Result<Vec<u8>, StoreError> {
        let sql = "SELECT data FROM histogram WHERE run = ?";
        let found = self.connection.query_row(sql, [run], |row| row.get(0));
        found.map_err(self.error("read"))
    }

    /// Returns the server's log; nothing where nothing was kept.
    fn read_server_log(&self, run: i64) -> Result<String, StoreError> {
        let sql = "SELECT text FROM server_log WHERE run = ?";
        let texts = self.collect(sql, [run], |row| row.get(0))?;
        Ok(texts.into_iter().next().unwrap_or_default())
    }

    fn read_variables(&self, set: i64) -> Result<BTreeMap<String, String>, StoreError> {
        let sql = "SELECT name, value FROM variable WHERE variable_set = ?";
        let pairs = self.collect(sql, [set], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(pairs.into_iter().collect())
    }

    fn read_changed(&self, run: i64) -> Result<BTreeMap<String, String>, StoreError> {
        let sql = "SELECT name, value_after FROM variable_changed WHERE run = ?";
        let pairs = self.collect(sql, [run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(pairs.into_iter().collect())
    }

    fn collect<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement
                .query_map(parameters, row)?
                .collect::<rusqlite::Result<Vec<T>>>()
        };
        read().map_err(self.error("read"))
    }
}

/// Name, kind, ending, session; times; tries and detail.
type EventRow = ([String; 4], [f64; 3], (u32, Option<String>));

/// Parts of a run that are read.
#[derive(Debug, Clone, Copy)]
enum Parts {
    All,
    WithoutSamples,
}

/// A row of table `run`, before its JSON is read.
struct RunRow {
    record: RecordRow,
    id: i64,
    variable_set: i64,
    commands: String,
    drive: Option<String>,
}

impl RunRow {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            record: RecordRow::from_row(row)?,
            id: row.get("id")?,
            variable_set: row.get("variable_set")?,
            commands: row.get("commands")?,
            drive: row.get("drive")?,
        })
    }
}

/// Columns of a run's record.
struct RecordRow {
    /// Without what `coded` holds.
    record: RunRecord,
    /// Bottleneck, latency, utilization, approach.
    coded: [String; 4],
}

impl RecordRow {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            record: RunRecord {
                cell: row.get(0)?,
                repetition: row.get(1)?,
                started_at: row.get(2)?,
                measured_s: row.get(3)?,
                queries_per_s: row.get(4)?,
                transactions_per_s: row.get(5)?,
                errors: row.get(6)?,
                unfinished: row.get(7)?,
                bottleneck: Bottleneck::Unexplained,
                latency: LatencySummary::default(),
                utilization: Utilization::default(),
                approach: Approach::default(),
            },
            coded: [row.get(8)?, row.get(9)?, row.get(10)?, row.get(11)?],
        })
    }
}
