//! The login: greeting, encryption, authentication.

use std::io::{Read, Write};

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::{AuthPlugin, HandshakeResponse, SslRequest};
use mysql_common::proto::MySerialize;
use weir_model::TlsMode;

use super::compression::Compression;
use super::greeting::Greeting;
use super::packet::{MalformedPacket, PAYLOAD_BYTES_MAX};
use super::reply::ServerError;
use super::session::{Session, SessionError, SessionPhase};
use crate::tls::{TlsClient, tls_words};

/// Longest exchange of any plugin, with an auth switch, twice over.
const ROUNDS_MAX: usize = 16;
/// `utf8mb4_general_ci`, which every server knows.
const COLLATION: u8 = 45;
/// Length of the nonce of MySQL's own plugins, without the NUL that ends it on the wire.
const NONCE_BYTES: usize = 20;

/// The server's refusal of a login (`ER_ACCESS_DENIED_ERROR`).
const ACCESS_DENIED: u16 = 1045;
/// The request for the server's RSA key (`caching_sha2_password`).
const KEY_REQUEST: [u8; 1] = [2];

/// Login: account, schema and encryption.
#[derive(Clone, Copy)]
pub(crate) struct Login<'a> {
    /// The account.
    pub(crate) user: &'a str,
    /// Password of the account; empty for none.
    pub(crate) password: &'a str,
    /// The schema to use, if any.
    pub(crate) database: Option<&'a str>,
    /// No other can listen, as on a Unix socket.
    pub(crate) is_local: bool,
    /// Mode of encryption.
    pub(crate) mode: TlsMode,
    /// Parameters of encryption; none in [`TlsMode::Disabled`].
    pub(crate) tls: Option<&'a TlsClient>,
    /// Compression that is asked for, if any.
    pub(crate) compression: Option<Compression>,
    /// A statement may have several results: texts of several statements, calls of procedures.
    pub(crate) has_several_results: bool,
}

struct Credentials<'a> {
    login: Login<'a>,
    /// Nonce that the server wants to see scrambled with the password.
    nonce: Vec<u8>,
    is_encrypted: bool,
}

impl Context for &Credentials<'_> {
    fn pass(&self) -> &[u8] {
        self.login.password.as_bytes()
    }
    fn is_ipc_transport(&self) -> bool {
        self.login.is_local
    }
    fn is_tls_transport(&self) -> bool {
        self.is_encrypted
    }
    fn scramble(&self) -> &[u8] {
        &self.nonce
    }
    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

impl Credentials<'_> {
    /// The plugin's first answer, which is to the nonce.
    fn begin(&self, procedure: &mut AuthProc) -> Result<Option<Vec<u8>>, SessionError> {
        self.step(procedure, &self.nonce)
    }

    /// The plugin's answer to a challenge, if it has one.
    fn step(
        &self,
        procedure: &mut AuthProc,
        challenge: &[u8],
    ) -> Result<Option<Vec<u8>>, SessionError> {
        let response = procedure
            .run(self, challenge)
            .map_err(|error| SessionError::Authentication(error.to_string().to_lowercase()))?;
        let (Response::Next { packet } | Response::Last { packet }) = response;
        Ok(packet)
    }
}

