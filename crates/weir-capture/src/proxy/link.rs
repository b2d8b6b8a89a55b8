//! A client and its server: bytes go both ways, and what they say is looked at after they were passed on.

use std::io;
use std::sync::Arc;

use super::encryption::Encryption;
use super::login::asks_for_tls;
use super::socket::End;
use super::watch::{ConnectionEvent, Watch};

/// Reads of one end before others have their turn.
const READS_MAX: usize = 16;

/// Longest first packet of a client.
const LOGIN_BYTES_MAX: usize = 64 << 10;

/// Which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// A client and its server.
#[derive(Debug)]
pub(super) struct Link {
    client: End,
    server: End,
    watch: Watch,
    encryption: Option<Arc<Encryption>>,
    /// Bytes that a client has sent before its first packet was whole; `None`: it was.
    held: Option<Vec<u8>>,
}

/// Next step for a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkStep {
    /// It waits for its sockets.
    On,
    /// There may be more to read: it has to be called again.
    Again,
    /// Both ends are done.
    Over,
}

impl Link {
    pub(super) fn new(client: End, server: End, encryption: Option<Arc<Encryption>>) -> Self {
        Self {
            client,
            server,
            watch: Watch::new(encryption.is_none()),
            encryption,
            held: Some(Vec::new()),
        }
    }

    /// Takes a client's first bytes: both sides are encrypted from there on if its first packet asks for that.
    fn begin(&mut self, bytes: &[u8]) -> io::Result<()> {
        let held = self.held.get_or_insert_default();
        held.extend_from_slice(bytes);
        let Some(&[a, b, c, _]) = held.first_chunk::<4>() else {
            return Ok(());
        };
        let end = 4 + (usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16);
        if end > LOGIN_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if held.len() < end {
            return Ok(());
        }
        let held = self.held.take().unwrap_or_default();
        let (first, rest) = held.split_at(end);
        match &self.encryption {
            Some(encryption) if asks_for_tls(&first[4..]) => {
                self.server.send(first)?;
                self.server.encrypt(encryption.of_server()?, &[])?;
                self.client.encrypt(encryption.of_client()?, rest)
            }
            Some(encryption) if encryption.is_required => {
                Err(io::ErrorKind::PermissionDenied.into())
            }
            _ => {
                self.server.send(&held)?;
                self.watch.client_sent(&held);
                Ok(())
            }
        }
    }

    pub(super) fn ends(&mut self) -> [(&mut End, Side); 2] {
        [
            (&mut self.client, Side::Client),
            (&mut self.server, Side::Server),
        ]
    }

    /// Returns true if the bytes that pass are not understood any more.
    pub(super) fn is_blind(&self) -> bool {
        self.watch.is_blind()
    }

    /// Does what the sockets allow; what was seen goes to `on_seen` with the time of the read that told it.
    pub(super) fn carry(
        &mut self,
        buffer: &mut [u8],
        now_us: &dyn Fn() -> u64,
        on_seen: &mut dyn FnMut(u64, Vec<ConnectionEvent>),
    ) -> io::Result<LinkStep> {
        self.client.flush()?;
        self.server.flush()?;
        let mut goes = LinkStep::On;
        for side in [Side::Client, Side::Server] {
            if self.carry_from(side, buffer, now_us, on_seen)? {
                goes = LinkStep::Again;
            }
        }
        if self.client.has_ended {
            self.server.end();
        }
        if self.server.has_ended {
            self.client.end();
        }
        // A server that has gone has nothing more for its client; a client that has gone may still be answered.
        let is_over = self.server.has_ended && self.client.is_shut();
        Ok(if is_over { LinkStep::Over } else { goes })
    }

    /// Carries what came from one end; whether there may be more.
    fn carry_from(
        &mut self,
        side: Side,
        buffer: &mut [u8],
        now_us: &dyn Fn() -> u64,
        on_seen: &mut dyn FnMut(u64, Vec<ConnectionEvent>),
    ) -> io::Result<bool> {
        for _ in 0..READS_MAX {
            let (from, to) = match side {
                Side::Client => (&mut self.client, &mut self.server),
                Side::Server => (&mut self.server, &mut self.client),
            };
            if from.has_ended || to.is_full() {
                return Ok(false);
            }
            let length = match from.read(buffer)? {
                None => return Ok(false),
                Some(0) => {
                    from.has_ended = true;
                    return Ok(false);
                }
                Some(length) => length,
            };
            let at_us = now_us();
            let bytes = &buffer[..length];
            if side == Side::Client && self.held.is_some() {
                self.begin(bytes)?;
            } else if side == Side::Client {
                to.send(bytes)?;
                self.watch.client_sent(bytes);
            } else if let Some(greeting) = self.watch.greeting(bytes) {
                to.send(&greeting)?;
            } else {
                to.send(bytes)?;
                self.watch.server_sent(bytes);
            }
            let seen = self.watch.take();
            if !seen.is_empty() {
                on_seen(at_us, seen);
            }
        }
        Ok(true)
    }
}
