//! An ALTER made by a copy of the table: by a copier of the lab, or by a tool of the user's.

use std::collections::BTreeMap;

use weir_ddl::{AlterStatement, DdlError, OwnTool, TableCopier};
use weir_model::{CopyWay, Endpoint, EventEnding, EventStatement};
use weir_mysql::Gate;

use super::clock::Clock;

/// How a statement is carried out.
pub(super) enum Copying<'a> {
    By(CopyWay),
    Tool(&'a str),
}

impl<'a> Copying<'a> {
    /// `None`: by the server's own ALTER.
    pub(super) fn of(statement: &'a EventStatement) -> Option<Self> {
        let by_tool = statement.tool.as_deref().map(Self::Tool);
        by_tool.or(statement.copy.map(Self::By))
    }

    /// Makes the copy; how it ended, and what it tells of itself, which goes to `told`.
    pub(super) fn run(
        &self,
        statement: &EventStatement,
        (endpoint, gate): (&Endpoint, &Gate),
        told: &mut BTreeMap<String, String>,
        clock: &Clock,
    ) -> EventEnding {
        let is_over = || clock.is_over();
        let done =
            AlterStatement::read(&statement.statement, &endpoint.database).and_then(|alter| {
                let tells = match self {
                    Self::By(way) => by_copier(*way, alter, statement, (endpoint, gate), &is_over)?,
                    Self::Tool(line) => by_tool(line, &alter, endpoint, &is_over)?,
                };
                told.extend(tells);
                Ok(())
            });
        match done {
            Ok(()) => EventEnding::Done,
            Err(DdlError::Stopped) => EventEnding::CutOff,
            // What fails when the load is over fails because of that.
            Err(_) if clock.is_over() => EventEnding::CutOff,
            Err(error) => EventEnding::Refused {
                code: None,
                message: error.to_string(),
            },
        }
    }
}

type Tells = Vec<(String, String)>;

fn by_copier(
    way: CopyWay,
    alter: AlterStatement,
    statement: &EventStatement,
    (endpoint, gate): (&Endpoint, &Gate),
    is_over: &dyn Fn() -> bool,
) -> Result<Tells, DdlError> {
    let copier = TableCopier {
        endpoint: endpoint.clone(),
        gate: gate.clone(),
        alter,
        way,
        session: statement.session.clone(),
    };
    let copied = copier.run(is_over)?;
    let tells = [
        ("copy.rows", copied.rows),
        ("copy.chunks", copied.chunks),
        ("copy.changes", copied.changes),
    ];
    let tells = tells.map(|(name, value)| (name.to_owned(), value.to_string()));
    Ok(tells.into())
}

fn by_tool(
    line: &str,
    alter: &AlterStatement,
    endpoint: &Endpoint,
    is_over: &dyn Fn() -> bool,
) -> Result<Tells, DdlError> {
    let tool = OwnTool::read(line)?;
    let version = tool.version()?;
    tool.run(endpoint, alter, is_over)?;
    Ok(vec![("tool.version".to_owned(), version)])
}
