//! Differences between an existing table and the one that would be made, or between the one that was made and the one
//! that was asked for.

use std::collections::BTreeSet;

use weir_mysql::{Connection, sql_words, text_literal};
use weir_workload::{Table, TableOptions};

use crate::LoadError;

/// Warnings of `CREATE TABLE` by which a server says that it makes another table: `ER_WARN_USING_OTHER_HANDLER`,
/// `ER_UNKNOWN_STORAGE_ENGINE`, `ER_ILLEGAL_HA_CREATE_OPTION` (an option or row format that the engine ignores),
/// `WARN_OPTION_IGNORED`, `ER_AUTO_CONVERT` (a type of column for another).
const MADE_OTHERWISE: [u16; 5] = [1266, 1286, 1478, 1618, 1246];

/// Other names of engines.
const ENGINE_ALIASES: [(&str, &str); 4] = [
    ("innobase", "InnoDB"),
    ("heap", "MEMORY"),
    ("maria", "Aria"),
    ("merge", "MRG_MYISAM"),
];

/// Stage of a table that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It was made, and gets its indexes after its rows.
    Begun,
    /// It has all indexes.
    Complete,
}

impl Stage {
    /// The indexes that a table has at this stage, beside those of its statement.
    fn indexes(self, table: &Table) -> &[String] {
        match self {
            Self::Begun => &[],
            Self::Complete => &table.indexes,
        }
    }
}

/// Returns the difference of the table that the server has just made from the statement; servers only warn of it.
/// Options are those of sysbench's tables.
pub(super) fn made_otherwise(
    table: &Table,
    options: Option<&TableOptions>,
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    let warnings: Vec<(String, u16, String)> = control.rows("SHOW WARNINGS")?;
    let mut warnings = warnings.into_iter();
    if let Some((_, _, words)) = warnings.find(|(_, code, _)| MADE_OTHERWISE.contains(code)) {
        return Ok(Some(format!("was made otherwise than asked for ({words})")));
    }
    // A server may keep no warnings (`max_error_count = 0`).
    other_kind(table, options, control)
}

/// In what the table that is there differs from `table`, for the first thing that does. Options are those of sysbench's
/// tables; a user's own have their statement.
pub(super) fn difference(
    table: &Table,
    options: Option<&TableOptions>,
    stage: Stage,
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    let here = here(table);
    if let Some(other) = other_kind(table, options, control)? {
        return Ok(Some(other));
    }
    let columns: Vec<String> = control.rows(format!(
        "SELECT column_name FROM information_schema.columns WHERE {here} AND extra NOT LIKE '%INVISIBLE%'"
    ))?;
    let has = |name: &str| {
        columns
            .iter()
            .any(|column| column.eq_ignore_ascii_case(name))
    };
    let filled = |column: &str| {
        let mut filled = table.columns.iter();
        filled.any(|wanted| wanted.eq_ignore_ascii_case(column))
    };
    if let Some(missing) = table.columns.iter().find(|column| !has(column)) {
        return Ok(Some(format!("has no column `{missing}`")));
    }
    let Some(options) = options else {
        return Ok(None);
    };
    if let Some(more) = columns.iter().find(|column| !filled(column)) {
        return Ok(Some(format!("has a further column `{more}`")));
    }
    keys(stage.indexes(table), options, &here, control)
}

/// Returns the difference in the number of foreign keys between the table that is there and
/// `table`.
pub(super) fn other_foreign_keys(
    table: &Table,
    stage: Stage,
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    let found = control.first::<usize>(format!(
        "SELECT COUNT(*) FROM information_schema.table_constraints WHERE {} AND constraint_type = 'FOREIGN KEY'",
        here(table)
    ))?;
    let found = found.unwrap_or(0);
    let is_key = |index: &&String| index.starts_with("CONSTRAINT");
    let wanted = stage.indexes(table).iter().filter(is_key).count();
    Ok((found != wanted).then(|| format!("has {found} foreign keys, not {wanted}")))
}

/// The condition that chooses a table in `information_schema`.
fn here(table: &Table) -> String {
    let name = text_literal(&table.name);
    format!("table_schema = DATABASE() AND table_name = {name}")
}

/// Another engine or row format than the table would have.
fn other_kind(
    table: &Table,
    options: Option<&TableOptions>,
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    let (engine, row_format) = control
        .first::<(String, Option<String>)>(format!(
            "SELECT COALESCE(engine, table_type), row_format FROM information_schema.tables WHERE {}",
            here(table)
        ))?
        .unwrap_or_default();
    let wanted = wanted_engine(table, options, control)?;
    if let Some(wanted) = wanted.filter(|wanted| !engine.eq_ignore_ascii_case(wanted)) {
        return Ok(Some(format!("is a table of {engine}, not of {wanted}")));
    }
    options.map_or(Ok(None), |options| {
        other_row_format(options, row_format, control)
    })
}

