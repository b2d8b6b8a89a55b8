//! Gate: the one place that every statement to a server passes.
//!
//! A server that Weir started for itself takes anything. A server of the user's is only read, unless a
//! command was given more: tables of one named schema, variables by name. What changes something is
//! written to a log before it is sent; what is not allowed is not sent.

mod calls;
mod change_log;
mod effect;
mod functions;
mod logged_statements;
mod permit;
mod set;
mod statement;
mod targets;
mod tokens;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weir_model::Address;

use crate::{ClientError, shorten};
pub use change_log::ChangeLog;
use effect::Effect;
pub(crate) use functions::Dialect;
use logged_statements::LoggedStatements;
pub use permit::ScriptPermit;
use statement::effect;
use targets::{schemas_of_code, tables};
use tokens::readings;
pub(crate) use tokens::{Token, next_token, placed_tokens, tokens_in};

/// Schemas that are the servers' own.
const SYSTEM_SCHEMAS: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];
/// Statements that are remembered for each server; a load has some dozens for each of its tables.
const REMEMBERED_MAX: usize = 100_000;

/// Permissions of a command on a server of the user's, beyond reading.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a permission of its own
pub struct Permissions {
    /// The schema in which tables may be made, changed and dropped.
    pub schema: Option<String>,
    /// Global variables that may be set, by the server's own names.
    pub variables: BTreeSet<String>,
    /// True if a connection may keep its writes out of the binary log.
    pub skips_binary_log: bool,
    /// True if tables are changed also on a server that follows another or is read-only.
    pub writes_replicas: bool,
    /// Log of changes.
    pub log: Option<ChangeLog>,
    /// True for a script of the user's: a program, whose statements are not judged.
    pub is_script: bool,
    /// Changes are noted instead of sent.
    pub is_rehearsal: bool,
}

/// Decision on a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Passage {
    /// It is.
    Sent,
    /// It was only noted.
    Rehearsed,
}

/// Gate with which every connection to a server is opened. Clones are one gate.
#[derive(Debug, Clone)]
pub struct Gate(Option<Arc<Guard>>);

#[derive(Debug)]
struct Guard {
    permissions: Permissions,
    state: Mutex<State>,
    /// Statements on tables that stand in the log.
    logged: LoggedStatements,
}

#[derive(Debug, Default)]
struct State {
    /// The servers' numbers of the connections that were opened.
    connections: HashSet<(Address, u32)>,
    /// Servers that were looked at and may be written to.
    writable: HashSet<Address>,
    /// Remarks on parts that could not be looked at.
    remarks: BTreeSet<String>,
    /// Dialect of each server: its own functions.
    dialects: HashMap<Address, Dialect>,
    /// Statements of loads that passed, by server: thousands of connections prepare the same few.
    admitted: HashMap<Address, HashSet<String>>,
    /// Statements that were noted instead of sent, in their order.
    rehearsed: Vec<String>,
}

/// A statement that may pass.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Global variables that it sets, whose values before are to be logged.
    pub(crate) variables: Vec<String>,
    /// It changes tables.
    pub(crate) writes: bool,
    changes: bool,
}

impl Gate {
    /// For a server that Weir started for itself and that has no other user: everything passes.
    pub fn own() -> Self {
        Self(None)
    }

    /// For a server of the user's that is only read.
    pub fn reading() -> Self {
        Self::new(Permissions::default())
    }

    /// For a server of the user's.
    pub fn new(permissions: Permissions) -> Self {
        Self(Some(Arc::new(Guard {
            permissions,
            state: Mutex::default(),
            logged: LoggedStatements::default(),
        })))
    }

    /// Returns true if the server is Weir's own.
    pub fn is_own(&self) -> bool {
        self.0.is_none()
    }

