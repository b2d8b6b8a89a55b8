//! A connection that has logged in and prepared its statements, as a socket and the bytes of its next request.
//!
//! `weir-mysql` logs in, prepares, and makes the first request; what is measured afterwards is none of it.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, ensure};
use weir_model::{Address, Endpoint, Secret, Tls};
use weir_mysql::{
    Connector, Deadline, Exchange, ExecuteTemplate, ExpectedReply, Gate, HEADER_BYTES,
    ParameterKind, Reply, ReplyParser, Request, Stream,
};
use weir_workload::{Rng, seeded};

/// Time limit of a login.
const LOGIN: Duration = Duration::from_secs(30);
/// Offset of the statement's number, and of its parameter, in a request to execute.
const STATEMENT_AT: usize = HEADER_BYTES + 1;
const PARAMETER_AT: usize = 18;
/// Longest piece of the first reply that is read at once.
const READ_BYTES: usize = 4096;

/// Address and account of the login.
#[derive(Debug)]
pub(crate) struct Account {
    /// `None`: the port of 127.0.0.1.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) schema: String,
    pub(crate) tables: u32,
}

impl Account {
    /// One without a password, for connections that are not encrypted.
    fn connector(&self) -> anyhow::Result<Connector> {
        let socket = self.socket.clone().map(Address::Socket);
        let endpoint = Endpoint {
            address: socket.unwrap_or_else(|| Address::Tcp("127.0.0.1".to_owned(), self.port)),
            user: self.user.clone(),
            password: Secret::default(),
            database: self.schema.clone(),
            tls: Tls::default(),
        };
        Ok(Connector::new(endpoint, None, Gate::own())?)
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Client {
    socket: OwnedFd,
    /// Numbers of the prepared statements.
    statements: Vec<u32>,
    rows: u32,
    rng: Rng,
    request: Vec<u8>,
    /// Bytes of every reply.
    pub(crate) reply_bytes: usize,
}

impl Client {
    /// Logs in, prepares a statement for each table, and sends a first query to learn how long a reply is.
    pub(crate) fn connect(account: &Account, rows: u32, seed: u64) -> anyhow::Result<Self> {
        let mut exchange = Exchange::open(&account.connector()?, Deadline::after(LOGIN))?;
        let texts = (1..=account.tables).map(|n| format!("SELECT c FROM sbtest{n} WHERE id=?"));
        let statements = texts.map(|text| prepare(&mut exchange, &text));
        let statements = statements.collect::<Result<_, _>>()?;
        let (channel, eof_deprecated) = exchange.into_parts();
        let socket = match channel.below() {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        };
        let mut client = Self {
            socket: socket.try_clone_to_owned()?,
            statements,
            rows,
            rng: seeded(seed, 0),
            request: execute(),
            reply_bytes: 0,
        };
        client.next_request();
        client.reply_bytes = client.ask_once(ReplyParser::new(eof_deprecated))?;
        Ok(client)
    }

    /// The request that was made last.
    pub(crate) fn request(&self) -> &[u8] {
        &self.request
    }

    /// The bytes of the next query.
    pub(crate) fn next_request(&mut self) -> &[u8] {
        let statement = self.statements[self.rng.below(self.statements.len() as u64) as usize];
        let id = 1 + self.rng.below(self.rows.into());
        self.request[STATEMENT_AT..STATEMENT_AT + 4].copy_from_slice(&statement.to_le_bytes());
        self.request[PARAMETER_AT..PARAMETER_AT + 8].copy_from_slice(&id.to_le_bytes());
        &self.request
    }

    /// Returns the socket.
    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Sends the request and reads its whole reply; how many bytes that has.
    fn ask_once(&self, mut parser: ReplyParser) -> anyhow::Result<usize> {
        parser.expect(ExpectedReply::Outcome);
        // A request is far shorter than what a socket takes at once.
        let sent = rustix::io::write(&self.socket, &self.request)?;
        ensure!(sent == self.request.len(), "a request was cut short");
        let mut buffer = [0; READ_BYTES];
        let mut bytes = 0;
        loop {
            let length = rustix::io::read(&self.socket, &mut buffer)?;
            ensure!(length > 0, "the server has closed the connection");
            bytes += length;
            match parser.feed(&buffer[..length])? {
                Some(Reply::Refused(error)) => {
                    bail!("the server refuses a query: {}", error.message)
                }
                Some(_) => return Ok(bytes),
                None => {}
            }
        }
    }
}

/// The server's number of a statement.
fn prepare(exchange: &mut Exchange, text: &str) -> anyhow::Result<u32> {
    match exchange.prepare(text.as_bytes())? {
        Ok((statement, _)) => Ok(statement),
        Err(error) => bail!("the server refuses to prepare `{text}`: {}", error.message),
    }
}

/// A request with one number and its type.
fn execute() -> Vec<u8> {
    let template = ExecuteTemplate::new(&[ParameterKind::BigInteger]);
    let mut bytes = Vec::new();
    let mut request = Request::execute(&mut bytes, &template, 0, true);
    request.big_integer(0);
    request.finish();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_statement_and_its_key_where_they_are_patched() {
        let request = execute();
        assert_eq!(request.len(), PARAMETER_AT + 8);
        assert_eq!(request[..5], [22, 0, 0, 0, 0x17]);
        assert_eq!(
            request[STATEMENT_AT + 4..PARAMETER_AT],
            [0, 1, 0, 0, 0, 0, 1, 8, 0]
        );
    }
}
