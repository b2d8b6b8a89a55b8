//! Logs of real users that once became something else than what the server did.

use std::path::Path;

use weir_capture::{
    CaptureReader, CaptureSource, CaptureTail, Command, Happening, Literals, LogFormat, import_log,
    log_format,
};

/// Reading of a log: a line for each record, and what it says of itself.
struct LogContent {
    lines: Vec<String>,
    tail: CaptureTail,
    source: CaptureSource,
    began_unix_us: i64,
}

impl LogContent {
    fn read(log: &[u8]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (
            directory.path().join("log"),
            directory.path().join("a.weircap"),
        );
        std::fs::write(&from, log).unwrap();
        let imported = import_log(&from, log_format(&from).unwrap(), &to, Literals::Keep).unwrap();
        Self {
            lines: lines(&to),
            tail: imported.tail,
            source: imported.head.source,
            began_unix_us: imported.head.began_unix_us,
        }
    }

    /// The texts of its statements.
    fn statements(&self) -> Vec<&str> {
        let all = self.lines.iter();
        all.filter_map(|line| Some(line.split_once(" asked ")?.1))
            .collect()
    }
}

fn lines(path: &Path) -> Vec<String> {
    let records = CaptureReader::open(path).unwrap().map(Result::unwrap);
    let line = |happening: Happening| match happening {
        Happening::Opened(login) => format!("opened {} {}", login.user, login.schema),
        Happening::Closed => "closed".to_owned(),
        Happening::Started(started) => {
            let text = String::from_utf8(started.text()).unwrap();
            match (started.command, started.login) {
                (Command::UseSchema, _) => format!("schema {text}"),
                (_, Some(login)) => format!("changed {} {}", login.user, login.schema),
                (Command::Reset, _) => "reset".to_owned(),
                _ => format!("asked {text}"),
            }
        }
        Happening::Ended(ended) => format!("ended {:?} {:?}", ended.affected, ended.error),
    };
    records
        .map(|record| {
            let (at_us, session) = (record.at_us, record.session);
            format!("{at_us} {session} {}", line(record.happening))
        })
        .collect()
}

const EXPLAINED: &str = "\
# Time: 261120 10:00:00
# User@Host: app[app] @ localhost []
# Thread_id: 8  Schema: my shop  QC_hit: No
# Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1
# Rows_affected: 0  Bytes_sent: 60
# Full_scan: Yes  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No
# Filesort: No  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: No
#
# explain: id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tExtra
# explain: 1\tSIMPLE\titem\trange\tPRIMARY\tPRIMARY\t4\tNULL\t1\tUsing where; see: note
#
use my shop;
SET timestamp=1795168800;
SELECT 1
# a client's own comment
#
use it;
# User@Host: of a comment, too
# Time: now
FROM item;
# User@Host: app[app] @ localhost []
# Thread_id: 8  Schema: my shop  QC_hit: No
# Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1
# Rows_affected: 3  Bytes_sent: 60
SET timestamp=1795168800;
SET timestamp=1795168800;
# User@Host: app[app] @ localhost []
# Thread_id: 8  Schema: my shop  QC_hit: No
# Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1
# Rows_affected: 3  Bytes_sent: 60
# odd line of another version
SET timestamp=1795168800;
use other;
# User@Host: app[app] @ localhost []
# Thread_id: 8  Schema: my shop  QC_hit: No
# Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1
# Rows_affected: 3  Bytes_sent: 60
SET timestamp=1795168800;
# User@Host: app[app] @ localhost []
# Thread_id: 8  Schema: my shop  QC_hit: No
# Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0
# Rows_affected: 0  Bytes_sent: 0
SET timestamp=1795168800;
# administrator command: Quit;
";

#[test]
fn lines_of_the_server_are_known_by_their_forms() {
    let reading = LogContent::read(EXPLAINED.as_bytes());
    let first = "SELECT 1 \n FROM item".replace('\n', "");
    let plain = |text: &str| text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    // Comments are left out of a capture; what they hid before is not.
    let statements: Vec<_> = reading.statements().into_iter().map(plain).collect();
    assert_eq!(
        statements,
        [
            plain("SELECT 1 use it; FROM item"),
            "SET timestamp=1795168800".to_owned(),
            "use other".to_owned()
        ],
        "{first}"
    );
    assert!(
        reading.lines[0].ends_with("1 opened app my shop"),
        "{:?}",
        reading.lines
    );
    assert!(reading.lines.last().unwrap().ends_with("closed"));
    // The odd line, and the entry without a statement.
    assert_eq!(reading.tail.losses.unread_lines, 2, "{:?}", reading.tail);
}

