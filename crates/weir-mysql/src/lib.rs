//! The only MySQL client: packets, login, TLS, the gate that each statement passes, and the binary log as a replica reads it.
//! Change here: what a statement may do: `gate/`, functions: `gate/functions.rs`; a reply: `reply.rs`; parts by which a statement's outcome can differ: `difference_sources/`; login: `handshake.rs`; an event of the binary log: `binlog/header.rs`, `binlog/reader.rs`.
//!
//! [`Connection`] is for control, probes and tests; [`Connector`] logs in and hands the stream to
//! an engine that drives it without waiting, with [`Request`] and [`ReplyParser`] for what travels on it. All of
//! them have one TLS policy and one way to wait. Every statement to a server passes a [`Gate`], which
//! knows what may be done there and writes down what was changed.
//!
//! Method: "MySQL Internals: Client/Server Protocol" and MariaDB's "Client/Server Protocol" pages.
//! Authentication, column definitions and rows of control statements are `mysql_common`'s.

pub mod binlog;
mod blocking;
mod channel;
mod client_config;
mod client_login;
mod client_options;
mod compression;
mod connection;
mod connector;
mod deadline;
mod difference_sources;
mod error;
mod exchange;
mod execute;
mod gate;
mod greeting;
mod handshake;
mod identifier;
mod name_case;
mod option_file;
mod packet;
mod reading;
mod reply;
mod session;
pub mod sql_scan;
mod sql_words;
mod text_literal;
mod tls;

pub use blocking::{Blocking, Stream};
pub use channel::Channel;
pub use client_config::{
    ClientConfig, ClientSettings, Dialogue, FileChoice, OWN_GROUP, PASSWORD_VARIABLE,
};
pub use client_login::{LOCAL, LOOPBACK, LoginError, PORT, SCHEMA, USER, endpoint, local_socket};
pub use client_options::{ClientOptions, ClientPassword};
pub use compression::{Codec, Compression, Wire};
pub use connection::{BinaryLog, Connection, Patience};
pub use connector::Connector;
pub use deadline::Deadline;
pub use difference_sources::{DifferenceExtent, DifferenceSource, difference_sources};
pub use error::{ClientError, shorten};
pub use exchange::{Exchange, ExchangeStep};
pub use execute::{ExecuteTemplate, ParameterKind, Request};
pub use gate::{ChangeLog, Gate, Passage, Permissions, ScriptPermit, is_system_schema};
pub use identifier::identifier;
pub use name_case::NameCase;
pub use option_file::{OptionFile, OptionFileError, OptionFileSetting, write_client_options};
pub use packet::{HEADER_BYTES, MalformedPacket, put_header, put_length_encoded};
pub use reading::{InsertedColumn, StatementText};
pub use reply::{
    AnswerDigest, ExpectedReply, Reply, ReplyParser, ServerError, StatementResult, TextRows,
    WireRow, WireRows,
};
pub use session::{
    LogStart, PreparedStatement, Session, SessionError, SessionPhase, StatementEffect,
};
pub use sql_scan::{Quoting, SqlScan, SqlToken, SqlTokenKind};
pub use sql_words::{SqlWord, sql_words};
pub use text_literal::text_literal;
pub use tls::TlsClient;

pub use mysql_common::Value;
pub use mysql_common::constants::ColumnType;
pub use mysql_common::packets::Column;
pub use mysql_common::params;
pub use mysql_common::params::Params;
pub use mysql_common::prelude::{FromRow, FromValue};
pub use mysql_common::row::Row;

#[cfg(test)]
use handshake::Login;

#[cfg(test)]
mod tests;
