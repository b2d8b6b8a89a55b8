//! Tools for tests of several crates: real servers, what stands between client and server, and tests left out.
//! Change here: how a test gets a server: `servers.rs`; faults of a network: `relay.rs`; random input that a seed decides: `random.rs`, made smaller: `shrink.rs`; what a machine makes a test leave out: `skipped.rs`.

mod followed_primary;
mod ram_fs;
mod random;
mod raw_client;
mod refused_calls;
mod relay;
mod schema_change_tool;
mod servers;
mod shrink;
mod skipped;

pub use followed_primary::{FollowedPrimary, ReplicaMode, start_followed};
pub use ram_fs::RamFs;
pub use random::Random;
pub use raw_client::{Account, RawClient};
pub use refused_calls::refuse_calls;
pub use relay::{Fault, Relay};
pub use schema_change_tool::schema_change_tool;
pub use servers::{
    LAZY_COMMITS, ReplicatedServers, binary, connect, data_directory, key_management,
    keyring_server, make_account, options, start, start_on_tcp, start_program, start_replicated,
    start_shaped, start_with, wait_until_loaded,
};
pub use shrink::shrink;
pub use skipped::skipped;
pub use weir_server::PrivateServer;

/// Makes two tests of each function that takes a [`Flavor`], one on either server, so that a failure
/// names it and both run at once.
#[macro_export]
macro_rules! on_both_flavors {
    ($($test:ident)*) => {
        mod mysql_server { $(#[test] fn $test() { super::$test(weir_model::Flavor::Mysql); })* }
        mod mariadb_server { $(#[test] fn $test() { super::$test(weir_model::Flavor::Mariadb); })* }
    };
}
