//! A bare client of the protocol, for what the others do not do: change of user, character set of the login, bytes of any
//! kind, bulk execution. What it does not expect is a test's failure.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "it fails as tests do"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::mysql_native_password::scramble_native;

/// `PROTOCOL_41`, `CONNECT_WITH_DB`, `TRANSACTIONS`, `SECURE_CONNECTION`, `MULTI_STATEMENTS`, `MULTI_RESULTS`,
/// `PLUGIN_AUTH`; no `LONG_PASSWORD`, so that `MariaDB` reads its own capabilities.
const CAPABILITIES: u32 = 0x200 | 8 | 0x2000 | 0x8000 | 0x1_0000 | 0x2_0000 | 0x8_0000;
/// `SERVER_MORE_RESULTS_EXISTS`.
const MORE_RESULTS: u8 = 8;
/// `MARIADB_CLIENT_STMT_BULK_OPERATIONS`.
const OF_MARIADB: u32 = 4;
const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";

/// Who logs in.
#[derive(Debug, Clone, Copy)]
pub struct Account<'a> {
    /// Name of the account.
    pub user: &'a str,
    /// The password, which the server must know (`caching_sha2_password`).
    pub password: &'a str,
    /// The schema; empty for none.
    pub schema: &'a str,
    /// The server's number of the collation.
    pub collation: u8,
}

/// A connection; an error is the server's code.
#[derive(Debug)]
pub struct RawClient {
    stream: TcpStream,
    nonce: Vec<u8>,
    plugin: &'static str,
    /// Rows that the last statement changed.
    pub affected: u64,
}

