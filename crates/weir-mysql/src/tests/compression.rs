//! Compressed packets: whole, cut at every place, broken, and by servers that lie.

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use proptest::prelude::*;

use super::*;

const HEADER_BYTES: usize = 7;
const BOTH: [Compression; 2] = [Compression::Zlib, Compression::Zstd];

/// A compressed packet as it is on the wire, whatever its header claims.
fn claimed(number: u8, length_before: usize, body: &[u8]) -> Vec<u8> {
    let three = |length: usize| (length as u32).to_le_bytes();
    let mut bytes = three(body.len())[..3].to_vec();
    bytes.push(number);
    bytes.extend_from_slice(&three(length_before)[..3]);
    bytes.extend_from_slice(body);
    bytes
}

/// By another library than the one that is tested.
fn zlib(number: u8, plain: &[u8]) -> Vec<u8> {
    claimed(number, plain.len(), &compress_to_vec_zlib(plain, 6))
}

fn stored(number: u8, plain: &[u8]) -> Vec<u8> {
    claimed(number, 0, plain)
}

/// A connection that has just sent a request.
struct Client {
    codec: Codec,
    wire: Wire,
    parser: ReplyParser,
}

impl Client {
    fn new(compression: Compression) -> Self {
        let mut client = Self {
            codec: Codec::new(compression),
            wire: Wire::default(),
            parser: ReplyParser::new(true),
        };
        client.pack(packet(0, b"\x03SELECT 1"));
        client
    }

