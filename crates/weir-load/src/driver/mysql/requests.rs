//! Requests of a script, with their parameters drawn and patched in.
//!
//! One set of templates serves all connections of a reactor: only the numbers of the statements
//! differ between them.

use std::fmt::Display;

use super::Place;
use super::statements::Statements;
use crate::LoadError;
use crate::codec::{ExecuteTemplate, Malformed, Patch, ServerError, text_request};
use crate::plan::Tolerated;
use crate::workload::{Keys, Rng, Script, Statement, Step, table_name, write_groups};

/// Bytes read at once. A reply of a hundred rows of sysbench's table is 13 KiB.
const BUFFER_BYTES: usize = 64 << 10;
/// `COM_QUIT`, as a packet.
const QUIT: &[u8] = &[1, 0, 0, 0, 1];

/// What the connections of one reactor share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(super) buffer: Box<[u8]>,
    pub(super) requests: Requests,
    pub(super) link: Link,
    pub(super) tolerated: Tolerated,
}

impl Shared {
    /// Buffers and templates for `script` on `tables` tables at `address`.
    pub(crate) fn new(
        script: Script,
        keys: Keys,
        tables: u32,
        address: &impl Display,
        tolerated: Tolerated,
    ) -> Self {
        Self {
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            requests: Requests::new(script, keys, tables),
            link: Link {
                address: address.to_string(),
            },
            tolerated,
        }
    }

    #[allow(clippy::unused_self)] // a request like the others, only a constant one
    pub(super) fn quit(&self) -> &'static [u8] {
        QUIT
    }
}

/// The server's address, for errors.
#[derive(Debug)]
pub(super) struct Link {
    address: String,
}

impl Link {
    pub(super) fn lost(&self, error: &std::io::Error) -> LoadError {
        let why = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "the server closed it".to_owned(),
            _ => error.to_string().to_lowercase(),
        };
        LoadError::ConnectionLost {
            address: self.address.clone(),
            why,
        }
    }

    pub(super) fn malformed(&self, malformed: Malformed) -> LoadError {
        LoadError::Protocol {
            address: self.address.clone(),
            why: malformed.to_string(),
        }
    }

    pub(super) fn refused(&self, statement: String, error: ServerError) -> LoadError {
        LoadError::Statement {
            address: self.address.clone(),
            statement,
            code: error.code,
            message: error.message,
        }
    }
}

/// Templates of all requests.
#[derive(Debug)]
pub(super) struct Requests {
    script: Script,
    keys: Keys,
    tables: u32,
    templates: Vec<ExecuteTemplate>,
    bare: ExecuteTemplate,
    begin: Vec<u8>,
    commit: Vec<u8>,
    rollback: Vec<u8>,
}

impl Requests {
    fn new(script: Script, keys: Keys, tables: u32) -> Self {
        Self {
            script,
            keys,
            tables,
            templates: Statement::ALL
                .iter()
                .map(|statement| ExecuteTemplate::new(statement.parameters()))
                .collect(),
            bare: ExecuteTemplate::new(&[]),
            begin: text_request("BEGIN"),
            commit: text_request("COMMIT"),
            rollback: text_request("ROLLBACK"),
        }
    }

    pub(super) fn steps(&self) -> usize {
        self.script.steps.len()
    }

    pub(super) fn is_transaction(&self) -> bool {
        self.script.is_transaction()
    }

    pub(super) fn rollback(&self) -> &[u8] {
        &self.rollback
    }

    /// The text of a step, for an error.
    pub(super) fn sql(&self, step: usize, table: u32) -> String {
        match self.script.steps[step] {
            Step::Begin => "BEGIN".to_owned(),
            Step::Commit => "COMMIT".to_owned(),
            Step::Table { statement, .. } => statement.sql(&table_name(table + 1)),
        }
    }

    /// The request of a step, its table, row and values drawn.
    pub(super) fn step(
        &mut self,
        step: usize,
        statements: &mut Statements,
        place: &mut Place,
        rng: &mut Rng,
    ) -> &[u8] {
        let (prepared, text) = match self.script.steps[step] {
            Step::Begin => (&mut statements.begin, &self.begin),
            Step::Commit => (&mut statements.commit, &self.commit),
            Step::Table {
                statement,
                new_table,
                new_key,
            } => {
                if new_table {
                    place.table = rng.below(u64::from(self.tables)) as u32;
                }
                if new_key {
                    place.key = self.keys.next(rng);
                }
                return self.on_table(statement, statements, *place, rng);
            }
        };
        match prepared {
            Some(handle) => self.bare.patch(handle.id, false).finish(),
            None => text,
        }
    }

