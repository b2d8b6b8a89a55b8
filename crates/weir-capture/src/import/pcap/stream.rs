//! One direction of a connection, put together: segments come out of order, twice, or not at all.

use std::collections::BTreeMap;

/// Bytes that wait for others before them.
const WAITING_BYTES_MAX: usize = 4 << 20;
/// Time after which missing bytes do not come any more, microseconds.
const MISSING_US_MAX: u64 = 1_000_000;

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The sequence number of the first byte, once it is known.
    first: Option<u32>,
    /// Bytes that were given on.
    given: u64,
    /// Parts after a gap, by the position of their first byte.
    waiting: BTreeMap<u64, Vec<u8>>,
    waiting_bytes: usize,
    /// Since when something is missing.
    missing_since_us: Option<u64>,
    /// Where the stream ends.
    end: Option<u64>,
    /// Bytes that the other side has received.
    received: u64,
}

impl Stream {
    /// The first segment: the byte after it is the first.
    pub(super) fn begin(&mut self, sequence: u32) {
        self.first = Some(sequence.wrapping_add(1));
    }

    /// Returns true if the first segment was known, and had this number.
    pub(super) fn begins_after(&self, sequence: u32) -> bool {
        self.first == Some(sequence.wrapping_add(1))
    }

    /// Takes a part; the bytes that follow each other now.
    pub(super) fn part(&mut self, at_us: u64, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let Some(start) = self.position(sequence) else {
            return Vec::new();
        };
        if payload.is_empty() {
            return Vec::new();
        }
        let end = start.saturating_add(signed(payload.len()));
        let Ok(end) = u64::try_from(end) else {
            return Vec::new();
        };
        if end > self.given {
            let begins = u64::try_from(start).unwrap_or(0).max(self.given);
            let new = &payload[payload.len() - (end - begins) as usize..];
            let known = self.waiting.get(&begins).map_or(0, Vec::len);
            if new.len() > known {
                self.waiting_bytes += new.len() - known;
                self.waiting.insert(begins, new.to_vec());
            }
        }
        let ready = self.ready();
        self.note(at_us);
        ready
    }

    /// Takes the waiting bytes before which none are missing.
    fn ready(&mut self) -> Vec<u8> {
        let mut ready = Vec::new();
        while let Some(entry) = self.waiting.first_entry() {
            if *entry.key() > self.given {
                break;
            }
            let (begins, part) = entry.remove_entry();
            self.waiting_bytes -= part.len();
            let known = (self.given - begins) as usize;
            if let Some(new) = part.get(known..) {
                ready.extend_from_slice(new);
                self.given += new.len() as u64;
            }
        }
        ready
    }

    /// Where a sequence number is, counted from the stream's first byte; numbers begin anew after 4 GiB.
    fn position(&self, sequence: u32) -> Option<i64> {
        let next = self.first?.wrapping_add(self.given as u32);
        let from_here = sequence.wrapping_sub(next).cast_signed();
        Some(self.given.cast_signed() + i64::from(from_here))
    }

    /// The other side has received everything before a sequence number.
    pub(super) fn acknowledged(&mut self, at_us: u64, sequence: u32) {
        let received = self
            .position(sequence)
            .and_then(|position| u64::try_from(position).ok());
        // The end counts as a byte.
        self.received = self
            .received
            .max(received.unwrap_or(0).min(self.end.unwrap_or(u64::MAX)));
        self.note(at_us);
    }

    /// The last segment ends here.
    pub(super) fn ends(&mut self, sequence: u32, payload: usize) {
        if let Some(position) = self.position(sequence) {
            self.end = u64::try_from(position.saturating_add(signed(payload))).ok();
            self.received = self.received.min(self.end.unwrap_or(u64::MAX));
        }
    }

    /// Returns true if all of it was given on.
    pub(super) fn is_complete(&self) -> bool {
        self.end == Some(self.given)
    }

    /// Returns true if bytes are missing that are known to have been sent.
    pub(super) fn misses(&self) -> bool {
        !self.waiting.is_empty() || self.received > self.given
    }

    fn note(&mut self, at_us: u64) {
        if !self.misses() {
            self.missing_since_us = None;
        } else if self.missing_since_us.is_none() {
            self.missing_since_us = Some(at_us);
        }
    }

    /// Returns true if the missing bytes do not come any more.
    pub(super) fn is_lost(&self, at_us: u64) -> bool {
        let waits_us = self
            .missing_since_us
            .map_or(0, |since| at_us.saturating_sub(since));
        self.waiting_bytes > WAITING_BYTES_MAX || waits_us > MISSING_US_MAX
    }
}

/// A length beside positions, which may lie before the first.
fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_any_order_and_twice() {
        let mut stream = Stream::default();
        let start = u32::MAX - 3;
        stream.begin(start.wrapping_sub(1));
        let mut all = stream.part(0, start.wrapping_add(4), b"efgh");
        assert!(all.is_empty() && stream.misses());
        all.extend(stream.part(0, start, b"abcd"));
        all.extend(stream.part(0, start, b"abcd"));
        all.extend(stream.part(0, start.wrapping_add(6), b"ghij"));
        assert_eq!(all, b"abcdefghij");
        assert!(!stream.misses());
        stream.ends(start.wrapping_add(10), 0);
        assert!(stream.is_complete());
    }

    #[test]
    fn what_is_missing_is_noticed_by_what_follows_and_by_receipts() {
        let mut stream = Stream::default();
        stream.begin(99);
        assert!(stream.part(0, 110, b"x").is_empty());
        assert!(!stream.is_lost(10) && stream.is_lost(MISSING_US_MAX + 1));
        let mut stream = Stream::default();
        stream.begin(99);
        stream.acknowledged(5, 120);
        assert!(stream.misses() && stream.is_lost(MISSING_US_MAX + 6));
        let mut stream = Stream::default();
        stream.begin(99);
        assert!(stream.part(0, 50, b"before the beginning").is_empty());
    }
}
