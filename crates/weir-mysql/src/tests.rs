//! Packets as they are on the wire, whole, cut at every place, and broken.

mod compression;
mod hostile;

use std::io::{self, Read, Write};

use proptest::prelude::*;

use super::greeting::Greeting;
use super::packet::length_encoded;
use super::*;

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    put_header(&mut bytes, payload.len(), sequence);
    bytes.extend_from_slice(payload);
    bytes
}

/// A result set of two columns and so many rows.
fn result_set(rows: u8, eof_deprecated: bool) -> Vec<u8> {
    let definition = b"\x03def\0\0\0\x01a\x01a\x0C\x2D\0\x01\0\0\0\xFD\0\0\0\0\0";
    let mut payloads = vec![vec![2], definition.to_vec(), definition.to_vec()];
    if !eof_deprecated {
        payloads.push(vec![0xFE, 0, 0, 2, 0]);
    }
    payloads.extend((0..rows).map(|row| vec![0, 0, 1, row]));
    payloads.push(if eof_deprecated {
        vec![0xFE, 0, 0, 2, 0, 0, 0]
    } else {
        vec![0xFE, 0, 0, 2, 0]
    });
    let sequences = 1_u8..;
    payloads
        .iter()
        .zip(sequences)
        .flat_map(|(payload, sequence)| packet(sequence, payload))
        .collect()
}

fn feed_whole(eof_deprecated: bool, bytes: &[u8]) -> Result<Option<Reply>, MalformedPacket> {
    ReplyParser::new(eof_deprecated).feed(bytes)
}

#[test]
fn replies_of_all_three_kinds() {
    let done = packet(1, &[0x00, 0xFC, 0x10, 0x27, 0, 2, 0, 0, 0]);
    assert_eq!(
        feed_whole(true, &done),
        Ok(Some(Reply::Done {
            affected_rows: 10_000
        }))
    );
    let refused = packet(1, b"\xFF\xBD\x04#40001Deadlock found");
    assert_eq!(
        feed_whole(true, &refused),
        Ok(Some(Reply::Refused(ServerError {
            code: 1213,
            state: "40001".to_owned(),
            message: "Deadlock found".to_owned()
        })))
    );
    for eof_deprecated in [true, false] {
        let bytes = result_set(3, eof_deprecated);
        assert_eq!(
            feed_whole(eof_deprecated, &bytes),
            Ok(Some(Reply::Rows { rows: 3 }))
        );
    }
}

#[test]
fn a_parser_is_ready_for_the_next_reply_after_each() {
    let mut parser = ReplyParser::new(true);
    for rows in [0, 1, 200] {
        let reply = parser.feed(&result_set(rows, true));
        assert_eq!(
            reply,
            Ok(Some(Reply::Rows {
                rows: u64::from(rows)
            }))
        );
    }
}

#[test]
fn a_reply_cut_at_any_place_is_the_same_reply() {
    let bytes = result_set(5, false);
    for cut in 0..bytes.len() {
        let mut parser = ReplyParser::new(false);
        assert_eq!(parser.feed(&bytes[..cut]), Ok(None), "cut at {cut}");
        let reply = parser.feed(&bytes[cut..]);
        assert_eq!(reply, Ok(Some(Reply::Rows { rows: 5 })), "cut at {cut}");
    }
}

#[test]
fn a_row_that_needs_two_packets_is_one_row() {
    let mut bytes = packet(1, &[1]);
    bytes.extend(packet(2, b"\x03def"));
    let mut long = vec![0x55; 0xFF_FFFF];
    long[0] = 0x00;
    bytes.extend(packet(3, &long));
    // The continuation may look like the end of the rows.
    bytes.extend(packet(4, &[0xFE, 1, 2]));
    bytes.extend(packet(5, &[0xFE, 0, 0, 2, 0, 0, 0]));
    assert_eq!(feed_whole(true, &bytes), Ok(Some(Reply::Rows { rows: 1 })));
}

