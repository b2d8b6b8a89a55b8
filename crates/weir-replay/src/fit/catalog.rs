//! The statements of a capture, each text once, and whether a workload file can have it.

use std::collections::HashMap;
use std::sync::Arc;

use weir_capture::{Template, TransactionStep};
use weir_mysql::{NameCase, SqlWord, StatementText, is_system_schema, sql_words};

use crate::fit::transactions::Call;
use weir_workload::{MarkUse, mark_uses, tables_of};

/// Different texts that are kept.
const STATEMENTS_MAX: usize = 20_000;
/// Texts of one fingerprint that a fit has: lists of so many lengths.
const TEXTS_OF_FINGERPRINT: usize = 4;
/// Statements that a workload file may have.
const KEPT: [&str; 14] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "REPLACE",
    "WITH",
    "BEGIN",
    "START",
    "COMMIT",
    "ROLLBACK",
    "DO",
    "SAVEPOINT",
    "RELEASE",
    "TABLE",
];

/// A text of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    /// Text with question marks.
    pub(crate) sql: String,
    /// For each mark, whether it stands for a literal.
    pub(crate) marks: Vec<bool>,
    pub(crate) fingerprint: String,
    pub(crate) uses: Vec<MarkUse>,
    /// Literals that are part of its form.
    pub(crate) forms: Vec<Option<String>>,
    pub(crate) tables: Vec<String>,
    pub(crate) count: u64,
    pub(crate) step: TransactionStep,
    /// Why no workload can have it.
    pub(crate) left_out: Option<&'static str>,
}

/// All statements.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// The schema of the tables, which names need not say.
    schema: Option<String>,
    case: NameCase,
    /// Templates that were met; kept, so that none takes another's place.
    known: HashMap<usize, (Arc<Template>, Option<usize>)>,
    texts: HashMap<String, usize>,
    pub(crate) statements: Vec<Statement>,
    /// For each statement, the one that stands for it.
    stands_for: Vec<usize>,
}

impl Catalog {
    pub(crate) fn new(schema: Option<String>, case: NameCase) -> Self {
        Self {
            schema,
            case,
            ..Self::default()
        }
    }

    /// The number of a call's statement; `None` if there are too many, or its text is no UTF-8.
    pub(crate) fn number(&mut self, call: &Call) -> Option<usize> {
        let address = Arc::as_ptr(&call.template) as usize;
        if let Some((_, number)) = self.known.get(&address) {
            return *number;
        }
        let number = self.new_template(call);
        self.known
            .insert(address, (Arc::clone(&call.template), number));
        number
    }

    fn new_template(&mut self, call: &Call) -> Option<usize> {
        let (sql, marks) = call.template.with_question_marks()?;
        let sql = self.unqualified(sql);
        if let Some(number) = self.texts.get(&sql) {
            return Some(*number);
        }
        if self.statements.len() >= STATEMENTS_MAX {
            return None;
        }
        let number = self.statements.len();
        self.texts.insert(sql.clone(), number);
        self.statements.push(statement(sql, marks, call));
        Some(number)
    }

    /// The same text without the schema's name before tables.
    fn unqualified(&self, sql: String) -> String {
        let Some(schema) = &self.schema else {
            return sql;
        };
        let words = sql_words(&sql);
        let is_schema = |at: usize| {
            let is_named = words[at]
                .name()
                .is_some_and(|name| self.case.is_same(&name, schema));
            let dot = words.get(at + 1).is_some_and(|word| word.is_sign('.'));
            let of_table = at >= 1 && words[at - 1].is_any(&["FROM", "JOIN", "UPDATE", "INTO"]);
            let of_three = words.get(at + 3).is_some_and(|word| word.is_sign('.'));
            is_named && dot && (of_table || of_three)
        };
        let cuts: Vec<_> = (0..words.len())
            .filter(|at| is_schema(*at))
            .map(|at| words[at].start..words[at + 1].end)
            .collect();
        let mut text = sql.clone();
        for cut in cuts.into_iter().rev() {
            text.replace_range(cut, "");
        }
        text
    }

    /// Lets few texts stand for all of one fingerprint and the same tables, whose names a fingerprint has in small letters.
    pub(crate) fn choose_texts(&mut self) {
        let mut by_fingerprint: HashMap<(&str, Vec<_>), Vec<usize>> = HashMap::new();
        for (number, statement) in self.statements.iter().enumerate() {
            let tables = statement.tables.iter().map(|name| self.case.fold(name));
            by_fingerprint
                .entry((&statement.fingerprint, tables.collect()))
                .or_default()
                .push(number);
        }
        let mut stands_for = vec![0; self.statements.len()];
        for mut numbers in by_fingerprint.into_values() {
            let of = |number: &usize| &self.statements[*number];
            numbers.sort_by_key(|number| (std::cmp::Reverse(of(number).count), *number));
            let chosen = numbers[..numbers.len().min(TEXTS_OF_FINGERPRINT)].to_vec();
            for number in numbers {
                let marks = of(&number).marks.len();
                let nearest = chosen
                    .iter()
                    .min_by_key(|near| of(near).marks.len().abs_diff(marks));
                stands_for[number] = *nearest.unwrap_or(&number);
            }
        }
        for (number, chosen) in stands_for.iter_mut().enumerate() {
            if self.statements[number].left_out.is_some() {
                *chosen = number;
            }
        }
        self.stands_for = stands_for;
    }

    /// The statement that stands for one.
    pub(crate) fn standing_for(&self, number: usize) -> usize {
        self.stands_for.get(number).copied().unwrap_or(number)
    }
}

fn statement(sql: String, marks: Vec<bool>, call: &Call) -> Statement {
    let uses = mark_uses(&sql);
    let forms = uses.iter().enumerate().map(|(mark, found)| {
        let literal = found
            .is_structure
            .then(|| call.literal(&marks, mark))
            .flatten()?;
        String::from_utf8(literal.to_vec()).ok()
    });
    let forms = forms.collect();
    Statement {
        left_out: why_left_out(&sql, &marks, &uses),
        fingerprint: weir_capture::fingerprint(sql.as_bytes()),
        tables: tables_of(&sql),
        step: call.template.class().transaction,
        count: 0,
        forms,
        uses,
        marks,
        sql,
    }
}

fn why_left_out(sql: &str, marks: &[bool], uses: &[MarkUse]) -> Option<&'static str> {
    let words = sql_words(sql);
    let first = words.iter().find(|word| !word.is_sign('('));
    if !first.is_some_and(|word| word.is_any(&KEPT)) {
        return Some("no SELECT, INSERT, UPDATE or DELETE");
    }
    let is_own = |word: &SqlWord<'_>| word.name().is_some_and(|name| is_system_schema(&name));
    let pairs = words.iter().zip(words.iter().skip(1));
    if pairs
        .clone()
        .any(|(word, next)| is_own(word) && next.is_sign('.'))
    {
        return Some("of the server's own tables");
    }
    if uses
        .iter()
        .zip(marks)
        .any(|(found, is_literal)| found.is_bound || found.is_structure && !is_literal)
    {
        return Some("a value stands where no parameter may");
    }
    let readings = StatementText::readings(sql);
    let is_plain =
        readings.len() == 1 && readings[0].parameters() == marks.len() && uses.len() == marks.len();
    (!is_plain).then_some("servers read it in more than one way")
}
