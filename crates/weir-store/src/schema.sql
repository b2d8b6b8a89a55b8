-- Schema 1 of a result. All times in seconds since the measurement began unless named otherwise.

CREATE TABLE study (
    only_row       INTEGER PRIMARY KEY CHECK (only_row = 1),
    schema_version INTEGER NOT NULL,
    started_at     TEXT NOT NULL,               -- RFC 3339
    weir_version   TEXT NOT NULL,
    flavor         TEXT NOT NULL,               -- mysql | mariadb
    server_version TEXT NOT NULL,
    data_bytes     INTEGER NOT NULL,
    plan           TEXT NOT NULL,               -- JSON: the resolved plan
    host           TEXT NOT NULL,               -- JSON: label -> text
    drives         TEXT NOT NULL                -- JSON: the profiles used
);

CREATE TABLE run (
    id                 INTEGER PRIMARY KEY,     -- also the order in which runs were made
    cell               INTEGER NOT NULL,        -- index into plan.cells
    repetition         INTEGER NOT NULL,        -- from 1
    started_at         TEXT NOT NULL,
    measured_s         REAL NOT NULL,
    queries_per_s      REAL NOT NULL,
    transactions_per_s REAL NOT NULL,
    errors             INTEGER NOT NULL,
    unfinished         INTEGER NOT NULL,        -- connections without a reply at the end
    limiter            TEXT NOT NULL,
    latency            TEXT NOT NULL,           -- JSON: summary, microseconds
    utilization        TEXT NOT NULL,           -- JSON: 0 idle to 1 saturated
    approach           TEXT NOT NULL,           -- JSON: how it came to its measurement
    drive              TEXT,                    -- JSON: counters of the measurement
    histogram          BLOB NOT NULL,           -- HdrHistogram V2, microseconds
    UNIQUE (cell, repetition)
);

CREATE TABLE interval (
    run            INTEGER NOT NULL REFERENCES run (id),
    time_s         REAL NOT NULL,               -- end of the interval; 0 or less: warm-up
    length_s       REAL NOT NULL,
    transactions   INTEGER NOT NULL,
    queries        INTEGER NOT NULL,
    reads          INTEGER NOT NULL,
    writes         INTEGER NOT NULL,
    errors         INTEGER NOT NULL,
    latency_us_p50 REAL NOT NULL,
    latency_us_p95 REAL NOT NULL,
    latency_us_p99 REAL NOT NULL,
    latency_us_max REAL NOT NULL
);
CREATE INDEX interval_of_run ON interval (run);

CREATE TABLE sample (
    run    INTEGER NOT NULL REFERENCES run (id),
    metric TEXT NOT NULL,
    time_s REAL NOT NULL,
    value  REAL NOT NULL
);
CREATE INDEX sample_of_run ON sample (run);

CREATE TABLE variable (
    run         INTEGER NOT NULL REFERENCES run (id),
    name        TEXT NOT NULL,
    value       TEXT NOT NULL,                  -- before the load
    value_after TEXT,                           -- only where the load left it different
    PRIMARY KEY (run, name)
) WITHOUT ROWID;