/// The reply to a prepare of a statement with two parameters and one column.
fn prepared(eof_deprecated: bool) -> Vec<u8> {
    let mut bytes = packet(1, &[0, 9, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0]);
    let mut packets: Vec<&[u8]> = vec![b"\x03def"; 3];
    if !eof_deprecated {
        packets.insert(2, &[0xFE, 0, 0, 2, 0]);
        packets.push(&[0xFE, 0, 0, 2, 0]);
    }
    for (sequence, payload) in (2..).zip(packets) {
        bytes.extend(packet(sequence, payload));
    }
    bytes
}

#[test]
fn the_reply_to_a_prepare_ends_with_what_describes_the_statement() {
    for eof_deprecated in [true, false] {
        let bytes = prepared(eof_deprecated);
        for cut in 0..bytes.len() {
            let mut parser = ReplyParser::new(eof_deprecated);
            parser.expect(ExpectedReply::Statement);
            assert_eq!(parser.feed(&bytes[..cut]), Ok(None), "cut at {cut}");
            let (id, parameters) = (9, 2);
            let reply = parser.feed(&bytes[cut..]);
            assert_eq!(
                reply,
                Ok(Some(Reply::Prepared { id, parameters })),
                "cut at {cut}"
            );
            parser.expect(ExpectedReply::Outcome);
            let next = parser.feed(&result_set(1, eof_deprecated));
            assert_eq!(next, Ok(Some(Reply::Rows { rows: 1 })), "cut at {cut}");
        }
    }
}

#[test]
fn nonsense_is_named() {
    let cases: [(&[u8], &str); 6] = [
        (&[1, 0, 0, 7, 0], "a packet is out of sequence"),
        (&[0, 0, 0, 1], "a packet is empty"),
        (&[1, 0, 0, 1, 0xFB], "a reply begins with 0xFB or 0xFE"),
        (&[2, 0, 0, 1, 1, 1], "a column count is not one"),
        (&[1, 0, 0, 1, 0x00], "an integer is missing"),
        (&[2, 0, 0, 1, 0xFF, 1], "an error packet is cut short"),
    ];
    for (bytes, why) in cases {
        assert_eq!(
            feed_whole(true, bytes),
            Err(MalformedPacket(why)),
            "{bytes:?}"
        );
    }
    let mut twice = result_set(1, true);
    twice.extend(result_set(1, true));
    assert!(feed_whole(true, &twice).is_err());
}

#[test]
fn an_execute_is_laid_out_as_the_protocol_says() {
    use ParameterKind::{BigInteger, Integer, Text};
    let template = ExecuteTemplate::new(&[Integer, Text, BigInteger]);
    for typed in [true, false] {
        let mut out = b"before".to_vec();
        let mut request = Request::execute(&mut out, &template, 7, typed);
        request.integer(0x0102_0304);
        request.text(b"abc");
        request.big_integer(-2);
        request.finish();
        let mut payload = vec![0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0, u8::from(typed)];
        if typed {
            payload.extend_from_slice(&[3, 0, 0xFE, 0, 8, 0]);
        }
        payload.extend_from_slice(&[4, 3, 2, 1, 3, b'a', b'b', b'c']);
        payload.extend_from_slice(&[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        assert_eq!(out[6..], packet(0, &payload));
    }
}

/// A stream with given answers, which keeps nothing of what it receives.
#[derive(Debug)]
struct ScriptedStream<'a>(&'a [u8]);

impl Read for ScriptedStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for ScriptedStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const LOGIN: Login<'_> = Login {
    user: "weir",
    password: "secret",
    database: Some("sbtest"),
    is_local: true,
    mode: weir_model::TlsMode::Disabled,
    tls: None,
    compression: None,
    has_several_results: false,
};

fn greeting(plugin: &str) -> Vec<u8> {
    let mut payload = b"\x0A9.7.4\0\x01\0\0\x0012345678\0".to_vec();
    payload.extend_from_slice(&[0xFF, 0xFF, 45, 2, 0, 0xFF, 0xFF, 21]);
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"123456789012\0");
    payload.extend_from_slice(plugin.as_bytes());
    payload.push(0);
    packet(0, &payload)
}

