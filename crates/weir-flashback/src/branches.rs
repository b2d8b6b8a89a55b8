//! Transactions of two phases (XA): their rows stand in the log where they were prepared, and count from where they
//! were committed.
//!
//! In between, rows stay locked, so that no other change of the same keys lies between the two places: rows that are
//! kept until the commit come in the order in which each key changed.

use std::collections::HashMap;
use std::sync::Arc;

use weir_mysql::binlog::{Place, TableMap};

/// An event with rows of a table that is followed.
#[derive(Debug, Clone)]
pub(crate) struct KeptRows {
    pub(crate) table: usize,
    pub(crate) map: Arc<TableMap>,
    pub(crate) kind: u8,
    pub(crate) body: Vec<u8>,
    pub(crate) place: Place,
}

/// XA statement about a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word<'a> {
    Start(&'a str),
    Commit(&'a str),
    Rollback(&'a str),
}

impl<'a> Word<'a> {
    /// The servers write these statements themselves, with the name in one form.
    pub(crate) fn read(statement: &'a str) -> Option<Self> {
        let rest = statement.strip_prefix("XA ")?;
        let (verb, name) = rest.split_once(' ')?;
        let name = name.trim();
        match verb {
            "START" => Some(Self::Start(name)),
            "COMMIT" => Some(Self::Commit(name)),
            "ROLLBACK" => Some(Self::Rollback(name)),
            _ => None,
        }
    }
}

/// Branches that have begun and not ended.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    /// The one whose events are read.
    open: Option<(String, Vec<KeptRows>)>,
    prepared: HashMap<String, Vec<KeptRows>>,
}

impl Branches {
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(crate) fn start(&mut self, name: &str) {
        self.open = Some((name.to_owned(), Vec::new()));
    }

    pub(crate) fn keep(&mut self, rows: KeptRows) {
        if let Some((_, kept)) = &mut self.open {
            kept.push(rows);
        }
    }

    /// The open one is prepared.
    pub(crate) fn prepare(&mut self) {
        if let Some((name, rows)) = self.open.take() {
            self.prepared.insert(name, rows);
        }
    }

    /// The rows of the open one, which is committed at once.
    pub(crate) fn end_open(&mut self) -> Vec<KeptRows> {
        self.open.take().map(|(_, rows)| rows).unwrap_or_default()
    }

    /// The rows of a prepared one, which has ended; none if its beginning was not read.
    pub(crate) fn end(&mut self, name: &str) -> Option<Vec<KeptRows>> {
        self.prepared.remove(name)
    }

    /// Prepared ones that changed rows and have not ended.
    pub(crate) fn pending(&self) -> usize {
        let changing = self.prepared.values().filter(|rows| !rows.is_empty());
        changing.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_about_branches_are_told_from_others() {
        let name = "X'61',X'',1";
        assert_eq!(Word::read("XA START X'61',X'',1"), Some(Word::Start(name)));
        assert_eq!(
            Word::read("XA COMMIT X'61',X'',1"),
            Some(Word::Commit(name))
        );
        assert_eq!(
            Word::read("XA ROLLBACK X'61',X'',1"),
            Some(Word::Rollback(name))
        );
        assert_eq!(Word::read("XA END X'61',X'',1"), None);
        assert_eq!(Word::read("COMMIT"), None);
    }
}
