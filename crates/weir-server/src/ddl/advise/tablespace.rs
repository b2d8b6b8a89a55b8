//! A table's files, as InnoDB's dictionary knows them: their names, and what they have.

use weir_mysql::{Connection, text_literal};

use crate::ddl::AlterStatement;
use crate::ddl::table_name::is_name;
use crate::innodb_view::innodb_view;

/// Statistics that are older than the rows have less than this part of the file.
const STALE_BELOW: f64 = 2.0 / 3.0;

/// A condition on `NAME` of InnoDB's dictionary: exactly the table, or one of its partitions.
pub(super) fn is_in_files(alter: &AlterStatement) -> String {
    let name = format!("{}/{}", file_name(&alter.schema), file_name(&alter.table));
    // MariaDB and MySQL before 8.0 write `#P#`, later ones `#p#`.
    let partitions = ["#p#", "#P#"].map(|mark| {
        let start = format!("{name}{mark}");
        format!(
            "LEFT(CAST(NAME AS BINARY), {}) = CAST({} AS BINARY)",
            start.len(),
            text_literal(&start)
        )
    });
    format!(
        "({} OR {})",
        is_name("NAME", &name),
        partitions.join(" OR ")
    )
}

/// Bytes of the table's files. `None`: the account has no PROCESS, or the table lies in a tablespace of several.
pub(super) fn file_bytes(connection: &mut Connection, alter: &AlterStatement) -> Option<u64> {
    let dictionary = innodb_view(connection.version(), "TABLESPACES");
    let query = format!(
        "SELECT CAST(SUM(FILE_SIZE) AS UNSIGNED) FROM {dictionary} WHERE {}",
        is_in_files(alter)
    );
    connection.first::<Option<u64>>(query).ok()??
}

/// Returns the bytes of the table's rows and indexes, where its statistics are older: its files less their free part.
pub(super) fn newer_bytes(file: Option<u64>, free: u64, statistics: u64) -> Option<u64> {
    let used = file?.saturating_sub(free);
    let is_stale = (statistics as f64) < used as f64 * STALE_BELOW && used > 1 << 20;
    is_stale.then_some(used)
}

/// A name as InnoDB's dictionary has it (MySQL manual, "Mapping of Identifiers to File Names").
fn file_name(name: &str) -> String {
    let encoded = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => c.to_string(),
        c => format!("@{:04x}", c as u32),
    };
    name.chars().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::{file_name, newer_bytes};

    #[test]
    fn names_are_those_of_files() {
        assert_eq!(file_name("order_1"), "order_1");
        assert_eq!(file_name("my-table"), "my@002dtable");
    }

    #[test]
    fn files_count_where_statistics_are_older() {
        let mib = 1 << 20;
        assert_eq!(newer_bytes(Some(12 * mib), 2 * mib, mib), Some(10 * mib));
        assert_eq!(newer_bytes(Some(12 * mib), 2 * mib, 9 * mib), None);
        assert_eq!(newer_bytes(Some(12 * mib), 11 * mib, mib), None);
        assert_eq!(newer_bytes(None, 0, mib), None);
    }
}
