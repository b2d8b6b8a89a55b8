//! A connection that has logged in and prepared its statements, as a socket and the bytes of its next request.
//!
//! Packets as in "MySQL Client/Server Protocol" (dev.mysql.com/doc/dev/mysql-server), without any option: an account
//! without a password, and replies whose lists end with an EOF packet.

use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use weir_workload::{Rng, seeded};

/// Long password, schema in the login, protocol 4.1, transactions, secure connection, plugins.
const CAPABILITIES: u32 = 1 | 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19;
const PACKET_BYTES_MAX: u32 = 1 << 24;
const UTF8MB4: u8 = 45;
const PLUGIN: &str = "caching_sha2_password";
/// The first byte of an EOF packet, and its length.
const EOF: u8 = 0xFE;
const EOF_BYTES: usize = 5;
const HEADER_BYTES: usize = 4;
const ERROR: u8 = 0xFF;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
/// Where a request to execute has its statement's number, and its parameter.
const STATEMENT_AT: usize = 5;
const PARAMETER_AT: usize = 18;
/// `MYSQL_TYPE_LONGLONG`
const BIGINT: u16 = 8;

/// Where to log in.
#[derive(Debug)]
pub(crate) struct Account {
    /// `None`: the port of 127.0.0.1.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) schema: String,
    pub(crate) tables: u32,
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
        let socket: OwnedFd = if let Some(path) = &account.socket {
            UnixStream::connect(path)?.into()
        } else {
            let stream = TcpStream::connect(("127.0.0.1", account.port))?;
            stream.set_nodelay(true)?;
            stream.into()
        };
        let wire = Wire(&socket);
        wire.log_in(account)?;
        let texts = (1..=account.tables).map(|n| format!("SELECT c FROM sbtest{n} WHERE id=?"));
        let statements = texts.map(|text| wire.prepare(&text));
        let mut client = Self {
            statements: statements.collect::<Result<_, _>>()?,
            rows,
            rng: seeded(seed, 0),
            request: execute(),
            reply_bytes: 0,
            socket,
        };
        client.next_request();
        let wire = Wire(&client.socket);
        wire.send(&client.request)?;
        client.reply_bytes = wire.skip_lists(2)?;
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

    /// Its socket.
    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

/// Packets on a socket, one after the other.
struct Wire<'a>(&'a OwnedFd);

impl Wire<'_> {
    fn log_in(&self, account: &Account) -> anyhow::Result<()> {
        self.packet().context("while the server greeted")?;
        self.write(1, &login(account))?;
        loop {
            let (number, answer) = self.packet()?;
            match answer.first() {
                Some(0) => return Ok(()),
                // The same by another method: there is no password either way.
                Some(&EOF) => self.write(number + 1, &[])?,
                _ => bail!("the server refuses: {}", String::from_utf8_lossy(&answer)),
            }
        }
    }

    fn prepare(&self, text: &str) -> anyhow::Result<u32> {
        self.write(0, &[&[PREPARE], text.as_bytes()].concat())?;
        let (_, answer) = self.packet()?;
        let number = answer.get(1..5).filter(|_| answer[0] == 0);
        let number = number.with_context(|| String::from_utf8_lossy(&answer).into_owned())?;
        // Of the parameter, and of the column.
        self.skip_lists(2)?;
        Ok(u32::from_le_bytes(number.try_into()?))
    }

    /// Reads packets until so many lists have ended; their bytes.
    fn skip_lists(&self, count: usize) -> anyhow::Result<usize> {
        let (mut ended, mut bytes) = (0, 0);
        while ended < count {
            let (_, packet) = self.packet()?;
            ensure!(packet.first() != Some(&ERROR), "the server refuses a query");
            bytes += HEADER_BYTES + packet.len();
            ended += usize::from(packet.len() == EOF_BYTES && packet[0] == EOF);
        }
        Ok(bytes)
    }

    /// The next packet's number and payload.
    fn packet(&self) -> anyhow::Result<(u8, Vec<u8>)> {
        let mut header = [0; HEADER_BYTES];
        self.fill(&mut header)?;
        let [a, b, c, number] = header;
        let mut payload = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
        self.fill(&mut payload)?;
        Ok((number, payload))
    }

    fn fill(&self, mut buffer: &mut [u8]) -> anyhow::Result<()> {
        while !buffer.is_empty() {
            let read = rustix::io::read(self.0, &mut *buffer)?;
            ensure!(read > 0, "the server has closed the connection");
            buffer = &mut buffer[read..];
        }
        Ok(())
    }

    fn write(&self, number: u8, payload: &[u8]) -> anyhow::Result<()> {
        self.send(&packet(number, payload))
    }

    /// A request is far shorter than what a socket takes at once.
    fn send(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let sent = rustix::io::write(self.0, bytes)?;
        ensure!(sent == bytes.len(), "a request was cut short");
        Ok(())
    }
}

fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = (payload.len() as u32).to_le_bytes();
    [&[a, b, c, number], payload].concat()
}

/// `HandshakeResponse41`
fn login(account: &Account) -> Vec<u8> {
    let mut bytes = CAPABILITIES.to_le_bytes().to_vec();
    bytes.extend(PACKET_BYTES_MAX.to_le_bytes());
    bytes.push(UTF8MB4);
    bytes.extend([0; 23]);
    bytes.extend(account.user.as_bytes());
    // The end of the name; then a zero byte, of length one, which stands for no password.
    bytes.extend([0, 1, 0]);
    bytes.extend(account.schema.as_bytes());
    bytes.push(0);
    bytes.extend(PLUGIN.as_bytes());
    bytes.push(0);
    bytes
}

/// `COM_STMT_EXECUTE` with one number: no cursor, one iteration, no NULL, its type told each time.
fn execute() -> Vec<u8> {
    let mut payload = vec![EXECUTE];
    payload.extend([0; 4]);
    payload.push(0);
    payload.extend(1_u32.to_le_bytes());
    payload.extend([0, 1]);
    payload.extend(BIGINT.to_le_bytes());
    payload.extend([0; 8]);
    packet(0, &payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_statement_and_its_key_where_they_are_patched() {
        let request = execute();
        assert_eq!(request.len(), PARAMETER_AT + 8);
        assert_eq!(request[..5], [22, 0, 0, 0, EXECUTE]);
        assert_eq!(
            request[STATEMENT_AT + 4..PARAMETER_AT],
            [0, 1, 0, 0, 0, 0, 1, 8, 0]
        );
    }
}
