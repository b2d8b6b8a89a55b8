//! MySQL keeps a bounded number of versions of a table's rows: each INSTANT change of columns adds one, and a rebuild
//! resets them.
//!
//! MySQL manual, "Online DDL Operations", column operations.

use weir_mysql::Connection;

use super::obstacle::Obstacle;
use super::tablespace;
use crate::ddl::{AlterStatement, DdlError, Trial, TrialServer};

/// Fewer versions are far from any server's limit (64 or more), which need not be asked for then.
const FEW: u64 = 32;

/// Row versions of a table.
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
    let query = format!(
        "SELECT CAST(MAX(TOTAL_ROW_VERSIONS) AS UNSIGNED) FROM information_schema.INNODB_TABLES WHERE {}",
        tablespace::is_in_files(alter)
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
