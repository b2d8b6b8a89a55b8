//! Events one after the other: framed, checked, and plain.

use std::sync::Arc;

use crate::{BinaryLog, ClientError};

use crate::binlog::compressed::{open_event, open_payload, plain_kind};
use crate::binlog::format::{CHECKSUM_BYTES, check};
use crate::binlog::{BinlogError, EventHeader, Format, HEADER_BYTES, MalformedEvent, Place, kind};

/// Where whole events come from.
pub trait Packets {
    /// Puts the next event, with header and checksum, into `event`; false at the end.
    fn next_packet(&mut self, event: &mut Vec<u8>) -> Result<bool, ClientError>;
}

impl Packets for BinaryLog {
    fn next_packet(&mut self, event: &mut Vec<u8>) -> Result<bool, ClientError> {
        self.next_event(event)
    }
}

/// A plain event.
#[derive(Debug)]
pub struct Event<'a> {
    /// Header of the event. The kind is that of the plain event.
    pub header: EventHeader,
    /// Where it begins. Events of a compressed transaction have its place.
    pub place: Place,
    /// Bytes after the header, without the checksum.
    pub body: &'a [u8],
}

/// Reads a log.
#[derive(Debug)]
pub struct LogReader<P> {
    packets: P,
    packet: Vec<u8>,
    /// The plain form of a compressed event.
    plain: Vec<u8>,
    /// The events of a compressed transaction, and how much of them was read.
    inner: Vec<u8>,
    inner_at: usize,
    file: Arc<str>,
    /// Where the last event began and ended in its file.
    position: u64,
    end: u64,
    format: Option<Format>,
    bytes: u64,
}

/// Next item to hand on.
enum Next {
    Packet(EventHeader, usize),
    Plain(EventHeader),
    Inner(EventHeader, usize, usize),
}

impl<P: Packets> LogReader<P> {
    /// A reader of what comes from `packets`.
    pub fn new(packets: P) -> Self {
        Self {
            packets,
            packet: Vec::new(),
            plain: Vec::new(),
            inner: Vec::new(),
            inner_at: 0,
            file: Arc::from(""),
            position: 0,
            end: 0,
            format: None,
            bytes: 0,
        }
    }

    /// Where the last event begins. Events of a compressed transaction have its place.
    pub fn place(&self) -> Place {
        Place {
            file: Arc::clone(&self.file),
            position: self.position,
        }
    }

    /// Returns true if the last event is one of a compressed transaction that has more.
    pub fn is_inside(&self) -> bool {
        self.inner_at < self.inner.len()
    }

    /// Where the last event ends.
    pub fn end(&self) -> Place {
        Place {
            file: Arc::clone(&self.file),
            position: self.end,
        }
    }

    /// The format of the events.
    pub fn format(&self) -> Option<&Format> {
        self.format.as_ref()
    }

