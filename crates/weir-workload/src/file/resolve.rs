//! From the file to tables and a script.

use std::sync::Arc;

use toml::Spanned;
use weir_model::Distribution;
use weir_mysql::StatementText;

use super::WorkloadFile;
use super::format::{Code, Kind, Source, StatementEntry, TableEntry, TransactionEntry};
use super::keys::{keys, span, unknown};
use crate::generator::Choice;
use crate::script::Transaction;
use crate::table::RowSource;
use crate::{
    Execution, Generator, Lines, Parameter, Pattern, Script, Sequence, Statement, Step, Table,
    Unique, ValueKind,
};

/// Characters of a name, at most.
const NAME_LENGTH_MAX: usize = 64;
/// Longest texts that are generated.
const CODE_LENGTH_MAX: usize = 255;
const LETTERS_MAX: u32 = 65_535;
/// Names that a file need not define.
const KNOWN: [&str; 3] = ["row", "now", "line"];

impl WorkloadFile {
    /// Returns its tables and its script, or the reason that it has none.
    pub(super) fn resolve(&self, seed: u64) -> Result<(Vec<Table>, Script), String> {
        let mut resolver = Resolver {
            workload: self,
            seed,
            lines: None,
            named: Vec::new(),
            statements: Vec::new(),
        };
        resolver.name_values()?;
        let tables = resolver.tables()?;
        let transactions = self.file.transactions.iter();
        let transactions = transactions
            .map(|entry| resolver.transaction(entry))
            .collect::<Result<Vec<_>, _>>()?;
        if transactions.is_empty() {
            return Err("no [[transactions]]; add at least one".to_owned());
        }
        let slots = resolver.named.len();
        let script = Script::new(transactions, resolver.statements, slots);
        Ok((tables, script.map_err(|error| error.to_string())?))
    }

    /// A complaint about what is written at `place`.
    fn at<T>(&self, place: &Spanned<T>, why: &str) -> String {
        let line = 1 + self.spec.text[..place.span().start].matches('\n').count();
        format!("line {line}: {why}")
    }
}

/// Use of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Row,
    Statement,
}

struct Resolver<'a> {
    workload: &'a WorkloadFile,
    seed: u64,
    /// Opened when they are first wanted.
    lines: Option<Arc<Lines>>,
    /// The named values; the position is the slot.
    named: Vec<(&'a str, Generator)>,
    statements: Vec<Statement>,
}

impl<'a> Resolver<'a> {
    fn name_values(&mut self) -> Result<(), String> {
        for (name, source) in &self.workload.file.values {
            if KNOWN.contains(&name.as_str()) {
                let why = format!("value `{name}` has a name of Weir's own; choose another");
                return Err(self.workload.at(source, &why));
            }
            if let Source::Name(other) = source.get_ref() {
                let why = format!("value `{name}` is only another name; use `{other}` itself");
                return Err(self.workload.at(source, &why));
            }
            let generator = self.generator(source, Use::Statement)?;
            self.named.push((name, generator));
        }
        Ok(())
    }

    fn tables(&mut self) -> Result<Vec<Table>, String> {
        let tables: Vec<_> = (1..).zip(&self.workload.file.tables).collect();
        tables
            .into_iter()
            .map(|(number, (name, entry))| self.table(number, name, entry))
            .collect()
    }

    fn table(
        &mut self,
        number: u32,
        name: &str,
        entry: &'a Spanned<TableEntry>,
    ) -> Result<Table, String> {
        if name.is_empty() || name.chars().count() > NAME_LENGTH_MAX {
            let why =
                format!("table `{name}`: servers take names of 1 to {NAME_LENGTH_MAX} characters");
            return Err(self.workload.at(entry, &why));
        }
        let table = entry.get_ref();
        if table.columns.is_empty() || table.rows == 0 || table.rows > i32::MAX as u64 {
            let why = format!("table `{name}` needs columns and 1 to 2147483647 rows");
            return Err(self.workload.at(entry, &why));
        }
        let (columns, generators) = table
            .columns
            .iter()
            .map(|(name, source)| Ok((name.clone(), self.generator(source, Use::Row)?)))
            .collect::<Result<Vec<_>, String>>()?
            .into_iter()
            .unzip();
        Ok(Table {
            name: name.to_owned(),
            number,
            create: table.create.clone(),
            columns,
            filling: RowSource::Drawn(generators),
            rows: table.rows,
            indexes: table.indexes.clone(),
            slices: Vec::new(),
        })
    }

