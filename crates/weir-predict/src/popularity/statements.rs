//! Pages that the transactions of a workload file ask for: by its statements, tables and distributions of keys.
//!
//! **Not validated by runs.** A statement asks for the leaves that its first condition finds: by the primary key, by the
//! first column of a secondary index, or at the end of the table for new rows. Joins, tables that grow and what optimizers
//! choose otherwise are left out. Leaves hold as many rows as their bytes let them.

mod table_pages;

use std::collections::BTreeMap;

use weir_model::Flavor;
use weir_mysql::NameCase;
use weir_workload::{
    Execution, Generator, Keys, MarkUse, Parameter, Purpose, Script, Step, Table, mark_uses,
};

use super::Popularity;
use super::workload::{BESIDE_LEAF, UndoLogs};
use crate::PredictError;
use table_pages::{IndexPages, TablePages};

/// Rows that a range has whose width is not known.
const RANGE_ROWS: f64 = 100.0;

/// The popularity of the pages that a workload file's transactions ask for, on a server that compares names of tables as
/// `case`.
///
/// # Errors
///
/// A statement that no index serves: it reads whole tables.
pub fn file_popularity(
    script: &Script,
    tables: &[Table],
    flavor: Flavor,
    case: NameCase,
) -> Result<Popularity, PredictError> {
    let mut pages = FilePages::new(tables, case);
    let weights: f64 = script
        .transactions
        .iter()
        .map(|kind| f64::from(kind.weight))
        .sum();
    let mut changes = false;
    for kind in &script.transactions {
        let share = f64::from(kind.weight) / weights;
        let drawn: BTreeMap<usize, &Generator> = kind.steps.iter().flat_map(draws).collect();
        for step in &kind.steps {
            if let Step::Execute(execution) = step {
                let statement = &script.statements[execution.statement];
                let asked =
                    ConditionedStatement::parse(&statement.sql(0), &statement.parameters, &drawn);
                changes |= asked.ask(&statement.name, share, &mut pages)?;
            }
        }
    }
    let mut groups = Vec::new();
    let mut upper_pages = 0.0;
    for table in pages.tables.into_values() {
        let (found, upper) = table.groups();
        groups.extend(found);
        upper_pages += upper;
    }
    if changes {
        groups.push(UndoLogs::for_flavor(flavor).group());
    }
    Ok(Popularity::new(groups).with_upper_pages(upper_pages))
}

fn draws(step: &Step) -> Vec<(usize, &Generator)> {
    match step {
        Step::Execute(Execution { draws, .. }) => draws
            .iter()
            .map(|(slot, generator)| (*slot, generator))
            .collect(),
        Step::Bulk => Vec::new(),
    }
}

/// Verb of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Read,
    Update,
    Delete,
    Insert,
    Other,
}

/// The tables of a file, by their names.
struct FilePages {
    case: NameCase,
    tables: BTreeMap<String, TablePages>,
}

impl FilePages {
    fn new(tables: &[Table], case: NameCase) -> Self {
        let pages = |table: &Table| (case.fold(&table.name).into_owned(), TablePages::new(table));
        Self {
            case,
            tables: tables.iter().map(pages).collect(),
        }
    }

    fn get(&self, name: &str) -> Option<&TablePages> {
        self.tables.get(&*self.case.fold(name))
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut TablePages> {
        self.tables.get_mut(&*self.case.fold(name))
    }
}

/// A statement with its conditions.
struct ConditionedStatement<'a> {
    verb: Verb,
    sql: String,
    uses: Vec<MarkUse>,
    generators: Vec<Option<&'a Generator>>,
}

impl<'a> ConditionedStatement<'a> {
    fn parse(
        sql: &str,
        parameters: &'a [Parameter],
        drawn: &BTreeMap<usize, &'a Generator>,
    ) -> Self {
        let first = weir_mysql::StatementText::read(sql).first_words();
        let verb = match first.first().map_or("", String::as_str) {
            "SELECT" => Verb::Read,
            "UPDATE" => Verb::Update,
            "DELETE" => Verb::Delete,
            "INSERT" | "REPLACE" => Verb::Insert,
            _ => Verb::Other,
        };
        let generators = parameters.iter().map(|parameter| match parameter {
            Parameter::Draw(generator) => Some(generator),
            Parameter::Slot(slot, _) | Parameter::SlotPlus(slot, _) => drawn.get(slot).copied(),
        });
        Self {
            verb,
            uses: mark_uses(sql),
            generators: generators.collect(),
            sql: sql.to_owned(),
        }
    }

