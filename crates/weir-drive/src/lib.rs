//! The emulated drive: device model, deadline scheduler and FUSE front end; and how a real drive's profile is learned.
//! Change here: how a device behaves: `model/`; files and flushes: `fuse/`; when an answer leaves: `scheduler/`; measuring a real drive: `measure/`; cutting one's power: `powercut/`.

mod adoption;
mod calibration;
mod clock;
mod compression;
mod control;
mod engine;
mod error;
mod faults;
mod floor;
mod fuse;
pub mod measure;
mod model;
mod mount;
mod mountpoint;
mod options;
mod page_cache;
mod placement;
pub mod powercut;
mod process;
pub mod profiles;
mod recording;
mod request;
mod scheduler;
mod statistics;
mod stop;
mod store;
mod trace;

pub use compression::{BlockCompressor, Sampler as CompressionSampler};
pub use control::{
    Cut, cut, profile, reset_faults, set_faults, start_trace, statistics, stop_trace, unmount,
};
pub use error::DriveError;
pub use floor::{READ_FLOOR_US, WRITE_FLOOR_US, check_floor};
pub use model::{Model, ModelUsage};
pub use mount::{check_fuse, serve};
pub use mountpoint::is_mounted;
pub use options::MountOptions;
pub use process::DriveProcess;
pub use recording::{
    Data, Event, Events, Names, Node, OpenMode, Operation, Place, Recording, RecordingEnd,
    RecordingOptions, Replayer,
};
pub use scheduler::priority::{handicaps, keep_processors_awake, sharpen_timer};
pub use stop::Stop;
pub use trace::{TraceOperation, TraceReader, TraceSummary};
