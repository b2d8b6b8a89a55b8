//! MySQL keeps a bounded number of versions of a table's rows: each INSTANT change of columns adds one, and a rebuild
//! resets them.
//!
//! MySQL manual, "Online DDL Operations", column operations.

use weir_mysql::{Connection, text_literal};

use super::obstacle::Obstacle;
use crate::{AlterStatement, DdlError, Trial, TrialServer};

/// Fewer versions are far from any server's limit (64 or more), which need not be asked for then.
const FEW: u64 = 32;

/// What was found.
pub(super) struct RowVersions {
    /// The server would refuse INSTANT.
    pub(super) is_refused: bool,
    pub(super) obstacle: Obstacle,
}

/// Versions of the table, if the statement adds one.
pub(super) fn look(
    connection: &mut Connection,
    alter: &AlterStatement,
    trial: &Trial,
    server: &TrialServer,
) -> Result<Option<RowVersions>, DdlError> {
    if trial.way.row_versions == 0 {
        return Ok(None);
    }
    let name = format!("{}/{}", file_name(&alter.schema), file_name(&alter.table));
    let partitions = format!("{name}#p#");
    let query = format!(
        "SELECT CAST(MAX(TOTAL_ROW_VERSIONS) AS UNSIGNED) FROM information_schema.INNODB_TABLES \
         WHERE NAME = {} OR LEFT(NAME, {}) = {}",
        text_literal(&name),
        partitions.len(),
        text_literal(&partitions)
    );
    let used = match connection.first::<Option<u64>>(query) {
        Ok(used) => used.flatten().unwrap_or_default(),
        Err(error) if error.code().is_some() => {
            let text = "versions of its rows are not known: the account may not see them; GRANT PROCESS to it";
            return Ok(Some(RowVersions {
                is_refused: false,
                obstacle: Obstacle::risk("row versions", text.to_owned()),
            }));
        }
        Err(error) => return Err(error.into()),
    };
    if used < FEW {
        let text = format!(
            "the table has {used} versions of its rows; INSTANT adds one, and a rebuild (ENGINE = InnoDB) resets them"
        );
        return Ok(Some(RowVersions {
            is_refused: false,
            obstacle: Obstacle::note("row versions", text),
        }));
    }
    let limit = server.row_versions_max()?;
    let is_refused = used + trial.way.row_versions > limit;
    let text = format!(
        "the table has {used} of {limit} versions of its rows; a rebuild (ENGINE = InnoDB) resets them"
    );
    let obstacle = if is_refused {
        Obstacle::blocks("row versions", format!("no INSTANT: {text}"))
    } else {
        Obstacle::risk("row versions", text)
    };
    Ok(Some(RowVersions {
        is_refused,
        obstacle,
    }))
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
    use super::file_name;

    #[test]
    fn names_are_those_of_files() {
        assert_eq!(file_name("order_1"), "order_1");
        assert_eq!(file_name("my-table"), "my@002dtable");
    }
}
