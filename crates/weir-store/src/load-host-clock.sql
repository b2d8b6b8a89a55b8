-- How far the clocks of load hosts moved during a run; only in results that have such runs.
CREATE TABLE IF NOT EXISTS load_host_clock (
    run      INTEGER NOT NULL REFERENCES run (id),
    position INTEGER NOT NULL,         -- as in load_host
    moved_us REAL NOT NULL,            -- how much further it was ahead at the end
    error_us REAL NOT NULL,            -- at most this much is wrong with that
    PRIMARY KEY (run, position)
) WITHOUT ROWID;
