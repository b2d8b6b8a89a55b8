//! Objects that a tool leaves in the schema: there after it, not before, and named after its table. Other sessions
//! make tables too.

use std::time::Duration;

use weir_model::Endpoint;
use weir_mysql::{Connection, Gate};

use crate::ddl::copy::is_of_a_copier;
use crate::ddl::schema_objects;
use crate::ddl::{AlterStatement, DdlError, Leftover};

/// Time limit for each answer of the server: a statement of the tool may still be at work.
const PATIENCE: Duration = Duration::from_mins(1);
/// Number of looks for more objects: a statement that the tool has sent may end after it.
const LOOKS: u32 = 5;

/// The schema before the tool.
pub(super) struct Traces<'a> {
    server: (&'a Endpoint, &'a Gate),
    alter: &'a AlterStatement,
    before: Vec<Leftover>,
}

impl<'a> Traces<'a> {
    pub(super) fn before(
        server: (&'a Endpoint, &'a Gate),
        alter: &'a AlterStatement,
    ) -> Result<Self, DdlError> {
        let mut connection = connect(server)?;
        Ok(Self {
            server,
            alter,
            before: schema_objects::all(&mut connection, &alter.schema)?,
        })
    }

    /// Returns the objects that are there now, were not before, and are the tool's.
    pub(super) fn left(&self) -> Result<Vec<Leftover>, DdlError> {
        self.new_objects(&mut connect(self.server)?)
    }

    fn new_objects(&self, connection: &mut Connection) -> Result<Vec<Leftover>, DdlError> {
        let mut found = schema_objects::all(connection, &self.alter.schema)?;
        found.retain(|object| {
            object.name().contains(&self.alter.table)
                && !is_of_a_copier(object)
                && !self.before.contains(object)
        });
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
            schema_objects::remove(&mut connection, &self.alter.schema, &found)?;
            removed.extend(found);
        }
        Ok(removed)
    }
}

fn connect((endpoint, gate): (&Endpoint, &Gate)) -> Result<Connection, DdlError> {
    Ok(Connection::open(endpoint, gate, PATIENCE)?)
}
