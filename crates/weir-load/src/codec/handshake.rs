//! A connection before its load: greeting, authentication, preparing statements.
//!
//! All of this blocks; the stream's own timeouts bound it. Afterwards the stream belongs to a
//! reactor.

use std::io::{self, BufReader, Read, Write};

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::{AuthPlugin, HandshakeResponse};
use mysql_common::proto::MySerialize;
use thiserror::Error;

use super::greeting::Greeting;
use super::packet::{HEADER_BYTES, Malformed, PAYLOAD_BYTES_MAX, payload_length, put_header};
use super::reply::ServerError;

/// Longest exchange of any plugin, with an auth switch, twice over.
const ROUNDS_MAX: usize = 16;
const COM_STMT_PREPARE: u8 = 0x16;

/// Why a connection could not be set up.
#[derive(Debug, Error)]
pub(crate) enum HandshakeError {
    /// The stream failed or ended.
    #[error(transparent)]
    Stream(#[from] io::Error),
    /// The server refused.
    #[error("error {}: {}", .0.code, .0.message)]
    Refused(ServerError),
    /// Not the protocol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Authentication that is not spoken here.
    #[error("{0}")]
    Authentication(String),
}

/// A statement as the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PreparedStatement {
    /// The server's name for it on this connection.
    pub(crate) id: u32,
    /// Parameters that it takes.
    pub(crate) parameters: u16,
}

/// Who logs in, to what.
#[derive(Clone, Copy)]
pub(crate) struct Login<'a> {
    /// The account.
    pub(crate) user: &'a str,
    /// Its password; empty for none.
    pub(crate) password: &'a str,
    /// The schema to use.
    pub(crate) database: &'a str,
    /// Nobody can listen, as on a Unix socket.
    pub(crate) is_local: bool,
}

/// An authenticated connection.
#[derive(Debug)]
pub(crate) struct Session<S> {
    stream: BufReader<S>,
    eof_deprecated: bool,
    buffer: Vec<u8>,
}

struct Credentials<'a> {
    login: Login<'a>,
    nonce: &'a [u8],
}

impl Context for Credentials<'_> {
    fn pass(&self) -> &[u8] {
        self.login.password.as_bytes()
    }
    fn is_ipc_transport(&self) -> bool {
        self.login.is_local
    }
    fn is_tls_transport(&self) -> bool {
        false
    }
    fn scramble(&self) -> &[u8] {
        self.nonce
    }
    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

impl<S: Read + Write> Session<S> {
    /// Logs in over `stream`.
    pub(crate) fn login(stream: S, login: Login<'_>) -> Result<Self, HandshakeError> {
        let mut session = Self {
            stream: BufReader::new(stream),
            eof_deprecated: false,
            buffer: Vec::new(),
        };
        let sequence = session.read_packet()?;
        let greeting = Greeting::parse(session.payload()?)?;
        let capabilities = capabilities(greeting.capabilities)?;
        session.eof_deprecated = capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        // An account's own plugin may differ from the server's: it will ask to switch.
        let plugin = match AuthPlugin::from_bytes(&greeting.plugin) {
            AuthPlugin::CachingSha2Password => AuthPlugin::CachingSha2Password,
            _ => AuthPlugin::MysqlNativePassword,
        };
        let mut procedure = procedure(&plugin)?;
        let nonce = greeting.nonce;
        let scramble = step(&mut procedure, login, &nonce, &nonce)?.unwrap_or_default();
        let response = HandshakeResponse::new(
            Some(scramble),
            (8, 0, 0),
            Some(login.user.as_bytes()),
            Some(login.database.as_bytes()),
            Some(plugin),
            capabilities,
            None,
            PAYLOAD_BYTES_MAX as u32,
        );
        let mut payload = Vec::new();
        response.serialize(&mut payload);
        session.send(&payload, sequence.wrapping_add(1))?;
        session.authenticate(procedure, nonce, login)?;
        Ok(session)
    }

    fn authenticate(
        &mut self,
        mut procedure: AuthProc,
        mut nonce: Vec<u8>,
        login: Login<'_>,
    ) -> Result<(), HandshakeError> {
        for _ in 0..ROUNDS_MAX {
            let sequence = self.read_packet()?;
            let answer = match self.payload()?.split_first() {
                Some((0x00, _)) => return Ok(()),
                Some((0x01, challenge)) => step(&mut procedure, login, &nonce, challenge)?,
                Some((0xFE, request)) => {
                    let (name, data) = auth_switch(request);
                    nonce = data.to_vec();
                    if matches!(name, b"unix_socket" | b"auth_socket") {
                        // The server asks the kernel who is at the other end.
                        Some(Vec::new())
                    } else {
                        procedure = self::procedure(&AuthPlugin::from_bytes(name))?;
                        step(&mut procedure, login, &nonce, &nonce)?
                    }
                }
                _ => return Err(Malformed("the reply to a login is none").into()),
            };
            if let Some(answer) = answer {
                self.send(&answer, sequence.wrapping_add(1))?;
            }
        }
        Err(Malformed("authentication does not end").into())
    }

