-- Schema 7 of a result; docs/result.md describes it. All times in seconds since the measurement began unless named otherwise.

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
    drives         TEXT NOT NULL,               -- JSON: the profiles used
    study_file     TEXT NOT NULL,               -- the study file, as it was written
    weir_commit    TEXT NOT NULL,               -- the commit that Weir was built from
    command        TEXT NOT NULL                -- JSON: the command line
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
    drive              TEXT,                    -- JSON: counters and accuracy of the measurement
    commands           TEXT NOT NULL,           -- JSON: mount, server, load
    variable_set       INTEGER NOT NULL REFERENCES variable_set (id),
    UNIQUE (cell, repetition)
);

-- Apart from the runs, so that reading their numbers does not read past it.
CREATE TABLE histogram (
    run  INTEGER PRIMARY KEY REFERENCES run (id),
    data BLOB NOT NULL                          -- HdrHistogram V2, microseconds, transactions
);

-- Latency by kind of transaction and by statement, in the workload's order.
CREATE TABLE kind_latency (
    run          INTEGER NOT NULL REFERENCES run (id),
    position     INTEGER NOT NULL,              -- from 0
    name         TEXT NOT NULL,                 -- as the workload calls it
    is_statement INTEGER NOT NULL,              -- 0: a kind of transaction
    count        INTEGER NOT NULL,
    latency      TEXT NOT NULL,                 -- JSON: summary, microseconds
    PRIMARY KEY (run, position)
) WITHOUT ROWID;

-- The end of the server's error log, apart for the same reason.
CREATE TABLE server_log (
    run  INTEGER PRIMARY KEY REFERENCES run (id),
    text TEXT NOT NULL
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

-- What became of the events of the run's timeline, in the study's order.
CREATE TABLE event (
    run         INTEGER NOT NULL REFERENCES run (id),
    position    INTEGER NOT NULL,               -- from 0
    name        TEXT NOT NULL,                  -- as the study calls it
    kind        TEXT NOT NULL,
    began_s     REAL NOT NULL,
    ended_s     REAL NOT NULL,
    tries       INTEGER NOT NULL,               -- how often its statement was sent
    lock_wait_s REAL NOT NULL,
    ending      TEXT NOT NULL,                  -- done, cut_off, or JSON: what the server said
    session     TEXT NOT NULL,                  -- JSON: variables as the server says them
    PRIMARY KEY (run, position)
) WITHOUT ROWID;

-- What was seen of an event beyond its times; only where something was.
CREATE TABLE event_detail (
    run      INTEGER NOT NULL REFERENCES run (id),
    position INTEGER NOT NULL,                  -- as in event
    detail   TEXT NOT NULL,                     -- JSON: phases with blockers, restart, temporary files
    PRIMARY KEY (run, position)
) WITHOUT ROWID;

-- Tenths of a second around the beginning and the end of each event.
CREATE TABLE short_interval (
    run            INTEGER NOT NULL REFERENCES run (id),
    time_s         REAL NOT NULL,               -- its end
    transactions   INTEGER NOT NULL,
    statements     INTEGER NOT NULL,
    pause_s        REAL NOT NULL,               -- longest time without a completed statement up to here
    latency_us_p99 REAL NOT NULL,
    PRIMARY KEY (run, time_s)
) WITHOUT ROWID;

-- Connections that the load lost and made again; only where it did.
CREATE TABLE connection_loss (
    run    INTEGER PRIMARY KEY REFERENCES run (id),
    losses TEXT NOT NULL                        -- JSON: how many, and when
);

CREATE TABLE metric (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL,                         -- the unit stands last: server.cpu_s
    instance TEXT NOT NULL,                     -- which core, device or kind of file; empty: only one
    UNIQUE (name, instance)
);

-- Series after series, so that one is read without the others; no row number, no index beside it.
CREATE TABLE sample (
    run    INTEGER NOT NULL REFERENCES run (id),
    metric INTEGER NOT NULL REFERENCES metric (id),
    time_s REAL NOT NULL,
    value  REAL NOT NULL,
    PRIMARY KEY (run, metric, time_s)
) WITHOUT ROWID;

-- When a source gave no samples.
CREATE TABLE gap (
    run    INTEGER NOT NULL REFERENCES run (id),
    source TEXT NOT NULL,                       -- server status, INNODB_METRICS, ...
    from_s REAL NOT NULL,
    to_s   REAL NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX gap_of_run ON gap (run);

-- A server has hundreds of variables and the runs of a cell have the same: each set is kept once.
CREATE TABLE variable_set (
    id     INTEGER PRIMARY KEY,
    digest INTEGER NOT NULL UNIQUE              -- of the names and values
);

CREATE TABLE variable (
    variable_set INTEGER NOT NULL REFERENCES variable_set (id),
    name         TEXT NOT NULL,
    value        TEXT NOT NULL,                 -- before the load
    PRIMARY KEY (variable_set, name)
) WITHOUT ROWID;

CREATE TABLE variable_changed (
    run         INTEGER NOT NULL REFERENCES run (id),
    name        TEXT NOT NULL,
    value_after TEXT NOT NULL,                  -- only where the load left it different
    PRIMARY KEY (run, name)
) WITHOUT ROWID;
