//! The bus between a conductor and its agents: `nats-server` as a child, and connections to it.
//!
//! [`Bus::up`] starts `nats-server` on a folder of its own: an authority and a certificate for TLS, one key (nkey) for
//! the conductor and one for each agent, and their permissions. Who has a [`JoinFile`] may join: it holds address,
//! authority and key. An agent's key reads its own orders only. What travels is no matter of this crate.

mod authority;
mod configuration;
mod connection;
mod error;
mod folder;
mod join_file;
mod program;
mod server;
mod subjects;

pub use authority::Certificates;
pub use connection::connect;
pub use error::BusError;
pub use folder::{CONDUCTOR, Folder};
pub use join_file::JoinFile;
pub use program::find_program;
pub use server::{Bus, BusOptions};
pub use subjects::{PROTOCOL, Subjects};
