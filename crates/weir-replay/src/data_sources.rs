//! Sources of difference that stand in the data, in no statement: defaults of columns, triggers, routines and views.

mod changes;

use std::collections::HashMap;

use weir_mysql::{
    ClientError, Connection, DifferenceExtent, SqlWord, difference_sources, sql_words, text_literal,
};

use changes::{Change, ChangeEvent, changes};

const NOT_SHOWN: &str = "its text is not shown to this account";

/// Reason that an object of the data gives a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataReason {
    /// A phrase: `trigger audit: uuid() is another value in each call`.
    pub(crate) words: String,
    /// The value can come into a table.
    pub(crate) is_written: bool,
}

/// Objects of a schema whose values can depend on more than the data.
#[derive(Debug, Default)]
pub(crate) struct DataSources {
    objects: Vec<DataObject>,
    /// Their numbers by the name of the table, the routine or the view, in lower case as in a fingerprint.
    numbers: HashMap<String, Vec<usize>>,
    /// Reason that the server did not describe all of them.
    pub(crate) unread: Option<String>,
}

#[derive(Debug)]
struct DataObject {
    label: String,
    role: ObjectRole,
    /// `None`: the account may not read it.
    text: Option<String>,
    /// Meanings of its own sources.
    sources: Vec<String>,
}

/// Role of an object: when a statement makes the server evaluate it. Names are in lower case.
#[derive(Debug)]
enum ObjectRole {
    /// Default of a column.
    Default { column: String },
    /// `ON UPDATE` of a column.
    OnUpdate { column: String },
    /// A trigger.
    Trigger(ChangeEvent),
    /// A function or a procedure.
    Routine,
    /// A view.
    View,
}

/// Reasons in the making.
struct Search<'a> {
    sources: &'a DataSources,
    is_seen: Vec<bool>,
    found: Vec<DataReason>,
}

impl DataSources {
    /// Asks a server for those of a schema, in four statements.
    pub(crate) fn read(connection: &mut Connection, schema: &str) -> Self {
        let mut sources = Self::default();
        let read = sources.read_objects(connection, &text_literal(schema));
        sources.unread = read.err().map(|error| error.to_string());
        sources
    }

    fn read_objects(
        &mut self,
        connection: &mut Connection,
        schema: &str,
    ) -> Result<(), ClientError> {
        let columns: Vec<(String, String, Option<String>, String, String)> =
            connection.rows(format!(
                "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, EXTRA, DATA_TYPE FROM information_schema.COLUMNS \
                 WHERE TABLE_SCHEMA = {schema} AND (COLUMN_DEFAULT LIKE '%(%' OR COLUMN_DEFAULT LIKE 'CURRENT%' \
                 OR EXTRA LIKE '%on update%')"
            ))?;
        for (table, column, default, extra, data_type) in columns {
            self.add_column(&table, &column, (default, &extra, &data_type));
        }
        let triggers: Vec<(String, String, String, String)> = connection.rows(format!(
            "SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME, EVENT_MANIPULATION, ACTION_STATEMENT \
             FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = {schema}"
        ))?;
        for (table, name, event, text) in triggers {
            if let Some(event) = ChangeEvent::parse(&event) {
                let role = ObjectRole::Trigger(event);
                self.add(&table, format!("trigger {name}"), role, Some(text));
            }
        }
        let routines: Vec<(String, Option<String>)> = connection.rows(format!(
            "SELECT ROUTINE_NAME, ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = {schema}"
        ))?;
        for (name, text) in routines {
            self.add(&name, format!("routine {name}"), ObjectRole::Routine, text);
        }
        let views: Vec<(String, Option<String>)> = connection.rows(format!(
            "SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = {schema}"
        ))?;
        for (name, text) in views {
            // A view that is not shown has an empty text.
            let text = text.filter(|text| !text.is_empty());
            self.add(&name, format!("view {name}"), ObjectRole::View, text);
        }
        Ok(())
    }

