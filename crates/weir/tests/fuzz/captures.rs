//! Captures, the servers' logs and the packets of which they are made, and dumps.

use std::fs;
use std::path::Path;

use weir_capture::{CaptureReader, Literals, LogFormat, import_log, import_logs};

use crate::{fuzz, repository};

const SLOW_OF_MYSQL: &str = "/usr/sbin/mysqld, Version: 9.7.4 (MySQL). started with:\n\
    Tcp port: 3306  Unix socket: /run/x.sock\n\
    Time                 Id Command    Argument\n\
    # Time: 2026-11-25T10:00:00.000001Z\n\
    # User@Host: app[app] @ localhost []  Id:     8\n\
    # Query_time: 0.000100  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1 Thread_id: 8 Errno: 0\n\
    use shop;\nSET timestamp=1795600800;\nSELECT c FROM t WHERE id = 1 AND b = 'it''s';\n\
    # Time: 2026-11-25T10:00:01.500001Z\n\
    # User@Host: app[app] @ localhost []  Id:     9\n\
    # Query_time: 0.000200  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n\
    SET timestamp=1795600801;\nUPDATE t SET c = 0x1F, d = -1.5e3 WHERE id IN (1, 2, 3);\n";
const SLOW_OF_MARIADB: &str = "/usr/sbin/mariadbd, Version: 10.11.19-MariaDB (Debian). started with:\n\
    Tcp port: 0  Unix socket: /run/x.sock\n\
    Time\t\t    Id Command\tArgument\n\
    # Time: 261125 10:00:00\n\
    # User@Host: app[app] @ localhost []\n\
    # Thread_id: 8  Schema: shop  QC_hit: No\n\
    # Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n\
    # Rows_affected: 0  Bytes_sent: 60\n\
    SET timestamp=1795600800;\nSELECT c FROM t WHERE id = 1;\n";
const GENERAL: &str = "2026-11-25T10:00:00.000001Z\t    8 Connect\tapp@localhost on shop using Socket\n\
    2026-11-25T10:00:00.000002Z\t    8 Query\tSELECT c\nFROM t WHERE id = 1\n\
    2026-11-25T10:00:00.000003Z\t    8 Prepare\tSELECT ?\n\
    2026-11-25T10:00:00.000004Z\t    8 Execute\tSELECT 5\n\
    2026-11-25T10:00:00.000005Z\t    8 Quit\t\n\
    261125 10:00:01\t     9 Connect\tapp@localhost on shop\n\t\t     9 Query\tSELECT 2\n";

const TABLES: &str = "\"2026-11-25 10:00:02.500000\",\"app[app] @ localhost []\",\"00:00:01.500000\",\"00:00:00.000001\",1,2,\
    \"shop\",0,0,1,\"SELECT \\\"a\\nb\\\", 'x'\",8,3\n\
    \"2026-11-25 10:00:02.500000\",\"app[app] @ localhost []\",8,1,\"Query\",\"SELECT 1\"\n";

/// Reads a capture to its end.
fn read(path: &Path) {
    let Ok(mut capture) = CaptureReader::open(path) else {
        return;
    };
    while let Ok(Some(_)) = capture.next_record() {}
}

#[test]
fn servers_logs() {
    let all = [SLOW_OF_MYSQL, SLOW_OF_MARIADB, GENERAL, TABLES];
    let seeds = all.map(|log| log.as_bytes().to_vec());
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.log");
    let words = [
        "# Time: ",
        "# User@Host: ",
        "# Query_time: ",
        "SET timestamp=",
        "use ",
        "\tQuery\t",
        "# Warnings\n",
        ", Version: 1. started with:\nTcp port: 1\nTime Argument\n",
        ";\n",
        "/*",
        "'",
    ];
    fuzz("servers' logs", seeds.to_vec(), &words, |_, path| {
        let to = path.with_extension("weircap");
        for format in [LogFormat::Slow, LogFormat::General, LogFormat::Table] {
            for literals in [Literals::Keep, Literals::Drop] {
                if import_log(path, format, &to, literals).is_ok() {
                    read(&to);
                }
                fs::remove_file(&to).unwrap_or_default();
            }
        }
        // The one before is a copy of it, or another log.
        if other.exists()
            && import_logs(&[path.to_owned(), other.clone()], None, &to, Literals::Keep).is_ok()
        {
            read(&to);
            fs::remove_file(&to).unwrap();
        }
        fs::copy(path, &other).unwrap();
    });
}

#[test]
fn captures() {
    let folder = tempfile::tempdir().unwrap();
    let (log, capture) = (folder.path().join("log"), folder.path().join("c.weircap"));
    fs::write(&log, SLOW_OF_MYSQL).unwrap();
    import_log(&log, LogFormat::Slow, &capture, Literals::Keep).unwrap();
    let seed = fs::read(&capture).unwrap();
    fuzz("captures", vec![seed], &[], |_, path| read(path));
}

