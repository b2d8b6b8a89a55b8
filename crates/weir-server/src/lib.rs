//! Servers of both flavours: found, initialised, started, asked, changed and stopped; their data as snapshots.
//! Change here: how a private server starts: `private_server.rs`; snapshots: `snapshot/`; settings of a user's server: `config_changes.rs`; words of an error: `error.rs`; ALTER TABLE: `ddl/`; a look at a running server: `look/`; pages of a pool: `pool_pages/`.
//!
//! A private server has its own data directory, listens on a Unix socket in a 0700 directory only,
//! and ends with the thread that started it ([`weir_process::spawn_tied`]). Its one account,
//! `weir`, has a generated password that lives in a 0600 file of the data directory and so follows
//! the data wherever they are copied. An [`Instance`] is a private server that stays up until it is
//! stopped by its name.
//!
//! An [`ExternalServer`] is the user's own: asked, loaded, and changed through [`ConfigChanges`] only, which
//! put back what they changed.

mod backup;
mod buffer_pool;
mod config_changes;
mod data_directory;
mod data_files;
pub mod ddl;
mod doublewrite;
mod dump;
mod empty_data;
mod error;
mod error_log;
mod external_server;
mod find;
mod helper_process;
mod hidden_states;
mod initialise;
mod innodb_view;
mod instance;
pub mod look;
mod option_file_writer;
pub mod pool_pages;
mod private_server;
mod replication;
mod scratch_server;
mod server_process;
mod session;
mod snapshot;
mod state;
mod stop;
mod upgrade;
mod variables;

pub use backup::{Backup, BackupOrigin};
pub use buffer_pool::PoolState;
pub use config_changes::{
    ConfigChanges, LeftChanged, forget_left_changed, left_changed, literal, native_config,
    permit_config, put_back_left, set_statements,
};
pub use data_directory::{DATABASE, forget_identity, random_password};
pub use data_files::data_elsewhere;
pub use doublewrite::{
    DoublewriteStatus, Proof, Relative, RestartCost, SwitchRecord, check_switch, log_switch,
    refused, switch_log,
};
pub use dump::{LoadSummary, is_dump, load_dump};
pub use empty_data::make_empty_data;
pub use error::ServerError;
pub use external_server::ExternalServer;
pub use find::{ServerBinary, choose, find, find_like, servers_directory};
pub use hidden_states::{unsaid, unsaid_of_host};
pub use initialise::initialise;
pub use instance::{
    DataSource, Instance, InstanceInfo, InstanceState, Instances, free_port, free_port_of,
    grant_loopback_login, let_in_load, listening_variables, loopback_variables,
};
pub use private_server::{Life, PrivateServer, StartOptions};
pub use replication::{
    Promotion, Role, attach, attach_at, gtid_place, promote, replication_variables,
    wait_until_caught_up,
};
pub use scratch_server::ScratchServer;
pub use server_process::{FoundServer, ServerIdentity};
pub use session::Session;
pub use snapshot::{
    SnapshotHold, SnapshotInfo, SnapshotKey, Snapshots, cache_directory, check_space,
    check_space_together, copy_directory, make_cold, space_available, space_occupied,
};
pub use state::{change_log, state_directory};
pub use stop::{Stop, StopRequested};
pub use upgrade::UpgradeWay;
pub use variables::{ServerAnswer, ask, check_variables, known_variables, translate};