    /// The permit of a script; `None` where each statement has to be judged.
    pub fn script_permit(&self) -> Option<ScriptPermit<'_>> {
        let guard = self.0.as_ref();
        let is_free = guard.is_none_or(|guard| guard.permissions.is_script);
        is_free.then(ScriptPermit::new)
    }

    /// Returns true if changes are only noted.
    pub fn is_rehearsal(&self) -> bool {
        let guard = self.0.as_ref();
        guard.is_some_and(|guard| guard.permissions.is_rehearsal)
    }

    /// Returns true if a connection may keep its writes out of the binary log.
    pub fn skips_binary_log(&self) -> bool {
        let guard = self.0.as_ref();
        guard.is_none_or(|guard| guard.permissions.skips_binary_log)
    }

    /// Returns the statements that were noted instead of sent, in their order.
    pub fn rehearsed(&self) -> Vec<String> {
        let guard = self.0.as_ref();
        guard.map_or_else(Vec::new, |guard| guard.state().rehearsed.clone())
    }

    /// Returns remarks for the user on parts that could not be looked at, a line each.
    pub fn remarks(&self) -> Vec<String> {
        let guard = self.0.as_ref();
        guard.map_or_else(Vec::new, |guard| {
            guard.state().remarks.iter().cloned().collect()
        })
    }

    pub(crate) fn remark(&self, line: String) {
        if let Some(guard) = &self.0 {
            guard.state().remarks.insert(line);
        }
    }

    /// Returns true if nothing is left to be looked at before tables of a server are changed.
    pub(crate) fn is_looked_at(&self, address: &Address) -> bool {
        let guard = self.0.as_ref();
        guard.is_none_or(|guard| {
            guard.permissions.writes_replicas || guard.state().writable.contains(address)
        })
    }

    /// A server was looked at: it follows no other.
    pub(crate) fn may_be_written(&self, address: &Address) {
        if let Some(guard) = &self.0 {
            guard.state().writable.insert(address.clone());
        }
    }

    /// Notes in a rehearsal what would be sent in many pieces, in one line.
    pub fn note(&self, line: String) {
        if let Some(guard) = &self.0 {
            guard.state().rehearsed.push(line);
        }
    }

    /// Lets a statement of a load pass, or says why not. Global variables are no load's.
    ///
    /// # Errors
    ///
    /// A statement that may not be sent to this server, or a log that cannot be written.
    pub fn admit(&self, address: &Address, sql: &str) -> Result<Passage, ClientError> {
        let Some(guard) = self.0.as_ref().filter(|guard| !guard.permissions.is_script) else {
            return Ok(Passage::Sent);
        };
        let was_admitted = |texts: &HashSet<String>| texts.contains(sql);
        if guard
            .state()
            .admitted
            .get(address)
            .is_some_and(was_admitted)
        {
            return Ok(Passage::Sent);
        }
        let admission = self.judge(address, sql)?;
        let passage = self.record(&admission, address, sql, &[])?;
        let mut state = guard.state();
        let texts = state.admitted.entry(address.clone()).or_default();
        if passage == Passage::Sent && texts.len() < REMEMBERED_MAX {
            texts.insert(sql.to_owned());
        }
        Ok(passage)
    }

    /// Names of the tables that a statement changes, and of those that it reads beside; none if it changes
    /// nothing or everything passes.
    pub fn tables_changed(&self, sql: &str) -> Vec<String> {
        // A function that is not known may be stored on one of the servers.
        match effect(sql, Dialect::Unknown) {
            Effect::Write(_) if !self.is_own() => {
                let readings = readings(sql);
                readings.iter().flat_map(|tokens| tables(tokens)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The first schema that stored code names, a trigger's body or a view's query, and that may not be changed.
    pub fn outside_of(&self, code: &str) -> Option<String> {
        let allowed = self.0.as_ref()?.permissions.schema.as_ref();
        let readings = readings(code);
        let mut schemas = readings.iter().flat_map(|tokens| schemas_of_code(tokens));
        schemas.find(|schema| Some(schema) != allowed)
    }

    /// Checks that a connection may be in a schema: a statement that names none is about that one.
    pub(crate) fn may_use(&self, address: &Address, schema: &str) -> Result<(), ClientError> {
        let guard = self.0.as_ref();
        let allowed = guard.and_then(|guard| guard.permissions.schema.as_ref());
        match allowed.filter(|allowed| *allowed != schema) {
            Some(allowed) => Err(ClientError::Forbidden {
                address: address.to_string(),
                statement: format!("USE {schema}"),
                why: format!("only `{allowed}` may be changed"),
            }),
            None => Ok(()),
        }
    }

    /// A connection was opened to a server of this version: its own statements may be ended.
    pub(crate) fn opened(&self, address: &Address, connection: u32, version: &str) {
        if let Some(guard) = &self.0 {
            let mut state = guard.state();
            state.connections.insert((address.clone(), connection));
            let dialect = Dialect::by_version(version);
            state.dialects.insert(address.clone(), dialect);
        }
    }

    /// Checks that a statement may pass.
    pub(crate) fn judge(&self, address: &Address, sql: &str) -> Result<Admission, ClientError> {
        let free = |variables| Admission {
            variables,
            writes: false,
            changes: false,
        };
        let Some(guard) = &self.0 else {
            return Ok(free(Vec::new()));
        };
        let admission = match effect(sql, guard.dialect(address)) {
            Effect::None => Ok(free(Vec::new())),
            Effect::Write(schemas) => guard.may_write(&schemas).map(|()| Admission {
                variables: Vec::new(),
                writes: true,
                changes: true,
            }),
            Effect::Global(variables) => guard.may_set(&variables).map(|()| Admission {
                variables,
                writes: false,
                changes: true,
            }),
            Effect::SkipBinaryLog if guard.permissions.skips_binary_log => Ok(free(Vec::new())),
            Effect::SkipBinaryLog => {
                Err("replicas would not get its writes; it has to be allowed by name".to_owned())
            }
            Effect::Kill(id) if guard.has_opened(address, id) => Ok(free(Vec::new())),
            Effect::Kill(id) => Err(format!("connection {id} is not Weir's")),
            Effect::Forbidden(why) => Err(why),
        };
        admission.map_err(|why| ClientError::Forbidden {
            address: address.to_string(),
            statement: shorten(sql),
            why,
        })
    }

    /// Writes down what a statement is about to change; `before`: variables and what they held.
    pub(crate) fn record(
        &self,
        admission: &Admission,
        address: &Address,
        sql: &str,
        before: &[(String, Option<String>)],
    ) -> Result<Passage, ClientError> {
        let Some(guard) = self.0.as_ref().filter(|_| admission.changes) else {
            return Ok(Passage::Sent);
        };
        if admission.writes && !self.is_looked_at(address) {
            return Err(ClientError::Forbidden {
                address: address.to_string(),
                statement: shorten(sql),
                why: "it was not looked at whether the server is a replica".to_owned(),
            });
        }
        if guard.permissions.is_rehearsal {
            guard.state().rehearsed.push(sql.to_owned());
            return Ok(Passage::Rehearsed);
        }
        guard
            .write_down(address, sql, before)
            .map_err(|(path, error)| ClientError::Unlogged {
                address: address.to_string(),
                statement: shorten(sql),
                path: path.display().to_string(),
                why: error.to_string().to_lowercase(),
                remedy: "make room there, or set XDG_STATE_HOME to another folder",
            })?;
        Ok(Passage::Sent)
    }
}

impl Guard {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dialect(&self, address: &Address) -> Dialect {
        let state = self.state();
        state.dialects.get(address).copied().unwrap_or_default()
    }

    fn has_opened(&self, address: &Address, connection: u32) -> bool {
        let connection = (address.clone(), connection);
        self.state().connections.contains(&connection)
    }

    /// `schemas`: those that a statement names; without any it is about the connection's own.
    fn may_write(&self, schemas: &[String]) -> Result<(), String> {
        let Some(allowed) = &self.permissions.schema else {
            return Err("this command only reads".to_owned());
        };
        if is_system_schema(allowed) {
            return Err(format!(
                "the schema `{allowed}` is the server's own; name another"
            ));
        }
        match schemas.iter().find(|schema| *schema != allowed) {
            Some(other) => Err(format!(
                "it names the schema `{other}`, and only `{allowed}` may be changed; leave the schema out \
                 of the statement, or name `{other}` as the one to use"
            )),
            None => Ok(()),
        }
    }

    fn may_set(&self, variables: &[String]) -> Result<(), String> {
        let allowed = &self.permissions.variables;
        match variables.iter().find(|name| !allowed.contains(*name)) {
            Some(name) => Err(format!(
                "the variable `{name}` was not allowed to be changed"
            )),
            None => Ok(()),
        }
    }

    fn write_down(
        &self,
        address: &Address,
        sql: &str,
        before: &[(String, Option<String>)],
    ) -> Result<(), (std::path::PathBuf, std::io::Error)> {
        let Some(log) = &self.permissions.log else {
            return Ok(());
        };
        let schema = self.permissions.schema.as_deref();
        let append = || {
            log.append(&address.to_string(), schema, sql, before)
                .map_err(|error| (log.path().to_owned(), error))
        };
        if before.is_empty() {
            return self.logged.once(address, sql, append);
        }
        append()
    }
}

/// Returns true if a schema is one of the servers' own.
pub fn is_system_schema(schema: &str) -> bool {
    SYSTEM_SCHEMAS
        .iter()
        .any(|system| schema.eq_ignore_ascii_case(system))
}

#[cfg(test)]
mod tests;
