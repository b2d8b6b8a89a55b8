//! Triggers of tables: a script's changes fire them once more.

use std::collections::BTreeSet;

use weir_mysql::{Connection, identifier, sql_words, text_literal};

use crate::{FlashbackError, FlashbackPlan, Table, TableName};

/// `ER_OPTION_PREVENTS_STATEMENT`, of `SHOW GRANTS` with `--skip-grant-tables`.
const NO_GRANT_TABLES: u16 = 1290;

/// A trigger, as its definition says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trigger {
    name: TableName,
    table: TableName,
    timing: String,
    event: String,
    body: String,
    sql_mode: String,
}

/// Schema, name, timing, event, body, mode.
type TriggerRow = (String, String, String, String, String, String);

impl Trigger {
    /// The triggers of a table, in the order in which they fire.
    fn read(connection: &mut Connection, table: &TableName) -> Result<Vec<Self>, FlashbackError> {
        let query = format!(
            "SELECT TRIGGER_SCHEMA, TRIGGER_NAME, ACTION_TIMING, EVENT_MANIPULATION, ACTION_STATEMENT, SQL_MODE \
             FROM information_schema.TRIGGERS WHERE {} ORDER BY ACTION_TIMING, EVENT_MANIPULATION, ACTION_ORDER",
            table.condition("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE")
        );
        let found: Vec<TriggerRow> = connection.rows(query)?;
        let triggers = found.into_iter();
        Ok(triggers
            .map(|(schema, name, timing, event, body, sql_mode)| Self {
                name: TableName {
                    schema,
                    table: name,
                },
                table: table.clone(),
                timing,
                event,
                body,
                sql_mode,
            })
            .collect())
    }

    /// Statements that make it, without its definer.
    pub(crate) fn statements(&self) -> [String; 2] {
        [
            format!("SET SESSION sql_mode = {}", text_literal(&self.sql_mode)),
            format!(
                "CREATE TRIGGER {} {} {} ON {} FOR EACH ROW {}",
                self.name.sql(),
                self.timing,
                self.event,
                self.table.sql(),
                self.body
            ),
        ]
    }

    /// Names in its text that may be tables.
    fn mentions(&self) -> impl Iterator<Item = TableName> {
        let words = sql_words(&self.body);
        let names = (0..words.len()).filter_map(|at| {
            let qualifier = match at {
                2.. if words[at - 1].is_sign('.') => words[at - 2].name(),
                _ => None,
            };
            Some(TableName {
                schema: qualifier.unwrap_or_else(|| self.name.schema.clone()),
                table: words[at].name()?,
            })
        });
        names.collect::<BTreeSet<_>>().into_iter()
    }
}

/// The triggers of tables whose changes are taken back.
#[derive(Debug, Clone, Default)]
pub struct Triggers {
    pub(crate) all: Vec<Trigger>,
    pub(crate) may_fire: bool,
}

impl Triggers {
    /// Reads them. `may_fire`: the user knows that the script fires them.
    ///
    /// # Errors
    ///
    /// Triggers that may not fire, and an account that does not see whether there are any.
    pub fn read(prepared: &FlashbackPlan, may_fire: bool) -> Result<Self, FlashbackError> {
        let mut connection = prepared.source().open()?;
        let all = read_all(&mut connection, &prepared.tables, may_fire)?;
        Ok(Self { all, may_fire })
    }
}

fn read_all(
    connection: &mut Connection,
    tables: &[Table],
    may_fire: bool,
) -> Result<Vec<Trigger>, FlashbackError> {
    let mut all = Vec::new();
    for table in tables {
        let found = Trigger::read(connection, &table.name)?;
        if let Some(first) = found.first().filter(|_| !may_fire) {
            return Err(FlashbackError::refused(
                format!(
                    "{} has triggers ({}), which would fire again when the script changes its rows",
                    table.name, first.name.table
                ),
                "drop them for the time of the undo, or pass --with-triggers to let them fire",
            ));
        }
        if found.is_empty() && !sees_triggers(connection, &table.name)? {
            return Err(FlashbackError::refused(
                format!(
                    "it is not known whether {} has triggers (the account may not see them)",
                    table.name
                ),
                "GRANT TRIGGER on it to the account",
            ));
        }
        all.extend(found);
    }
    Ok(all)
}

/// The account sees the triggers of the table, if it has some.
fn sees_triggers(connection: &mut Connection, table: &TableName) -> Result<bool, FlashbackError> {
    let grants: Vec<String> = match connection.rows("SHOW GRANTS") {
        // A server that checks no grants hides nothing.
        Err(error) if error.code() == Some(NO_GRANT_TABLES) => return Ok(true),
        other => other?,
    };
    Ok(grants.iter().any(|grant| is_trigger_grant(grant, table)))
}

fn is_trigger_grant(grant: &str, table: &TableName) -> bool {
    let Some((privileges, rest)) = grant
        .strip_prefix("GRANT ")
        .and_then(|rest| rest.split_once(" ON "))
    else {
        return false;
    };
    let mut privileges = privileges.split(", ");
    if !privileges.any(|one| ["TRIGGER", "ALL PRIVILEGES"].contains(&one)) {
        return false;
    }
    let object = rest.split(" TO ").next().unwrap_or_default();
    let schema = identifier(&table.schema);
    // The name of a schema is a pattern here.
    let pattern = schema.replace('_', "\\_");
    [
        "*.*".to_owned(),
        format!("{schema}.*"),
        format!("{pattern}.*"),
        table.sql(),
    ]
    .iter()
    .any(|wanted| wanted == object)
}

/// Tables that triggers name, without these.
pub(crate) fn mentioned_tables(
    connection: &mut Connection,
    triggers: &[Trigger],
    known: &[Table],
) -> Result<Vec<TableName>, FlashbackError> {
    let names: BTreeSet<_> = triggers.iter().flat_map(Trigger::mentions).collect();
    let mut found = Vec::new();
    for name in names {
        let query = format!(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE {} AND TABLE_TYPE = 'BASE TABLE' AND \
             ENGINE = 'InnoDB'",
            name.condition("TABLE_SCHEMA", "TABLE_NAME")
        );
        let there: Option<String> = connection.first(query)?;
        if there.is_some() && !known.iter().any(|table| table.name == name) {
            found.push(name);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_show_whether_triggers_are_seen() {
        let table = TableName::read("my_shop.orders", "");
        for (grant, sees) in [
            (
                "GRANT ALL PRIVILEGES ON *.* TO `a`@`b` WITH GRANT OPTION",
                true,
            ),
            ("GRANT SELECT, TRIGGER ON `my_shop`.* TO `a`@`b`", true),
            ("GRANT SELECT, TRIGGER ON `my\\_shop`.* TO `a`@`b`", true),
            ("GRANT TRIGGER ON `my_shop`.`orders` TO `a`@`b`", true),
            ("GRANT TRIGGER ON `my_shop`.`items` TO `a`@`b`", false),
            ("GRANT SELECT ON *.* TO `a`@`b`", false),
            ("GRANT TRIGGER ON `shop`.* TO `a`@`b`", false),
            ("GRANT `role` TO `a`@`b`", false),
        ] {
            assert_eq!(is_trigger_grant(grant, &table), sees, "{grant}");
        }
    }
}
