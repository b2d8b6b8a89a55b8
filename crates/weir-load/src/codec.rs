//! The MySQL client/server protocol 4.1, as much of it as a load generator needs.
//!
//! The heads of requests are encoded once; replies are walked packet by packet and only
//! their first bytes are read. Method: "MySQL Internals: Client/Server Protocol" and MariaDB's
//! "Client/Server Protocol" pages. Authentication is `mysql_common`'s. On a compressed connection all of
//! this travels within the packets of `compression`.

mod compression;
mod execute;
mod greeting;
mod handshake;
mod packet;
mod reply;
mod session;

pub use compression::Compression;
pub(crate) use compression::{Codec, Wire};
pub(crate) use execute::{ExecuteTemplate, ParameterKind, Request};
pub(crate) use handshake::Login;
pub(crate) use packet::{HEADER_BYTES, Malformed, put_header, put_length_encoded};
pub(crate) use reply::{Reply, ReplyParser, ServerError};
pub(crate) use session::{PreparedStatement, Session, SessionError, Waiting};

#[cfg(test)]
mod tests;
