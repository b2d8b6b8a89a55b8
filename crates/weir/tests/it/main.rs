//! End-to-end tests of the `weir` program, one module per command, on real servers of both
//! flavours and real FUSE mounts.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod asked;
mod backup;
mod before_after;
mod bottleneck;
mod capture;
mod clean;
mod crash_test;
mod disturbed;
mod doctor;
mod doublewrite;
mod drive;
mod events;
mod explain;
mod external_server;
mod flashback;
mod grants;
mod harness;
mod init;
mod kill;
mod layers;
mod left_changed;
mod load;
mod order_entry;
mod own_load;
mod plan;
mod predict;
mod reach;
mod replicas;
mod report;
mod run;
mod script_study;
mod search;
mod server;
mod shipped_files;
mod terminal;
mod tls;
mod users;
mod window;
mod workload;
