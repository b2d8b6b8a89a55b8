//! Settings of a server that the user gives: changed while it runs, logged, and put back.
//!
//! A change is one `SET GLOBAL`. What needs a restart is refused: that is the user's to do. Before a
//! variable is changed, a note says how to put it back, so that even a killed Weir leaves the statement
//! behind; the note goes when the variable is as it was.

mod left_changed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::{Bytes, ServerUrl};
use weir_mysql::Value;
use weir_variables::native_variables;

use crate::{ExternalServer, ServerError, Session, check_variables};
use left_changed::Note;
pub use left_changed::{LeftChanged, forget_left_changed, left_changed, put_back_left};

/// The variable whose change takes its time.
const POOL_SIZE: &str = "innodb_buffer_pool_size";
/// Time to wait for a server that does not answer before its settings are left changed: a restart.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(200);

/// The statements that make `native` settings, as a user can send them.
pub fn set_statements(native: &BTreeMap<String, String>) -> Vec<String> {
    let set = |(name, value): (&String, &String)| statement(name, &literal(value));
    native.iter().map(set).collect()
}

/// Settings of a server that were changed; dropping this puts them back.
#[derive(Debug)]
pub struct ConfigChanges {
    server: ExternalServer,
    notes: PathBuf,
    /// In the order of the changes.
    changed: Vec<ChangedVariable>,
}

#[derive(Debug)]
struct ChangedVariable {
    name: String,
    before: Value,
    note: Note,
}

impl ChangedVariable {
    fn statement(&self) -> String {
        statement(&self.name, &self.before.as_sql(false))
    }
}

/// `wanted` in the server's own names, if it may be changed.
///
/// # Errors
///
/// Settings that were not allowed, or that no server of this version has.
pub fn native_config(
    server: &ExternalServer,
    wanted: &BTreeMap<String, String>,
    allowed: bool,
) -> Result<BTreeMap<String, String>, ServerError> {
    // A statement wants the names of variables, where an option may have another.
    let native = native_variables(server.url.flavor, server.version, wanted)?;
    let native = native.values().clone();
    if native.is_empty() || allowed {
        return Ok(native);
    }
    let names: Vec<_> = native.keys().map(String::as_str).collect();
    Err(ServerError::ConfigNotAllowed {
        url: server.url.to_string(),
        variables: names.join(", "),
    })
}

/// Permits `native` settings to be made, and sets each variable to the value that it has. So the server
/// itself names those that need a restart or a privilege, before a value changes.
///
/// # Errors
///
/// Variables that the server does not have or does not change.
pub fn permit_config(
    server: &mut ExternalServer,
    native: &BTreeMap<String, String>,
) -> Result<(), ServerError> {
    if native.is_empty() {
        return Ok(());
    }
    server.permit_variables(&native.keys().cloned().collect::<BTreeSet<_>>());
    let names: Vec<_> = native.keys().map(String::as_str).collect();
    let mut session = server.session()?;
    check_variables(&session.variables()?, &names)?;
    for name in names {
        set(&mut session, &server.url, name, &format!("@@GLOBAL.{name}"))?;
    }
    Ok(())
}

impl ConfigChanges {
    /// Nothing changed yet.
    pub fn new(server: &ExternalServer) -> Self {
        Self::noted_in(server, &left_changed::directory())
    }

    /// As [`ConfigChanges::new`], with its notes in a directory of the caller's.
    fn noted_in(server: &ExternalServer, notes: &Path) -> Self {
        Self {
            server: server.clone(),
            notes: notes.to_owned(),
            changed: Vec::new(),
        }
    }

