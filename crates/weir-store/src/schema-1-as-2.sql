-- Results of schema 1, seen as schema 2: temporary views stand before the file's tables of the same
-- name, so that one reader reads both and the file is not touched.

CREATE TEMP VIEW study AS SELECT only_row, schema_version, started_at, weir_version, flavor,
    server_version, data_bytes, plan, host, drives,
    '' AS study_file, '' AS weir_commit, '[]' AS command
FROM main.study;

CREATE TEMP VIEW run AS SELECT id, cell, repetition, started_at, measured_s, queries_per_s,
    transactions_per_s, errors, unfinished, limiter, latency, utilization, drive,
    '[]' AS commands, id AS variable_set,
    '{"warmup_s": 0, "steady": null, "runs_before": 0}' AS approach
FROM main.run;

CREATE TEMP VIEW histogram AS SELECT id AS run, histogram AS data FROM main.run;

-- A table, not a view: it is looked up for each sample.
CREATE TEMP TABLE metric AS
SELECT min(rowid) AS id, metric AS name FROM main.sample GROUP BY metric;

CREATE TEMP VIEW sample AS SELECT run, (
    SELECT id FROM temp.metric WHERE name = main.sample.metric
) AS metric, time_s, value
FROM main.sample;

CREATE TEMP VIEW variable AS SELECT run AS variable_set, name, value FROM main.variable;

CREATE TEMP VIEW variable_changed AS SELECT run, name, value_after
FROM main.variable WHERE value_after IS NOT NULL;
