//! Variables of the server's under which a load would do something else than what was asked for.
//!
//! They are read as an ordinary connection has them: after `init_connect`.

use weir_mysql::{Connection, StatementText};
use weir_workload::Script;

use crate::LoadError;

/// Rows that a query must be able to return: more than any of Weir's own or of a load has.
const ROWS_MIN: u64 = 10_000;

/// Variables of a session, as the server has them.
#[derive(Debug, Default)]
struct SessionVariables {
    autocommit: String,
    sql_mode: String,
    completion_type: String,
}

/// Refuses a session in which Weir's own statements do not do what they say.
pub(crate) fn check_control(control: &mut Connection) -> Result<(), LoadError> {
    read(control).map(drop)
}

/// Refuses a session in which a script's statements would do something else.
pub(super) fn check_script(script: &Script, control: &mut Connection) -> Result<(), LoadError> {
    let found = read(control)?;
    let has_mode = |mode: &str| {
        let mut modes = found.sql_mode.split(',');
        modes.any(|found| found.eq_ignore_ascii_case(mode))
    };
    let begins = |sql: String| StatementText::read(&sql).first_words() == ["BEGIN"];
    let mut texts = script.statements.iter().map(|statement| statement.sql(0));
    if has_mode("ORACLE") && texts.any(begins) {
        return Err(refused(
            "sql_mode",
            found.sql_mode,
            "in the mode ORACLE, BEGIN opens no transaction; take it away for this account or server",
        ));
    }
    let mut texts = script.statements.iter().map(|statement| statement.sql(0));
    if has_mode("NO_AUTO_VALUE_ON_ZERO") && texts.any(|sql| sql.contains(" VALUES (0, ")) {
        return Err(refused(
            "sql_mode",
            found.sql_mode,
            "with NO_AUTO_VALUE_ON_ZERO, key 0 is no next key; take it away, or use --auto_inc=off",
        ));
    }
    let commits_itself = script.transactions.iter().any(|t| !t.is_explicit);
    let writes = texts_that_write(script) || script.is_bulk();
    if matches!(found.autocommit.as_str(), "0" | "OFF") && commits_itself && writes {
        return Err(refused(
            "autocommit",
            found.autocommit,
            "statements outside of transactions would never be committed; set it to 1, also in init_connect",
        ));
    }
    Ok(())
}

/// Returns true if a statement of a script changes rows.
fn texts_that_write(script: &Script) -> bool {
    const VERBS: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "REPLACE"];
    let mut statements = script.statements.iter();
    statements.any(|statement| {
        let words = StatementText::read(&statement.sql(0)).first_words();
        let verb = words.first().map(String::as_str);
        verb.is_some_and(|verb| VERBS.contains(&verb))
    })
}

fn read(control: &mut Connection) -> Result<SessionVariables, LoadError> {
    let query = "SELECT @@SESSION.sql_select_limit, @@SESSION.autocommit, @@SESSION.sql_mode, \
                 @@SESSION.completion_type";
    // With a limit of 0 there is no row.
    let row: Option<(u64, String, String, String)> = control.first(query)?;
    let (limit, autocommit, sql_mode, completion_type) = row.unwrap_or_default();
    if limit < ROWS_MIN {
        return Err(refused(
            "sql_select_limit",
            limit.to_string(),
            "queries lose rows; set it to 18446744073709551615, its default",
        ));
    }
    let found = SessionVariables {
        autocommit,
        sql_mode,
        completion_type,
    };
    if found.completion_type.eq_ignore_ascii_case("RELEASE") || found.completion_type == "2" {
        return Err(refused(
            "completion_type",
            found.completion_type,
            "the server closes a connection after each COMMIT; set it to NO_CHAIN, its default",
        ));
    }
    Ok(found)
}

fn refused(setting: &'static str, value: String, why: &'static str) -> LoadError {
    LoadError::Setting {
        setting,
        value,
        why,
    }
}