impl RawClient {
    /// Logs in on 127.0.0.1.
    ///
    /// # Errors
    /// The server's code.
    pub fn connect(port: u16, account: Account<'_>) -> Result<Self, u16> {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Self {
            stream,
            nonce: Vec::new(),
            plugin: NATIVE,
            affected: 0,
        };
        let greeting = client.packet();
        let version_end = greeting.iter().position(|byte| *byte == 0).unwrap();
        let at = version_end + 5;
        client.nonce = [&greeting[at..at + 8], &greeting[at + 27..at + 39]].concat();
        let end = String::from_utf8_lossy(&greeting[at + 39..]).into_owned();
        if end.contains(SHA2) {
            client.plugin = SHA2;
        }
        let mut login = CAPABILITIES.to_le_bytes().to_vec();
        login.extend((1_u32 << 24).to_le_bytes());
        login.push(account.collation);
        login.extend([0; 19]);
        login.extend(OF_MARIADB.to_le_bytes());
        login.extend(client.account(account));
        login.extend(account.schema.as_bytes());
        login.push(0);
        login.extend(client.plugin.as_bytes());
        login.push(0);
        client.send(1, &login);
        client.end_of_login(account.password)?;
        Ok(client)
    }

    /// Name and scrambled password.
    fn account(&self, account: Account<'_>) -> Vec<u8> {
        let secret = self.scrambled(account.password);
        let mut bytes = account.user.as_bytes().to_vec();
        bytes.push(0);
        bytes.push(secret.len() as u8);
        bytes.extend(secret);
        bytes
    }

    fn scrambled(&self, password: &str) -> Vec<u8> {
        let password = password.as_bytes();
        match self.plugin {
            SHA2 => scramble_sha256(self.nonce.first_chunk().unwrap(), password)
                .unwrap()
                .to_vec(),
            _ => scramble_native(&self.nonce, password).unwrap().to_vec(),
        }
    }

    fn end_of_login(&mut self, password: &str) -> Result<(), u16> {
        loop {
            let (sequence, reply) = self.numbered_packet();
            match reply[0] {
                0 => return Ok(()),
                0xFF => return Err(code(&reply)),
                // Another way to log in, or another nonce.
                0xFE => {
                    let end = reply.iter().position(|byte| *byte == 0).unwrap();
                    self.plugin = if &reply[1..end] == SHA2.as_bytes() {
                        SHA2
                    } else {
                        NATIVE
                    };
                    self.nonce = reply[end + 1..].strip_suffix(&[0]).unwrap().to_vec();
                    let secret = self.scrambled(password);
                    self.send(sequence + 1, &secret);
                }
                // The server knows the password.
                1 if reply[1] == 3 => {}
                // It does not, and gets nothing else.
                1 => self.send(sequence + 1, &[0]),
                other => panic!("{other}"),
            }
        }
    }

    /// Rows of a statement; none for one that returns none.
    ///
    /// # Errors
    /// The server's code.
    pub fn query(&mut self, sql: &[u8]) -> Result<usize, u16> {
        self.ask(0x03, sql)
    }

    /// Moves the session to another schema.
    ///
    /// # Errors
    /// The server's code.
    pub fn use_schema(&mut self, schema: &str) -> Result<usize, u16> {
        self.ask(0x02, schema.as_bytes())
    }

    /// Makes the session new again.
    ///
    /// # Errors
    /// The server's code.
    pub fn reset(&mut self) -> Result<usize, u16> {
        self.ask(0x1F, &[])
    }

    /// Goes on with another account.
    ///
    /// # Errors
    /// The server's code.
    pub fn change_user(&mut self, account: Account<'_>) -> Result<(), u16> {
        let mut body = vec![0x11];
        body.extend(self.account(account));
        body.extend(account.schema.as_bytes());
        body.extend([0, account.collation, 0]);
        body.extend(self.plugin.as_bytes());
        body.push(0);
        self.send(0, &body);
        self.end_of_login(account.password)
    }

    /// The number of a prepared statement.
    ///
    /// # Errors
    /// The server's code.
    pub fn prepare(&mut self, sql: &[u8]) -> Result<u32, u16> {
        self.send(0, &[&[0x16], sql].concat());
        let prepared = self.packet();
        if prepared[0] == 0xFF {
            return Err(code(&prepared));
        }
        for count in [prepared[7], prepared[5]] {
            // Each list ends with a packet of its own.
            for _ in 0..count + u8::from(count > 0) {
                self.packet();
            }
        }
        Ok(u32::from_le_bytes(*prepared[1..].first_chunk().unwrap()))
    }

    /// Executes a statement with texts, each shorter than 64 KiB.
    ///
    /// # Errors
    /// The server's code.
    pub fn execute(&mut self, handle: u32, values: &[&[u8]]) -> Result<usize, u16> {
        let mut body = handle.to_le_bytes().to_vec();
        body.extend([0, 1, 0, 0, 0]);
        if !values.is_empty() {
            body.extend(vec![0; values.len().div_ceil(8)]);
            body.push(1);
            body.extend([0xFD, 0].repeat(values.len()));
        }
        for value in values {
            body.push(0xFC);
            body.extend((value.len() as u16).to_le_bytes());
            body.extend(*value);
        }
        self.ask(0x17, &body)
    }

    /// Forgets a prepared statement.
    pub fn close(&mut self, handle: u32) {
        self.send(0, &[&[0x19][..], &handle.to_le_bytes()].concat());
    }

    /// Asks whether the server is there.
    ///
    /// # Errors
    /// The server's code.
    pub fn ping(&mut self) -> Result<usize, u16> {
        self.ask(0x0E, &[])
    }

    /// Says goodbye.
    pub fn quit(mut self) {
        self.send(0, &[1]);
    }

    /// Executes a statement once for each row of integers, by one command.
    ///
    /// # Errors
    /// The server's code.
    pub fn bulk(&mut self, handle: u32, rows: &[[i32; 2]]) -> Result<usize, u16> {
        let mut body = handle.to_le_bytes().to_vec();
        body.extend([128, 0, 3, 0, 3, 0]);
        for value in rows.iter().flatten() {
            body.push(0);
            body.extend(value.to_le_bytes());
        }
        self.ask(0xFA, &body)
    }

    fn ask(&mut self, command: u8, body: &[u8]) -> Result<usize, u16> {
        self.send(0, &[&[command], body].concat());
        self.affected = 0;
        let mut rows = 0;
        while self.result(&mut rows)? {}
        Ok(rows)
    }

    /// Reads a result; true if another one follows.
    fn result(&mut self, rows: &mut usize) -> Result<bool, u16> {
        let first = self.packet();
        match first[0] {
            0 => {
                let (affected, rest) = number(&first[1..]);
                let (_, status) = number(rest);
                self.affected += affected;
                return Ok(status[0] & MORE_RESULTS != 0);
            }
            0xFF => return Err(code(&first)),
            _ => {}
        }
        for _ in 0..=first[0] {
            self.packet();
        }
        loop {
            let row = self.packet();
            match row[0] {
                0xFE if row.len() < 9 => return Ok(row[3] & MORE_RESULTS != 0),
                0xFF => return Err(code(&row)),
                _ => *rows += 1,
            }
        }
    }

    fn send(&mut self, sequence: u8, payload: &[u8]) {
        let mut packet = (payload.len() as u32).to_le_bytes();
        packet[3] = sequence;
        self.stream
            .write_all(&[&packet[..], payload].concat())
            .unwrap();
    }

    fn packet(&mut self) -> Vec<u8> {
        self.numbered_packet().1
    }

    fn numbered_packet(&mut self) -> (u8, Vec<u8>) {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header).unwrap();
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).unwrap();
        (header[3], payload)
    }
}

/// A number with its length before it, and what follows.
fn number(bytes: &[u8]) -> (u64, &[u8]) {
    let length = match bytes[0] {
        0xFC => 2,
        0xFD => 3,
        0xFE => 8,
        small => return (u64::from(small), &bytes[1..]),
    };
    let mut whole = [0; 8];
    whole[..length].copy_from_slice(&bytes[1..=length]);
    (u64::from_le_bytes(whole), &bytes[1 + length..])
}

fn code(error: &[u8]) -> u16 {
    u16::from_le_bytes([error[1], error[2]])
}
