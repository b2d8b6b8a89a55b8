//! Writer and reader together.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::writer::Request;

fn head(literals: Literals) -> CaptureHead {
    CaptureHead::new(CaptureSource::Proxy, literals, 1_700_000_000_000_000)
}

/// A session with a statement each 10 ms, each of its own values.
fn write(path: &Path, literals: Literals, statements: u64) -> CaptureWriter {
    let mut writer = CaptureWriter::create(path, &head(literals)).unwrap();
    writer.opened(5, 1, Login::new("app", "shop")).unwrap();
    for number in 0..statements {
        let sql = format!("SELECT name FROM product WHERE id = {number} AND note = 'n{number}'");
        let asked = Request {
            text: Some(sql.as_bytes()),
            ..Request::new(Command::Query)
        };
        writer.started(number * 10_000, 1, asked).unwrap();
        let ended = CommandEnd {
            rows: Some(1),
            error: Some(0),
            ..CommandEnd::default()
        };
        writer.ended(number * 10_000 + 400, 1, ended).unwrap();
    }
    writer
}

fn texts(path: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for record in CaptureReader::open(path).unwrap() {
        if let Happening::Started(started) = record.unwrap().happening {
            texts.push(String::from_utf8(started.text()).unwrap());
        }
    }
    texts
}

#[test]
fn what_is_written_is_read_and_only_by_its_owner() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.weircap");
    let mut writer = write(&path, Literals::Keep, 1_000);
    let asked = Request {
        handle: 7,
        values: vec![
            Value::NULL,
            Value::Int(-5),
            Value::UInt(u64::MAX),
            Value::Bytes(b"x\xff".to_vec()),
            Value::Double(1.5),
            Value::Float(-0.5),
            Value::Date(2026, 11, 25, 1, 2, 3, 4),
            Value::Time(true, 1, 2, 3, 4, 5),
        ],
        ..Request::new(Command::Execute)
    };
    let values = asked.values.clone();
    writer.started(9_999_999, 1, asked).unwrap();
    writer.closed(10_000_000, 1).unwrap();
    let tail = writer.finish(0).unwrap();
    assert_eq!(
        tail.written,
        CaptureCounts {
            sessions: 1,
            events: 1_001
        }
    );
    assert_eq!(tail.ended_us, 10_000_000);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(CaptureWriter::create(&path, &head(Literals::Keep)).is_err());
    let read = texts(&path);
    assert_eq!(read.len(), 1_001);
    assert_eq!(
        read[41],
        "SELECT name FROM product WHERE id = 41 AND note = 'n41'"
    );
    let mut reader = CaptureReader::open(&path).unwrap();
    assert_eq!(reader.head(), &head(Literals::Keep));
    let records: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(reader.tail(), Some(&tail));
    assert_eq!(reader.cut_bytes(), 0);
    assert!(
        records
            .windows(2)
            .all(|pair| pair[0].at_us <= pair[1].at_us || pair[0].at_us == 5)
    );
    let Happening::Started(executed) = &records[records.len() - 2].happening else {
        panic!("{records:?}");
    };
    assert_eq!(executed.values, values);
    // 41 bytes a statement, with its end: the text stands there once.
    let size = fs::metadata(&path).unwrap().len();
    assert!(size < 40_000, "{size}");
}