#[test]
fn a_greeting_gives_nonce_and_plugin() {
    let bytes = greeting("caching_sha2_password");
    let greeting = Greeting::parse(&bytes[HEADER_BYTES..]).unwrap();
    assert_eq!(greeting.nonce, b"12345678123456789012");
    assert_eq!(greeting.plugin, b"caching_sha2_password");
    for cut in HEADER_BYTES..HEADER_BYTES + 51 {
        assert!(Greeting::parse(&bytes[HEADER_BYTES..cut]).is_err(), "{cut}");
    }
}

#[test]
fn a_server_that_is_too_old_is_told_its_version() {
    // Protocol 4.1 without plugins, as before MySQL 5.5.
    let mut bytes = greeting("");
    let version = bytes
        .windows(5)
        .position(|window| window == b"9.7.4")
        .unwrap();
    bytes[version..version + 5].copy_from_slice(b"5.1.7");
    bytes[version + 5 + 19 + 1] = 0; // the upper capabilities
    bytes[version + 5 + 19] = 0;
    let error = Session::login(ScriptedStream(&bytes), LOGIN)
        .unwrap_err()
        .to_string();
    assert!(error.contains("5.1.7 is older than MySQL 5.5"), "{error}");
}

#[test]
fn fast_and_full_authentication_and_a_switch_of_plugin_succeed() {
    let fast = [packet(2, &[1, 3]), packet(3, &[0, 0, 0, 2, 0, 0, 0])].concat();
    let full = [packet(2, &[1, 4]), packet(4, &[0, 0, 0, 2, 0, 0, 0])].concat();
    let mut request = b"\xFEmysql_native_password\x0012345678123456789012\0".to_vec();
    let switch = [packet(2, &request), packet(4, &[0, 0, 0, 2, 0, 0, 0])].concat();
    request.clear();
    for rest in [fast, full, switch] {
        let bytes = [greeting("caching_sha2_password"), rest].concat();
        Session::login(ScriptedStream(&bytes), LOGIN).unwrap();
    }
}

#[test]
fn a_server_that_asks_for_the_password_in_clear_is_refused() {
    let switch = packet(2, b"\xFEmysql_clear_password\0");
    let bytes = [greeting("caching_sha2_password"), switch].concat();
    let error = Session::login(ScriptedStream(&bytes), LOGIN).unwrap_err();
    assert!(
        error.to_string().contains("mysql_clear_password"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_the_reply_parser(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8),
        eof_deprecated: bool,
    ) {
        let mut parser = ReplyParser::new(eof_deprecated);
        for chunk in &chunks {
            if parser.feed(chunk).is_err() {
                break;
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic_a_parser_that_keeps(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        expected in prop::sample::select(vec![
            ExpectedReply::TextRows, ExpectedReply::TypedRows, ExpectedReply::Statement]),
        eof_deprecated: bool,
    ) {
        let mut parser = ReplyParser::new(eof_deprecated);
        parser.expect(expected);
        // Framed, so that it gets as far as rows.
        for (sequence, payload) in (1..).zip(bytes.chunks(30)) {
            if parser.feed(&packet(sequence, payload)).is_err() {
                break;
            }
        }
    }

    #[test]
    fn a_changed_byte_never_panics_the_reply_parser(place in 0_usize..80, value: u8) {
        let mut bytes = result_set(4, true);
        let place = place % bytes.len();
        bytes[place] = value;
        let mut parser = ReplyParser::new(true);
        let _ = parser.feed(&bytes);
    }

    #[test]
    fn broken_handshakes_end_in_an_error_or_a_session(
        place in 0_usize..200,
        value: u8,
        cut in 0_usize..200,
    ) {
        let rest = [packet(2, &[1, 4]), packet(4, &[0, 0, 0, 2, 0, 0, 0])].concat();
        let mut bytes = [greeting("caching_sha2_password"), rest].concat();
        let place = place % bytes.len();
        bytes[place] = value;
        bytes.truncate(cut.max(1));
        if let Ok(mut session) = Session::login(ScriptedStream(&bytes), LOGIN) {
            prop_assert!(session.prepare("SELECT 1").is_err());
        }
    }

    #[test]
    fn integers_round_trip(value: u64) {
        let mut bytes = Vec::new();
        put_length_encoded(&mut bytes, value);
        prop_assert_eq!(length_encoded(&bytes), Ok((value, bytes.len())));
    }
}
