//! What a tool leaves in the schema: what is there after it and was not before.

use std::time::Duration;

use weir_model::Endpoint;
use weir_mysql::{Connection, Gate};

use crate::schema_objects;
use crate::{DdlError, Leftover};

/// How long the server may take for each answer: a statement of the tool may still be at work.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often is looked for more: a statement that the tool has sent may end after it.
const LOOKS: u32 = 5;

/// The schema before the tool.
pub(super) struct Traces<'a> {
    server: (&'a Endpoint, &'a Gate),
    schema: &'a str,
    before: Vec<Leftover>,
}

impl<'a> Traces<'a> {
    pub(super) fn before(
        server: (&'a Endpoint, &'a Gate),
        schema: &'a str,
    ) -> Result<Self, DdlError> {
        let mut connection = connect(server)?;
        Ok(Self {
            server,
            schema,
            before: schema_objects::all(&mut connection, schema)?,
        })
    }

    /// What is there now and was not before.
    pub(super) fn left(&self) -> Result<Vec<Leftover>, DdlError> {
        self.new_objects(&mut connect(self.server)?)
    }

    fn new_objects(&self, connection: &mut Connection) -> Result<Vec<Leftover>, DdlError> {
        let mut found = schema_objects::all(connection, self.schema)?;
        found.retain(|object| !self.before.contains(object));
        Ok(found)
    }

    /// Removes it, and says what it was.
    pub(super) fn remove(&self) -> Result<Vec<Leftover>, DdlError> {
        let mut connection = connect(self.server)?;
        let mut removed = Vec::new();
        for _ in 0..LOOKS {
            let found = self.new_objects(&mut connection)?;
            if found.is_empty() {
                break;
            }
            schema_objects::remove(&mut connection, self.schema, &found)?;
            removed.extend(found);
        }
        Ok(removed)
    }
}

fn connect((endpoint, gate): (&Endpoint, &Gate)) -> Result<Connection, DdlError> {
    Ok(Connection::open(endpoint, gate, PATIENCE)?)
}
