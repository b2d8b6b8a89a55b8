//! A connection: two streams, and what passes in them.

use std::net::SocketAddr;

use super::frame::Segment;
use super::stream::Stream;
use crate::proxy::{ConnectionEvent, Watch, asks_for_tls};

/// The servers' usual ports.
const PORTS: [u16; 2] = [3306, 33060];
/// Length and number of a packet.
const HEADER_BYTES: usize = 4;

/// State of a connection at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was read to its end.
    Read,
    /// It was another protocol, or there before the packets begin.
    NotRead,
    /// Packets are missing, or what passes is not understood: it was read as far as that.
    Cut,
    Encrypted,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) session: u32,
    watch: Watch,
    client: Stream,
    server: Stream,
    /// Bytes of a side that wait for earlier ones of the other side, which are missing.
    held: [Vec<u8>; 2],
    /// Which sides have sent their last segment.
    ended: [bool; 2],
    outcome: Outcome,
    /// The client's first bytes, until its login is whole.
    login: Option<Vec<u8>>,
    /// A session was seen to begin.
    was_opened: bool,
}

/// Returns true if a side is a server by its port.
pub(super) fn is_usual_port(end: SocketAddr) -> bool {
    PORTS.contains(&end.port())
}

impl Connection {
    /// Makes a connection whose first segment was seen.
    pub(super) fn begun(session: u32) -> Self {
        Self {
            session,
            watch: Watch::new(false),
            client: Stream::default(),
            server: Stream::default(),
            held: [Vec::new(), Vec::new()],
            ended: [false, false],
            outcome: Outcome::Read,
            login: Some(Vec::new()),
            was_opened: false,
        }
    }

    /// It was there before the packets begin: nothing of it is read.
    pub(super) fn joined_late() -> Self {
        Self {
            outcome: Outcome::NotRead,
            ..Self::begun(0)
        }
    }

    /// Returns true if the client's first segment had this number.
    pub(super) fn has_begun_at(&self, sequence: u32) -> bool {
        self.client.begins_after(sequence)
    }

    pub(super) fn outcome(&self) -> Outcome {
        self.outcome
    }

    pub(super) fn was_opened(&self) -> bool {
        self.was_opened
    }

    /// Returns what was seen since the last call.
    pub(super) fn take(&mut self) -> Vec<ConnectionEvent> {
        let seen = self.watch.take();
        self.was_opened |= matches!(seen.first(), Some(ConnectionEvent::Opened(_)));
        seen
    }

    /// Takes a segment; whether nothing more comes after it.
    pub(super) fn segment(
        &mut self,
        at_us: u64,
        segment: &Segment<'_>,
        is_of_client: bool,
    ) -> bool {
        let side = usize::from(!is_of_client);
        self.ended[side] |= segment.is_last;
        if segment.is_reset {
            return true;
        }
        if self.outcome != Outcome::Read {
            return self.ended == [true, true];
        }
        self.read(at_us, segment, is_of_client);
        self.client.is_complete() && self.server.is_complete()
    }

    /// Puts a segment to its stream, and passes on what is whole by it.
    fn read(&mut self, at_us: u64, segment: &Segment<'_>, is_of_client: bool) {
        let (stream, other) = if is_of_client {
            (&mut self.client, &mut self.server)
        } else {
            (&mut self.server, &mut self.client)
        };
        if segment.is_first {
            stream.begin(segment.sequence);
            return;
        }
        if segment.is_cut && !segment.payload.is_empty() {
            self.outcome = Outcome::Cut;
            return;
        }
        if let Some(sequence) = segment.acknowledged {
            other.acknowledged(at_us, sequence);
        }
        if segment.is_last {
            stream.ends(segment.sequence, segment.payload.len());
        }
        let bytes = stream.part(at_us, segment.sequence, segment.payload);
        self.held[usize::from(!is_of_client)].extend(bytes);
        self.pass_on(is_of_client);
        if self.client.is_lost(at_us) || self.server.is_lost(at_us) {
            self.outcome = Outcome::Cut;
        }
    }

    /// Passes on what each side has sent, the side that sent last first: it may have filled a gap for which the other
    /// waited. A statement is not read before the answer that its client had seen.
    fn pass_on(&mut self, client_first: bool) {
        for is_of_client in [client_first, !client_first] {
            if is_of_client && !self.server.misses() {
                let bytes = std::mem::take(&mut self.held[0]);
                self.client_sent(&bytes);
            } else if !is_of_client && !self.client.misses() {
                let bytes = std::mem::take(&mut self.held[1]);
                self.server_sent(&bytes);
            }
        }
    }

    /// The file ends: what is missing now is missing.
    pub(super) fn end_of_packets(&mut self) {
        if self.outcome == Outcome::Read && (self.client.misses() || self.server.misses()) {
            self.outcome = Outcome::Cut;
        }
    }

    fn server_sent(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.watch.greeting(bytes).is_none() {
            self.watch.server_sent(bytes);
        }
        self.settle();
    }

    fn client_sent(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(login) = &mut self.login {
            login.extend_from_slice(bytes);
            let Some(&[a, b, c, _]) = login.first_chunk::<HEADER_BYTES>() else {
                return;
            };
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            let Some(payload) = login.get(HEADER_BYTES..HEADER_BYTES + length) else {
                return;
            };
            if asks_for_tls(payload) {
                self.outcome = Outcome::Encrypted;
                return;
            }
            let login = self.login.take().unwrap_or_default();
            self.watch.client_sent(&login);
        } else {
            self.watch.client_sent(bytes);
        }
        self.settle();
    }

    /// Sets the outcome if the bytes are not understood any more.
    fn settle(&mut self) {
        if self.watch.is_blind() {
            // A login that was refused is no session.
            self.outcome = if self.was_opened {
                Outcome::Cut
            } else {
                Outcome::NotRead
            };
        }
    }
}