/// Packets of a login and a query, as tcpdump writes them.
fn packets() -> Vec<u8> {
    let mut file = Vec::new();
    for number in [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 262_144, 101] {
        file.extend(number.to_le_bytes());
    }
    let mut greeting = b"\x0a9.7.4\0".to_vec();
    greeting.extend([0; 13]);
    greeting.extend([0xFF, 0xF7, 8, 2, 0, 0xFF, 0xDF, 21]);
    greeting.extend([0; 10]);
    greeting.extend(b"another nonce\0plugin\0");
    let mut login = 0x0100_0200_u32.to_le_bytes().to_vec();
    login.resize(32, 0);
    login.extend(b"app\0\0");
    let ok: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
    let mut sent = [100_u32, 500];
    let mut put = |side: usize, flags: u8, payload: &[u8]| {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0];
        let (from, to) = if side == 0 { (1, 2) } else { (2, 1) };
        packet.extend([10, 0, 0, from, 10, 0, 0, to]);
        let ports: [u16; 2] = if side == 0 {
            [40_000, 3_306]
        } else {
            [3_306, 40_000]
        };
        packet.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
        packet.extend(sent[side].to_be_bytes());
        packet.extend(sent[1 - side].to_be_bytes());
        packet.extend([0x50, flags, 0xFF, 0xFF, 0, 0, 0, 0]);
        packet.extend(payload);
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        sent[side] += payload.len() as u32 + u32::from(flags & 2 != 0) + u32::from(flags & 1);
        for number in [1_795_600_800, 5, u32::from(length), u32::from(length)] {
            file.extend(number.to_le_bytes());
        }
        file.extend(packet);
    };
    let framed =
        |number: u8, payload: &[u8]| [&[payload.len() as u8, 0, 0, number][..], payload].concat();
    put(0, 2, b"");
    put(1, 18, b"");
    put(1, 24, &framed(0, &greeting));
    put(0, 24, &framed(1, &login));
    put(1, 24, &framed(2, ok));
    put(0, 24, &framed(0, b"\x03SELECT c FROM t WHERE id = 1"));
    put(1, 24, &framed(1, ok));
    put(0, 24, &framed(0, b"\x16SELECT ?"));
    put(1, 24, &framed(1, &[0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    put(0, 17, b"");
    put(1, 17, b"");
    file
}

#[test]
fn packets_of_the_network() {
    let seed = packets();
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("seed.pcap");
    fs::write(&from, &seed).unwrap();
    let to = folder.path().join("seed.weircap");
    let imported = import_log(&from, LogFormat::Pcap, &to, Literals::Keep).unwrap();
    assert_eq!(imported.tail.written.sessions, 1, "{imported:?}");
    assert_eq!(imported.tail.written.events, 2, "{imported:?}");
    fuzz("packets of the network", vec![seed], &[], |_, path| {
        let to = path.with_extension("weircap");
        if import_log(path, LogFormat::Pcap, &to, Literals::Keep).is_ok() {
            read(&to);
        }
        fs::remove_file(&to).unwrap_or_default();
    });
}

#[test]
fn fits_of_captures() {
    let folder = tempfile::tempdir().unwrap();
    let (log, capture) = (folder.path().join("log"), folder.path().join("c.weircap"));
    fs::write(&log, SLOW_OF_MYSQL).unwrap();
    import_log(&log, LogFormat::Slow, &capture, Literals::Keep).unwrap();
    let seed = fs::read(&capture).unwrap();
    fuzz("fits of captures", vec![seed], &[], |_, path| {
        let _ = weir_replay::fit::fit(path, None);
    });
}

const DIGESTS_OF_PMM: &str = "{\"rows\": [\
    {\"rank\": 0, \"fingerprint\": \"TOTAL\", \"metrics\": {\"query_time\": {\"stats\": {\"cnt\": 7, \"sum\": 0.5}}}},\
    {\"rank\": 1, \"fingerprint\": \"select a from t where b in (?+) limit ?\", \"database\": \"shop\",\
     \"metrics\": {\"query_time\": {\"stats\": {\"cnt\": 5, \"sum\": 0.25}}}},\
    {\"rank\": 2, \"fingerprint\": \"insert into t (a, b) values (?+)\", \"database\": \"shop\",\
     \"metrics\": {\"query_time\": {\"stats\": {\"cnt\": 2, \"sum\": \"1e-3\"}}}}]}";

#[test]
fn reports_of_digests() {
    let mut seeds = repository("crates/weir-capture/tests/golden", ".json");
    assert!(!seeds.is_empty());
    seeds.push(DIGESTS_OF_PMM.as_bytes().to_vec());
    let words = [
        "\"example\": {\"query\": ",
        "\"query_count\": ",
        "\"ts_min\": \"2026-11-25 10:00:00\"",
        "\"sum\": \"1e300\"",
        "(?+)",
        "values (?+)",
        "limit ?",
        "...",
        "{",
        "[",
    ];
    fuzz("reports of digests", seeds, &words, |_, path| {
        let to = path.with_extension("weircap");
        for literals in [Literals::Keep, Literals::Hash, Literals::Drop] {
            if import_log(path, LogFormat::Digests, &to, literals).is_ok() {
                read(&to);
                let _ = weir_replay::fit::fit(&to, None);
            }
            fs::remove_file(&to).unwrap_or_default();
        }
    });
}
