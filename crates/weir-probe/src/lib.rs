//! Samplers of server, host, process and drive metrics: one file per source.
