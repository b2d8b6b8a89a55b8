//! Forecasts of what a study did not run: other pools, drives and numbers of connections.
//!
//! In: a [`weir_model::Plan`], or a [`weir_model::StudyResult`] whose runs calibrate the model of `weir-predict`.
//! Out: numbers, with the tables and sentences that tell them. Nothing here talks to a server or prints; runs
//! that verify predictions are made by the caller, from [`VerificationPlan::plan`].
//!
//! Downwards: `verify` and `forecast` -> `drive_forecast` and `slo_capacity` -> `latency`, `growth` and
//! `prices` -> `calibrated` -> `agreement` -> `measured` and `data_model` -> `pools`.

mod agreement;
mod calibrated_model;
mod cells;
mod data_model;
mod drive_forecast;
mod error;
mod forecast;
mod growth;
mod latency;
mod live_pool;
mod measured_runs;
mod misses;
mod pools;
mod prices;
mod query;
mod slo_capacity;
mod trace;
mod verify;
mod what_must_be_true;

pub use calibrated_model::CalibratedModel;
pub use cells::ChosenCells;
pub use data_model::DataModel;
pub use drive_forecast::DriveForecast;
pub use error::ForecastError;
pub use forecast::Forecast;
pub use live_pool::{LivePool, PoolUseSeen};
pub use misses::{Misses, misses};
pub use prices::PriceList;
pub use query::Query;
pub use trace::{TraceMisses, trace_misses};
pub use verify::{BLIND_FILE, Verification, VerificationPlan, VerifyOptions};
pub use what_must_be_true::{ClaimNeeds, FigureChange, what_must_be_true};