    fn pack(&mut self, mut request: Vec<u8>) -> Vec<u8> {
        self.codec.pack(&mut self.wire, &mut request);
        request
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<Option<Reply>, MalformedPacket> {
        self.codec.feed(&mut self.wire, &mut self.parser, bytes)
    }
}

#[test]
fn a_short_request_is_stored_and_a_long_one_compressed() {
    let mut client = Client::new(Compression::Zlib);
    let short = packet(0, &[b'x'; 45]);
    assert_eq!(client.pack(short.clone()), stored(0, &short));
    let long = packet(0, &[b'x'; 46]);
    let packed = client.pack(long.clone());
    let (header, body) = packed.split_at(HEADER_BYTES);
    assert_eq!(header, [body.len() as u8, 0, 0, 0, 50, 0, 0]);
    assert_eq!(decompress_to_vec_zlib(body).unwrap(), long);
}

#[test]
fn what_gets_no_shorter_is_stored() {
    let noise: Vec<u8> = (0_u32..100)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    for compression in BOTH {
        let mut client = Client::new(compression);
        let request = packet(0, &noise);
        assert_eq!(client.pack(request.clone()), stored(0, &request));
    }
}

#[test]
fn numbers_begin_anew_with_each_command_and_go_on_within_it() {
    let mut client = Client::new(Compression::Zlib);
    let ok = packet(1, &[0, 0, 0, 2, 0, 0, 0]);
    for _ in 0..3 {
        assert_eq!(client.pack(packet(0, b"\x01"))[3], 0);
        assert!(matches!(client.feed(&stored(1, &ok)), Ok(Some(_))));
    }
    // The rows of LOAD DATA, after the server's packet 1.
    for number in [2, 3, 255, 0] {
        assert_eq!(client.pack(packet(number, b"row"))[3], number);
    }
}

#[test]
fn a_reply_cut_at_any_place_is_the_same_reply() {
    let plain = result_set(40, true);
    // The second compressed packet begins in the middle of a plain one.
    let bytes = [
        zlib(1, &plain[..101]),
        stored(2, &plain[101..120]),
        zlib(3, &plain[120..]),
    ]
    .concat();
    for cut in 0..=bytes.len() {
        let mut client = Client::new(Compression::Zlib);
        let first = client.feed(&bytes[..cut]).unwrap();
        let reply = match first {
            Some(reply) => Some(reply),
            None => client.feed(&bytes[cut..]).unwrap(),
        };
        assert_eq!(reply, Some(Reply::Rows { rows: 40 }), "cut at {cut}");
    }
    let mut client = Client::new(Compression::Zlib);
    let replies = bytes
        .iter()
        .filter_map(|byte| client.feed(&[*byte]).unwrap());
    assert_eq!(replies.collect::<Vec<_>>(), [Reply::Rows { rows: 40 }]);
}

#[test]
fn a_reply_longer_than_a_piece_is_one_reply() {
    let rows = 250;
    let mut plain = result_set(rows, true);
    let end = plain.split_off(plain.len() - 11);
    let long = packet(rows.wrapping_add(4), &vec![7; 200_000]);
    let last = packet(rows.wrapping_add(5), &end[4..]);
    let plain = [plain, long, last].concat();
    let reply = Client::new(Compression::Zlib).feed(&zlib(1, &plain));
    assert_eq!(reply, Ok(Some(Reply::Rows { rows: 251 })));
}

#[test]
fn lies_are_named() {
    let ok = packet(1, &[0, 0, 0, 2, 0, 0, 0]);
    let squeezed = compress_to_vec_zlib(&ok, 6);
    let cut = &squeezed[..squeezed.len() - 5];
    let more = [&squeezed[..], b"x"].concat();
    let twice = [stored(1, &ok), stored(2, &ok)].concat();
    let cases: [(&[u8], &str); 8] = [
        (
            &claimed(2, 0, &ok),
            "a compressed packet is out of sequence",
        ),
        (&claimed(1, 0, b""), "a compressed packet is empty"),
        (
            &claimed(1, ok.len() - 1, &squeezed),
            "a compressed packet holds more than it says",
        ),
        (
            &claimed(1, 0xFF_FFFF, &squeezed),
            "a compressed packet holds less than it says",
        ),
        (
            &claimed(1, ok.len(), cut),
            "what a compressed packet holds is cut short",
        ),
        (
            &claimed(1, ok.len(), &more),
            "bytes follow what a compressed packet holds",
        ),
        (
            &claimed(1, ok.len(), &ok),
            "what a compressed packet holds does not decompress",
        ),
        (&twice, "bytes follow the last reply"),
    ];
    for (bytes, why) in cases {
        let reply = Client::new(Compression::Zlib).feed(bytes);
        assert_eq!(reply, Err(MalformedPacket(why)), "{bytes:?}");
    }
}

#[test]
fn a_header_out_of_step_is_an_error_before_its_payload() {
    let header = [0xFF, 0xFF, 0xFF, 9, 0xFF, 0xFF, 0xFF];
    for cut in 0..HEADER_BYTES {
        let mut client = Client::new(Compression::Zlib);
        let first = client.feed(&header[..cut]);
        assert_eq!(first, Ok(None));
        assert!(client.feed(&header[cut..]).is_err(), "cut at {cut}");
    }
}

/// 16 MiB of zeros are 16 KiB: no more is made of them than was announced.
#[test]
fn a_bomb_is_given_up_at_its_first_piece() {
    let zeros = vec![0; 0xFF_FFFF];
    let bombs = [
        compress_to_vec_zlib(&zeros, 6),
        zstd::bulk::compress(&zeros, 3).unwrap(),
    ];
    for (compression, bomb) in BOTH.into_iter().zip(bombs) {
        let mut fed = 0;
        let mut client = Client::new(compression);
        let result = client
            .codec
            .unpack(&mut client.wire, &claimed(1, 100, &bomb), |plain| {
                fed += plain.len();
                Ok(())
            });
        assert!(result.is_err());
        assert_eq!(fed, 0);
    }
}

/// A frame may ask for a window of gigabytes before it holds a byte (RFC 8878, 3.1.1.1.2).
#[test]
fn a_zstd_window_beyond_any_packet_is_refused() {
    let window_2_gib = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 21 << 3, 0x01, 0x00, 0x00];
    let reply = Client::new(Compression::Zstd).feed(&claimed(1, 100, &window_2_gib));
    let why = "what a compressed packet holds does not decompress";
    assert_eq!(reply, Err(MalformedPacket(why)));
}

fn query(says: &[u8]) -> Result<usize, SessionError> {
    let mut session = Session::new(ScriptedStream(says));
    session.eof_deprecated = true;
    session.compress(Compression::Zlib);
    let mut rows = 0;
    session.query("SELECT 1", &mut |_| rows += 1)?;
    session.channel()?;
    Ok(rows)
}

fn rows_of_text() -> Vec<u8> {
    [
        packet(1, &[1]),
        packet(
            2,
            b"\x03def\0\0\0\x01a\x01a\x0C\x2D\0\x01\0\0\0\xFD\0\0\0\0\0",
        ),
        packet(3, b"\x03one"),
        packet(4, &[0xFB]),
        packet(5, &[0xFE, 0, 0, 2, 0, 0, 0]),
    ]
    .concat()
}

