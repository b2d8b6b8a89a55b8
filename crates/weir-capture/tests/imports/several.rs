//! Several logs of one server become one capture.

use std::fs;
use std::path::{Path, PathBuf};

use weir_capture::{CaptureReader, Happening, Literals, import_logs};

/// An entry of `MySQL`'s slow log.
fn entry(second: u32, text: &str) -> String {
    format!(
        "# Time: 2026-11-20T10:00:{second:02}.500000Z\n# User@Host: app[app] @ db1 []  Id:    11\n\
         # Query_time: 0.100000  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 1\n\
         use shop;\nSET timestamp=1795168800;\n{text};\n"
    )
}

const START: &str = "/usr/sbin/mysqld, Version: 8.4.3 (x). started with:\nTcp port: 3306  Unix socket: /x\n\
                     Time                 Id Command    Argument\n";

fn write(folder: &Path, logs: &[&str]) -> Vec<PathBuf> {
    let write = |(number, log): (usize, &&str)| {
        let path = folder.join(format!("{number}.log"));
        fs::write(&path, log).unwrap();
        path
    };
    logs.iter().enumerate().map(write).collect()
}

/// The texts, and the number of sessions; or the error.
fn imported(logs: &[&str]) -> Result<(Vec<String>, u64), String> {
    let folder = tempfile::tempdir().unwrap();
    let paths = write(folder.path(), logs);
    let to = folder.path().join("a.weircap");
    let imported =
        import_logs(&paths, None, &to, Literals::Keep).map_err(|error| error.to_string())?;
    assert_eq!(
        imported.tail.losses.unread_lines + imported.tail.losses.truncated,
        0
    );
    let texts =
        CaptureReader::open(&to)
            .unwrap()
            .filter_map(|record| match record.unwrap().happening {
                Happening::Started(started) => Some(String::from_utf8(started.text()).unwrap()),
                _ => None,
            });
    Ok((texts.collect(), imported.tail.written.sessions))
}

#[test]
fn logs_of_a_day_are_one_in_any_order() {
    let (first, second) = (
        entry(1, "BEGIN") + &entry(2, "SELECT 1"),
        entry(3, "COMMIT"),
    );
    let (opened, later) = (START.to_owned() + &second, START.to_owned() + &first);
    let expected: Vec<_> = ["BEGIN", "SELECT 1", "COMMIT"].map(str::to_owned).into();
    let whole = later.clone() + &second;
    let cut = &later[..later.len() - 8];
    for logs in [
        // Renamed and opened anew; emptied; both ways in another order.
        vec![&*later, &*opened],
        vec![&*opened, &*later],
        vec![&*second, &*first],
        // Copies, one of them made within a line, and one that has nothing more.
        vec![&*later, &*whole],
        vec![&*whole, &*later],
        vec![cut, &*whole],
        vec![&*whole, cut, opened[START.len()..].trim_start(), START, ""],
    ] {
        assert_eq!(imported(&logs), Ok((expected.clone(), 1)), "{logs:?}");
    }
}

#[test]
fn logs_of_two_servers_or_formats_are_not_mixed() {
    let general = "2026-11-20T10:00:00.000000Z\t    8 Query\tSELECT 1\n";
    let (here, there) = (
        entry(1, "SELECT 1") + &entry(30, "SELECT 2"),
        entry(5, "SELECT 3") + &entry(50, "SELECT 4"),
    );
    for (logs, why) in [
        ([&*here, general], "two formats"),
        ([&*here, &*there], "two servers"),
        ([&*here, "no log"], "no entry"),
    ] {
        let error = imported(&logs).unwrap_err();
        assert!(error.contains(why) && error.lines().count() == 1, "{error}");
    }
}
