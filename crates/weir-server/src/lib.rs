//! Private mysqld and mariadbd servers: found, initialised, started, asked, stopped, and their
//! data kept as snapshots.
//!
//! A private server has its own data directory, listens on a Unix socket in a 0700 directory only,
//! and ends with the thread that started it ([`weir_process::spawn_tied`]). Its one account,
//! `weir`, has a generated password that lives in a 0600 file of the data directory and so follows
//! the data wherever they are copied. Nothing here touches a server that Weir did not start.

mod data_directory;
mod error;
mod error_log;
mod find;
mod initialise;
mod option_file;
mod private_server;
mod run;
mod snapshot;
#[cfg(feature = "testing")]
pub mod testing;
mod variables;

pub use data_directory::DATABASE;
pub use error::ServerError;
pub use find::{ServerBinary, choose, find};
pub use initialise::initialise;
pub use private_server::{PrivateServer, StartOptions};
pub use snapshot::{
    SnapshotInfo, SnapshotKey, Snapshots, cache_directory, check_space, copy_directory,
    space_available, space_occupied,
};
pub use variables::{check_variables, known_variables, translate};