/// An entry of `MariaDB`'s slow log.
fn entry(connection: u64, second: u64, text: &str) -> String {
    format!(
        "# User@Host: app[app] @ localhost []\n\
         # Thread_id: {connection}  Schema: shop  QC_hit: No\n\
         # Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 1\n\
         # Rows_affected: 0  Bytes_sent: 60\nSET timestamp={second};\n{text};\n"
    )
}

#[test]
fn a_sessions_own_time_is_none_of_the_logs() {
    const NOW: u64 = 1_795_168_800;
    let log = [
        "# Time: 261120 10:00:00\n".to_owned(),
        entry(1, NOW, "SELECT 1"),
        entry(2, 1_700_000_000, "SET timestamp=1700000000"),
        entry(2, 1_700_000_000, "SELECT 'then'"),
        entry(3, NOW, "SELECT 2"),
        entry(4, 1_900_000_000, "SET timestamp=1900000000"),
        entry(4, 1_900_000_000, "SELECT 'later'"),
        entry(5, NOW + 1, "SELECT 3"),
    ];
    let reading = LogContent::read(log.concat().as_bytes());
    let mut statements = reading.statements();
    statements.sort_unstable();
    assert_eq!(
        statements,
        [
            "SELECT 'later'",
            "SELECT 'then'",
            "SELECT 1",
            "SELECT 2",
            "SELECT 3",
            "SET timestamp=1700000000",
            "SET timestamp=1900000000",
        ]
    );
    assert!(reading.tail.ended_us < 2_000_000, "{:?}", reading.tail);
    assert_eq!(reading.tail.losses.out_of_place, 4);
    // One whose statement that set it was too short for the log.
    let log = [
        entry(1, NOW, "SELECT 1"),
        entry(2, 1_700_000_000, "SELECT 'then'"),
        entry(3, NOW + 1, "SELECT 2"),
    ];
    let reading = LogContent::read(log.concat().as_bytes());
    assert!(reading.tail.ended_us < 2_000_000, "{:?}", reading.tail);
    assert_eq!(reading.tail.losses.out_of_place, 1);
}

/// `MariaDB` 10.11.5 writes 2 of an insert of one row whose trigger writes one, and tells the client 1.
#[test]
fn changed_rows_are_taken_of_versions_that_count_no_triggers() {
    let entry = "# Time: 261120 10:00:00\n# User@Host: app[app] @ localhost []\n\
                 # Thread_id: 8  Schema: shop  QC_hit: No\n\
                 # Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0\n\
                 # Rows_affected: 2  Bytes_sent: 11\nSET timestamp=1795168800;\nINSERT INTO traced VALUES (5);\n";
    let opening = |version: &str| {
        format!(
            "/usr/sbin/mariadbd, Version: {version} (x). started with:\nTcp port: 3306  Unix socket: /x\n\
             Time\t\t    Id Command\tArgument\n"
        )
    };
    let (old, new) = (opening("10.11.5-MariaDB"), opening("11.8.9-MariaDB"));
    for (log, expected) in [
        (format!("{old}{entry}"), vec!["None"]),
        (entry.to_owned(), vec!["None"]),
        (format!("{new}{entry}"), vec!["Some(2)"]),
        // The server is upgraded, and does not write the same second again.
        (format!("{old}{entry}{new}{entry}"), vec!["None", "Some(2)"]),
    ] {
        let reading = LogContent::read(log.as_bytes());
        let affected: Vec<_> = reading
            .lines
            .iter()
            .filter_map(|line| line.split_once(" ended ")?.1.split(' ').next())
            .collect();
        assert_eq!(affected, expected, "{log}");
    }
}

