//! Estimators, intervals and comparisons: pure functions.
//! Change here: pairs: `paired.rs`; when to stop repeating: `stop_by_width.rs` (by width), `stop_by_verdict.rs` (by verdict), `stop_by_equality.rs`; when a warm-up is steady: `steady.rs`; every method is a file.
//!
//! Statistics are taken across runs, never across the seconds of one run: seconds are
//! autocorrelated, and within-run error is far below run-to-run error (Percona's 2018 sweep:
//! at most 0.7 % within, 4.9 % between; reference data of the published studies). What is said
//! about the seconds of one run ([`MeanEstimate::of_series`]) is corrected for their
//! autocorrelation and is a second opinion.
//!
//! Every 95 % interval is simulated: the tests draw samples with a known truth and demand that 93
//! to 97 % of the intervals hold it.

mod back_to_speed;
mod bootstrap;
mod changes;
mod elasticity;
mod equality;
mod equivalent;
mod error;
mod factorial;
mod mean_interval;
mod moments;
mod multiple;
mod noise;
mod order;
mod paired;
mod plackett_burman;
mod power;
mod proportion;
mod rising;
mod screen;
mod search;
mod series_mean;
mod sessions;
#[cfg(test)]
mod simulate;
mod stalls;
mod steady;
mod stop_by_equality;
mod stop_by_verdict;
mod stop_by_width;
mod student;
mod summary;
mod usl;
mod welch;
mod windows;

pub use back_to_speed::{BackToSpeed, back_to_speed};
pub use bootstrap::{BOOTSTRAP_PAIRS_MIN, bootstrap_log_ratio};
pub use changes::{Change, change_points};
pub use elasticity::{Elasticity, elasticity, elasticity_between};
pub use equality::{
    equality_pairs_expected, equality_pairs_needed, paired_equality_p_value, welch_equality_p_value,
};
pub use equivalent::{CurvePoint, EquivalentSize, equivalent_size};
pub use error::StatsError;
pub use factorial::{FactorialBlock, FactorialEffects, factorial_effects};
pub use mean_interval::mean_interval;
pub use multiple::benjamini_hochberg;
pub use noise::{NoiseFloor, Verdict, noise_floor, verdict};
pub use order::{OrderEffect, OrderedRun, order_effect};
pub use paired::{RatioEstimate, paired_log_ratio, paired_p_value};
pub use plackett_burman::{SCREENED_FACTORS_MAX, plackett_burman};
pub use power::{REFERENCE_LOG_DEVIATION, detectable_ratio, pairs_needed};
pub use proportion::proportion_at_most;
pub use screen::{ScreenEffect, ScreenEstimate, ScreenRun, screen_effects, screen_half_width};
pub use search::{Knee, KneeSearch, Peak, PeakSearch, RateFound, RateSearch, SearchRange, Step};
pub use series_mean::MeanEstimate;
pub use sessions::{SessionsRatio, sessions_ratio};
pub use stalls::{Stall, Stalls, stalls};
pub use steady::{SteadyState, steady_state, steady_tail};
pub use stop_by_equality::{
    equality_decided_log_ratio, is_equality_decided, looked_equality_p_value, looked_p_value,
};
pub use stop_by_verdict::{DECIDED_PAIRS_MAX, DECIDED_PAIRS_MIN, decided_log_ratio, is_decided};
pub use stop_by_width::{SETTLED_PAIRS_MIN, is_settled, reach};
pub use summary::{geometric_mean, median};
pub use usl::{ScalabilityLaw, scalability_law};
pub use welch::{WELCH_RUNS_MIN, WelchRatio, welch_log_ratio, welch_mean_ratio};
pub use windows::{SeriesInterval, Window, Windows};