    /// Adds what the server says of a column: its default, the rest, its type.
    fn add_column(
        &mut self,
        table: &str,
        column: &str,
        (default, extra, data_type): (Option<String>, &str, &str),
    ) {
        let name = column.to_lowercase();
        // MySQL shows a string as its content. Only its expressions and times are computed; MariaDB quotes strings.
        let is_expression = extra.contains("DEFAULT_GENERATED")
            || ["timestamp", "datetime"].contains(&data_type)
            || default.as_deref().is_some_and(|text| text.ends_with(')'));
        if let Some(default) = default.filter(|_| is_expression) {
            let role = ObjectRole::Default {
                column: name.clone(),
            };
            let label = format!("default of {table}.{column}");
            self.add(table, label, role, Some(format!("SELECT {default}")));
        }
        let extra = extra.to_lowercase();
        if let Some((_, value)) = extra.split_once("on update ") {
            let role = ObjectRole::OnUpdate { column: name };
            let label = format!("on update of {table}.{column}");
            self.add(table, label, role, Some(format!("SELECT {value}")));
        }
    }

    /// Adds an object; `text`: `None` if the account may not read it.
    fn add(&mut self, name: &str, label: String, role: ObjectRole, text: Option<String>) {
        let sources = match &text {
            None => vec![NOT_SHOWN.to_owned()],
            Some(text) => {
                let sources = difference_sources(text.as_bytes()).into_iter();
                let of_outcome = sources.filter(|source| {
                    source.extent == DifferenceExtent::Outcome && !source.is_derived()
                });
                of_outcome.map(|source| source.words()).collect()
            }
        };
        let numbers = self.numbers.entry(name.to_lowercase()).or_default();
        numbers.push(self.objects.len());
        self.objects.push(DataObject {
            label,
            role,
            text,
            sources,
        });
    }

    /// Returns the reasons that objects give a statement, directly or by other objects.
    pub(crate) fn reasons(&self, sql: &str) -> Vec<DataReason> {
        let mut search = Search {
            sources: self,
            is_seen: vec![false; self.objects.len()],
            found: Vec::new(),
        };
        if !self.objects.is_empty() {
            search.look(sql, false);
        }
        search.found
    }
}

impl Search<'_> {
    /// Looks for objects that `sql` uses; `is_written`: its values come into tables.
    fn look(&mut self, sql: &str, is_written: bool) {
        let sources = self.sources;
        let words = sql_words(sql);
        let changes = changes(&words);
        let is_written = is_written || !changes.is_empty();
        for (at, word) in words.iter().enumerate() {
            let name = word.name().map(|name| name.to_lowercase());
            let numbers = name.as_ref().and_then(|name| sources.numbers.get(name));
            for number in numbers.into_iter().flatten().copied() {
                let object = &sources.objects[number];
                let name = name.as_deref().unwrap_or_default();
                if self.is_seen[number] || !object.is_used(name, (&words, at), &changes) {
                    continue;
                }
                self.is_seen[number] = true;
                let is_written = is_written || object.writes();
                let reasons = object.sources.iter().map(|why| DataReason {
                    words: format!("{}: {why}", object.label),
                    is_written,
                });
                self.found.extend(reasons);
                if let Some(text) = &object.text {
                    self.look(text, is_written);
                }
            }
        }
    }
}

impl DataObject {
    /// Returns true if its values come into tables, or can do so, whatever uses it.
    fn writes(&self) -> bool {
        let is_read_only = matches!(self.role, ObjectRole::Routine | ObjectRole::View);
        !is_read_only || self.text.is_none()
    }

