use proptest::prelude::*;
use weir_mysql::{Codec, Wire};

use super::*;

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    let header = [
        length as u8,
        (length >> 8) as u8,
        (length >> 16) as u8,
        sequence,
    ];
    [&header[..], payload].concat()
}

fn greeting() -> Vec<u8> {
    let mut payload = b"\x0a9.0.0\0".to_vec();
    payload.extend([0; 13]);
    payload.extend([0xFF; 8]);
    payload.extend([0; 10]);
    payload.extend(b"another nonce\0plugin\0");
    packet(0, &payload)
}

fn login(more: CapabilityFlags) -> Vec<u8> {
    let flags = CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_DEPRECATE_EOF;
    let flags = flags | more;
    let mut payload = flags.bits().to_le_bytes().to_vec();
    payload.resize(32, 0);
    payload.extend(b"app\0\0");
    packet(1, &payload)
}

/// A login, a query with a row, and a prepared statement, in pieces of so many bytes.
fn dialogue(size: usize, capabilities: CapabilityFlags) -> Vec<ConnectionEvent> {
    let mut watch = Watch::new(true);
    for piece in greeting().chunks(size) {
        assert!(watch.greeting(piece).is_some());
    }
    let ok = packet(2, &[0, 0, 0, 2, 0, 0, 0]);
    let rows = [
        packet(1, &[1]),
        packet(2, b"\x03def"),
        packet(3, b"\x01a"),
        packet(4, &[0xFE, 0, 0, 2, 0, 0, 0]),
    ]
    .concat();
    let prepared = [
        packet(1, &[0, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
        packet(2, b"\x03def"),
    ]
    .concat();
    let long = format!("\x03SELECT 1{}", " ".repeat(200));
    let compression = if capabilities.contains(Compression::Zlib.capability()) {
        Some(Compression::Zlib)
    } else {
        capabilities
            .contains(Compression::Zstd.capability())
            .then_some(Compression::Zstd)
    };
    for (number, (mut asked, mut answered)) in [
        (login(capabilities), ok),
        (packet(0, long.as_bytes()), rows),
        (packet(0, b"\x16SELECT ?"), prepared),
        (packet(0, b"\x19\x07\0\0\0"), Vec::new()),
    ]
    .into_iter()
    .enumerate()
    {
        if let Some(compression) = compression.filter(|_| number > 0) {
            for packets in [&mut asked, &mut answered] {
                Codec::new(compression).pack(&mut Wire::default(), packets);
            }
        }
        asked
            .chunks(size)
            .for_each(|piece| watch.client_sent(piece));
        answered
            .chunks(size)
            .for_each(|piece| watch.server_sent(piece));
    }
    assert!(!watch.is_blind());
    watch.take()
}

#[test]
fn a_dialogue_is_understood_wherever_reads_end() {
    let none = CapabilityFlags::empty();
    let whole = dialogue(usize::MAX, none);
    assert_eq!(whole.len(), 6, "{whole:?}");
    assert!(matches!(
        &whole[2],
        ConnectionEvent::Ended(CommandEnd { rows: Some(1), .. })
    ));
    assert!(matches!(
        &whole[4],
        ConnectionEvent::Ended(CommandEnd {
            handle: Some(7),
            ..
        })
    ));
    for size in 1..40 {
        assert_eq!(dialogue(size, none), whole, "{size}");
    }
}

#[test]
fn a_client_that_compresses_unasked_is_understood() {
    let plain = dialogue(usize::MAX, CapabilityFlags::empty());
    for size in [1, 2, 7, 300] {
        for compression in [Compression::Zlib, Compression::Zstd] {
            let packed = dialogue(size, compression.capability());
            assert_eq!(packed, plain, "{compression:?}, {size}");
        }
    }
}

/// A connection that is logged in.
fn logged_in() -> Watch {
    let mut watch = Watch::new(true);
    watch.greeting(&greeting());
    watch.client_sent(&login(CapabilityFlags::empty()));
    watch.server_sent(&packet(2, OK));
    watch.take();
    watch
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const REFUSED: &[u8] = b"\xff\x15\x04#28000no";
/// Statement 7 with one parameter.
const PREPARED: &[u8] = &[0, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];

fn asked(seen: &[ConnectionEvent]) -> Vec<&OwnedRequest> {
    let asked = seen.iter().filter_map(|seen| match seen {
        ConnectionEvent::Asked(asked) => Some(asked),
        _ => None,
    });
    asked.collect()
}

/// `MySQL`'s client library names attributes of queries to a server that has none, and sends none.
#[test]
fn a_client_does_what_the_server_can() {
    let mut watch = Watch::new(true);
    let mut greeting = greeting();
    // The upper byte of the capabilities, which has attributes and the ends of lists.
    let at = 4 + 7 + 13 + 6;
    greeting[at] = 0x01;
    assert!(watch.greeting(&greeting).is_some());
    let flags = CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_DEPRECATE_EOF
        | CapabilityFlags::CLIENT_QUERY_ATTRIBUTES;
    let mut payload = flags.bits().to_le_bytes().to_vec();
    payload.resize(32, 0);
    payload.extend(b"app\0\0");
    watch.client_sent(&packet(1, &payload));
    watch.server_sent(&packet(2, OK));
    watch.take();
    watch.client_sent(&packet(0, b"\x03SELECT 1"));
    watch.server_sent(&packet(1, OK));
    let seen = watch.take();
    assert_eq!(asked(&seen)[0].text.as_deref(), Some(&b"SELECT 1"[..]));
}

#[test]
fn a_change_of_user_tells_account_schema_and_collation() {
    let body = b"\x11web\0\x03xyzcrm\0\x1c\0caching_sha2_password\0";
    for (answer, error) in [(OK, 0), (REFUSED, 1045)] {
        let mut watch = logged_in();
        watch.client_sent(&packet(0, body));
        // Another way to log in is asked for, and answered.
        watch.server_sent(&packet(1, b"\xfecaching_sha2_password\0nonce\0"));
        watch.client_sent(&packet(2, b"\x11scrambled"));
        watch.server_sent(&packet(3, answer));
        let seen = watch.take();
        let expected = Login {
            collation: Some(28),
            ..Login::new("web", "crm")
        };
        assert_eq!(asked(&seen)[0].login, Some(expected));
        let ended = matches!(&seen[1], ConnectionEvent::Ended(ended) if ended.error == Some(error));
        assert!(ended && seen.len() == 2, "{seen:?}");
        assert!(!watch.is_blind());
    }
}

#[test]
fn each_set_of_parameters_of_a_bulk_execution_is_an_execution() {
    let mut watch = logged_in();
    watch.client_sent(&packet(0, b"\x16INSERT INTO t VALUES (?)"));
    watch.server_sent(&[packet(1, PREPARED), packet(2, b"\x03def")].concat());
    watch.take();
    // A number, NULL, another number.
    let bulk = b"\xfa\x07\0\0\0\x80\0\x03\0\0\x05\0\0\0\x01\0\x06\0\0\0";
    watch.client_sent(&packet(0, bulk));
    watch.server_sent(&packet(1, &[0, 3, 9, 2, 0, 0, 0]));
    let seen = watch.take();
    let values: Vec<_> = asked(&seen)
        .into_iter()
        .map(|asked| asked.values.clone())
        .collect();
    assert_eq!(
        values,
        [vec![Value::Int(5)], vec![Value::NULL], vec![Value::Int(6)]]
    );
    let ended = seen.iter().filter(
        |seen| matches!(seen, ConnectionEvent::Ended(ended) if ended.error == Some(0) && ended.affected.is_none()),
    );
    assert_eq!(ended.count(), 3, "{seen:?}");
    // One that leaves a value to its column, and one that cannot be read.
    for body in [&b"\xfa\x07\0\0\0\0\0\x02"[..], b"\xfa\x07\0\0\0\0\0\x09"] {
        watch.client_sent(&packet(0, body));
        watch.server_sent(&packet(1, OK));
        let seen = watch.take();
        let asked = asked(&seen);
        assert!(asked[0].is_unread_bulk && asked.len() == 1, "{seen:?}");
        assert_eq!(seen.len(), 2);
    }
    assert!(!watch.is_blind());
}

/// Of several statements that are prepared and executed without a wait, each execution is of its own.
#[test]
fn an_execution_of_the_statement_before_it_waits_for_its_number() {
    let last = |value: u8| {
        let body = [
            &b"\x17\xff\xff\xff\xff\0\x01\0\0\0\0\x01\x01\0"[..],
            &[value],
        ];
        packet(0, &body.concat())
    };
    let mut watch = logged_in();
    let sent = [
        packet(0, b"\x16SELECT ?"),
        last(5),
        packet(0, b"\x16SELECT 1 + ?"),
        last(6),
        packet(0, b"\x03SELECT 2"),
    ];
    watch.client_sent(&sent.concat());
    let eight = [0, 8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    let answers = [
        packet(1, PREPARED),
        packet(2, b"\x03def"),
        packet(1, OK),
        packet(1, &eight),
        packet(2, b"\x03def"),
        packet(1, OK),
        packet(1, REFUSED),
    ];
    watch.server_sent(&answers.concat());
    let seen = watch.take();
    let commands: Vec<_> = asked(&seen)
        .into_iter()
        .map(|asked| (asked.command, asked.handle, asked.values.clone()))
        .collect();
    assert_eq!(
        commands,
        [
            (Command::Prepare, 0, vec![]),
            (Command::Execute, 7, vec![Value::Int(5)]),
            (Command::Prepare, 0, vec![]),
            (Command::Execute, 8, vec![Value::Int(6)]),
            (Command::Query, 0, vec![]),
        ]
    );
    assert_eq!(seen.len(), 10, "{seen:?}");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        pieces in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..60)), 0..40)
    ) {
        let mut watch = Watch::new(false);
        watch.greeting(&greeting());
        watch.client_sent(&login(CapabilityFlags::empty()));
        watch.server_sent(&packet(2, &[0, 0, 0, 2, 0, 0, 0]));
        for (is_client, bytes) in pieces {
            // Whole packets reach deeper than noise.
            let framed = packet(u8::from(!is_client), &bytes);
            if is_client {
                watch.client_sent(&framed);
            } else {
                watch.server_sent(&framed);
            }
            watch.take();
        }
    }
}
