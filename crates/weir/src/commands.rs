//! One file per command.

pub(crate) mod advise;
pub(crate) mod agent;
pub(crate) mod agents;
pub(crate) mod bus;
pub(crate) mod capture;
pub(crate) mod claims;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod crash_test;
pub(crate) mod ddl;
pub(crate) mod doctor;
pub(crate) mod drive;
pub(crate) mod explain;
pub(crate) mod facts;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod left_changed;
pub(crate) mod load;
pub(crate) mod look;
pub(crate) mod plan;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod server;
pub(crate) mod shell;
pub(crate) mod study_file;
pub(crate) mod upgrade;
pub(crate) mod workload;

pub(crate) use weir_terminal::external_server;