    /// Returns true if a statement uses it, of which the word at this place is its name, or that of its table.
    fn is_used(
        &self,
        name: &str,
        (words, at): (&[SqlWord<'_>], usize),
        changes: &[Change],
    ) -> bool {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let mut of_table = changes.iter().filter(|change| change.is_of(name));
        match &self.role {
            ObjectRole::Default { column } => of_table.any(|change| change.takes_default(column)),
            ObjectRole::OnUpdate { column } => {
                of_table.any(|change| change.has(ChangeEvent::Update) && !change.assigns(column))
            }
            ObjectRole::Trigger(event) => of_table.any(|change| change.has(*event)),
            ObjectRole::Routine => {
                words.get(at + 1).is_some_and(|word| word.is_sign('('))
                    || before.is_some_and(|word| word.is("CALL"))
            }
            ObjectRole::View => before.is_some_and(|word| {
                word.is_any(&["FROM", "JOIN", "UPDATE", "INTO"])
                    || [',', '.', '('].iter().any(|sign| word.is_sign(*sign))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema as servers describe it.
    fn sources() -> DataSources {
        let mut sources = DataSources::default();
        let now = || Some("current_timestamp()".to_owned());
        let on_update = "on update current_timestamp()";
        sources.add_column("Orders", "at", (now(), on_update, "timestamp"));
        sources.add_column(
            "orders",
            "note",
            (Some("'now()'".to_owned()), "", "varchar"),
        );
        sources.add_column("texts", "v", (Some("now() or".to_owned()), "", "varchar"));
        let insert = ObjectRole::Trigger(ChangeEvent::Insert);
        let text = "BEGIN SET NEW.k = token(); INSERT INTO log (k) VALUES (1); END";
        sources.add(
            "sold",
            "trigger sell".to_owned(),
            insert,
            Some(text.to_owned()),
        );
        sources.add_column(
            "log",
            "u",
            (Some("uuid()".to_owned()), "DEFAULT_GENERATED", "char"),
        );
        for (name, text) in [
            ("token", Some("RETURN rand()")),
            ("hidden", None),
            ("plain", Some("RETURN 1")),
        ] {
            let label = format!("routine {name}");
            sources.add(name, label, ObjectRole::Routine, text.map(str::to_owned));
        }
        let text = Some("select now() AS `n` from `t`".to_owned());
        sources.add("recent", "view recent".to_owned(), ObjectRole::View, text);
        sources
    }

    #[test]
    fn statements_have_the_reasons_of_the_objects_that_they_use() {
        let (at, on) = ("default of Orders.at", "on update of Orders.at");
        let log = ["trigger sell", "routine token", "default of log.u"];
        let sources = sources();
        for (sql, labels, is_written) in [
            ("insert into orders (a, b) values (?+)", &[at][..], true),
            ("insert ignore into `orders` () values ()", &[at], true),
            ("insert into orders set a = ?", &[at], true),
            ("insert into orders values (?+)", &[], true),
            ("insert into orders values (?, default)", &[at], true),
            ("insert into orders (a, at) values (?+)", &[], true),
            ("insert into orders (select ? from x)", &[], true),
            (
                "replace into shop.orders (a) select a from recent",
                &[at, "view recent"],
                true,
            ),
            (
                "insert into orders values (?+) on duplicate key update a = ?",
                &[on],
                true,
            ),
            ("update orders set a = ? where at < ?", &[on], true),
            ("update orders o join x set o.at = ?", &[], true),
            ("update x, orders set a = ?", &[on], true),
            ("select a from orders for update", &[], false),
            ("insert into x select a from orders", &[], true),
            ("insert into texts (a) values (?)", &[], true),
            ("insert into sold values (?)", &log[1..], true),
            ("load data infile ? into table sold", &log[1..], true),
            ("update sold set a = ?", &[], true),
            ("delete from sold", &[], true),
            ("select token(), plain(), token from t", &log[1..2], false),
            ("set a = token()", &log[1..2], false),
            ("call hidden(?)", &["routine hidden"], true),
            ("select n from recent join x", &["view recent"], false),
            ("select recent from x", &[], false),
        ] {
            let reasons = sources.reasons(sql);
            let found: Vec<_> = reasons
                .iter()
                .map(|reason| reason.words.split_once(": ").unwrap().0)
                .collect();
            assert_eq!(found, labels, "{sql}");
            let all = reasons.iter().all(|reason| reason.is_written == is_written);
            assert!(all, "{sql}: {reasons:?}");
        }
        let reasons = sources.reasons("call hidden(?)");
        assert_eq!(reasons[0].words, format!("routine hidden: {NOT_SHOWN}"));
    }
}
