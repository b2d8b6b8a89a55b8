//! Parts of a statement by which its outcome depends on more than the data: the same statement on the same data can answer
//! or write something else.
//!
//! Found in the statement's tokens, so that a string, a comment or a quoted name is none. Functions and clauses: `MySQL`'s
//! manual, "Determination of Safe and Unsafe Statements in Binary Logging", and the pages of both servers on each
//! function. Defaults of columns, triggers and routines stand in no statement: they are not found here.

mod frames;
mod functions;

use crate::sql_scan::{Quoting, SqlScan, SqlToken, SqlTokenKind};
use frames::Frames;
use functions::{CallForm, FUNCTIONS, RESERVED_WORDS, SYSTEM_SCHEMAS};

/// Extent of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DifferenceExtent {
    /// Rows, contents, changed rows or errors.
    Outcome,
    /// The order of the rows only.
    Order,
}

/// A part of a statement by which its outcome can differ on the same data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DifferenceSource {
    /// The part, in lower case: `now()`.
    pub part: String,
    /// Meaning of the part, a phrase.
    pub why: &'static str,
    /// Extent of the difference.
    pub extent: DifferenceExtent,
}

impl DifferenceSource {
    /// Returns `now() is the time of the execution`.
    pub fn words(&self) -> String {
        format!("{} {}", self.part, self.why)
    }

    /// Returns true if it has the value of statements before in the session: it differs only if these did.
    pub fn is_derived(&self) -> bool {
        let of_session = ["last_insert_id()", "found_rows()", "row_count()"];
        let is_variable = self.part.starts_with('@') && !self.part.starts_with("@@");
        is_variable || of_session.contains(&&*self.part)
    }
}

/// Returns the sources of difference in a statement or a fingerprint, each once, in their order. A statement that ends
/// within a quote or a comment has those before it.
pub fn difference_sources(sql: &[u8]) -> Vec<DifferenceSource> {
    let tokens: Vec<_> = SqlScan::new(sql, Quoting::USUAL)
        .filter(SqlToken::is_read)
        .collect();
    let mut search = Search {
        sql,
        tokens,
        found: Vec::new(),
    };
    search.run();
    search.found
}

/// A statement in which sources are looked for.
struct Search<'a> {
    sql: &'a [u8],
    tokens: Vec<SqlToken>,
    found: Vec<DifferenceSource>,
}