    /// Sets variables, which [`permit_config`] has permitted. On failure those that were set are put back.
    ///
    /// # Errors
    ///
    /// What the server says, a note or a log that cannot be written before the change, and what could
    /// not be put back.
    pub fn apply(&mut self, wanted: &BTreeMap<String, String>) -> Result<(), ServerError> {
        let mut session = self.server.session()?;
        for (name, value) in wanted {
            if let Err(error) = self.change(&mut session, name, &literal(value)) {
                self.put_back()?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Gives all variables the values that they had, as many as can be: an error does not end it.
    ///
    /// # Errors
    ///
    /// The statements that did not go through, to be made by hand.
    pub fn put_back(&mut self) -> Result<(), ServerError> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let deadline = Instant::now() + PATIENCE;
        let mut failures = Vec::new();
        let mut session = None;
        while let Some(changed) = self.changed.pop() {
            match self.put_back_one(&changed, &mut session, deadline) {
                Ok(()) => changed.note.remove(),
                // Its note stays, for the next start of any command.
                Err(error) => failures.push((changed.statement(), error.to_string())),
            }
        }
        let Some((_, why)) = failures.first() else {
            return Ok(());
        };
        let statements: Vec<_> = failures.iter().map(|(sql, _)| sql.as_str()).collect();
        Err(ServerError::PutBack {
            url: self.server.url.to_string(),
            why: why.clone(),
            statement: statements.join("; "),
        })
    }

    /// Changes one variable. From the note on, whatever happens, it is put back.
    fn change(
        &mut self,
        session: &mut Session,
        name: &str,
        literal: &str,
    ) -> Result<(), ServerError> {
        let before = session.global(name)?;
        let way_back = statement(name, &before.as_sql(false));
        let also = self.server.note_to.as_deref();
        let note = Note::write((&self.notes, also), &self.server.url, name, &way_back)?;
        self.changed.push(ChangedVariable {
            name: name.to_owned(),
            before,
            note,
        });
        match literal.parse() {
            Ok(size) if name == POOL_SIZE => session.resize_pool(Bytes(size)).map(drop),
            _ => set(session, &self.server.url, name, literal),
        }
    }

    /// Tries until it is done, the server refuses, or the time is over: it may be starting again.
    fn put_back_one(
        &self,
        changed: &ChangedVariable,
        session: &mut Option<Session>,
        deadline: Instant,
    ) -> Result<(), ServerError> {
        loop {
            let done = self.try_put_back(changed, session);
            let Err(error) = done else { return Ok(()) };
            *session = None;
            let may_come_back = match &error {
                ServerError::Query { source, .. } => source.is_lost(),
                ServerError::Connect { .. } => true,
                _ => false,
            };
            if !may_come_back && self.is_as_before(changed) {
                return Ok(());
            }
            if !may_come_back || Instant::now() >= deadline {
                return Err(error);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns true if a variable has the value that it had: an account that may not set it has changed nothing.
    fn is_as_before(&self, changed: &ChangedVariable) -> bool {
        let value = self
            .server
            .session()
            .and_then(|mut session| session.global(&changed.name));
        value.is_ok_and(|value| value == changed.before)
    }

    fn try_put_back(
        &self,
        changed: &ChangedVariable,
        session: &mut Option<Session>,
    ) -> Result<(), ServerError> {
        let session = match session {
            Some(session) => session,
            none => none.insert(self.server.session()?),
        };
        if changed.name != POOL_SIZE {
            return session.put_back(&changed.statement());
        }
        let from = session.pool_size()?;
        session.put_back(&changed.statement())?;
        let size = changed.before.as_sql(true).parse().map(Bytes);
        size.map_or(Ok(()), |size| session.await_resize(size, from).map(drop))
    }
}

impl Drop for ConfigChanges {
    fn drop(&mut self) {
        // A caller that can say more has called it before.
        let _ = self.put_back();
    }
}

fn statement(name: &str, literal: &str) -> String {
    format!("SET GLOBAL {name} = {literal}")
}

fn set(session: &mut Session, url: &ServerUrl, name: &str, value: &str) -> Result<(), ServerError> {
    /// `ER_INCORRECT_GLOBAL_LOCAL_VAR`: "is a read only variable".
    const READ_ONLY: u16 = 1238;
    match session.run("change the server's settings", &statement(name, value)) {
        Err(ServerError::Query { source, .. }) if source.code() == Some(READ_ONLY) => {
            Err(ServerError::NeedsRestart {
                url: url.to_string(),
                name: name.to_owned(),
            })
        }
        done => done,
    }
}

/// A value as an option file or a study has it, as `SET` wants it: sizes in bytes, numbers bare, words quoted.
pub fn literal(value: &str) -> String {
    if value.parse::<f64>().is_ok() {
        return value.to_owned();
    }
    match value.parse::<Bytes>() {
        Ok(size) => size.0.to_string(),
        Err(_) => Value::from(value).as_sql(false),
    }
}

#[cfg(test)]
mod tests;
