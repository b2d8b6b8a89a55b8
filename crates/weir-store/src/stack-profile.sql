-- Stacks of the server's process; only in results that have such runs.
CREATE TABLE IF NOT EXISTS stack_profile (
    run    INTEGER PRIMARY KEY REFERENCES run (id),
    record TEXT NOT NULL,            -- JSON: samples, cut, lost, frequency_hz, threads_without, has_kernel
    folded TEXT NOT NULL             -- a line for each stack: functions from the outermost inwards, samples
);