    fn on_table(
        &mut self,
        statement: Statement,
        statements: &mut Statements,
        place: Place,
        rng: &mut Rng,
    ) -> &[u8] {
        let handle = statements.on_table(statement, place.table);
        let template = &mut self.templates[statement.number()];
        let mut patch = template.patch(handle.id, !handle.is_typed);
        handle.is_typed = true;
        match statement {
            Statement::PointSelect | Statement::UpdateIndex | Statement::Delete => {
                patch.integer(0, place.key);
            }
            Statement::SimpleRange
            | Statement::SumRange
            | Statement::OrderRange
            | Statement::DistinctRange => {
                patch.integer(0, place.key);
                patch.integer(1, last_of_range(place.key, self.script.range_size));
            }
            Statement::UpdateNonIndex => {
                write_groups(rng, patch.text(0));
                patch.integer(1, place.key);
            }
            Statement::Insert => insert(&mut patch, place.key, self.keys.next(rng), rng),
        }
        patch.finish()
    }
}

fn insert(patch: &mut Patch<'_>, id: u32, k: u32, rng: &mut Rng) {
    patch.integer(0, id);
    patch.integer(1, k);
    write_groups(rng, patch.text(2));
    write_groups(rng, patch.text(3));
}

/// The last key of a range; the parameter is a signed `INTEGER`.
fn last_of_range(first: u32, size: u32) -> u32 {
    first
        .saturating_add(size.saturating_sub(1))
        .min(i32::MAX as u32)
}

#[cfg(test)]
mod tests {
    use weir_model::WorkloadName;

    use super::*;
    use crate::workload::{Distribution, Mix, seeded};

    /// Three transactions of one connection, as bytes.
    fn requests(seed: u64, connection: u64) -> Vec<Vec<u8>> {
        let script = Script::new(WorkloadName::OltpReadWrite, &Mix::default()).unwrap();
        let mut id = 0;
        let mut statements = Statements::prepare(&script, 4, |_, _| {
            id += 1;
            Ok::<_, LoadError>(Some(id))
        })
        .unwrap();
        let keys = Keys::new(Distribution::default(), 1_000).unwrap();
        let mut requests = Requests::new(script, keys, 4);
        let mut place = Place::default();
        let mut rng = seeded(seed, connection);
        (0..3 * requests.steps())
            .map(|index| {
                let step = index % requests.steps();
                requests
                    .step(step, &mut statements, &mut place, &mut rng)
                    .to_vec()
            })
            .collect()
    }

    #[test]
    fn the_same_seed_asks_the_same_and_another_does_not() {
        assert_eq!(requests(1, 0), requests(1, 0));
        assert_ne!(requests(1, 0), requests(2, 0));
        assert_ne!(requests(1, 0), requests(1, 1));
    }

    #[test]
    fn types_are_sent_with_a_statements_first_execution_only() {
        let requests = requests(1, 0);
        let mut seen = std::collections::HashSet::new();
        for request in &requests {
            let (id, body) = (&request[5..9], &request[14..]);
            // Begin and commit have no parameters; others: a bitmap byte, then the flag.
            if let Some(flag) = body.get(1) {
                assert_eq!(*flag == 1, seen.insert(id.to_vec()));
            }
        }
        assert!(seen.len() >= 9);
    }

    #[test]
    fn a_delete_and_its_insert_name_the_same_row() {
        let requests = requests(5, 0);
        // Steps 17 and 18 of 20. The key is the delete's last and the insert's first parameter.
        for transaction in requests.chunks(20) {
            let (delete, insert) = (&transaction[17], &transaction[18]);
            let key = &delete[delete.len() - 4..];
            let first = insert.len() - (4 + 4 + 1 + 119 + 1 + 59);
            assert_eq!(key, &insert[first..first + 4]);
        }
    }

    #[test]
    fn ranges_end_within_the_parameters_type() {
        assert_eq!(last_of_range(5, 100), 104);
        assert_eq!(last_of_range(7, 0), 7);
        assert_eq!(last_of_range(i32::MAX as u32 - 1, 100), i32::MAX as u32);
    }
}
