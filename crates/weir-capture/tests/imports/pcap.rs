//! Packets of real sessions become a capture; what is missing is counted, and nothing is guessed.

use std::collections::BTreeMap;
use std::path::Path;

use tempfile::TempDir;
use weir_capture::{
    CaptureReader, Command, Happening, ImportResult, Literals, LogFormat, import_log, log_format,
};
use weir_model::{Address, Endpoint, Flavor, Secret, TlsMode};
use weir_mysql::{Compression, Connection, Connector, Gate, Patience};
use weir_testing::PrivateServer;

use crate::wire::{Frame, Wire, pcap, pcapng};

const USER: &str = "app";
const PASSWORD: &str = "of-the-test";
const SESSIONS: u16 = 6;
const ROUNDS: i64 = 40;

weir_testing::on_both_flavors! {
    packets_of_real_sessions_become_a_capture
}

struct Bench {
    server: PrivateServer,
    _directory: TempDir,
    wire: Wire,
}

impl Bench {
    fn start(flavor: Flavor) -> Self {
        let (server, directory, port) = weir_testing::start_on_tcp(flavor, &[]);
        let mut root = weir_testing::connect(&server.endpoint());
        for sql in [
            format!("CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'"),
            format!("GRANT ALL ON *.* TO {USER}@'%'"),
            "CREATE TABLE item (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(4000))".to_owned(),
        ] {
            root.run(sql).unwrap();
        }
        let wire = Wire::before(port);
        Self {
            server,
            _directory: directory,
            wire,
        }
    }

    fn client(&self, tls: TlsMode, compression: Option<Compression>) -> Connection {
        let mut endpoint = Endpoint {
            address: Address::Tcp("127.0.0.1".to_owned(), self.wire.port),
            user: USER.to_owned(),
            password: Secret::new(PASSWORD),
            ..self.server.endpoint()
        };
        endpoint.tls.mode = tls;
        let connector = Connector::new(endpoint, compression, Gate::own()).unwrap();
        Connection::connect(&connector, true, Patience::Endless).unwrap()
    }
}

/// Statements of one session: texts, a long one, prepared ones.
fn work(client: &mut Connection, session: u16) {
    for round in 0..ROUNDS {
        let name = format!(
            "s{session}-{round}-{}",
            "x".repeat(if round % 10 == 0 { 3_000 } else { 5 })
        );
        client
            .run(format!("INSERT INTO item (name) VALUES ('{name}')"))
            .unwrap();
        let rows: Vec<(String,)> = client
            .execute("SELECT name FROM item WHERE name = ?", (name.as_str(),))
            .unwrap();
        assert_eq!(rows.len(), 1);
    }
}

/// Whole statements of an import: how often each, with its values; and insert numbers that were seen.
fn statements(path: &Path) -> (BTreeMap<String, u64>, u64) {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let mut insert_ids = 0;
    for record in CaptureReader::open(path).unwrap().map(Result::unwrap) {
        match record.happening {
            Happening::Started(started) if started.command == Command::Query => {
                let text = String::from_utf8(started.text()).unwrap();
                *found.entry(text).or_default() += 1;
            }
            Happening::Started(started) if started.command == Command::Execute => {
                assert!(!started.is_unusable);
                *found.entry(format!("{:?}", started.values)).or_default() += 1;
            }
            Happening::Ended(ended) => insert_ids += u64::from(ended.insert_id.is_some()),
            _ => {}
        }
    }
    (found, insert_ids)
}

fn import(
    directory: &TempDir,
    name: &str,
    file: &[u8],
) -> (ImportResult, BTreeMap<String, u64>, u64) {
    let from = directory.path().join(name);
    let to = directory.path().join(format!("{name}.weircap"));
    std::fs::write(&from, file).unwrap();
    assert_eq!(log_format(&from).unwrap(), LogFormat::Pcap);
    let imported = import_log(&from, LogFormat::Pcap, &to, Literals::Keep).unwrap();
    let (found, insert_ids) = statements(&to);
    (imported, found, insert_ids)
}