    /// Notes the pages; whether it changes any.
    fn ask(&self, name: &str, share: f64, pages: &mut FilePages) -> Result<bool, PredictError> {
        if self.verb == Verb::Other {
            return Ok(false);
        }
        let tables = weir_workload::tables_of(&self.sql);
        let Some(first) = tables.first() else {
            return Ok(false);
        };
        let outside = |why: &'static str| PredictError::Outside {
            what: "statement",
            value: name.to_owned(),
            why,
            remedy: "give a drive trace of a run with a tiny pool",
        };
        let is_in_file = |table: &String| pages.get(table).is_some();
        if !tables.iter().any(is_in_file) {
            return Err(outside("its table is not in the file"));
        }
        if self.verb == Verb::Insert {
            let table = pages
                .get_mut(first)
                .ok_or_else(|| outside("its table is not in the file"))?;
            table.insert(share, self.inserts_at_the_end());
            return Ok(true);
        }
        let (table, index, rows, keys) = self
            .path(pages)
            .ok_or_else(|| outside("no index of the file serves it"))?;
        let table = pages
            .get_mut(&table)
            .ok_or_else(|| outside("its table is not in the file"))?;
        let is_change = matches!(self.verb, Verb::Update | Verb::Delete);
        table.look_up(share, index, rows, keys.as_ref(), is_change);
        if is_change {
            table.change_indexes(share * rows, self.verb == Verb::Delete, &self.assigned());
        }
        Ok(is_change)
    }

    /// Returns true if new rows get ascending keys: they name none, or one of a sequence.
    fn inserts_at_the_end(&self) -> bool {
        !self
            .generators
            .iter()
            .flatten()
            .any(|generator| matches!(generator, Generator::Unique(_) | Generator::Key(_)))
    }

    fn assigned(&self) -> Vec<String> {
        let words = self.uses.iter().filter_map(|found| found.column.as_ref());
        words
            .filter(|(_, purpose)| *purpose == Purpose::Assigned)
            .map(|(column, _)| column.clone())
            .collect()
    }

    /// The table and index of the first condition that has one, with the rows that it finds.
    fn path(&self, pages: &FilePages) -> Option<(String, Option<usize>, f64, Option<Keys>)> {
        let named = weir_workload::tables_of(&self.sql);
        for (position, found) in self.uses.iter().enumerate() {
            let Some((column, purpose)) = &found.column else {
                continue;
            };
            if !matches!(purpose, Purpose::Equal | Purpose::Bound) {
                continue;
            }
            let table = found.table.clone().or_else(|| named.first().cloned())?;
            let Some(facts) = pages.get(&table) else {
                continue;
            };
            let Some(index) = facts.index_of(column) else {
                continue;
            };
            let keys = self
                .generators
                .get(position)
                .copied()
                .flatten()
                .and_then(keys_of);
            let in_range = (*purpose == Purpose::Bound).then(|| self.range_rows());
            let rows = in_range.unwrap_or_else(|| facts.rows_of_value(index, column));
            return Some((table, index, rows, keys));
        }
        None
    }

    /// Rows of `BETWEEN ? AND (? + 99)`.
    fn range_rows(&self) -> f64 {
        let plus = self
            .sql
            .split("(? + ")
            .nth(1)
            .and_then(|rest| rest.split(')').next());
        let width = plus.and_then(|number| number.trim().parse::<f64>().ok());
        let limit = self.sql.to_ascii_uppercase();
        let limit = limit
            .rsplit("LIMIT ")
            .next()
            .and_then(|number| number.trim().parse::<f64>().ok());
        width.map_or(limit.unwrap_or(RANGE_ROWS), |width| width + 1.0)
    }
}

fn keys_of(generator: &Generator) -> Option<Keys> {
    match generator {
        Generator::Key(keys) | Generator::Integer { keys, .. } => Some(keys.clone()),
        Generator::Code(_, of) => keys_of(of),
        _ => None,
    }
}

/// Leaves that a search asks for.
fn lookup(index: &IndexPages) -> f64 {
    1.0 + BESIDE_LEAF / index.entries_per_leaf
}

#[cfg(test)]
mod tests {
    use weir_model::{Distribution, FileWorkload, WorkloadSpec};
    use weir_workload::{ScriptInputs, TableOptions, Workload};

    use super::*;

    const INPUTS: ScriptInputs = ScriptInputs {
        tables: 1,
        rows: 1,
        connections: 1,
        seed: 1,
        auto_increment: true,
    };

    fn popularity_on(case: NameCase, text: &str) -> Result<Popularity, PredictError> {
        let spec = WorkloadSpec::File(FileWorkload {
            path: "x.toml".into(),
            text: text.into(),
            distribution: Distribution::default(),
        });
        let workload = Workload::try_from(&spec).unwrap();
        let script = workload.script(&INPUTS).unwrap();
        let tables = workload.tables(&TableOptions::default()).unwrap();
        file_popularity(&script, &tables, Flavor::Mysql, case)
    }