/// A capture of the version before has neither collations nor changes of user.
#[test]
fn logins_come_back_and_captures_of_version_1_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.weircap");
    let login = |collation| Login {
        collation,
        ..Login::new("app", "shop")
    };
    let mut writer = CaptureWriter::create(&path, &head(Literals::Keep)).unwrap();
    for (session, collation) in [(1, None), (2, Some(8)), (3, Some(2_304))] {
        writer.opened(0, session, login(collation)).unwrap();
        let asked = Request {
            login: Some(login(collation)),
            ..Request::new(Command::ChangeUser)
        };
        writer.started(1, session, asked).unwrap();
    }
    writer.finish(0).unwrap();
    let read: Vec<_> = CaptureReader::open(&path)
        .unwrap()
        .map(|record| match record.unwrap().happening {
            Happening::Opened(login) => login,
            Happening::Started(started) => started.login.unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    let all = [None, Some(8), Some(2_304)];
    let expected: Vec<_> = all
        .into_iter()
        .flat_map(|one| [login(one), login(one)])
        .collect();
    assert_eq!(read, expected);
    let mut file = fs::read(&path).unwrap();
    file[7] = b'1';
    fs::write(&path, &file).unwrap();
    assert!(
        CaptureReader::open(&path)
            .unwrap()
            .all(|record| record.is_ok())
    );
    file[7] = b'3';
    fs::write(&path, &file).unwrap();
    let error = CaptureReader::open(&path).unwrap_err().to_string();
    assert!(error.contains("version 3, not 1 or 2"), "{error}");
}

#[test]
fn a_file_is_read_while_it_is_written_and_after_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.weircap");
    let mut writer = write(&path, Literals::Keep, 1_000);
    let mut reader = CaptureReader::open(&path).unwrap();
    let before = reader.by_ref().map(Result::unwrap).count();
    assert!((1_600..2_001).contains(&before), "{before}");
    writer.flush().unwrap();
    assert_eq!(before + reader.by_ref().map(Result::unwrap).count(), 2_001);
    drop(writer);
    assert!(reader.tail().is_none());
    let whole = fs::read(&path).unwrap();
    let cut = directory.path().join("cut.weircap");
    fs::write(&cut, &whole[..whole.len() - 3]).unwrap();
    let mut reader = CaptureReader::open(&cut).unwrap();
    assert!(reader.by_ref().map(Result::unwrap).count() >= 1_600);
    assert!(reader.cut_bytes() > 0);
    // Damaged in the middle: all that follows counts as cut.
    let middle = whole.len() / 2;
    let mut damaged = whole.clone();
    damaged[middle] ^= 1;
    fs::write(&cut, &damaged).unwrap();
    let mut reader = CaptureReader::open(&cut).unwrap();
    assert!(reader.by_ref().map(Result::unwrap).count() < 1_600);
    assert!(reader.cut_bytes() >= (whole.len() - middle) as u64);
}

#[test]
fn no_planted_secret_is_in_a_capture_without_literals() {
    for literals in [Literals::Hash, Literals::Drop] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.weircap");
        let mut writer = CaptureWriter::create(&path, &head(literals)).unwrap();
        let secret = |number: u64| format!("s3cr3t{number:05}x");
        for number in 0..1_000 {
            let secret = secret(number);
            let text = match number % 4 {
                0 => format!("SELECT * FROM t WHERE a = '{secret}' /* {secret} */"),
                1 => format!("CREATE USER u IDENTIFIED BY '{secret}'"),
                2 => format!("INSERT INTO t VALUES (\"it's {secret}\", 0x{number:010})"),
                _ => format!("SELECT 'a\\'{secret}' -- {secret}"),
            };
            let asked = Request {
                text: Some(text.as_bytes()),
                values: vec![Value::Bytes(secret.into_bytes())],
                ..Request::new(Command::Query)
            };
            writer.started(number, 1, asked).unwrap();
        }
        writer.finish(0).unwrap();
        for record in CaptureReader::open(&path).unwrap() {
            let said = format!("{:?}", record.unwrap());
            let all: Vec<u8> = said.into_bytes();
            assert!(
                !all.windows(6).any(|part| part == b"s3cr3t"),
                "{}",
                String::from_utf8_lossy(&all)
            );
        }
    }
}

#[test]
fn equal_values_stay_equal_and_others_stay_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.weircap");
    write(&path, Literals::Hash, 500).finish(0).unwrap();
    let first = texts(&path);
    let mut apart = first.clone();
    apart.sort();
    apart.dedup();
    assert_eq!(apart.len(), first.len());
    let template = fingerprint(first[0].as_bytes());
    assert_eq!(
        template,
        "select name from product where id = ? and note = ?"
    );
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), at in 0_usize..3_000) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.weircap");
        write(&path, Literals::Keep, 200).finish(0).unwrap();
        let mut file = fs::read(&path).unwrap();
        let at = at.min(file.len());
        let end = (at + bytes.len()).min(file.len());
        file.splice(at..end, bytes);
        fs::write(&path, file).unwrap();
        if let Ok(reader) = CaptureReader::open(&path) {
            for record in reader.take(10_000) {
                if record.is_err() {
                    break;
                }
            }
        }
    }

    #[test]
    fn no_text_makes_the_scanner_panic(sql in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = fingerprint(&sql);
        for literals in [Literals::Keep, Literals::Hash, Literals::Drop] {
            let _ = crate::literals::Keeper::new(literals).statement(&sql);
        }
        let parts = crate::sql::split(&sql, true);
        let _ = Template::new(parts.text);
    }

    #[test]
    fn no_record_makes_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut cursor = crate::bytes::Cursor(&bytes);
        while let Ok(piece) = crate::record::piece(&mut cursor) {
            if let crate::record::Piece::Record(tag, ..) = piece
                && crate::record::happening(tag, &mut cursor, &[]).is_err()
            {
                break;
            }
        }
    }
}