impl<S: Read + Write> Session<S> {
    /// Logs in over `socket`.
    pub(crate) fn login(socket: S, login: Login<'_>) -> Result<Self, SessionError> {
        let mut session = Self::new(socket);
        let mut sequence = session.read_packet()?;
        let greeting = Greeting::parse(session.payload()?)?;
        session.id = greeting.connection_id;
        session.version.clone_from(&greeting.version);
        let mut capabilities = capabilities(&greeting, login)?;
        session.eof_deprecated = capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        let encryption = encryption(greeting.capabilities, login)?;
        if let Some(tls) = encryption {
            capabilities.insert(CapabilityFlags::CLIENT_SSL);
            sequence = sequence.wrapping_add(1);
            session.encrypt(tls, capabilities, sequence)?;
        }
        // An account's own plugin may differ from the server's: it will ask to switch.
        let plugin = match AuthPlugin::from_bytes(&greeting.plugin) {
            AuthPlugin::CachingSha2Password => AuthPlugin::CachingSha2Password,
            _ => AuthPlugin::MysqlNativePassword,
        };
        let mut procedure = procedure(&plugin)?;
        let credentials = Credentials {
            login,
            nonce: greeting.nonce,
            is_encrypted: encryption.is_some(),
        };
        let scramble = credentials.begin(&mut procedure)?.unwrap_or_default();
        let response = HandshakeResponse::new(
            Some(scramble),
            (8, 0, 0),
            Some(login.user.as_bytes()),
            login.database.map(str::as_bytes),
            Some(plugin),
            capabilities,
            None,
            PAYLOAD_BYTES_MAX as u32,
        );
        let mut payload = Vec::new();
        response.serialize(&mut payload);
        if login.compression == Some(Compression::Zstd) {
            payload.push(Compression::Zstd.level());
        }
        session.waiting = SessionPhase::Login;
        session.send(&payload, sequence.wrapping_add(1))?;
        let mut asked_key = false;
        let authenticated = session.authenticate(procedure, credentials, &mut asked_key);
        authenticated.map_err(|error| match (error, encryption) {
            (SessionError::Refused(error), None) if error.code == ACCESS_DENIED => {
                SessionError::Refused(without_encryption(error, asked_key))
            }
            (error, _) => error,
        })?;
        if let Some(compression) = login.compression {
            session.compress(compression);
        }
        Ok(session)
    }

    /// Asks for encryption and begins it.
    fn encrypt(
        &mut self,
        tls: &TlsClient,
        capabilities: CapabilityFlags,
        sequence: u8,
    ) -> Result<(), SessionError> {
        self.waiting = SessionPhase::Encryption;
        let mut payload = Vec::new();
        SslRequest::new(capabilities, PAYLOAD_BYTES_MAX as u32, COLLATION).serialize(&mut payload);
        self.send(&payload, sequence)?;
        let connection = tls
            .connection()
            .map_err(|error| SessionError::Encryption(error.to_string()))?;
        let waiting = self.waiting;
        self.channel()?
            .encrypt(connection)
            .map_err(|error| match tls_words(&error) {
                Some(words) => SessionError::Encryption(words),
                None => SessionError::stream(error, waiting),
            })
    }

    fn authenticate(
        &mut self,
        mut procedure: AuthProc,
        mut credentials: Credentials<'_>,
        asked_key: &mut bool,
    ) -> Result<(), SessionError> {
        for _ in 0..ROUNDS_MAX {
            let sequence = self.read_packet()?;
            let answer = match self.payload()?.split_first() {
                Some((0x00, _)) => return Ok(()),
                Some((0x01, challenge)) => credentials.step(&mut procedure, challenge)?,
                Some((0xFE, request)) => {
                    let (name, data) = auth_switch(request);
                    credentials.nonce = data.to_vec();
                    if matches!(name, b"unix_socket" | b"auth_socket") {
                        // The server asks the kernel who is at the other end.
                        Some(Vec::new())
                    } else {
                        procedure = self::procedure(&AuthPlugin::from_bytes(name))?;
                        credentials.begin(&mut procedure)?
                    }
                }
                _ => return Err(MalformedPacket("the reply to a login is none").into()),
            };
            if let Some(answer) = answer {
                *asked_key = answer == KEY_REQUEST;
                self.send(&answer, sequence.wrapping_add(1))?;
            }
        }
        Err(MalformedPacket("authentication does not end").into())
    }
}

