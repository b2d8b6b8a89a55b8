//! Settings of a server that the user gives: changed while it runs, logged, and put back.
//!
//! A change is one `SET GLOBAL`. What needs a restart is refused: that is the user's to do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mysql::Value;
use serde::Serialize;
use weir_model::{Bytes, ServerUrl};

use crate::change_log::append;
use crate::{GivenServer, ServerError, Session, check_variables, translate};

/// The variable whose change takes its time.
const POOL_SIZE: &str = "innodb_buffer_pool_size";

/// The log of all changes: only ever appended to.
pub fn config_log() -> PathBuf {
    crate::state_directory().join("config.log")
}

/// A change, as it is logged.
#[derive(Debug, Serialize)]
struct ChangeRecord<'a> {
    at: String,
    server: &'a str,
    variable: &'a str,
    from: String,
    to: String,
}

/// Settings of a server that were changed; dropping this puts them back.
#[derive(Debug)]
pub struct ConfigChanges {
    server: GivenServer,
    log: PathBuf,
    /// Variable -> what it was, in the order of the changes.
    before: Vec<(String, Value)>,
}

/// `wanted` in the server's own names, if it may be changed and has all of them.
///
/// With `allowed` each variable is set to the value that it has: so the server itself says which of
/// them need a restart or a privilege, before anything is changed.
pub fn check_config(
    server: &GivenServer,
    wanted: &BTreeMap<String, String>,
    allowed: bool,
) -> Result<BTreeMap<String, String>, ServerError> {
    let native = translate(server.url.flavor, server.version, wanted)?;
    let names: Vec<_> = native.keys().map(String::as_str).collect();
    if names.is_empty() {
        return Ok(native);
    }
    if !allowed {
        return Err(ServerError::ConfigNotAllowed {
            url: server.url.to_string(),
            variables: names.join(", "),
        });
    }
    let mut session = server.session()?;
    check_variables(&session.variables()?, &names)?;
    for name in names {
        set(&mut session, &server.url, name, &format!("@@GLOBAL.{name}"))?;
    }
    Ok(native)
}

impl ConfigChanges {
    /// Nothing changed yet; changes are logged to `log`.
    pub fn new(server: &GivenServer, log: PathBuf) -> Self {
        Self {
            server: server.clone(),
            log,
            before: Vec::new(),
        }
    }

    /// Sets variables, which [`check_config`] has checked. On failure those that were set are put back.
    pub fn apply(&mut self, wanted: &BTreeMap<String, String>) -> Result<(), ServerError> {
        let mut session = self.server.session()?;
        for (name, value) in wanted {
            let before = session.global(name)?;
            // On record first: whatever happens next, it is put back.
            self.before.push((name.clone(), before));
            let done = self.change(&mut session, name, &literal(value));
            if let Err(error) = done {
                self.before.pop();
                self.put_back()?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Gives all variables the values that they had.
    pub fn put_back(&mut self) -> Result<(), ServerError> {
        if self.before.is_empty() {
            return Ok(());
        }
        let mut session = self.server.session()?;
        while let Some((name, value)) = self.before.pop() {
            let literal = value.as_sql(false);
            let done = self.change(&mut session, &name, &literal);
            done.map_err(|error| ServerError::PutBack {
                url: self.server.url.to_string(),
                statement: format!("SET GLOBAL {name} = {literal}"),
                why: error.to_string(),
            })?;
        }
        Ok(())
    }

    /// Changes one variable and logs it, with the value that the server then says.
    fn change(&self, session: &mut Session, name: &str, literal: &str) -> Result<(), ServerError> {
        let from = session.global(name)?.as_sql(false);
        match literal.parse() {
            Ok(size) if name == POOL_SIZE => {
                session.resize_pool(Bytes(size))?;
            }
            _ => set(session, &self.server.url, name, literal)?,
        }
        let record = ChangeRecord {
            at: jiff::Timestamp::now().to_string(),
            server: &self.server.url.to_string(),
            variable: name,
            from,
            to: session.global(name)?.as_sql(false),
        };
        append(&self.log, &record)
    }
}

impl Drop for ConfigChanges {
    fn drop(&mut self) {
        // Whoever can say more has called it before.
        let _ = self.put_back();
    }
}

fn set(session: &mut Session, url: &ServerUrl, name: &str, value: &str) -> Result<(), ServerError> {
    /// `ER_INCORRECT_GLOBAL_LOCAL_VAR`: "is a read only variable".
    const READ_ONLY: u16 = 1238;
    let done = session.run(
        "change the server's settings",
        &format!("SET GLOBAL {name} = {value}"),
    );
    match done {
        Err(ServerError::Query { source, .. }) if matches!(&*source, mysql::Error::MySqlError(said) if said.code == READ_ONLY) => {
            Err(ServerError::NeedsRestart {
                url: url.to_string(),
                name: name.to_owned(),
            })
        }
        done => done,
    }
}

/// A value as an option file has it, as `SET` wants it: sizes in bytes, numbers bare, words quoted.
fn literal(value: &str) -> String {
    if value.parse::<f64>().is_ok() {
        return value.to_owned();
    }
    match value.parse::<Bytes>() {
        Ok(size) => size.0.to_string(),
        Err(_) => Value::from(value).as_sql(false),
    }
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn values_become_what_a_statement_takes() {
        for (value, expected) in [
            ("8G", "8589934592"),
            ("400", "400"),
            ("0.5", "0.5"),
            ("ON", "'ON'"),
            ("it's", "'it\\'s'"),
        ] {
            assert_eq!(literal(value), expected);
        }
    }
}
