//! What a study and the process of its script tell each other: a line of JSON each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use weir_load::LoadOutcome;
use weir_model::{Address, Endpoint, IntervalRecord, RunSpec, Secret, Tls, TlsMode};

/// An order to the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Do this.
    Work(Box<Job>),
    /// End the run that is under way.
    Stop,
}

/// A command of a script.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// `prepare` or `run`.
    pub(crate) command: String,
    /// The script with its options, and its load.
    pub(crate) spec: RunSpec,
    pub(crate) seed: u64,
    pub(crate) place: Place,
}

/// What the process tells.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// The load begins, and its measurement in so many seconds.
    Began { in_s: f64 },
    /// An interval has ended.
    Interval {
        record: IntervalRecord,
        /// Transactions under way at its end.
        concurrency: u64,
    },
    /// The run is complete.
    Completed {
        outcome: Box<LoadOutcome>,
        /// Its latencies, which the outcome does not write down.
        histogram: Vec<u8>,
        /// When the measurement began, seconds before this message.
        measured_from_s: f64,
    },
    /// The command has ended with this exit code.
    Ended(u8),
    /// It could not begin.
    Refused(String),
}

/// A server, and how to log in: what an [`Endpoint`] does not write down by itself.
#[derive(Serialize, Deserialize)]
pub(crate) struct Place {
    socket: Option<PathBuf>,
    host: String,
    port: u16,
    user: String,
    password: String,
    database: String,
    tls_mode: TlsMode,
    authority: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    ciphers: Vec<String>,
    /// A server of Weir's own.
    pub(crate) is_own: bool,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Place")
    }
}

impl Place {
    pub(crate) fn new(endpoint: &Endpoint, is_own: bool) -> Self {
        let (socket, host, port) = match &endpoint.address {
            Address::Socket(path) => (Some(path.clone()), String::new(), 0),
            Address::Tcp(host, port) => (None, host.clone(), *port),
        };
        let tls = endpoint.tls.clone();
        Self {
            socket,
            host,
            port,
            user: endpoint.user.clone(),
            password: endpoint.password.reveal().to_owned(),
            database: endpoint.database.clone(),
            tls_mode: tls.mode,
            authority: tls.authority,
            certificate: tls.certificate,
            key: tls.key,
            ciphers: tls.ciphers,
            is_own,
        }
    }

    pub(crate) fn endpoint(self) -> Endpoint {
        Endpoint {
            address: match self.socket {
                Some(path) => Address::Socket(path),
                None => Address::Tcp(self.host, self.port),
            },
            user: self.user,
            password: Secret::new(self.password),
            database: self.database,
            tls: Tls {
                mode: self.tls_mode,
                authority: self.authority,
                certificate: self.certificate,
                key: self.key,
                ciphers: self.ciphers,
            },
        }
    }
}
