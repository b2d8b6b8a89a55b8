//! The result store: one SQLite file per study run.