    /// Bytes of all events so far, as they came.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next event; none at the log's end. Heartbeats and changes of the file are passed over.
    ///
    /// # Errors
    ///
    /// Events that are damaged, cut short, or in a way written that is not known; what the connection says.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, BinlogError> {
        let next = loop {
            if self.inner_at < self.inner.len() {
                break self.next_inner().map_err(|error| self.damaged(error))?;
            }
            if !self.packets.next_packet(&mut self.packet)? {
                return Ok(None);
            }
            self.bytes += self.packet.len() as u64;
            if let Some(next) = self.take_packet().map_err(|error| self.damaged(error))? {
                break next;
            }
        };
        let place = self.place();
        Ok(Some(match next {
            Next::Packet(header, end) => Event {
                header,
                place,
                body: &self.packet[HEADER_BYTES..end],
            },
            Next::Plain(header) => Event {
                header,
                place,
                body: &self.plain,
            },
            Next::Inner(header, start, end) => Event {
                header,
                place,
                body: &self.inner[start..end],
            },
        }))
    }

    fn damaged(&self, malformed: MalformedEvent) -> BinlogError {
        BinlogError::Malformed {
            place: self.place(),
            why: malformed.to_string(),
        }
    }

    fn take_packet(&mut self) -> Result<Option<Next>, MalformedEvent> {
        // Where the packet stands is known before it is; what is wrong with it is wrong there.
        self.position = self.end;
        let header = EventHeader::read(&self.packet)?;
        if header.length as usize != self.packet.len() {
            return Err(MalformedEvent("its length is not the one that it says"));
        }
        let end = self.checked(&header)?;
        if !header.is_artificial() {
            self.moved_to(&header);
        }
        let body = &self.packet[HEADER_BYTES..end];
        match header.kind {
            kind::ROTATE => {
                self.rotate(end)?;
                Ok(None)
            }
            kind::HEARTBEAT | kind::HEARTBEAT_V2 => Ok(None),
            kind::TRANSACTION_PAYLOAD => {
                self.inner.clear();
                self.inner_at = 0;
                open_payload(body, &mut self.inner)?;
                Ok(None)
            }
            kind::MARIADB_PARTIAL_ROW_DATA => Err(MalformedEvent(
                "a row is split over several events (binlog_row_event_fragment_threshold), which is not read yet",
            )),
            compressed => match plain_kind(compressed) {
                Some(plain) => {
                    self.plain.clear();
                    open_event(plain, body, &mut self.plain)?;
                    Ok(Some(Next::Plain(EventHeader {
                        kind: plain,
                        ..header
                    })))
                }
                None => Ok(Some(Next::Packet(header, end))),
            },
        }
    }

    /// Where the packet's body ends, once its checksum was compared.
    fn checked(&mut self, header: &EventHeader) -> Result<usize, MalformedEvent> {
        let whole = self.packet.len();
        if header.kind == kind::FORMAT_DESCRIPTION {
            self.format = Some(Format::read(&self.packet)?);
            return Ok(whole - CHECKSUM_BYTES);
        }
        let has_checksum = match &self.format {
            // What the server makes up has a checksum if the reader knows of checksums, whatever the file has.
            _ if header.is_artificial() && header.kind == kind::ROTATE => {
                check(&self.packet).is_ok()
            }
            Some(format) => format.has_checksum,
            None => return Err(MalformedEvent("the log does not begin with its format")),
        };
        if has_checksum {
            check(&self.packet)?;
            return Ok(whole - CHECKSUM_BYTES);
        }
        Ok(whole)
    }

    /// Positions have 32 bits; a transaction may be longer.
    fn moved_to(&mut self, header: &EventHeader) {
        let mut end = u64::from(header.end_position);
        while end + (1 << 31) < self.end {
            end += 1 << 32;
        }
        self.end = end;
        self.position = end.saturating_sub(u64::from(header.length));
    }

    /// The log goes on in another file.
    fn rotate(&mut self, end: usize) -> Result<(), MalformedEvent> {
        let (position, name) = self.packet[HEADER_BYTES..end]
            .split_first_chunk::<8>()
            .ok_or(MalformedEvent("the name of the next file is cut short"))?;
        let name = std::str::from_utf8(name).ok();
        // The servers count their files; a checksum that does not fit would be the end of the name.
        let is_counted = |name: &&str| {
            let number = name.rsplit_once('.').map(|(_, number)| number);
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let name = name.filter(|name| !name.contains(char::is_control));
        let name = name.filter(is_counted);
        let name = name.ok_or(MalformedEvent("the name of the next file is none"))?;
        self.file = Arc::from(name);
        self.position = u64::from_le_bytes(*position);
        self.end = self.position;
        Ok(())
    }

    /// The next event of a compressed transaction: these have no checksums.
    fn next_inner(&mut self) -> Result<Next, MalformedEvent> {
        let start = self.inner_at;
        let header = EventHeader::read(&self.inner[start..])?;
        let end = start + header.length as usize;
        if (header.length as usize) < HEADER_BYTES || end > self.inner.len() {
            return Err(MalformedEvent(
                "the length of an event in a compressed transaction is not the one that it says",
            ));
        }
        self.inner_at = end;
        Ok(Next::Inner(header, start + HEADER_BYTES, end))
    }
}