    fn transaction(&mut self, entry: &'a Spanned<TransactionEntry>) -> Result<Transaction, String> {
        let transaction = entry.get_ref();
        if transaction.statements.is_empty() {
            let why = format!(
                "transaction `{}` has no statements; add one",
                transaction.name
            );
            return Err(self.workload.at(entry, &why));
        }
        let mut drawn = vec![false; self.named.len()];
        let first = self.statements.len();
        let steps = transaction
            .statements
            .iter()
            .map(|statement| self.step(&transaction.name, statement, &mut drawn))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Transaction {
            name: transaction.name.clone(),
            weight: transaction.weight,
            steps,
            is_explicit: self.statements[first..]
                .iter()
                .any(Statement::opens_transaction),
        })
    }

    /// A step; values that are named draw before the first statement that wants them.
    fn step(
        &mut self,
        transaction: &str,
        entry: &'a Spanned<StatementEntry>,
        drawn: &mut [bool],
    ) -> Result<Step, String> {
        let StatementEntry { sql, values } = entry.get_ref();
        let text = statement_text(sql).map_err(|why| self.workload.at(entry, &why))?;
        let marks = text.parameters();
        if marks != values.len() {
            let why = format!(
                "the statement has {marks} question marks and {} values; give each its value",
                values.len()
            );
            return Err(self.workload.at(entry, &why));
        }
        let mut draws = Vec::new();
        let mut parameters = Vec::new();
        for source in values {
            let Some(slot) = self.slot(source) else {
                let generator = self.generator(source, Use::Statement)?;
                parameters.push(Parameter::Draw(generator));
                continue;
            };
            let generator = &self.named[slot].1;
            if !std::mem::replace(&mut drawn[slot], true) {
                draws.push((slot, generator.clone()));
            }
            parameters.push(Parameter::Slot(slot, generator.kind()));
        }
        let number = self.statements.len() + 1;
        let name = format!("{transaction}.{number}");
        self.statements
            .push(Statement::on_tables(&name, text.as_str(), 1, parameters));
        Ok(Step::Execute(Execution {
            statement: number - 1,
            new_table: false,
            draws,
        }))
    }

    /// The slot of a value that is named.
    fn slot(&self, source: &Spanned<Source>) -> Option<usize> {
        match source.get_ref() {
            Source::Name(name) => self.named.iter().position(|(named, _)| named == name),
            Source::Here(_) => None,
        }
    }

    fn generator(&mut self, source: &Spanned<Source>, purpose: Use) -> Result<Generator, String> {
        let generator = match source.get_ref() {
            Source::Name(name) => self.by_name(name),
            Source::Here(kind) => self.of_kind(kind),
        }
        .map_err(|why| self.workload.at(source, &why))?;
        let why = match (&generator, purpose) {
            (Generator::Code(_, of), Use::Statement) if matches!(**of, Generator::Row) => {
                "`row` is for the columns of tables; use a key"
            }
            (Generator::Code(_, of), Use::Row) if is_of_run(of) => {
                "a row must be the same whenever it is made; use a code of row or integer"
            }
            (Generator::Row, Use::Statement) => "`row` is for the columns of tables; use a key",
            (Generator::Now | Generator::Sequence(_) | Generator::Unique(_), Use::Row) => {
                "a row must be the same whenever it is made; use row, integer or pattern"
            }
            _ => return Ok(generator),
        };
        Err(self.workload.at(source, why))
    }

    fn by_name(&mut self, name: &str) -> Result<Generator, String> {
        if let Some((_, generator)) = self.named.iter().find(|(named, _)| *named == name) {
            return Ok(generator.clone());
        }
        match name {
            "row" => Ok(Generator::Row),
            "now" => Ok(Generator::Now),
            "line" => self.lines().map(Generator::Line),
            _ => {
                let named = self.named.iter().map(|(name, _)| *name);
                Err(unknown(
                    "value",
                    name,
                    named.chain(KNOWN),
                    "define it in [values]",
                ))
            }
        }
    }

    fn lines(&mut self) -> Result<Arc<Lines>, String> {
        if self.lines.is_none() {
            let book = self.workload.book();
            let lines = Lines::open(book.as_deref()).map_err(|error| error.to_string())?;
            self.lines = Some(lines);
        }
        let lines = self.lines.as_ref().map(Arc::clone);
        Ok(lines.expect("invariant: they were opened above"))
    }

    fn of_kind(&mut self, kind: &Kind) -> Result<Generator, String> {
        Ok(match kind {
            Kind::Key(key) => {
                let spec = &self.workload.spec;
                key.generator(&self.workload.file.tables, spec.distribution)?
            }
            Kind::Integer([first, last]) => Generator::Integer {
                first: *first,
                keys: keys(Distribution::Uniform, span(*first, *last)?)?,
            },
            Kind::Sequence(first) => Generator::Sequence(Arc::new(Sequence::new(*first))),
            Kind::Unique([first, last]) => {
                let unique = Unique::new(*first, span(*first, *last)?, self.seed);
                Generator::Unique(Arc::new(unique))
            }
            Kind::Pattern(pattern) => Generator::Pattern(Arc::new(Pattern::new(pattern))),
            Kind::Letters([least, most]) => {
                if least > most || *most > LETTERS_MAX {
                    return Err(format!(
                        "[{least}, {most}] must ascend to at most {LETTERS_MAX}"
                    ));
                }
                Generator::Letters(*least, *most)
            }
            Kind::Code(code) => self.code(code)?,
            Kind::Choice(texts) => {
                if texts.values().all(|weight| *weight == 0) {
                    return Err("a choice needs a text with a weight above 0; add one".to_owned());
                }
                let texts = texts.iter().map(|(text, weight)| (text.clone(), *weight));
                Generator::Choice(Arc::new(Choice::new(texts.collect())))
            }
        })
    }

    fn code(&mut self, code: &Code) -> Result<Generator, String> {
        if !(1..=CODE_LENGTH_MAX).contains(&code.length) {
            return Err(format!("a code has 1 to {CODE_LENGTH_MAX} characters"));
        }
        // The caller looks whether the use is allowed.
        let of = match code.of.get_ref() {
            Source::Name(name) => self.by_name(name),
            Source::Here(kind) => self.of_kind(kind),
        }?;
        if of.kind() == ValueKind::Text {
            return Err("a code is of a number: row, a key or an integer".to_owned());
        }
        Ok(Generator::Code(code.length, Box::new(of)))
    }
}

/// Returns true if its values depend on earlier draws of the run.
fn is_of_run(generator: &Generator) -> bool {
    matches!(generator, Generator::Sequence(_) | Generator::Unique(_))
}

/// A statement as every server reads it.
fn statement_text(sql: &str) -> Result<StatementText, String> {
    let mut readings = StatementText::readings(sql);
    let text = readings.swap_remove(0);
    if text.as_str().is_empty() {
        return Err("the statement is empty; write one".to_owned());
    }
    if readings.is_empty() {
        return Ok(text);
    }
    Err(
        "which question marks are values depends on the server's sql_mode or version; double a quote that \
         stands after a backslash, and put no question mark into a comment that servers execute"
            .to_owned(),
    )
}
