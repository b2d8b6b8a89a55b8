//! The emulated drive: device model, deadline scheduler and FUSE front end.

mod error;
mod floor;
mod model;
pub mod profiles;

pub use error::DriveError;
pub use floor::{READ_FLOOR_US, WRITE_FLOOR_US, check_floor};
pub use model::{Model, ModelUsage};
