//! Reading a result back, whole.

use std::collections::BTreeMap;

use rusqlite::{Params, Row};
use weir_model::{IntervalRecord, RunRecord, RunResult, Sample, StudyResult};

use crate::rows::decode;
use crate::{Store, StoreError};

/// A run's variables before the load, and those that were different after it.
type Variables = (BTreeMap<String, String>, BTreeMap<String, String>);

impl Store {
    /// The whole result. Comparisons and findings are empty: they are computed, not stored.
    pub fn read(&self) -> Result<StudyResult, StoreError> {
        let sql = "SELECT started_at, weir_version, flavor, server_version, data_bytes, plan, \
                   host, drives FROM study";
        let header = self.connection.query_row(sql, [], |row| {
            let text = |index| row.get::<_, String>(index);
            let texts = [text(2)?, text(3)?, text(5)?, text(6)?, text(7)?];
            Ok((text(0)?, text(1)?, row.get::<_, u64>(4)?, texts))
        });
        let (started_at, weir_version, data_bytes, texts) = header.map_err(self.error("read"))?;
        let [flavor, server_version, plan, host, drives] = texts;
        Ok(StudyResult {
            plan: decode(&self.path, "study.plan", &plan)?,
            started_at,
            weir_version,
            flavor: decode(&self.path, "study.flavor", &flavor)?,
            server_version: decode(&self.path, "study.server_version", &server_version)?,
            host: decode(&self.path, "study.host", &host)?,
            drives: decode(&self.path, "study.drives", &drives)?,
            data_bytes,
            runs: self.read_runs()?,
            comparisons: Vec::new(),
            findings: Vec::new(),
            searches: Vec::new(),
        })
    }

    /// `(cell, repetition)` of the runs that are complete.
    pub fn completed(&self) -> Result<Vec<(usize, u32)>, StoreError> {
        self.collect("SELECT cell, repetition FROM run ORDER BY id", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }

    pub(crate) fn schema_version(&self) -> Result<i64, StoreError> {
        let sql = "SELECT schema_version FROM study";
        self.connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(self.error("read"))
    }

    fn read_runs(&self) -> Result<Vec<RunResult>, StoreError> {
        let sql = "SELECT id, cell, repetition, started_at, measured_s, queries_per_s, \
                   transactions_per_s, errors, histogram, limiter, latency, utilization, drive, unfinished, \
                   approach \
                   FROM run ORDER BY id";
        let rows = self.collect(sql, [], |row| {
            let texts: [String; 4] = [row.get(9)?, row.get(10)?, row.get(11)?, row.get(14)?];
            let drive: Option<String> = row.get(12)?;
            let record = RunRecord {
                cell: row.get(1)?,
                repetition: row.get(2)?,
                started_at: row.get(3)?,
                measured_s: row.get(4)?,
                queries_per_s: row.get(5)?,
                transactions_per_s: row.get(6)?,
                errors: row.get(7)?,
                unfinished: row.get(13)?,
                latency: weir_model::LatencySummary::default(),
                utilization: weir_model::Utilization::default(),
                limiter: weir_model::Limiter::Waiting,
                approach: weir_model::Approach::default(),
            };
            Ok((
                row.get::<_, i64>(0)?,
                record,
                row.get::<_, Vec<u8>>(8)?,
                texts,
                drive,
            ))
        })?;
        let runs = rows
            .into_iter()
            .map(|(id, mut record, histogram, texts, drive)| {
                let [limiter, latency, utilization, approach] = texts;
                record.limiter = decode(&self.path, "run.limiter", &limiter)?;
                record.latency = decode(&self.path, "run.latency", &latency)?;
                record.utilization = decode(&self.path, "run.utilization", &utilization)?;
                record.approach = decode(&self.path, "run.approach", &approach)?;
                let drive = drive
                    .map(|text| decode(&self.path, "run.drive", &text))
                    .transpose()?;
                let (variables, variables_changed) = self.read_variables(id)?;
                Ok(RunResult {
                    record,
                    intervals: self.read_intervals(id)?,
                    samples: self.read_samples(id)?,
                    variables,
                    variables_changed,
                    drive,
                    histogram,
                })
            });
        runs.collect()
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

    fn read_samples(&self, run: i64) -> Result<Vec<Sample>, StoreError> {
        let sql = "SELECT metric, time_s, value FROM sample WHERE run = ? ORDER BY time_s, rowid";
        self.collect(sql, [run], |row| {
            Ok(Sample {
                metric: row.get(0)?,
                time_s: row.get(1)?,
                value: row.get(2)?,
            })
        })
    }

    fn read_variables(&self, run: i64) -> Result<Variables, StoreError> {
        let sql = "SELECT name, value, value_after FROM variable WHERE run = ?";
        let rows = self.collect(sql, [run], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, Option<_>>(2)?,
            ))
        })?;
        let mut variables = Variables::default();
        for (name, value, after) in rows {
            if let Some(after) = after {
                variables.1.insert(name.clone(), after);
            }
            variables.0.insert(name, value);
        }
        Ok(variables)
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
