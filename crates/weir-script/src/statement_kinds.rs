//! Kind of a request's statement: by its text, without values.

use std::collections::HashMap;
use std::sync::Arc;

use crate::lua::Request;
use weir_load::FoundStatements;

use crate::statement_name::name;
use crate::world::World;

/// The kinds of an interpreter's statements; of none where they are not wanted.
#[derive(Debug)]
pub(crate) struct StatementKinds {
    found: Option<Arc<FoundStatements>>,
    /// Of prepared statements, by their text.
    known: HashMap<Vec<u8>, Option<usize>>,
}

impl StatementKinds {
    pub(crate) fn new(world: &World) -> Self {
        let is_wanted = world.plan.tells_statements;
        Self {
            found: is_wanted.then(|| Arc::clone(&world.found)),
            known: HashMap::new(),
        }
    }

    /// The kind of a request, if it executes a statement.
    pub(crate) fn of_request(&mut self, request: &Request<'_>) -> Option<usize> {
        let found = self.found.as_ref()?;
        let text = match request {
            Request::Query(text) => return found.position(&name(text)),
            Request::Execute { text, .. } => *text,
            _ => return None,
        };
        if let Some(kind) = self.known.get(text) {
            return *kind;
        }
        let kind = found.position(&name(text));
        self.known.insert(text.to_vec(), kind);
        kind
    }
}
