//! An ALTER made by a copy of the table: by a copier of the lab, or by a tool of the user's.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_model::{CopyWay, Endpoint, EventEnding, EventKind, EventStatement};
use weir_mysql::{Connection, Gate};
use weir_server::ddl::{AlterStatement, DdlError, Leftover, OwnTool, TableCopier};

use super::clock::Clock;

/// Time limit for one answer of the server before the copy.
const PATIENCE: Duration = Duration::from_mins(1);

/// Method of a copy.
#[derive(Debug)]
pub(super) enum CopyMethod {
    By(CopyWay),
    Tool {
        tool: OwnTool,
        /// In its own words. It is asked before the load: that may take as long as a small copy.
        version: String,
    },
}

impl CopyMethod {
    /// `None`: by the server's own ALTER.
    ///
    /// # Errors
    ///
    /// A tool that is not there.
    pub(super) fn for_event(kind: &EventKind) -> Result<Option<Self>, DdlError> {
        let EventKind::Ddl(statement) = kind else {
            return Ok(None);
        };
        let Some(line) = &statement.tool else {
            return Ok(statement.copy.map(Self::By));
        };
        let tool = OwnTool::read(line)?;
        let version = tool.version()?;
        Ok(Some(Self::Tool { tool, version }))
    }

    /// Makes the copy; how it ended, and what it tells of itself, which goes to `told`.
    pub(super) fn run(
        &self,
        statement: &EventStatement,
        (endpoint, gate): (&Endpoint, &Gate),
        told: &mut CopyFacts,
        clock: &Clock,
    ) -> EventEnding {
        let is_over = || clock.is_over();
        let server = (endpoint, gate);
        let done = alter_statement(statement, server).and_then(|alter| match self {
            Self::By(way) => by_copier(*way, alter, statement, server, told, &is_over),
            Self::Tool { tool, version } => {
                told.insert("tool.version".to_owned(), version.clone());
                by_tool(tool, &alter, server, told, &is_over)
            }
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

/// The statement, with its table's name as the server spells it.
fn alter_statement(
    statement: &EventStatement,
    (endpoint, gate): (&Endpoint, &Gate),
) -> Result<AlterStatement, DdlError> {
    let alter = AlterStatement::read(&statement.statement, &endpoint.database)?;
    alter.spelled_by_server(&mut Connection::open(endpoint, gate, PATIENCE)?)
}

/// Facts of a copy about itself, by name.
type CopyFacts = BTreeMap<String, String>;

fn by_copier(
    way: CopyWay,
    alter: AlterStatement,
    statement: &EventStatement,
    (endpoint, gate): (&Endpoint, &Gate),
    told: &mut CopyFacts,
    is_over: &dyn Fn() -> bool,
) -> Result<(), DdlError> {
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
    told.extend(tells.map(|(name, value)| (name.to_owned(), value.to_string())));
    Ok(())
}

fn by_tool(
    tool: &OwnTool,
    alter: &AlterStatement,
    server: (&Endpoint, &Gate),
    told: &mut CopyFacts,
    is_over: &dyn Fn() -> bool,
) -> Result<(), DdlError> {
    let run = tool.run(server, alter, is_over)?;
    if let Some(left) = run.left {
        told.insert("tool.left".to_owned(), names(&left));
        let is_removed = run.is_removed && !left.is_empty();
        told.insert("tool.removed".to_owned(), is_removed.to_string());
    }
    run.ended
}

/// `trigger a, table b`.
fn names(left: &[Leftover]) -> String {
    if left.is_empty() {
        return "nothing".to_owned();
    }
    let names: Vec<_> = left.iter().map(Leftover::to_string).collect();
    names.join(", ")
}
