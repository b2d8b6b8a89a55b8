-- What each of several load hosts did of a run; only in results that have such runs.
CREATE TABLE IF NOT EXISTS load_host (
    run               INTEGER NOT NULL REFERENCES run (id),
    position          INTEGER NOT NULL,         -- from 0
    name              TEXT NOT NULL,            -- of the agent
    host              TEXT NOT NULL,
    cores             INTEGER NOT NULL,
    connections       INTEGER NOT NULL,
    clock_ahead_s     REAL NOT NULL,            -- of its monotonic clock
    clock_error_us    REAL NOT NULL,
    began_late_us     REAL NOT NULL,
    transactions      INTEGER NOT NULL,         -- warm-up included
    cpu_s             REAL NOT NULL,            -- of its reactors, within the measurement
    longest_silence_s REAL NOT NULL,            -- between two signs of life
    PRIMARY KEY (run, position)
) WITHOUT ROWID;
