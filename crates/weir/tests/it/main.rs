//! End-to-end tests of the `weir` program, one module per command, on real servers of both
//! flavours and real FUSE mounts.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod advise;
mod asked;
mod backup;
mod before_after;
mod bottleneck;
mod capture;
mod clean;
mod container;
mod copy_events;
mod crash_test;
mod ddl;
mod disturbed;
mod doctor;
mod doublewrite;
mod drive;
mod drive_measure;
mod events;
mod explain;
mod external_server;
mod failover;
mod flames;
#[cfg(feature = "flashback")]
mod flashback;
mod gate_action;
mod grants;
mod harness;
mod inheritance;
mod init;
mod kill;
mod layers;
mod left_changed;
mod load;
mod look;
mod order_entry;
mod own_load;
mod own_server_events;
mod plan;
mod planted;
mod pool;
mod powercut;
mod predict;
mod reach;
mod replayed_study;
mod replicas;
mod report;
mod run;
#[cfg(feature = "lua")]
mod script_study;
mod search;
mod server;
mod shipped_files;
mod terminal;
mod tls;
mod tuesday;
mod upgrade;
mod users;
mod window;
mod workload;
