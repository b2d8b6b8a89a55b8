//! Comments that a server executes (`/*!80000 ... */`), as the text that a server of a version reads.
//!
//! The gate refuses such comments, since what they say depends on who reads them. A replay knows who does: it sends the
//! statement without the marks, or without what stands between them, and the gate judges what is left.

use weir_capture::without_executed_comments;
use weir_model::{Flavor, ServerVersion};

/// Who reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reader {
    pub(crate) is_mariadb: bool,
    /// As in the comments: 100,000 to 119,999 for MariaDB 10.11.19 as 101119.
    pub(crate) version: u32,
}

impl Reader {
    pub(crate) fn new(flavor: Flavor, version: ServerVersion) -> Self {
        let ServerVersion {
            major,
            minor,
            patch,
        } = version;
        Self {
            is_mariadb: flavor == Flavor::Mariadb,
            version: major * 10_000 + minor * 100 + patch,
        }
    }

    /// Returns true if the server executes a comment that begins so.
    fn executes(self, is_of_mariadb: bool, version: Option<u32>) -> bool {
        if is_of_mariadb && !self.is_mariadb {
            return false;
        }
        let Some(version) = version else { return true };
        // Versions of MySQL that MariaDB has never followed (its manual, "Comment Syntax").
        let is_mysqls = !is_of_mariadb && (50_700..=99_999).contains(&version);
        !(self.is_mariadb && is_mysqls) && version <= self.version
    }

    /// The text that it reads; `None`: it has no such comments.
    pub(crate) fn read(self, text: &[u8]) -> Option<Vec<u8>> {
        let has_one = text.windows(3).any(|part| part == b"/*!" || part == b"/*M");
        has_one.then(|| {
            without_executed_comments(text, &|is_of_mariadb, version| {
                self.executes(is_of_mariadb, version)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_what_its_reader_executes() {
        let mysql = Reader::new(Flavor::Mysql, "9.7.4".parse().unwrap());
        let mariadb = Reader::new(Flavor::Mariadb, "10.11.19".parse().unwrap());
        let read = |reader: Reader, text: &str| {
            let text = reader.read(text.as_bytes()).unwrap();
            let text = String::from_utf8(text).unwrap();
            text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
        };
        for (text, by_mysql, by_mariadb) in [
            (
                "CREATE TABLE t (a INT) /*! ENGINE = innodb */",
                "CREATE TABLE t (a INT) ENGINE = innodb",
                "CREATE TABLE t (a INT) ENGINE = innodb",
            ),
            ("SELECT /*!80000 1, */ 2", "SELECT 1, 2", "SELECT 2"),
            ("SELECT /*!50100 1, */ 2", "SELECT 1, 2", "SELECT 1, 2"),
            ("SELECT /*!99999 1, */ 2", "SELECT 2", "SELECT 2"),
            ("SELECT /*M!100100 1, */ 2", "SELECT 2", "SELECT 1, 2"),
            (
                "SELECT '/*! x */', /*! 2 */",
                "SELECT '/*! x */', 2",
                "SELECT '/*! x */', 2",
            ),
        ] {
            assert_eq!(read(mysql, text), by_mysql);
            assert_eq!(read(mariadb, text), by_mariadb);
        }
        assert_eq!(mysql.read(b"SELECT 1 /* plain */"), None);
    }
}