/// Of Percona Server 8.0, made after its manual.
const PERCONA: &str = "\
/usr/sbin/mysqld, Version: 8.0.36-28 (Percona Server (GPL), Release 28, Revision 47601f19), Time: 2026-11-20T10:00:00.000000Z. started with:
Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock
Time                 Id Command    Argument
# Time: 2026-11-20T10:00:00.500000Z
# User@Host: app[app] @ db1 [10.0.0.1]  Id:    11
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 0.100000  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 1  Rows_affected: 0  Bytes_sent: 60
use shop;
SET timestamp=1795168800;
SELECT 1;
# Time: 2026-11-20T10:00:00.900000Z
# User@Host: app[app] @ db1 [10.0.0.1]  Id:    12
# Schema: shop  Last_errno: 1146  Killed: 0
# Query_time: 0.200000  Lock_time: 0.000001  Rows_sent: 0  Rows_examined: 1  Rows_affected: 7  Bytes_sent: 60
SET timestamp=1795168800;
SELECT 2;
# Time: 2026-11-20T10:00:30.250000Z
# User@Host: app[app] @ db1 [10.0.0.1]  Id:    13
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 20.000000  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 1  Rows_affected: 0  Bytes_sent: 60
SET timestamp=1795168810;
SELECT SLEEP(20);
";

#[test]
fn perconas_log_tells_ends_to_the_microsecond() {
    let reading = LogContent::read(PERCONA.as_bytes());
    assert_eq!(reading.source, CaptureSource::SlowLogPercona);
    assert_eq!(reading.began_unix_us, 1_795_168_800_400_000);
    assert_eq!(reading.tail.ended_us, 29_850_000);
    let asked: Vec<_> = reading
        .lines
        .iter()
        .filter(|line| line.contains("asked"))
        .collect();
    assert_eq!(
        asked,
        [
            "0 1 asked SELECT 1",
            "300000 2 asked SELECT 2",
            "9850000 3 asked SELECT SLEEP(20)"
        ]
    );
    let ended = "500000 2 ended Some(7) Some(1146)".to_owned();
    assert!(reading.lines.contains(&ended), "{:?}", reading.lines);
}

#[test]
fn a_carriage_return_in_a_string_stays() {
    let log = "2026-11-20T10:00:00.000000Z\t    8 Connect\tapp@localhost on shop using Socket\n\
               2026-11-20T10:00:00.100000Z\t    8 Query\tINSERT INTO note VALUES (1, 'a\r\nb')\n\
               2026-11-20T10:00:00.300000Z\t    8 Quit\t\n";
    let reading = LogContent::read(log.as_bytes());
    assert_eq!(
        reading.statements(),
        ["INSERT INTO note VALUES (1, 'a\r\nb')"]
    );
    // A log that was copied by way of another system.
    let copied = log.replace("\r\n", "\n").replace('\n', "\r\n");
    let reading = LogContent::read(copied.as_bytes());
    assert_eq!(
        reading.statements(),
        ["INSERT INTO note VALUES (1, 'a\nb')"]
    );
}

#[test]
fn a_change_of_user_moves_the_session_if_it_is_let_in() {
    let log = "2026-11-20T10:00:00.000000Z\t    8 Connect\tapp@localhost on shop using Socket\n\
               2026-11-20T10:00:00.100000Z\t    8 Query\tSELECT 1\n\
               2026-11-20T10:00:00.200000Z\t    8 Change user\tweb@localhost on crm using Socket\n\
               2026-11-20T10:00:00.300000Z\t    8 Query\tSELECT 2\n\
               2026-11-20T10:00:00.400000Z\t    8 Change user\tother@localhost on private using Socket\n\
               2026-11-20T10:00:00.400000Z\t    8 Connect\tAccess denied for user 'other'@'localhost'\n\
               2026-11-20T10:00:00.500000Z\t    8 Query\tSELECT 3\n\
               2026-11-20T10:00:00.600000Z\t    8 Reset Connection\t\n\
               2026-11-20T10:00:00.700000Z\t    9 Connect\tthief@localhost on private using Socket\n\
               2026-11-20T10:00:00.700000Z\t    9 Connect\tAccess denied for user 'thief'@'localhost'\n\
               2026-11-20T10:00:00.800000Z\t    8 Quit\t\n";
    let reading = LogContent::read(log.as_bytes());
    let what: Vec<_> = reading
        .lines
        .iter()
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(
        what,
        [
            "1 opened app shop",
            "1 asked SELECT 1",
            "1 ended None None",
            "1 changed web crm",
            "1 ended None None",
            "1 asked SELECT 2",
            "1 ended None None",
            "1 changed other private",
            "1 ended None Some(1045)",
            "1 asked SELECT 3",
            "1 ended None None",
            "1 reset",
            "1 ended None None",
            "1 closed",
        ]
    );
    assert_eq!(reading.tail.written.sessions, 1);
}

