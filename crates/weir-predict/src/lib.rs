//! Predictions of what did not run: misses, throughput and latency of pools, drives and numbers of connections.
//! Change here: which pages a pool keeps: `residency.rs`, `pool_use.rs`; what a transaction waits for: `queues.rs`, `network.rs`; prices, growth and tables of `weir predict`: `from_result/`.
//!
//! Pure functions of a workload, a drive's model and what a run has measured. From the data up:
//! `popularity` (how often each page is asked for) -> `pool_use` (what a server does with frames), `residency` and
//! `pool_model` (what a pool misses) and `flushing` and `writes` (what it writes) -> `drive` (what a drive can do) -> `queues` and `network` (what a transaction waits for) and
//! `cleaning` (what a page cleaner does to them) -> `system` (all of them in agreement) -> `simulation` (percentiles, with the drive's own model) and
//! `answers`, `cliff` and `money` (what is asked of it). `scope` says what is outside of all this. Beside them, page by page: `pool` (InnoDB's list, exactly),
//! `stack` (the curve of a string of references) and `trace` (such a string from a recording).
//! Pages are 16 KiB; rates and stays are counted in transactions.

mod calibration;
mod cleaning;
mod cliff;
mod discrepancy;
mod drive;
mod error;
mod flushing;
pub mod from_result;
mod live_pool_looks;
mod money;
mod network;
mod operating_point;
mod pool;
mod pool_model;
mod pool_use;
mod popularity;
mod queues;
mod residency;
mod simulation;
mod stack;
mod supported_settings;
mod system;
mod trace;
mod writes;

pub use calibration::{
    Calibration, old_blocks_time_s, per_transaction, processor_s, write_settings,
};
pub use cliff::{Cliffs, REACHED, cliffs};
pub use discrepancy::{Discrepancy, Observation};
pub use drive::DriveAbility;
pub use error::PredictError;
pub use flushing::Flushing;
pub use live_pool_looks::Looks;
pub use money::Prices;
pub use network::{Flow, Network, Resource, Station};
pub use operating_point::OperatingPoint;
pub use pool::{Access, Pool, PoolCounts, PoolSettings};
pub use pool_model::{ListState, PoolModel};
pub use pool_use::PoolUse;
pub use popularity::{
    LeafCapacity, PageGroup, Popularity, TableSet, UndoLogs, file_popularity,
    order_entry_popularity, popularity_of,
};
pub use queues::Demands;
pub use residency::{OLD_SHARE, Residency, frozen, lru, lru_slope, midpoint};
pub use simulation::{Scenario, SimulationResult, simulate};
pub use stack::{Estimate, MissCurve, Sample, StackDistances, sampled_curve, sampled_pool};
pub use supported_settings::check_variables;
pub use system::{CONNECTIONS_BEYOND, Prediction, System};
pub use trace::{PageReads, READS_MAX};
pub use writes::{ChangedPages, Pace, WriteSettings, Writes};

/// Bytes of a page.
pub const PAGE_BYTES: f64 = 16_384.0;
/// Bytes of the amount of memory that has a price.
pub const GIBIBYTE: f64 = 1_073_741_824.0;
