//! Servers that lie: every kind of packet that is read, with bytes changed, cut off and added.
//!
//! Whatever comes, nothing panics, nothing waits for what never comes (these streams end), nothing
//! cut short is taken for whole, and no file is sent that was not offered.

use std::io::{self, Read, Write};

use proptest::prelude::*;

use super::{LOGIN, greeting, packet, result_set};
use crate::{HEADER_BYTES, ReplyParser, Session};

/// A peer with given answers, which keeps what it receives.
#[derive(Debug)]
struct Peer<'a> {
    says: &'a [u8],
    was_told: Vec<u8>,
}

impl Read for Peer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.says.read(buffer)
    }
}

impl Write for Peer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.was_told.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Action of a client when the bytes come.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Act {
    Login,
    Query,
    Prepare,
    Load,
    Execute,
}

/// A session that is logged in, on which these bytes come next.
fn session(says: &[u8]) -> Session<Peer<'_>> {
    let mut session = Session::new(Peer {
        says,
        was_told: Vec::new(),
    });
    session.eof_deprecated = true;
    session
}

/// Returns true if the bytes are a whole answer to the act, and all that the client said meanwhile.
fn take(act: Act, bytes: &[u8]) -> (bool, Vec<u8>) {
    let mut session = session(bytes);
    let is_whole = match act {
        Act::Login => {
            let mut was_told = Vec::new();
            let peer = Peer {
                says: bytes,
                was_told: Vec::new(),
            };
            let session = Session::login(peer, LOGIN);
            let is_whole = session.is_ok();
            if let Ok(mut session) = session {
                was_told = std::mem::take(&mut session.socket().was_told);
            }
            return (is_whole, was_told);
        }
        Act::Query => session.query("SELECT 1", &mut |_| {}).is_ok(),
        Act::Prepare => session.prepare("SELECT ?").is_ok(),
        Act::Load => session.load("LOAD", &mut |_| {}).is_ok(),
        Act::Execute => {
            let mut parser = ReplyParser::new(true);
            // As reads may cut them.
            let mut chunks = bytes.chunks(7);
            let fed = chunks.find_map(|chunk| match parser.feed(chunk) {
                Ok(None) => None,
                done => Some(done.is_ok()),
            });
            fed == Some(true)
        }
    };
    (is_whole, std::mem::take(&mut session.socket().was_told))
}

/// A whole answer of each kind, and who reads it.
fn answers() -> Vec<(Act, Vec<u8>)> {
    let ok = |sequence| packet(sequence, &[0, 0, 0, 2, 0, 0, 0]);
    let definition = |sequence| {
        packet(
            sequence,
            b"\x03def\0\0\0\x01a\x01a\x0C\x2D\0\x01\0\0\0\xFD\0\0\0\0\0",
        )
    };
    let switch = b"\xFEmysql_native_password\x0012345678123456789012\0";
    let prepared = packet(1, &[0, 7, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]);
    let rows = [
        packet(1, &[1]),
        definition(2),
        packet(3, b"\x03one"),
        packet(4, &[0xFB]),
        packet(5, &[0xFE, 0, 0, 2, 0, 0, 0]),
    ];
    vec![
        (
            Act::Login,
            [greeting("caching_sha2_password"), packet(2, &[1, 3]), ok(3)].concat(),
        ),
        (
            Act::Login,
            [greeting("caching_sha2_password"), packet(2, switch), ok(4)].concat(),
        ),
        (Act::Query, ok(1)),
        (Act::Query, rows.concat()),
        (
            Act::Prepare,
            [prepared, definition(2), definition(3)].concat(),
        ),
        (Act::Load, [packet(1, b"\xFBrows"), ok(3)].concat()),
        (Act::Execute, ok(1)),
        (Act::Execute, result_set(5, true)),
    ]
}

#[test]
fn whole_answers_are_taken_and_none_that_is_cut_short() {
    for (act, bytes) in answers() {
        assert!(take(act, &bytes).0, "{act:?}");
        for cut in 0..bytes.len() {
            assert!(!take(act, &bytes[..cut]).0, "{act:?} cut at {cut}");
        }
    }
}

#[test]
fn a_file_that_was_not_offered_is_not_sent() {
    let wish = b"\xFB/etc/passwd";
    for act in [Act::Query, Act::Prepare, Act::Execute] {
        let (is_whole, was_told) = take(act, &packet(1, wish));
        assert!(!is_whole, "{act:?}");
        // Nothing but the command itself.
        let length = usize::from(*was_told.first().unwrap_or(&0));
        let all = if act == Act::Execute {
            0
        } else {
            HEADER_BYTES + length
        };
        assert_eq!(was_told.len(), all, "{act:?}");
    }
    // Instead of the answer to a login, and in place of the rows' own name: the rows are sent,
    // whatever the server calls them, and nothing is read from the disk.
    let login = [greeting("mysql_native_password"), packet(2, wish)].concat();
    assert!(!take(Act::Login, &login).0);
    let load = [packet(1, wish), packet(3, &[0, 0, 0, 2, 0, 0, 0])].concat();
    let (is_whole, was_told) = take(Act::Load, &load);
    assert!(is_whole);
    assert_eq!(was_told, [packet(0, b"\x03LOAD"), packet(2, b"")].concat());
}

proptest! {
    #[test]
    fn broken_answers_of_every_kind_end_in_an_answer_or_an_error(
        kind in 0_usize..8,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        is_cut: bool,
        more in prop::collection::vec(any::<u8>(), 0..32),
    ) {
        let (act, mut bytes) = answers().swap_remove(kind);
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes.extend(more);
        take(act, &bytes);
    }

    #[test]
    fn arbitrary_packets_are_read_by_whoever_reads_packets(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..6),
        first in prop::sample::select(vec![0x00_u8, 0x01, 0x02, 0x0A, 0xFB, 0xFC, 0xFE, 0xFF]),
    ) {
        let mut bytes = Vec::new();
        for (sequence, mut payload) in (1..).zip(payloads) {
            // Begins as a packet that means something.
            payload.insert(0, first);
            bytes.extend(packet(sequence, &payload));
        }
        for act in [Act::Login, Act::Query, Act::Prepare, Act::Load, Act::Execute] {
            take(act, &bytes);
        }
    }
}