/// A log with the server's default, `long_query_time = 10`, says what it is.
#[test]
fn a_log_of_slow_statements_alone_says_so() {
    let slow = |seconds: &str| {
        let entries = (0..6).map(|number| {
            entry(number, 1_795_168_800 + 20 * number, "SELECT 1").replace("0.000100", seconds)
        });
        entries.collect::<String>()
    };
    for (seconds, is_slow) in [("12.500000", true), ("0.000100", false)] {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (
            directory.path().join("log"),
            directory.path().join("a.weircap"),
        );
        std::fs::write(&from, slow(seconds)).unwrap();
        let imported = import_log(&from, LogFormat::Slow, &to, Literals::Keep).unwrap();
        let said = imported.head.guarantees.concat();
        assert_eq!(said.contains("the shortest of 12.5 s"), is_slow, "{said}");
        assert_eq!(
            said.contains("at most 0.08 statements a second"),
            is_slow,
            "{said}"
        );
        let mut reader = CaptureReader::open(&to).unwrap();
        assert_eq!(reader.head().guarantees, imported.head.guarantees);
        assert!(reader.all(|record| record.is_ok()));
    }
}

/// The server logs a statement that SQL prepares and executes a second time, with its parameters: it was executed once.
#[test]
fn what_sql_prepares_is_executed_once() {
    let log = "2026-11-20T10:00:00.000000Z\t    8 Connect\tapp@localhost on shop using Socket\n\
               2026-11-20T10:00:00.100000Z\t    8 Query\tPREPARE p FROM ...\n\
               2026-11-20T10:00:00.100000Z\t    8 Prepare\tUPDATE item SET a = a + ?\n\
               2026-11-20T10:00:00.200000Z\t    8 Query\tEXECUTE p USING @x\n\
               2026-11-20T10:00:00.200000Z\t    8 Execute\tUPDATE item SET a = a + 5\n\
               2026-11-20T10:00:00.300000Z\t    8 Query\tDEALLOCATE PREPARE p\n\
               2026-11-20T10:00:00.400000Z\t    8 Query\tDROP TABLE prepare_me\n";
    let reading = LogContent::read(log.as_bytes());
    assert_eq!(
        reading.statements(),
        ["UPDATE item SET a = a + 5", "DROP TABLE prepare_me"]
    );
}

/// `MariaDB` logs a bulk execution as one line without its parameters.
#[test]
fn a_bulk_execution_of_a_log_is_counted() {
    let log = "2026-11-20T10:00:00.000000Z\t    8 Connect\tapp@localhost on shop using Socket\n\
               2026-11-20T10:00:00.100000Z\t    8 Execute\tINSERT INTO item VALUES (?, '?')\n\
               2026-11-20T10:00:00.200000Z\t    8 Execute\tSELECT '?'\n";
    let losses = LogContent::read(log.as_bytes()).tail.losses;
    assert_eq!((losses.bulk_executions, losses.truncated), (1, 0));
}

/// `SET timestamp` moves the times of `log_slow_extra`, and not the line before.
const EXTRA: &str = "\
# Time: 2026-11-20T10:00:00.500000Z
# User@Host: app[app] @ db1 [10.0.0.1]  Id:    11
# Query_time: 0.100000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1 Thread_id: 11 Errno: 0 Killed: 0 Start: 2030-01-01T00:00:00.000000Z End: 2030-01-01T00:00:00.100000Z
use shop;
SET timestamp=1893456000;
SELECT 1;
";

#[test]
fn a_sessions_own_time_is_none_of_an_extended_log() {
    let reading = LogContent::read(EXTRA.as_bytes());
    assert_eq!(reading.source, CaptureSource::SlowLogExtra);
    assert_eq!(reading.began_unix_us, 1_795_168_800_400_000);
    assert_eq!(reading.tail.ended_us, 100_000);
}

/// Messages of the server, with the value that was there twice.
const WARNED: &str = "\
# Time: 261120 10:00:00
# User@Host: app[app] @ localhost []
# Thread_id: 8  Schema: shop  QC_hit: No
# Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0
# Rows_affected: 0  Bytes_sent: 60
# Warnings
# Error 1062 Duplicate entry 'Thread_id: 9
Query_time: 5' for key 'PRIMARY'
use `shop`;
SET timestamp=1795168800;
INSERT INTO named VALUES ('x');
";

