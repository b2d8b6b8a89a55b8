//! Effects of a statement in the log on a table whose rows are followed.

use weir_mysql::binlog::QueryEvent;
use weir_mysql::{NameCase, SqlWord, sql_words};

use crate::TableName;

/// Statements that control transactions or sessions; they name no table.
const CONTROL: [&str; 10] = [
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "XA",
    "SET",
    "FLUSH",
    "GRANT",
    "REVOKE",
];
/// Statements that keep all rows as they are.
const KEEPS_ROWS: [&str; 5] = ["ANALYZE", "OPTIMIZE", "CHECK", "REPAIR", "LOCK"];
/// Words that may stand between `CREATE` and what is made.
const OTHER_OBJECTS: [&str; 9] = [
    "INDEX",
    "VIEW",
    "TRIGGER",
    "PROCEDURE",
    "FUNCTION",
    "EVENT",
    "USER",
    "ROLE",
    "SEQUENCE",
];
/// Clauses of `ALTER TABLE` after which the rows of a log still fit: the words that they begin with.
const HARMLESS: [&[&str]; 28] = [
    &["ADD", "INDEX"],
    &["ADD", "KEY"],
    &["ADD", "UNIQUE"],
    &["ADD", "FULLTEXT"],
    &["ADD", "SPATIAL"],
    &["ADD", "CONSTRAINT"],
    &["ADD", "CHECK"],
    &["ADD", "FOREIGN"],
    &["ADD", "PARTITION"],
    &["DROP", "INDEX"],
    &["DROP", "KEY"],
    &["DROP", "CONSTRAINT"],
    &["DROP", "CHECK"],
    &["DROP", "FOREIGN"],
    &["RENAME", "INDEX"],
    &["RENAME", "KEY"],
    &["ALTER"],
    &["COMMENT"],
    &["ALGORITHM"],
    &["LOCK"],
    &["AUTO_INCREMENT"],
    &["FORCE"],
    &["ENGINE"],
    &["STATS_PERSISTENT"],
    &["STATS_AUTO_RECALC"],
    &["STATS_SAMPLE_PAGES"],
    &["ENABLE"],
    &["DISABLE"],
];

/// Effect of a statement on the rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Concern {
    /// Nothing.
    None,
    /// It added these columns at the table's end.
    Added(Vec<String>),
    /// Rows changed without being in the log, or do not fit any more; why.
    Unknown(&'static str),
}

/// Returns the effect of the statement of `query` on `table`.
pub(crate) fn concern(query: &QueryEvent<'_>, table: &TableName, case: NameCase) -> Concern {
    let words = sql_words(&query.statement);
    let Some(first) = words.first() else {
        return Concern::None;
    };
    if first.is_any(&CONTROL) {
        return Concern::None;
    }
    if first.is_any(&["DROP", "ALTER", "CREATE"])
        && words
            .get(1)
            .is_some_and(|word| word.is_any(&["DATABASE", "SCHEMA"]))
    {
        let is_ours = words.iter().any(|word| {
            word.name()
                .is_some_and(|name| case.is_same(&name, &table.schema))
        });
        return if first.is("DROP") && is_ours {
            Concern::Unknown("dropped the schema")
        } else {
            Concern::None
        };
    }
    if is_of_temporary_table(&query.statement, &words) {
        return Concern::None;
    }
    let mentions = mentions(&words, &query.schema, table, case);
    if mentions.is_empty() {
        return Concern::None;
    }
    of_verb(&words, &mentions)
}

