//! The load engine: drives a MySQL server with many connections from few threads and measures it.
//! Change here: a request and its answer: `driver/`; what a connection does next: `session.rs`; the event loop: `reactor/`; what is counted: `meter/`; why a load ended: `conclusion.rs`; tables: `prepare.rs`.
//!
//! [`prepare`] makes the tables, [`run`] loads them, [`cleanup`] drops them; [`check_order_entry`] looks
//! whether those of order entry hold together. Each connection has
//! one request outstanding. In a closed loop it begins the next transaction when the last one is
//! done; at a [`Rate`](weir_model::Rate) it begins the next one that is due. Latency is that of a transaction, to its
//! last reply from its first request, or from when it was due. Over TCP the kernel tells when a reply
//! came, and latency ends there; over a Unix socket it ends when the reply is read, so that what a
//! reactor's own queue adds is part of it. `client_cpu_s` says how busy the reactor was. A transaction
//! that fails with a tolerated error is counted as an error and tried again; in a closed loop that
//! is a new one. A lost connection ends the run or, when that is asked for, is made again. In
//! `bulk_insert` a transaction is a row, as in sysbench, but its latency is that of the statement
//! that carried it, counted once: sysbench's is the time to append a row to its own buffer.
//!
//! `connect` makes the measured connections by `weir_mysql`, as the control plane does. Layers, downwards:
//! `engine` (threads and merging) -> `reactor` (epoll or `io_uring`) -> `driver` (a MySQL connection, or
//! none) -> `session` (what it does), most of which report to `meter`. Nothing here prints; nothing
//! knows about studies. A run may be shared by several processes: [`run_part`] does one [`Share`] and gives
//! its frames away, [`PartsMerger`] merges those of all. How they travel is no matter of this crate.

mod check;
mod cleanup;
mod completion;
mod conclusion;
mod connect;
mod driver;
mod engine;
mod error;
mod hdr_log;
mod idle;
mod meter;
mod null_server;
mod own_socket;
mod parameter;
mod plan;
mod preflight;
mod prepare;
mod prewarm;
mod reactor;
mod reactor_kind;
mod rehearsal;
mod schema;
mod session;
mod share;
mod stamp;
mod statistics;
#[cfg(test)]
mod testing;
mod threads;

pub use check::{CONDITIONS, ConditionCheck, Violation, check_conditions, check_order_entry};
pub use cleanup::{cleanup, existing_tables};
pub use completion::{Completion, Duty, Goal, LoadEnd};
pub use engine::{
    Frame, PartEnd, PartReady, PartStart, PartsMerger, Progress, run, run_observed, run_part,
    run_part_sessions, run_sessions,
};
pub use error::LoadError;
pub use hdr_log::HdrLog;
pub use meter::{Counts, ErrorCount};
pub use null_server::{DelayKind, Fault, NullServer, NullServerBehavior};
pub use own_socket::OwnSocket;
pub use plan::{
    BinaryLog, EndpointMessage, LoadPlan, PlanMessage, PreparePlan, ToleratedErrors, reactors_for,
};
pub use prepare::{LoadingStep, OnStep, prepare, prepare_observed};
pub use prewarm::prewarm;
pub use reactor_kind::ReactorKind;
pub use rehearsal::{rehearse_run, statements};
pub use schema::make_missing_schema;
pub use session::{
    FoundStatements, OpenedSession, Session, SessionKinds, SessionSource, Step, Turn,
};
pub use share::Share;
pub use statistics::{Fairness, Interval, LoadOutcome, OpenLoop, Outage, Totals, outcome_of};
pub use threads::{
    PartLead, Start, StatementKind, ThreadMeter, ThreadProgress, ThreadWork, ThreadsOutcome,
    run_threads, run_threads_part,
};

/// Parts of a plan.
pub use weir_workload::{TableOptions, Workload};