#[test]
fn a_session_reads_all_and_nothing_that_is_cut_short() {
    let plain = rows_of_text();
    let whole = [zlib(1, &plain[..13]), zlib(2, &plain[13..])].concat();
    assert_eq!(query(&whole).unwrap(), 2);
    for cut in 0..whole.len() {
        assert!(query(&whole[..cut]).is_err(), "cut at {cut}");
    }
    // What comes unasked is not left for the reactor.
    let more = [&whole[..], &stored(3, b"x")[..]].concat();
    assert!(matches!(query(&more), Err(SessionError::Malformed(_))));
    let lie = claimed(1, 9, b"no stream");
    assert!(matches!(query(&lie), Err(SessionError::Malformed(_))));
}

#[test]
fn a_server_that_does_not_compress_is_refused_and_a_login_is_not_compressed() {
    let login = |compression, capabilities: [u8; 2]| {
        let mut bytes = super::greeting("mysql_native_password");
        // The lower capabilities, and the upper ones after collation and status.
        let lower = bytes.iter().rposition(|byte| *byte == 45).unwrap() - 2;
        bytes[lower] = capabilities[0];
        bytes[lower + 6] = capabilities[1];
        bytes.extend(packet(2, &[0, 0, 0, 2, 0, 0, 0]));
        let login = Login {
            compression: Some(compression),
            ..LOGIN
        };
        Session::login(ScriptedStream(&bytes), login).map(drop)
    };
    for compression in BOTH {
        login(compression, [0xFF, 0xFF]).unwrap();
        // CLIENT_COMPRESS is bit 5, CLIENT_ZSTD_COMPRESSION_ALGORITHM bit 26.
        let error = login(compression, [0xDF, 0xFB]).unwrap_err();
        assert!(matches!(error, SessionError::NotCompressed(_)), "{error}");
    }
}

proptest! {
    #[test]
    fn packets_round_trip_however_they_are_cut(
        parts in prop::collection::vec((any::<u8>(), 0_usize..3_000, any::<bool>()), 1..5),
        chunk in 1_usize..2_000,
        is_zstd: bool,
    ) {
        let compression = BOTH[usize::from(is_zstd)];
        let mut server = Client::new(compression);
        let mut client = Client::new(compression);
        let (mut plain, mut bytes) = (Vec::new(), Vec::new());
        for (number, (seed, length, is_noise)) in (1..).zip(parts) {
            let mut rng = u32::from(seed) + 1;
            let payload: Vec<u8> = (0..length)
                .map(|_| {
                    rng = rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if is_noise { (rng >> 24) as u8 } else { seed }
                })
                .collect();
            let part = packet(number, &payload);
            plain.extend_from_slice(&part);
            bytes.extend(server.pack(part));
        }
        let mut unpacked = Vec::new();
        for mut chunk in bytes.chunks(chunk) {
            while !chunk.is_empty() {
                let taken = client.codec.unpack(&mut client.wire, chunk, |piece| {
                    unpacked.extend_from_slice(piece);
                    Ok(())
                });
                chunk = &chunk[taken.unwrap()..];
            }
        }
        prop_assert_eq!(unpacked, plain);
    }

    #[test]
    fn changed_bytes_end_in_a_reply_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        chunk in 1_usize..64,
        is_zstd: bool,
    ) {
        let plain = result_set(40, true);
        let mut bytes = if is_zstd {
            claimed(1, plain.len(), &zstd::bulk::compress(&plain, 3).unwrap())
        } else {
            zlib(1, &plain)
        };
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let mut client = Client::new(BOTH[usize::from(is_zstd)]);
        for chunk in bytes.chunks(chunk) {
            if client.feed(chunk).is_err() {
                break;
            }
        }
        let _ = query(&bytes);
    }

    #[test]
    fn arbitrary_bytes_behind_a_good_header_end_in_a_reply_or_an_error(
        body in prop::collection::vec(any::<u8>(), 1..200),
        length_before in 0_usize..0x100_0000,
        is_zstd: bool,
    ) {
        let bytes = claimed(1, length_before, &body);
        let _ = Client::new(BOTH[usize::from(is_zstd)]).feed(&bytes);
        let _ = query(&bytes);
    }
}
