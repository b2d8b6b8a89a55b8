-- The host of a user's server, where an agent there sampled it; only in results that have such runs.
CREATE TABLE IF NOT EXISTS server_host (
    run  INTEGER PRIMARY KEY REFERENCES run (id),
    host TEXT NOT NULL             -- JSON: agent, host, processor, cores, memory, kernel, device
);