#[test]
fn a_servers_message_is_no_part_of_the_statement() {
    let reading = LogContent::read(WARNED.as_bytes());
    assert_eq!(reading.statements(), ["INSERT INTO named VALUES ('x')"]);
    assert_eq!(
        (reading.tail.losses.unread_lines, reading.tail.ended_us),
        (0, 100)
    );
}

#[test]
fn a_session_without_a_schema_has_none() {
    let log = entry(1, 1_795_168_800, "SELECT 1").replace("SET t", "use shop;\nSET t")
        + &entry(2, 1_795_168_800, "SELECT 2").replace("Schema: shop", "Schema: ");
    let reading = LogContent::read(log.as_bytes());
    assert!(
        reading
            .lines
            .iter()
            .any(|line| line.ends_with("2 opened app ")),
        "{:?}",
        reading.lines
    );
    // The server opens the log anew, and names the schema again.
    let log = PERCONA.to_owned()
        + &PERCONA
            .replace("use shop;\n", "")
            .replace("Schema: shop  ", "")
            .replace("Id:    1", "Id:    2");
    let reading = LogContent::read(log.as_bytes());
    assert!(
        reading
            .lines
            .iter()
            .any(|line| line.ends_with("4 opened app ")),
        "{:?}",
        reading.lines
    );
}

/// A statement may hold a whole log, and one that no server could read ends where it ends.
#[test]
fn a_log_in_a_string_is_a_string() {
    let inner = "\n".to_owned() + &entry(9, 1_795_168_800, "DROP TABLE item");
    let stored = format!("INSERT INTO logs VALUES ('it''s;{inner}', 1)");
    let log = entry(8, 1_795_168_800, &stored)
        + &entry(8, 1_795_168_800, "SELECT 'it's broken'")
        + &entry(8, 1_795_168_801, "SELECT ', '");
    let reading = LogContent::read(log.as_bytes());
    assert_eq!(
        reading.statements(),
        [&stored, "SELECT 'it's broken'", "SELECT ', '"]
    );
    assert_eq!(reading.tail.losses.truncated, 1);
    let begins = "2026-11-20T10:00:00.000000Z\t    8 Query\t";
    let stored = format!("INSERT INTO logs VALUES ('\n{begins}DROP TABLE item\n# Query_time: 5')");
    let log = format!("{begins}{stored}\n{begins}SELECT 'it's broken'\n{begins}SELECT ', '\n");
    let reading = LogContent::read(log.as_bytes());
    assert_eq!(
        reading.statements(),
        [&stored, "SELECT 'it's broken'", "SELECT ', '"]
    );
}

/// The general log of both servers has what a function or a trigger does.
#[test]
fn what_a_statement_runs_is_run_once() {
    let log = "2026-11-20T10:00:00.000000Z\t    8 Connect\tapp@localhost on shop using Socket\n\
               2026-11-20T10:00:00.100000Z\t    8 Query\tSELECT noted(6)\n\
               2026-11-20T10:00:00.100000Z\t    8 Query\tINSERT INTO notes VALUES ( NAME_CONST('a',6))\n\
               2026-11-20T10:00:00.200000Z\t    8 Query\tINSERT INTO traced VALUES (5)\n\
               2026-11-20T10:00:00.200000Z\t    8 Query\tINSERT INTO notes VALUES (NEW.id)\n\
               2026-11-20T10:00:00.300000Z\t    8 Query\tUSE crm\n\
               2026-11-20T10:00:00.400000Z\t    8 Init DB\tshop\n";
    let reading = LogContent::read(log.as_bytes());
    assert_eq!(
        reading.statements(),
        [
            "SELECT noted(6)",
            "INSERT INTO traced VALUES (5)",
            "USE crm"
        ]
    );
    assert_eq!(reading.tail.losses.of_routines, 2);
    // It was in this schema before.
    assert!(
        reading
            .lines
            .iter()
            .any(|line| line.ends_with("schema shop")),
        "{:?}",
        reading.lines
    );
}

/// `MySQL` writes a text that it prepares as three points, which no server reads.
#[test]
fn what_sql_prepares_is_none_of_a_slow_logs_statements() {
    let log = entry(1, 1_795_168_800, "PREPARE p FROM ...") + &entry(1, 1_795_168_800, "SELECT 5");
    assert_eq!(LogContent::read(log.as_bytes()).statements(), ["SELECT 5"]);
}
