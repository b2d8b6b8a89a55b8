//! Learns the profile of a drive from its answers.
//!
//! One measuring code, two kinds of storage: a file on a real disk through `O_DIRECT` and `io_uring`,
//! and a device model in virtual time. The second is how the tests know the truth.
//!
//! Data flow: options -> plan (what is done, and how much it writes) -> session (rounds of jobs on a
//! storage) -> samples -> learned profile with an interval for each figure.

mod cliff;
mod disk_arms;
mod error;
mod facts;
mod fast_start;
mod figure;
mod file_storage;
mod job;
mod latencies;
mod measured_profile;
mod model_storage;
mod offsets;
mod plan;
mod profile_text;
mod provider_limits;
mod queues;
mod random_write_limit;
mod samples;
mod scratch_file;
mod session;
mod storage;
mod write_buffer;

pub use error::MeasureError;
pub use facts::{Facts, device_below};
pub use figure::Figure;
pub use file_storage::FileStorage;
pub use job::{Job, Limit, OperationSpan, Order, Work};
pub use measured_profile::{MeasuredProfile, learn};
pub use model_storage::ModelStorage;
pub use plan::{MeasureOptions, Plan};
pub use profile_text::profile_text;
pub use samples::Samples;
pub use session::measure;
pub use storage::Storage;
