//! Packets that a network interface saw: classic pcap and pcapng, as tcpdump and others write them.
//!
//! Streams of TCP are put together and read as the proxy reads them. Where packets are missing the session ends, and is
//! counted: no statement is guessed. Only sessions whose beginning is there are read.

mod connection;
mod frame;
mod packets;
mod stream;

use std::collections::HashMap;
use std::path::Path;

use crate::head::{CaptureHead, CaptureSource, CaptureTail};
use crate::proxy::{ConnectionEvent, write_seen};
use crate::{CaptureError, CaptureWriter, Literals};
use connection::{Connection, Outcome};
use frame::Segment;
use packets::Packets;

pub(super) use packets::is_packets;

/// Addresses of client and server.
type Ends = (std::net::SocketAddr, std::net::SocketAddr);

/// Makes a capture of packets.
pub(super) fn import(
    from: &Path,
    to: &Path,
    literals: Literals,
) -> Result<(CaptureHead, CaptureTail), CaptureError> {
    let mut packets = Packets::open(from)?;
    let mut reader: Option<Reader> = None;
    let mut head = None;
    while let Some(packet) = packets.next()? {
        if reader.is_none() {
            let begun = CaptureHead::new(CaptureSource::Pcap, literals, packet.at_unix_us);
            reader = Some(Reader::new(
                CaptureWriter::create(to, &begun)?,
                packet.at_unix_us,
            ));
            head = Some(begun);
        }
        if let (Some(reader), Some(segment)) = (&mut reader, frame::segment(&packet)) {
            reader.segment(packet.at_unix_us, &segment)?;
        }
    }
    let (Some(reader), Some(head)) = (reader, head) else {
        return Err(CaptureError::Log {
            path: from.display().to_string(),
            offset: 0,
            why: "it has no packets".to_owned(),
        });
    };
    let failure = packets.broken_at().map(|offset| {
        let path = from.display();
        format!("{path}, byte {offset}: the packets from there on cannot be read")
    });
    Ok((head, reader.finish(failure)?))
}

struct Reader {
    writer: CaptureWriter,
    began_unix_us: i64,
    /// Time that packets have come to; it never goes back.
    at_us: u64,
    connections: HashMap<Ends, Connection>,
    next_session: u32,
}

impl Reader {
    fn new(writer: CaptureWriter, began_unix_us: i64) -> Self {
        Self {
            writer,
            began_unix_us,
            at_us: 0,
            connections: HashMap::new(),
            next_session: 1,
        }
    }

    fn segment(&mut self, at_unix_us: i64, segment: &Segment<'_>) -> Result<(), CaptureError> {
        let since = u64::try_from(at_unix_us - self.began_unix_us).unwrap_or(0);
        self.at_us = self.at_us.max(since);
        let (from, to) = (segment.from, segment.to);
        // An interface may show each packet twice.
        let known = self.connections.get(&(from, to));
        let is_again = known.is_some_and(|known| known.has_begun_at(segment.sequence));
        if segment.is_first_of_client && !is_again {
            if let Some(old) = self.connections.remove(&(from, to)) {
                self.end(old)?;
            }
            let session = self.next_session;
            self.next_session += 1;
            self.connections
                .insert((from, to), Connection::begun(session));
        }
        let is_of_client = self.connections.contains_key(&(from, to));
        let ends = if is_of_client { (from, to) } else { (to, from) };
        let Some(connection) = self.connections.get_mut(&ends) else {
            // It began before the capture: which side is the server shows in its port, and only once. The last receipt of
            // one that was read has no payload.
            let is_usual = connection::is_usual_port(from) || connection::is_usual_port(to);
            if is_usual && !segment.payload.is_empty() {
                let ends = if connection::is_usual_port(to) {
                    (from, to)
                } else {
                    (to, from)
                };
                self.connections.insert(ends, Connection::joined_late());
                self.writer.losses.sessions_joined_late += 1;
            }
            return Ok(());
        };
        let is_over = connection.segment(self.at_us, segment, is_of_client);
        self.tell(ends)?;
        if is_over {
            let over = self.connections.remove(&ends);
            over.map_or(Ok(()), |connection| self.end(connection))?;
        }
        Ok(())
    }

    /// Writes what a connection has shown.
    fn tell(&mut self, ends: Ends) -> Result<(), CaptureError> {
        let Some(connection) = self.connections.get_mut(&ends) else {
            return Ok(());
        };
        let (session, seen) = (connection.session, connection.take());
        tell(&mut self.writer, self.at_us, session, seen)
    }

    fn end(&mut self, mut connection: Connection) -> Result<(), CaptureError> {
        let (session, seen) = (connection.session, connection.take());
        tell(&mut self.writer, self.at_us, session, seen)?;
        let losses = &mut self.writer.losses;
        match connection.outcome() {
            Outcome::Read | Outcome::NotRead => {}
            Outcome::Cut => losses.sessions += 1,
            Outcome::Encrypted => losses.sessions_encrypted += 1,
        }
        if connection.was_opened() {
            self.writer.closed(self.at_us, session)?;
        }
        Ok(())
    }

    /// Ends the sessions that are open; `failure` says why the packets end early.
    fn finish(mut self, failure: Option<String>) -> Result<CaptureTail, CaptureError> {
        let mut open: Vec<_> = std::mem::take(&mut self.connections)
            .into_values()
            .collect();
        open.sort_by_key(|connection| connection.session);
        for mut connection in open {
            connection.end_of_packets();
            self.end(connection)?;
        }
        match failure {
            Some(why) => self.writer.finish_early(self.at_us, &why),
            None => self.writer.finish(self.at_us),
        }
    }
}

fn tell(
    writer: &mut CaptureWriter,
    at_us: u64,
    session: u32,
    seen: Vec<ConnectionEvent>,
) -> Result<(), CaptureError> {
    seen.into_iter()
        .try_for_each(|seen| write_seen(writer, at_us, session, seen))
}