/// The engine that the table would have: that of the options, of the statement that makes a user's table, or the server's
/// default.
fn wanted_engine(
    table: &Table,
    options: Option<&TableOptions>,
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    let named = options.map(|options| options.engine.clone());
    match named.or_else(|| stated_engine(&table.create)) {
        Some(engine) => Ok(Some(engine)),
        None => Ok(control.first("SELECT @@default_storage_engine")?),
    }
}

/// The engine that a `CREATE TABLE` names after its columns, as the servers call it.
fn stated_engine(create: &str) -> Option<String> {
    let words = sql_words(create);
    let mut depth = 0_usize;
    // Options stand after the columns, outside of all parentheses.
    let mut options = Vec::new();
    let mut has_columns = false;
    for word in &words {
        if word.is_sign('(') {
            depth += 1;
        } else if word.is_sign(')') {
            depth = depth.saturating_sub(1);
            has_columns |= depth == 0;
        } else if depth == 0 && has_columns && !word.is_sign('=') {
            options.push(word);
        }
    }
    let mut pairs = options.windows(2);
    let pair = pairs.find(|pair| pair[0].is("ENGINE"))?;
    let name = pair[1].name();
    let name = name.or_else(|| pair[1].text().map(str::to_owned))?;
    let known = ENGINE_ALIASES.iter();
    let mut known = known.filter(|(alias, _)| alias.eq_ignore_ascii_case(&name));
    Some(known.next().map_or(name, |(_, own)| (*own).to_owned()))
}

/// The row format of tables of InnoDB: the one that is chosen, or the server's default.
fn other_row_format(
    options: &TableOptions,
    found: Option<String>,
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    if !options.engine.eq_ignore_ascii_case("innodb") {
        return Ok(None);
    }
    let (wanted, whose) = match chosen_row_format(&options.table_options) {
        Some(chosen) => (Some(chosen), ""),
        None => (
            control.first::<String>("SELECT @@GLOBAL.innodb_default_row_format")?,
            "the server's ",
        ),
    };
    Ok(match (found, wanted) {
        (Some(found), Some(wanted)) if !found.eq_ignore_ascii_case(&wanted) => Some(format!(
            "has the row format {}, not {whose}{}",
            found.to_lowercase(),
            wanted.to_lowercase()
        )),
        _ => None,
    })
}

/// The row format that options of a table name.
fn chosen_row_format(options: &str) -> Option<String> {
    let options = options.to_ascii_uppercase();
    let (_, rest) = options.split_once("ROW_FORMAT")?;
    let rest = rest.trim_start().trim_start_matches('=').trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
    let format = &rest[..end.unwrap_or(rest.len())];
    (!format.is_empty() && format != "DEFAULT").then(|| format.to_owned())
}

/// The first columns of its indexes against those of sysbench's tables.
fn keys(
    indexes: &[String],
    options: &TableOptions,
    here: &str,
    control: &mut Connection,
) -> Result<Option<String>, LoadError> {
    let found: Vec<String> = control.rows(format!(
        "SELECT CONCAT(IF(index_name = 'PRIMARY', 'the primary key on ', 'an index on '), LOWER(column_name)) \
         FROM information_schema.statistics WHERE {here} AND seq_in_index = 1"
    ))?;
    let found: BTreeSet<_> = found.into_iter().collect();
    let id = if options.secondary_key {
        "an index on id"
    } else {
        "the primary key on id"
    };
    let mut wanted = BTreeSet::from([id.to_owned()]);
    for index in indexes {
        let column = index.split(['(', ')']).nth(1).unwrap_or_default();
        wanted.insert(format!("an index on {column}"));
    }
    let missing = wanted.difference(&found).next();
    let further = found.difference(&wanted).next();
    Ok(match (missing, further) {
        (Some(missing), _) => Some(format!("has not {missing}")),
        (None, Some(further)) => Some(format!("has also {further}")),
        (None, None) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::stated_engine;

    #[test]
    fn the_engine_of_a_statement_is_the_one_after_its_columns() {
        for (create, engine) in [
            ("CREATE TABLE t (a INT) ENGINE=MyISAM", Some("MyISAM")),
            (
                "create table t (a int) comment 'engine = x' engine 'heap'",
                Some("MEMORY"),
            ),
            (
                "CREATE TABLE t (engine INT, b INT DEFAULT (1)) ENGINE = `InnoDB` PARTITION BY HASH (a) PARTITIONS 4",
                Some("InnoDB"),
            ),
            (
                "CREATE TABLE engine (a INT, engine VARCHAR(10)) COMMENT = 'x'",
                None,
            ),
        ] {
            assert_eq!(stated_engine(create).as_deref(), engine, "{create}");
        }
    }
}