/// A refusal of a login that was not encrypted, with the causes that this may have.
fn without_encryption(error: ServerError, asked_key: bool) -> ServerError {
    let hint = if asked_key {
        "the login was not encrypted, and the server has no RSA key for caching_sha2_password; use \
         --mysql-ssl=required or the server's socket"
    } else {
        "the login was not encrypted; an account with REQUIRE SSL or X509 needs --mysql-ssl=required"
    };
    let message = format!("{} ({hint})", error.message);
    ServerError { message, ..error }
}

/// Returns the capabilities that are asked of the server, or the reason that they cannot be.
fn capabilities(greeting: &Greeting, login: Login<'_>) -> Result<CapabilityFlags, SessionError> {
    let mut needed = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH;
    let offered = greeting.capabilities;
    if !offered.contains(needed) {
        let version = &greeting.version;
        return Err(SessionError::TooOld(version.clone()));
    }
    if let Some(compression) = login.compression {
        needed |= compression.capability();
        if !offered.contains(needed) {
            return Err(SessionError::NotCompressed(compression));
        }
    }
    if login.database.is_some() {
        needed |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
    }
    let several = CapabilityFlags::CLIENT_MULTI_STATEMENTS
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS;
    if login.has_several_results {
        needed |= several & offered;
    }
    let wanted = CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_LOCAL_FILES
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_DEPRECATE_EOF;
    Ok(needed | (wanted & offered))
}

/// Returns the parameters of encryption, if the server offers it and the login wants it.
fn encryption(
    offered: CapabilityFlags,
    login: Login<'_>,
) -> Result<Option<&TlsClient>, SessionError> {
    let is_offered = offered.contains(CapabilityFlags::CLIENT_SSL);
    match login.mode {
        TlsMode::Disabled => Ok(None),
        // A Unix socket has no listeners on its way.
        TlsMode::Preferred if login.is_local || !is_offered => Ok(None),
        _ if is_offered => Ok(login.tls),
        mode => Err(SessionError::Encryption(format!(
            "the server does not offer TLS, which {} needs",
            mode.name()
        ))),
    }
}

/// Splits an auth-switch request into the plugin's name and its nonce.
fn auth_switch(request: &[u8]) -> (&[u8], &[u8]) {
    let end = request.iter().position(|byte| *byte == 0);
    let (name, data) = request.split_at(end.unwrap_or(request.len()));
    let data = data.strip_prefix(&[0]).unwrap_or(data);
    // The nonces of MariaDB's plugins are longer, end without a NUL and may end in a zero.
    match data {
        [nonce @ .., 0] if nonce.len() == NONCE_BYTES => (name, nonce),
        _ => (name, data),
    }
}

fn procedure(plugin: &AuthPlugin<'_>) -> Result<AuthProc, SessionError> {
    let refuse = || {
        let name = String::from_utf8_lossy(plugin.as_bytes());
        SessionError::Authentication(format!(
            "the account uses `{name}`, which is not spoken here; use an account with \
             caching_sha2_password, mysql_native_password, ed25519 or parsec"
        ))
    };
    match plugin {
        // Both would hand the password to any program that answers at this address.
        AuthPlugin::MysqlOldPassword | AuthPlugin::MysqlClearPassword => Err(refuse()),
        _ => AuthProc::init(plugin).map_err(|_| refuse()),
    }
}

#[cfg(test)]
mod tests {
    use super::auth_switch;

    #[test]
    fn only_the_nul_that_ends_a_nonce_is_taken_off() {
        let request = |nonce: &[u8]| [b"plugin\0", nonce].concat();
        // MySQL's own: 20 bytes and a NUL.
        let native = [&[7; 20][..], &[0]].concat();
        assert_eq!(
            auth_switch(&request(&native)),
            (&b"plugin"[..], &[7; 20][..])
        );
        // MariaDB's ed25519: 32 bytes, of which the last may be 0.
        let curve = [&[7; 31][..], &[0]].concat();
        assert_eq!(auth_switch(&request(&curve)), (&b"plugin"[..], &curve[..]));
    }
}