impl Search<'_> {
    fn run(&mut self) {
        let begin = self.begin();
        self.verb();
        let mut frames = Frames::default();
        for at in begin..self.tokens.len() {
            self.function(at);
            self.reserved_word(at);
            self.variable(at);
            self.system_schema(at);
            self.clause(at);
            if let Some((part, why)) = frames.take(&self.tokens, at, self.sql) {
                self.add(part, why, DifferenceExtent::Outcome);
            }
        }
        if frames.lacks_order() && self.returns_rows() {
            let why = "lets rows come in any order";
            self.add("no order by", why, DifferenceExtent::Order);
        }
    }

    /// The first token that counts: a definition gives its columns defaults, which are no values yet.
    fn begin(&self) -> usize {
        if !self.is(0, "CREATE") {
            return 0;
        }
        let selects = (0..self.tokens.len()).find(|at| self.is(*at, "SELECT"));
        selects.unwrap_or(self.tokens.len())
    }

    fn returns_rows(&self) -> bool {
        let verbs = ["SELECT", "WITH", "TABLE", "VALUES"];
        verbs.iter().any(|verb| self.is(0, verb)) || self.is_sign(0, b'(')
    }

    fn has_rows(&self) -> bool {
        self.is(0, "UPDATE") || (0..self.tokens.len()).any(|at| self.is(at, "FROM"))
    }

    fn is(&self, at: usize, keyword: &str) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| token.is(self.sql, keyword))
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| token.is_sign(self.sql, sign))
    }

    fn is_before(&self, at: usize, words: &[&str]) -> bool {
        let before = at.checked_sub(1);
        before.is_some_and(|before| words.iter().any(|word| self.is(before, word)))
    }

    fn is_behind_sign(&self, at: usize, sign: u8) -> bool {
        at.checked_sub(1)
            .is_some_and(|before| self.is_sign(before, sign))
    }

    fn word(&self, at: usize) -> Option<String> {
        let token = self.tokens.get(at)?;
        let text = String::from_utf8_lossy(token.text(self.sql));
        (token.kind == SqlTokenKind::Word).then(|| text.to_ascii_lowercase())
    }

    fn add(&mut self, part: impl Into<String>, why: &'static str, extent: DifferenceExtent) {
        let source = DifferenceSource {
            part: part.into(),
            why,
            extent,
        };
        if !self.found.contains(&source) {
            self.found.push(source);
        }
    }

    /// Statements about the server, which is not part of the data.
    fn verb(&mut self) {
        let of_tables = ["TABLES", "COLUMNS", "FIELDS"];
        let is_of_tables = (1..4).any(|at| of_tables.iter().any(|word| self.is(at, word)));
        let explains = ["EXPLAIN", "DESCRIBE", "DESC", "ANALYZE"]
            .iter()
            .any(|verb| self.is(0, verb));
        let selects = [
            "SELECT", "UPDATE", "DELETE", "INSERT", "REPLACE", "WITH", "FORMAT", "EXTENDED",
        ];
        if self.is(0, "SHOW") && !is_of_tables {
            let why = "tells the server's state";
            self.add("show", why, DifferenceExtent::Outcome);
        } else if explains && selects.iter().any(|word| self.is(1, word)) {
            let why = "tells a plan, which follows estimates";
            self.add("explain", why, DifferenceExtent::Outcome);
        }
    }

    /// A call of a function whose value is not that of its arguments.
    fn function(&mut self, at: usize) {
        // Of another schema, or the name of a table with its columns.
        let is_name =
            self.is_behind_sign(at, b'.') || self.is_before(at, &["INTO", "TABLE", "INSERT"]);
        if is_name || !self.is_sign(at + 1, b'(') {
            return;
        }
        let Some(word) = self.word(at) else { return };
        let is_empty = self.is_sign(at + 2, b')');
        let found = FUNCTIONS.iter().find(|found| found.name == word);
        let counts = |form| match form {
            CallForm::Empty => is_empty,
            CallForm::Any => true,
            CallForm::OfRows => is_empty || self.has_rows(),
        };
        let Some(function) = found.filter(|found| counts(found.form)) else {
            return;
        };
        let part = if is_empty {
            format!("{word}()")
        } else {
            format!("{word}(...)")
        };
        self.add(part, function.why, DifferenceExtent::Outcome);
    }

    /// A function that is called without parentheses.
    fn reserved_word(&mut self, at: usize) {
        if self.is_behind_sign(at, b'.') || self.is_sign(at + 1, b'(') {
            return;
        }
        let Some(word) = self.word(at) else { return };
        if let Some((_, why)) = RESERVED_WORDS.iter().find(|(name, _)| *name == word) {
            self.add(word, why, DifferenceExtent::Outcome);
        }
    }

    /// A variable of the server (`@@x`) or of the session (`@x`). An account's host has a name before it.
    fn variable(&mut self, at: usize) {
        let Some(word) = self.word(at).filter(|word| word.starts_with('@')) else {
            return;
        };
        let start = self.tokens[at].start;
        let is_host = at.checked_sub(1).is_some_and(|before| {
            let before = self.tokens[before];
            let is_name = matches!(before.kind, SqlTokenKind::Name | SqlTokenKind::Text);
            before.end == start && is_name
        });
        // What a statement sets does not depend on the value before.
        let is_left = self.is_sign(at + 1, b'=') || self.is_sign(at + 1, b':');
        let is_set = self.is(0, "SET") && is_left && (at == 1 || self.is_behind_sign(at, b','));
        let is_given = self.is_before(at, &["INTO"]) || self.is_sign(at + 1, b':');
        if is_host || is_set || is_given {
            return;
        }
        let why = if word.starts_with("@@") {
            "is a setting"
        } else {
            "has a value of statements before"
        };
        let part = if word == "@" {
            "@variable".to_owned()
        } else {
            word
        };
        self.add(part, why, DifferenceExtent::Outcome);
    }

    fn system_schema(&mut self, at: usize) {
        let Some(token) = self.tokens.get(at) else {
            return;
        };
        let is_name = matches!(token.kind, SqlTokenKind::Word | SqlTokenKind::Name);
        if !is_name || !self.is_sign(at + 1, b'.') || self.is_behind_sign(at, b'.') {
            return;
        }
        let name = String::from_utf8_lossy(token.text(self.sql)).to_ascii_lowercase();
        let name = name.trim_matches('`');
        if SYSTEM_SCHEMAS.contains(&name) {
            self.add(name, "has the server's state", DifferenceExtent::Outcome);
        }
    }

    /// Clauses that make rows depend on other sessions or on time.
    fn clause(&mut self, at: usize) {
        let all = [
            (
                ["SKIP", "LOCKED"],
                "skip locked",
                "leaves out rows that others have locked",
            ),
            (
                ["FOR", "SYSTEM_TIME"],
                "for system_time",
                "asks when rows were written",
            ),
            (
                ["NEXT", "VALUE"],
                "next value",
                "is the next number of a sequence",
            ),
            (
                ["PREVIOUS", "VALUE"],
                "previous value",
                "is the last number of a sequence",
            ),
        ];
        for (words, part, why) in all {
            if self.is(at, words[0]) && self.is(at + 1, words[1]) {
                self.add(part, why, DifferenceExtent::Outcome);
            }
        }
        if self.is(at, "NOWAIT") {
            let why = "fails if others have locked a row";
            self.add("nowait", why, DifferenceExtent::Outcome);
        }
    }
}

#[cfg(test)]
mod tests;