#[allow(
    clippy::too_many_lines,
    reason = "one session, told from its login to its end"
)]
fn packets_of_real_sessions_become_a_capture(flavor: Flavor) {
    let bench = Bench::start(flavor);
    // The first login of an account may need more than the wire shows, or TLS.
    let mut clients: Vec<_> = (0..SESSIONS)
        .map(|_| bench.client(TlsMode::Disabled, None))
        .collect();
    for (session, client) in (0..).zip(&mut clients) {
        work(client, session);
    }
    drop(clients);
    // The older MariaDB makes itself no certificate.
    let encrypts = flavor == Flavor::Mysql;
    if encrypts {
        let mut encrypted = bench.client(TlsMode::Required, None);
        encrypted.run("SELECT 'encrypted'").unwrap();
    }
    let compressions: &[_] = match flavor {
        Flavor::Mysql => &[Compression::Zlib, Compression::Zstd],
        Flavor::Mariadb => &[Compression::Zlib],
    };
    let long = format!("SELECT 'compressed', '{}'", "x".repeat(9_000));
    for compression in compressions {
        let mut compressed = bench.client(TlsMode::Disabled, Some(*compression));
        compressed.run(&*long).unwrap();
    }
    let frames = bench.wire.frames();
    let directory = TempDir::new().unwrap();

    let (imported, whole, insert_ids) = import(&directory, "whole.pcap", &pcap(&frames));
    let losses = imported.tail.losses;
    assert_eq!(
        (losses.sessions, losses.sessions_encrypted),
        (0, u64::from(encrypts)),
        "{losses:?}"
    );
    assert_eq!(whole[&long], compressions.len() as u64);
    assert_eq!(
        imported.tail.written.sessions,
        u64::from(SESSIONS) + compressions.len() as u64
    );
    let inserts = whole
        .iter()
        .filter(|(text, _)| text.starts_with("INSERT INTO item"));
    assert_eq!(
        inserts.map(|(_, count)| count).sum::<u64>(),
        u64::from(SESSIONS) * ROUNDS as u64
    );
    assert_eq!(insert_ids, u64::from(SESSIONS) * ROUNDS as u64);
    let (_, same, _) = import(&directory, "whole.pcapng", &pcapng(&frames));
    assert_eq!(same, whole);

    // Segments that overtake others of their direction, or come twice, change nothing.
    let mut shuffled = frames.clone();
    let mut swapped = 0;
    for pair in shuffled.chunks_mut(2) {
        let is_of_one = |a: &Frame, b: &Frame| {
            (a.connection, a.side) == (b.connection, b.side) && !a.is_empty && !b.is_empty
        };
        if matches!(&*pair, [a, b] if is_of_one(a, b)) {
            pair.reverse();
            swapped += 1;
        }
    }
    assert!(swapped > 0);
    let twice: Vec<Frame> = shuffled
        .iter()
        .flat_map(|frame| [frame.clone(), frame.clone()])
        .collect();
    let (imported, found, _) = import(&directory, "shuffled.pcap", &pcap(&twice));
    assert_eq!(found, whole, "{:?}", imported.tail.losses);

    // A session ends where a packet is missing; the others are whole, and no other statement appears.
    let with_payload = |frame: &&Frame| frame.connection == 2 && !frame.is_empty;
    let lost = frames
        .iter()
        .filter(with_payload)
        .nth(50)
        .unwrap()
        .bytes
        .clone();
    let kept: Vec<Frame> = frames
        .iter()
        .filter(|frame| frame.bytes != lost)
        .cloned()
        .collect();
    assert_eq!(kept.len(), frames.len() - 1);
    let (imported, found, _) = import(&directory, "lost.pcap", &pcap(&kept));
    assert_eq!(
        imported.tail.losses.sessions, 1,
        "{:?}",
        imported.tail.losses
    );
    assert!(found.values().sum::<u64>() < whole.values().sum::<u64>());
    assert!(
        found
            .iter()
            .all(|(text, count)| *count <= whole.get(text).copied().unwrap_or(0))
    );
    let of_other = |text: &&String| text.contains("'s2-39-");
    assert_eq!(
        found.keys().filter(of_other).count(),
        whole.keys().filter(of_other).count()
    );

    // One that began before is counted and left out.
    let late: Vec<Frame> = frames
        .iter()
        .filter(|frame| frame.connection == 2)
        .skip(30)
        .chain(frames.iter().filter(|frame| frame.connection == 3))
        .cloned()
        .collect();
    let (imported, ..) = import(&directory, "late.pcap", &pcap(&late));
    assert_eq!(imported.tail.losses.sessions_joined_late, 1);
    assert_eq!(imported.tail.written.sessions, 1);

    // A file that breaks off is read as far as it goes.
    let file = pcap(&frames);
    let (imported, found, _) = import(&directory, "cut.pcap", &file[..file.len() / 2]);
    assert!(imported.tail.written.events > 0);
    let failure = imported.tail.failure.unwrap();
    assert!(failure.contains("cut.pcap, byte "), "{failure}");
    assert!(found.iter().all(|(text, count)| *count <= whole[text]));
}
