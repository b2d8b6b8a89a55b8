//! A bare client of the protocol, for what the others do not do: change of user, character set of the login, bulk execution.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::mysql_native_password::scramble_native;

/// `PROTOCOL_41`, `CONNECT_WITH_DB`, `TRANSACTIONS`, `SECURE_CONNECTION`, `PLUGIN_AUTH`; no `LONG_PASSWORD`, so that
/// `MariaDB` reads its own capabilities.
const CAPABILITIES: u32 = 0x200 | 8 | 0x2000 | 0x8000 | 0x8_0000;
/// `MARIADB_CLIENT_STMT_BULK_OPERATIONS`.
const OF_MARIADB: u32 = 4;
const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";

/// Who logs in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    pub(crate) schema: &'a str,
    pub(crate) collation: u8,
}

/// A connection; an error is the server's code.
pub(crate) struct RawClient {
    stream: TcpStream,
    nonce: Vec<u8>,
    plugin: &'static str,
}

impl RawClient {
    pub(crate) fn connect(port: u16, account: Account<'_>) -> Result<Self, u16> {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Self {
            stream,
            nonce: Vec::new(),
            plugin: NATIVE,
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
    pub(crate) fn query(&mut self, sql: &[u8]) -> Result<usize, u16> {
        self.ask(0x03, sql)
    }

    pub(crate) fn use_schema(&mut self, schema: &str) -> Result<usize, u16> {
        self.ask(0x02, schema.as_bytes())
    }

    pub(crate) fn reset(&mut self) -> Result<usize, u16> {
        self.ask(0x1F, &[])
    }

    pub(crate) fn change_user(&mut self, account: Account<'_>) -> Result<(), u16> {
        let mut body = vec![0x11];
        body.extend(self.account(account));
        body.extend(account.schema.as_bytes());
        body.extend([0, account.collation, 0]);
        body.extend(self.plugin.as_bytes());
        body.push(0);
        self.send(0, &body);
        self.end_of_login(account.password)
    }

    /// The number of a statement that has parameters and no columns.
    pub(crate) fn prepare(&mut self, sql: &str) -> u32 {
        self.send(0, &[&[0x16], sql.as_bytes()].concat());
        let prepared = self.packet();
        assert_eq!(prepared[0], 0);
        let parameters = prepared[7];
        for _ in 0..=parameters {
            self.packet();
        }
        u32::from_le_bytes([prepared[1], prepared[2], prepared[3], prepared[4]])
    }

    /// Executes a statement once for each row of integers, by one command.
    pub(crate) fn bulk(&mut self, handle: u32, rows: &[[i32; 2]]) -> Result<usize, u16> {
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
        let first = self.packet();
        match first[0] {
            0 => return Ok(0),
            0xFF => return Err(code(&first)),
            _ => {}
        }
        for _ in 0..=first[0] {
            self.packet();
        }
        let mut rows = 0;
        loop {
            let row = self.packet();
            match row[0] {
                0xFE if row.len() < 9 => return Ok(rows),
                0xFF => return Err(code(&row)),
                _ => rows += 1,
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

fn code(error: &[u8]) -> u16 {
    u16::from_le_bytes([error[1], error[2]])
}
