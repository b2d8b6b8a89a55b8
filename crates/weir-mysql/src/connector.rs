//! Logs in to one server, as often as is asked.

use weir_model::{Address, Endpoint, TlsMode};

use crate::handshake::Login;
use crate::tls::TlsClient;
use crate::{
    Blocking, ClientError, Compression, Deadline, Gate, Passage, PreparedStatement, Session,
    SessionError, SessionPhase,
};

/// Connects to one server; what does not change from connection to connection is ready.
#[derive(Debug, Clone)]
pub struct Connector {
    endpoint: Endpoint,
    tls: Option<TlsClient>,
    compression: Option<Compression>,
    gate: Gate,
    has_several_results: bool,
}

impl Connector {
    /// Reads the certificates that the endpoint names. `gate`: what may be done to the server.
    ///
    /// # Errors
    ///
    /// Files, ciphers and modes of TLS that cannot be used.
    pub fn new(
        endpoint: Endpoint,
        compression: Option<Compression>,
        gate: Gate,
    ) -> Result<Self, ClientError> {
        let host = match &endpoint.address {
            Address::Tcp(host, _) => Some(host.as_str()),
            Address::Socket(_) => None,
        };
        let tls = match endpoint.tls.mode {
            TlsMode::Disabled => None,
            _ => Some(TlsClient::new(&endpoint.tls, host)?),
        };
        Ok(Self {
            endpoint,
            tls,
            compression,
            gate,
            has_several_results: false,
        })
    }

    /// The same, for connections whose statements may have several results.
    #[must_use]
    pub fn with_several_results(self) -> Self {
        Self {
            has_several_results: true,
            ..self
        }
    }

    /// Connects and logs in; `use_database`: to the endpoint's schema, which must exist.
    ///
    /// # Errors
    ///
    /// An address where no server answers, a login that is refused, the deadline, or a schema that is not the
    /// one that the gate knows.
    pub fn login(
        &self,
        use_database: bool,
        deadline: Deadline,
    ) -> Result<Session<Blocking>, ClientError> {
        let endpoint = &self.endpoint;
        if use_database {
            self.gate.may_use(&endpoint.address, &endpoint.database)?;
        }
        let login = Login {
            user: &endpoint.user,
            password: endpoint.password.reveal(),
            database: use_database.then_some(&endpoint.database),
            is_local: matches!(endpoint.address, Address::Socket(_)),
            mode: endpoint.tls.mode,
            tls: self.tls.as_ref(),
            compression: self.compression,
            has_several_results: self.has_several_results,
        };
        let session = Blocking::connect(&endpoint.address, deadline)
            .map_err(|error| SessionError::stream(error, SessionPhase::Connection))
            .and_then(|socket| Session::login(socket, login))
            .map_err(|error| self.failed(error, deadline))?;
        self.gate
            .opened(self.address(), session.id(), session.version());
        Ok(session)
    }

    /// Prepares statements of the load, once the gate has let them pass; that changes nothing yet. Each one's
    /// answer, in their order.
    ///
    /// # Errors
    ///
    /// The gate's, or a connection that is lost.
    pub fn prepare_all(
        &self,
        session: &mut Session<Blocking>,
        statements: &[impl AsRef<str>],
        deadline: Deadline,
    ) -> Result<Vec<Result<PreparedStatement, ClientError>>, ClientError> {
        for sql in statements {
            let _: Passage = self.gate.admit(self.address(), sql.as_ref())?;
        }
        let answers = session.prepare_all(statements);
        let answers = answers.map_err(|error| self.failed(error, deadline))?;
        Ok(ClientError::of_each(self.address(), statements, answers))
    }

    /// Returns the compression of connections, if any.
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Returns the address of the server.
    pub fn address(&self) -> &Address {
        &self.endpoint.address
    }

    /// The schema of the endpoint.
    pub fn database(&self) -> &str {
        &self.endpoint.database
    }

    /// Returns the gate for statements.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Returns the meaning of a failure before the first statement.
    pub fn failed(&self, error: SessionError, deadline: Deadline) -> ClientError {
        let address = self.endpoint.address.to_string();
        match error {
            SessionError::Malformed(malformed) => ClientError::Protocol {
                address,
                why: malformed.to_string(),
            },
            SessionError::NotCompressed(compression) => ClientError::NotCompressed {
                address,
                compression: compression.name(),
            },
            SessionError::Timeout(waiting) => ClientError::Timeout {
                address,
                limit_s: deadline.limit().as_secs_f64(),
                waiting: format!("{waiting} did not come"),
            },
            error => ClientError::Connect {
                address,
                code: match &error {
                    SessionError::Refused(refused) => Some(refused.code),
                    _ => None,
                },
                why: error.to_string(),
            },
        }
    }
}
