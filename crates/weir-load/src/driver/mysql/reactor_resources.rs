//! Resources that the connections of one reactor share.

use weir_model::{Address, ClosedLoop};
use weir_mysql::{ClientError, Codec, Compression, Gate, MalformedPacket, ServerError};

use crate::LoadError;
use crate::driver::Reconnector;
use crate::plan::ToleratedErrors;

/// Resources that the connections of one reactor share.
#[derive(Debug)]
pub(crate) struct ReactorResources {
    /// Bytes for the reactor to send.
    pub(super) outgoing: Vec<u8>,
    /// Buffer in which a value of several parts is put together.
    pub(super) scratch: Vec<u8>,
    /// The servers, over which connections are dealt in turn.
    pub(super) links: Vec<Link>,
    /// Gate for all statements.
    pub(super) gate: Gate,
    pub(super) tolerated: ToleratedErrors,
    /// Makes connections again, if that is asked for.
    pub(super) reconnector: Option<Reconnector>,
    /// By how much each request and each reply is delayed.
    pub(super) half_rtt_ns: u64,
    /// Pause of a connection before it begins again.
    pub(super) closed_loop: ClosedLoop,
    /// Packs requests and unpacks replies, if connections are compressed.
    pub(super) codec: Option<Codec>,
}

impl ReactorResources {
    /// For connections that are dealt over `addresses` in turn, of which there is at least one.
    pub(crate) fn new(
        (addresses, gate): (Vec<Address>, &Gate),
        tolerated: ToleratedErrors,
        reconnector: Option<Reconnector>,
        half_rtt_ns: u64,
        closed_loop: ClosedLoop,
        compression: Option<Compression>,
    ) -> Self {
        Self {
            outgoing: Vec::new(),
            scratch: Vec::new(),
            links: addresses
                .into_iter()
                .map(|address| Link { address })
                .collect(),
            gate: gate.clone(),
            tolerated,
            reconnector,
            half_rtt_ns,
            closed_loop,
            codec: compression.map(Codec::new),
        }
    }

    /// The server of connection `number`.
    pub(super) fn link(&self, number: u32) -> &Link {
        &self.links[number as usize % self.links.len()]
    }
}

/// A server's address.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) address: Address,
}

impl Link {
    /// `idle_ns`: how long the connection had been idle, nanoseconds.
    pub(super) fn lost(&self, error: &std::io::Error, idle_ns: Option<u64>) -> LoadError {
        let why = match (idle_ns, error.kind()) {
            (Some(idle_ns), _) => format!(
                "the server closed it after {:.1} s without a statement; if wait_timeout is as long, raise it",
                idle_ns as f64 / 1e9
            ),
            (None, std::io::ErrorKind::UnexpectedEof) => "the server closed it".to_owned(),
            (None, _) => error.to_string().to_lowercase(),
        };
        self.lost_because(why)
    }

    /// The server closed the connection with these words.
    pub(super) fn dismissed(&self, said: &ServerError) -> LoadError {
        self.lost_because(format!("error {}: {}", said.code, said.message))
    }

    fn lost_because(&self, why: String) -> LoadError {
        LoadError::Client(ClientError::Lost {
            address: self.address.to_string(),
            why,
        })
    }

    pub(super) fn malformed(&self, malformed: MalformedPacket) -> LoadError {
        LoadError::Client(ClientError::Protocol {
            address: self.address.to_string(),
            why: malformed.to_string(),
        })
    }

    pub(super) fn refused(&self, statement: &str, error: ServerError) -> LoadError {
        LoadError::Client(ClientError::refused(
            self.address.to_string(),
            statement,
            error,
        ))
    }
}
