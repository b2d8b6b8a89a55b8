//! Captures, and the servers' logs of which they are made.

use std::fs;
use std::path::Path;

use weir_capture::{CaptureReader, Literals, LogFormat, import_log};

use crate::fuzz;

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

/// Reads a capture to its end.
fn read(path: &Path) {
    let Ok(mut capture) = CaptureReader::open(path) else {
        return;
    };
    while let Ok(Some(_)) = capture.next_record() {}
}

#[test]
fn servers_logs() {
    let seeds = [SLOW_OF_MYSQL, SLOW_OF_MARIADB, GENERAL].map(|log| log.as_bytes().to_vec());
    let words = [
        "# Time: ",
        "# User@Host: ",
        "# Query_time: ",
        "SET timestamp=",
        "use ",
        "\tQuery\t",
        ";\n",
        "/*",
        "'",
    ];
    fuzz("servers' logs", seeds.to_vec(), &words, |_, path| {
        let to = path.with_extension("weircap");
        for format in [LogFormat::Slow, LogFormat::General] {
            for literals in [Literals::Keep, Literals::Drop] {
                if import_log(path, format, &to, literals).is_ok() {
                    read(&to);
                }
                fs::remove_file(&to).unwrap_or_default();
            }
        }
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