    /// Prepares a statement.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<PreparedStatement, HandshakeError> {
        let mut payload = vec![COM_STMT_PREPARE];
        payload.extend_from_slice(sql.as_bytes());
        self.send(&payload, 0)?;
        self.read_packet()?;
        let Some(&[0x00, i0, i1, i2, i3, c0, c1, p0, p1, ..]) = self.payload()?.first_chunk::<12>()
        else {
            return Err(Malformed("the reply to a prepare is none").into());
        };
        let statement = PreparedStatement {
            id: u32::from_le_bytes([i0, i1, i2, i3]),
            parameters: u16::from_le_bytes([p0, p1]),
        };
        let columns = u16::from_le_bytes([c0, c1]);
        for definitions in [statement.parameters, columns] {
            let end = u32::from(definitions > 0 && !self.eof_deprecated);
            for _ in 0..u32::from(definitions) + end {
                self.read_packet()?;
                self.payload()?;
            }
        }
        Ok(statement)
    }

    /// The stream and whether `CLIENT_DEPRECATE_EOF` was agreed.
    pub(crate) fn into_parts(self) -> Result<(S, bool), HandshakeError> {
        if !self.stream.buffer().is_empty() {
            return Err(Malformed("the server speaks without being asked").into());
        }
        Ok((self.stream.into_inner(), self.eof_deprecated))
    }

    fn send(&mut self, payload: &[u8], sequence: u8) -> Result<(), HandshakeError> {
        let mut packet = vec![0; HEADER_BYTES];
        put_header(&mut packet, payload.len(), sequence);
        packet.extend_from_slice(payload);
        Ok(self.stream.get_mut().write_all(&packet)?)
    }

    /// Reads one packet into the buffer; its sequence number.
    fn read_packet(&mut self) -> Result<u8, HandshakeError> {
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header)?;
        let length = payload_length(&header) as u64;
        self.buffer.clear();
        // Not allocated up front: a malformed length must not cost 16 MiB.
        let read = (&mut self.stream)
            .take(length)
            .read_to_end(&mut self.buffer)?;
        if (read as u64) < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(header[3])
    }

    /// The payload of the last packet, unless it is an error.
    fn payload(&self) -> Result<&[u8], HandshakeError> {
        if self.buffer.first() == Some(&0xFF) {
            return Err(HandshakeError::Refused(ServerError::parse(&self.buffer)?));
        }
        Ok(&self.buffer)
    }
}

/// What is asked of the server, or why it cannot be.
fn capabilities(offered: CapabilityFlags) -> Result<CapabilityFlags, HandshakeError> {
    let needed = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH;
    if !offered.contains(needed) {
        return Err(Malformed("the server is older than MySQL 5.5").into());
    }
    let wanted = CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_DEPRECATE_EOF;
    Ok(needed | CapabilityFlags::CLIENT_CONNECT_WITH_DB | (wanted & offered))
}

/// Splits an auth-switch request into the plugin's name and its nonce.
fn auth_switch(request: &[u8]) -> (&[u8], &[u8]) {
    let end = request.iter().position(|byte| *byte == 0);
    let (name, data) = request.split_at(end.unwrap_or(request.len()));
    let data = data.strip_prefix(&[0]).unwrap_or(data);
    // The nonce's own NUL is not part of it.
    (name, data.strip_suffix(&[0]).unwrap_or(data))
}

fn procedure(plugin: &AuthPlugin<'_>) -> Result<AuthProc, HandshakeError> {
    let refuse = || {
        let name = String::from_utf8_lossy(plugin.as_bytes());
        HandshakeError::Authentication(format!(
            "the account uses `{name}`, which is not spoken here; \
             use an account with caching_sha2_password or mysql_native_password"
        ))
    };
    match plugin {
        // Both would hand the password to whoever answers at this address.
        AuthPlugin::MysqlOldPassword | AuthPlugin::MysqlClearPassword => Err(refuse()),
        _ => AuthProc::init(plugin).map_err(|_| refuse()),
    }
}

/// The plugin's answer to a challenge, if it has one.
fn step(
    procedure: &mut AuthProc,
    login: Login<'_>,
    nonce: &[u8],
    challenge: &[u8],
) -> Result<Option<Vec<u8>>, HandshakeError> {
    let response = procedure
        .run(Credentials { login, nonce }, challenge)
        .map_err(|error| HandshakeError::Authentication(error.to_string().to_lowercase()))?;
    let (Response::Next { packet } | Response::Last { packet }) = response;
    Ok(packet)
}