    const TABLE: &str = "[tables.t]\nrows = 100000\ncreate = \"CREATE TABLE t (id INT PRIMARY KEY, a INT, b CHAR(150))\"\n\
        columns = { id = \"row\", a = { integer = [1, 50000] }, b = { letters = [150, 150] } }\nindexes = [\"INDEX a (a)\"]\n";

    fn popularity_of_statement(statement: &str) -> Result<Popularity, PredictError> {
        let text = format!("{TABLE}[[transactions]]\nname = \"x\"\nstatements = [{statement}]");
        popularity_on(NameCase::Exact, &text)
    }

    #[test]
    fn a_file_asks_for_the_pages_of_its_statements() {
        let by_key = popularity_of_statement("{ sql = \"SELECT b FROM t WHERE id = ?\", values = [{ key = { table = \"t\", distribution = \"uniform\" } }] }").unwrap();
        assert!((1.0..1.1).contains(&by_key.references()), "{by_key:?}");
        // 176 bytes of a row: about 86 to a leaf.
        assert!(
            (1_050.0..1_450.0).contains(&by_key.pages()),
            "{}",
            by_key.pages()
        );
        assert!(by_key.changes().abs() < 1e-9);
        let hot = popularity_of_statement("{ sql = \"SELECT b FROM t WHERE id = ?\", values = [{ key = { table = \"t\", distribution = \"zipfian\", exponent = 1.2 } }] }").unwrap();
        let most = |found: &Popularity| {
            found
                .groups()
                .iter()
                .map(|group| group.rate)
                .fold(0.0, f64::max)
        };
        assert!(most(&hot) > 100.0 * most(&by_key));
        let scattered = popularity_of_statement("{ sql = \"SELECT b FROM t WHERE id = ?\", values = [{ key = { table = \"t\", distribution = \"zipfian\", exponent = 1.2, order = \"scattered\" } }] }").unwrap();
        assert!(
            most(&scattered) < most(&hot)
                && (scattered.references() - hot.references()).abs() < 0.01
        );
        // Two rows of each value, wherever they are.
        let by_index = popularity_of_statement(
            "{ sql = \"SELECT b FROM t WHERE a = ?\", values = [{ integer = [1, 50000] }] }",
        )
        .unwrap();
        assert!(
            (3.0..3.5).contains(&by_index.references()),
            "{}",
            by_index.references()
        );
        let update = popularity_of_statement("{ sql = \"UPDATE t SET a = ? WHERE id = ?\", values = [{ integer = [1, 9] }, { key = { table = \"t\", distribution = \"uniform\" } }] }").unwrap();
        assert!(update.changes() > 3.0, "{}", update.changes());
        let insert = popularity_of_statement("{ sql = \"INSERT INTO t (a, b) VALUES (?, ?)\", values = [{ integer = [1, 9] }, { letters = [1, 9] }] }").unwrap();
        assert!(insert.changes() > 2.0, "{}", insert.changes());
    }

    #[test]
    fn a_statement_without_an_index_is_refused() {
        let refused = popularity_of_statement(
            "{ sql = \"SELECT id FROM t WHERE b = ?\", values = [{ letters = [1, 9] }] }",
        )
        .unwrap_err();
        assert!(refused.to_string().contains("no index"), "{refused}");
    }

    #[test]
    fn names_of_tables_are_compared_as_the_server_does() {
        let second = TABLE.replace("[tables.t]", "[tables.T]");
        let second = second
            .replace("TABLE t ", "TABLE T ")
            .replace("100000", "1000");
        let read = |table: &str| {
            let values = "values = [{ key = { table = \"t\", distribution = \"uniform\" } }]";
            format!(
                "[[transactions]]\nname = \"{table}\"\nstatements = [{{ sql = \"SELECT b FROM {table} WHERE id = ?\", {values} }}]\n"
            )
        };
        let both = format!("{TABLE}{second}{}{}", read("t"), read("T"));
        let pages = |text: &str| popularity_on(NameCase::Exact, text).unwrap().pages();
        // Each has pages of its own.
        assert!(pages(&both) > pages(&format!("{TABLE}{}", read("t"))));
        let other = format!("{TABLE}{}", read("T"));
        assert!(popularity_on(NameCase::Folded, &other).is_ok());
        let refused = popularity_on(NameCase::Exact, &other).unwrap_err();
        assert!(refused.to_string().contains("not in the file"), "{refused}");
    }
}