/// Numbers of the words that name the table.
fn mentions(words: &[SqlWord<'_>], schema: &str, table: &TableName, case: NameCase) -> Vec<usize> {
    let is_named = |at: usize| {
        let Some(name) = words[at].name() else {
            return false;
        };
        if !case.is_same(&name, &table.table) {
            return false;
        }
        let qualifier = match at {
            2.. if words[at - 1].is_sign('.') => words[at - 2].name(),
            _ => None,
        };
        let schema = qualifier.unwrap_or_else(|| schema.to_owned());
        case.is_same(&schema, &table.schema)
    };
    (0..words.len()).filter(|at| is_named(*at)).collect()
}

/// Returns true if the statement makes or drops temporary tables, which hide tables of the same name and change none.
fn is_of_temporary_table(statement: &str, words: &[SqlWord<'_>]) -> bool {
    // Servers write `DROP /*!40005 TEMPORARY */ TABLE` when a session ends.
    let is_temporary = |word: &SqlWord<'_>| {
        let text = &statement[word.start..word.end];
        let inner = text
            .strip_prefix("/*!")
            .and_then(|rest| rest.strip_suffix("*/"));
        let inner = inner.map(|inner| {
            inner
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .trim()
        });
        word.is("TEMPORARY") || inner == Some("TEMPORARY")
    };
    let verb = words
        .first()
        .is_some_and(|word| word.is_any(&["CREATE", "DROP"]));
    let before_object = words.iter().skip(1).take(3);
    let mut before_object = before_object.take_while(|word| !word.is_any(&["TABLE", "TABLES"]));
    verb && before_object.any(is_temporary)
}

fn of_verb(words: &[SqlWord<'_>], mentions: &[usize]) -> Concern {
    let first = words[0];
    // The first name after the verb's own words is what the statement is about.
    let target = |keywords: &[&str]| {
        let at = (1..words.len()).find(|at| !words[*at].is_any(keywords))?;
        let is_qualified = words.get(at + 1).is_some_and(|word| word.is_sign('.'));
        Some(if is_qualified { at + 2 } else { at })
    };
    let is_target = |keywords: &[&str]| target(keywords).is_some_and(|at| mentions.contains(&at));
    if first.is_any(&KEEPS_ROWS) {
        return Concern::None;
    }
    if first.is("ALTER") {
        let keywords = ["ONLINE", "IGNORE", "TABLE", "IF", "EXISTS"];
        return match target(&keywords) {
            Some(at) if mentions.contains(&at) => of_alter(&words[at + 1..]),
            _ if words
                .iter()
                .any(|word| word.is_any(&["EXCHANGE", "RENAME"])) =>
            {
                Concern::Unknown("exchanged or renamed the table")
            }
            _ => Concern::None,
        };
    }
    if first.is_any(&["CREATE", "DROP"]) {
        let object = words.iter().skip(1).take(6);
        if object
            .take_while(|word| !word.is_any(&["TABLE", "TABLES"]))
            .any(|word| word.is_any(&OTHER_OBJECTS))
        {
            return Concern::None;
        }
        if first.is("DROP") {
            return Concern::Unknown("dropped the table");
        }
        let keywords = ["OR", "REPLACE", "TEMPORARY", "TABLE", "IF", "NOT", "EXISTS"];
        return if is_target(&keywords) {
            Concern::Unknown("made the table")
        } else {
            Concern::None
        };
    }
    if first.is_any(&["INSERT", "REPLACE"]) {
        let keywords = ["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO"];
        return if is_target(&keywords) {
            Concern::Unknown("changed rows that the log has only as a statement")
        } else {
            Concern::None
        };
    }
    if first.is("TRUNCATE") {
        return Concern::Unknown("emptied the table");
    }
    if first.is("RENAME") {
        return Concern::Unknown("renamed the table");
    }
    Concern::Unknown("may have changed rows that the log has only as a statement")
}

/// The clauses of an `ALTER TABLE`, after the table's name.
fn of_alter(words: &[SqlWord<'_>]) -> Concern {
    let mut added = Vec::new();
    for clause in clauses(words) {
        let begins = |keywords: &[&str]| {
            clause.len() >= keywords.len()
                && keywords.iter().zip(clause).all(|(key, word)| word.is(key))
        };
        if clause.is_empty() || HARMLESS.iter().any(|keywords| begins(keywords)) {
            continue;
        }
        match added_column(clause) {
            Some(name) => added.push(name),
            None => return Concern::Unknown("changed the table's definition"),
        }
    }
    if added.is_empty() {
        Concern::None
    } else {
        Concern::Added(added)
    }
}

/// The name of a column that a clause adds at the end.
fn added_column(clause: &[SqlWord<'_>]) -> Option<String> {
    let (first, mut rest) = clause.split_first()?;
    while let Some((word, after)) = rest.split_first() {
        if !word.is_any(&["COLUMN", "IF", "NOT", "EXISTS"]) {
            break;
        }
        rest = after;
    }
    let is_moved = rest.iter().any(|word| word.is_any(&["FIRST", "AFTER"]));
    let is_key = rest
        .windows(2)
        .any(|pair| pair[0].is_any(&["PRIMARY", "UNIQUE"]) || pair[1].is("KEY"));
    let name = rest.first()?;
    let is_name = name.name().is_some() && !name.is_any(&["PRIMARY", "PERIOD", "SYSTEM"]);
    (first.is("ADD") && is_name && !is_moved && !is_key)
        .then(|| name.name())
        .flatten()
}

/// Parts between commas that stand in no parentheses.
fn clauses<'a, 'b>(words: &'a [SqlWord<'b>]) -> Vec<&'a [SqlWord<'b>]> {
    let (mut depth, mut start, mut found) = (0_i32, 0, Vec::new());
    for (at, word) in words.iter().enumerate() {
        if word.is_sign('(') {
            depth += 1;
        } else if word.is_sign(')') {
            depth -= 1;
        } else if word.is_sign(',') && depth == 0 {
            found.push(&words[start..at]);
            start = at + 1;
        }
    }
    found.push(&words[start..]);
    found
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn orders(statement: &str) -> Concern {
        let query = QueryEvent {
            connection: 1,
            schema: Cow::Borrowed("shop"),
            statement: Cow::Borrowed(statement),
        };
        let table = TableName {
            schema: "shop".to_owned(),
            table: "orders".to_owned(),
        };
        concern(&query, &table, NameCase::Exact)
    }

    #[test]
    fn what_does_not_touch_the_rows_is_nothing() {
        for statement in [
            "BEGIN",
            "COMMIT",
            "CREATE INDEX i ON orders (status)",
            "DROP INDEX i ON shop.orders",
            "ALTER TABLE orders ADD INDEX i (a, b), DROP KEY j",
            "ALTER TABLE `orders` COMMENT = 'x'",
            "ALTER TABLE orders ENGINE=InnoDB",
            "CREATE TABLE other LIKE orders",
            "ALTER TABLE items ADD FOREIGN KEY (o) REFERENCES orders (id)",
            "CREATE DEFINER=`a`@`b` TRIGGER t BEFORE INSERT ON orders FOR EACH ROW SET @a = 1",
            "INSERT INTO copies SELECT * FROM orders",
            "TRUNCATE TABLE crm.orders",
            "DROP TABLE `order`",
            "DROP DATABASE crm",
            "UPDATE items SET note = 'orders'",
            "DROP TEMPORARY TABLE IF EXISTS `shop`.`orders`",
            "DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `orders`",
            "CREATE TEMPORARY TABLE orders (id INT)",
            "CREATE OR REPLACE TEMPORARY TABLE orders LIKE items",
            "DROP TABLE Orders",
            "TRUNCATE TABLE Shop.orders",
        ] {
            assert_eq!(orders(statement), Concern::None, "{statement}");
        }
    }

    #[test]
    fn columns_at_the_end_are_told_by_name() {
        let added =
            |names: &[&str]| Concern::Added(names.iter().map(|n| (*n).to_owned()).collect());
        assert_eq!(
            orders("ALTER TABLE orders ADD COLUMN note VARCHAR(10), ADD INDEX i (note)"),
            added(&["note"])
        );
        assert_eq!(
            orders("alter table shop.orders add a DECIMAL(10,2) NOT NULL DEFAULT 0, add `b` int"),
            added(&["a", "b"])
        );
    }

    #[test]
    fn what_is_not_in_the_log_is_told() {
        for statement in [
            "TRUNCATE TABLE orders",
            "TRUNCATE orders",
            "DROP TABLE `orders` /* generated by server */",
            "DROP TABLE IF EXISTS a, orders",
            "DROP DATABASE shop",
            "RENAME TABLE orders TO old",
            "ALTER TABLE orders MODIFY id BIGINT",
            "ALTER TABLE orders ADD COLUMN a INT FIRST",
            "ALTER TABLE orders ADD COLUMN a INT AFTER id",
            "ALTER TABLE orders DROP COLUMN a",
            "ALTER TABLE orders DROP PRIMARY KEY",
            "ALTER TABLE orders TRUNCATE PARTITION p0",
            "ALTER TABLE items EXCHANGE PARTITION p WITH TABLE orders",
            "INSERT INTO orders VALUES (1)",
            "REPLACE orders SET id = 1",
            "UPDATE items, shop.orders SET a = 1",
            "DELETE FROM orders",
            "CREATE TABLE orders (id INT)",
        ] {
            assert!(
                matches!(orders(statement), Concern::Unknown(_)),
                "{statement}: {:?}",
                orders(statement)
            );
        }
    }
}
