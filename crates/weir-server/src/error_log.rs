//! Error log of a server: the reason of a failure in one line, and the log's end.
//!
//! MySQL 8 and later: `TIME THREAD [ERROR] [MY-000067] [Server] unknown variable 'x=1'.`; MariaDB
//! and MySQL 5.7: `TIME THREAD [ERROR] mariadbd: unknown variable 'x=1'`.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Consequences of any failure. They are passed over wherever they stand.
const CONSEQUENCES: [&str; 8] = [
    "Aborting",
    "Data Dictionary initialization failed",
    "Failed to initialize DD Storage Engine",
    "Plugin initialization aborted",
    "init function returned error",
    "registration as a STORAGE ENGINE failed",
    "Unknown/unsupported storage engine",
    "The designated data directory",
];

/// Begin of InnoDB's explanation of an error of the system.
const MEANING: &str = "The error means";

/// The system let the server not use a file (`EACCES`), in words of both servers.
const FORBIDDEN: [&str; 2] = ["error number 13 ", "Errcode: 13 "];
/// The possible cause, also for root.
const FORBIDDEN_BY: &str = " (see the owner and mode of its files, and whether a security profile, AppArmor or SELinux, \
     forbids them to the server)";

/// The cause of a failure, from the log at `path`; what the server wrote last if it names none.
pub(crate) fn cause(path: &Path) -> String {
    match fs::read(path) {
        Ok(bytes) => cause_in(&String::from_utf8_lossy(&bytes)),
        Err(error) => format!("its error log `{}` is unreadable: {error}", path.display()),
    }
}

/// The end of the log at `path`: whole lines of at most `bytes_max`, under a line that says how much
/// stood before them. Empty if there is no log, which is no failure.
pub(crate) fn tail(path: &Path, bytes_max: u64) -> String {
    read_tail(path, bytes_max).unwrap_or_default()
}

fn read_tail(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let begin = length.saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    if begin == 0 {
        return Ok(text.into_owned());
    }
    let (cut, whole) = text.split_once('\n').unwrap_or(("", &text));
    let left_out = begin + cut.len() as u64;
    Ok(format!(
        "[{left_out} bytes before this are left out]\n{whole}"
    ))
}

/// The first error is the cause; later ones follow from it, and some of them mislead. InnoDB says in the next what
/// the number of an error of the system means.
fn cause_in(log: &str) -> String {
    let is_cause = |text: &String| !CONSEQUENCES.iter().any(|words| text.contains(words));
    let mut causes = log.lines().filter_map(error_text).filter(is_cause);
    let Some(mut cause) = causes.next() else {
        return last_line(log);
    };
    if let Some(meaning) = causes.next().filter(|next| next.contains(MEANING)) {
        cause = format!("{cause}: {}", meaning.trim_start_matches("InnoDB: "));
    }
    if FORBIDDEN.iter().any(|words| cause.contains(words)) {
        cause += FORBIDDEN_BY;
    }
    cause
}

/// The text of a line of level ERROR, without time, codes and final period.
fn error_text(line: &str) -> Option<String> {
    // An error of a statement that MariaDB's bootstrap was given: `ERROR: 1051  Unknown table`.
    if let Some(text) = line.strip_prefix("ERROR: ") {
        return Some(text.trim_end().to_owned());
    }
    let (_, mut text) = line.split_once("[ERROR]")?;
    text = text.trim_start();
    while let Some((code, rest)) = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
    {
        if code.contains(char::is_whitespace) {
            break;
        }
        text = rest.trim_start();
    }
    Some(text.trim_end().trim_end_matches('.').to_owned())
}

fn last_line(log: &str) -> String {
    let last = log.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(
        || "it wrote nothing to its error log".to_owned(),
        |line| format!("its log ends with: {}", line.trim()),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{cause_in, tail};

    #[test]
    fn the_cause_stands_before_its_consequences() {
        let mysql = "\
2026-11-20T11:46:01.1Z 0 [System] [MY-010116] [Server] mysqld (mysqld 9.7.4-2) starting
2026-11-20T11:46:02.2Z 0 [ERROR] [MY-000067] [Server] unknown variable 'inodb_x=1'.
2026-11-20T11:46:02.3Z 0 [ERROR] [MY-010119] [Server] Aborting
";
        assert_eq!(cause_in(mysql), "unknown variable 'inodb_x=1'");
        let mariadb = "\
2026-11-20 11:46:01 0 [ERROR] InnoDB: Unable to lock ./ibdata1 error: 11
2026-11-20 11:46:01 0 [ERROR] InnoDB: Unable to lock ./ibdata1 error: 11
2026-11-20 11:46:01 0 [ERROR] Plugin 'InnoDB' init function returned error.
2026-11-20 11:46:01 0 [ERROR] Aborting
";
        assert_eq!(
            cause_in(mariadb),
            "InnoDB: Unable to lock ./ibdata1 error: 11"
        );
    }

    #[test]
    fn the_end_of_a_log_is_whole_lines_and_says_what_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        assert_eq!(tail(&path, 10), "", "no log");
        fs::write(&path, "first line\nsecond\nthird\n").unwrap();
        assert_eq!(tail(&path, 100), "first line\nsecond\nthird\n");
        assert_eq!(
            tail(&path, 14),
            "[10 bytes before this are left out]\nsecond\nthird\n"
        );
    }

    #[test]
    fn a_log_without_errors_gives_its_last_line() {
        assert_eq!(cause_in("a\nb\n\n"), "its log ends with: b");
        assert_eq!(cause_in(""), "it wrote nothing to its error log");
    }
}
