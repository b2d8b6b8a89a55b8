//! Settings as the installed servers would take them: asked before anything runs.
//!
//! A rule that judges a design sees what a server would say, not the text of the study. What a server decides only
//! when it starts, and a server that is not installed or not Weir's, cannot be asked; then it is what is written.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weir_judge::{CellPreview, SettingsPreview};
use weir_model::variables::{FLUSH_METHOD, LOG_BIN};
use weir_model::{Flavor, Plan, Scale, ServerChoice, ServerVariables, in_units};
use weir_server::{ServerBinary, ServerError};

use crate::installed::program_of;
use crate::{StudyError, target};

/// Time limit for all questions together: one takes some 50 ms, and there may be a thousand.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the installed programs; the error is the first setting that one of them does not take.
///
/// # Errors
///
/// A setting that a program refuses or does not have.
pub fn preview_settings(plan: &Plan) -> Result<SettingsPreview, StudyError> {
    let mut asking = PreviewQueries {
        installed: weir_server::find(None).unwrap_or_default(),
        began: Instant::now(),
        known: BTreeMap::new(),
        answers: BTreeMap::new(),
        notes: BTreeSet::new(),
    };
    let cells = plan.cells.iter().map(|cell| {
        let node = cell.spec.primary();
        if node.hosting_agents().is_some() {
            asking.notes.insert(as_written(
                &"a server on another host is not asked before the study runs",
            ));
            return Ok(None);
        }
        let asked = asking.preview(node.server.clone(), node.variables.clone());
        asked.map_err(|error| scaled(error, cell.spec.data.data_scale))
    });
    let cells = cells.collect::<Result<_, StudyError>>()?;
    let notes = asking.notes.into_iter();
    let notes = notes.map(|note| format!("settings: {note}")).collect();
    Ok(SettingsPreview::new(cells, notes))
}

/// `error`, with the scale that made the value of what the study says.
fn scaled(error: StudyError, scale: Scale) -> StudyError {
    match error {
        StudyError::RefusedSetting { server, refused } if scale < Scale::FULL => {
            let refused = format!("{refused}, at the data's scale of {scale}");
            StudyError::RefusedSetting { server, refused }
        }
        other => other,
    }
}

/// Questions to the installed programs; cells with the same settings ask once.
struct PreviewQueries {
    installed: Vec<ServerBinary>,
    began: Instant,
    /// Names of each program's variables, and of what else a factor can be, for suggestions.
    known: BTreeMap<PathBuf, BTreeMap<String, String>>,
    answers: BTreeMap<(ServerChoice, BTreeMap<String, String>), Arc<CellPreview>>,
    notes: BTreeSet<String>,
}

impl PreviewQueries {
    /// Returns the server `choice`'s answer to `written`; `None`, with a note, where no server can be asked.
    fn preview(
        &mut self,
        choice: ServerChoice,
        written: BTreeMap<String, String>,
    ) -> Result<Option<Arc<CellPreview>>, StudyError> {
        let key = (choice, written);
        if let Some(known) = self.answers.get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let (choice, written) = &key;
        let program = if choice.given.is_some() {
            Err("a server of yours is not asked before the study runs".to_owned())
        } else if self.began.elapsed() > PATIENCE {
            Err("too many to ask a server about all of them; the others are as written".to_owned())
        } else {
            let program = program_of(&self.installed, choice);
            program.map_err(|why| as_written(&why))
        };
        let answer = match program {
            Ok(program) => self.ask(&program, written)?,
            Err(note) => Err(note),
        };
        match answer {
            Ok(answer) => {
                let answer = Arc::new(answer);
                self.answers.insert(key, Arc::clone(&answer));
                Ok(Some(answer))
            }
            Err(note) => {
                self.notes.insert(note);
                Ok(None)
            }
        }
    }

    /// Returns `program`'s answer to `written`, or a note if it does not answer.
    fn ask(
        &mut self,
        program: &ServerBinary,
        written: &BTreeMap<String, String>,
    ) -> Result<Result<CellPreview, String>, StudyError> {
        let (flavor, version) = (program.flavor, program.version);
        let native = weir_server::translate(flavor, version, written)?;
        let known = match self.known_of(program) {
            Ok(known) => known,
            Err(why) => return Ok(Err(as_written(&why))),
        };
        // MariaDB would take the beginning of a name.
        let names: Vec<_> = native.keys().map(String::as_str).collect();
        weir_server::check_variables(known, &names)?;
        let answer = match weir_server::ask(program, written) {
            Ok(answer) => answer,
            Err(why) => return Ok(Err(as_written(&why))),
        };
        if let Some(refused) = answer.refused.into_iter().next() {
            return Err(StudyError::RefusedSetting {
                server: format!("{flavor} {version}"),
                refused,
            });
        }
        self.notes
            .insert(format!("as {flavor} {version} reads them"));
        let told = weir_variables::native_variables(flavor, version, written);
        let told = told.map_err(ServerError::from)?;
        let said = ServerVariables::said(flavor, &answer.values);
        let changed = changed(&told, &said);
        self.notes
            .extend(changed.map(|change| format!("{flavor} {version} makes {change}")));
        Ok(Ok(CellPreview {
            version,
            values: at_work(&told, answer.values.clone()),
        }))
    }

    /// Names of the program's variables, and of what else a factor can be, for suggestions.
    fn known_of(
        &mut self,
        program: &ServerBinary,
    ) -> Result<&BTreeMap<String, String>, ServerError> {
        Ok(match self.known.entry(program.path.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let mut known = weir_server::known_variables(program)?;
                known.extend(target::own_names().map(|name| (name.to_owned(), String::new())));
                unknown.insert(known)
            }
        })
    }
}

fn as_written(why: &dyn Display) -> String {
    format!("as they are written ({why})")
}

/// Settings of which a server makes something else, as `innodb_io_capacity 100 of 1`.
fn changed<'a>(
    told: &'a ServerVariables<'_>,
    said: &'a ServerVariables<'_>,
) -> impl Iterator<Item = String> + use<'a> {
    told.values().iter().filter_map(|(name, value)| {
        // The help prints the log's name.
        let made = (name != LOG_BIN).then(|| told.substitute(said, name))??;
        let made = in_units(made, &[value]);
        Some(format!("{name} {made} of {}", in_units(value, &[])))
    })
}

/// Returns the values of the help, as a running server would show them.
fn at_work(
    told: &ServerVariables<'_>,
    mut values: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let flavor = told.flavor();
    let log = if has_binary_log(told, &values) {
        "ON"
    } else {
        "OFF"
    };
    values.insert(LOG_BIN.to_owned(), log.to_owned());
    if flavor == Flavor::Mysql && told.get(FLUSH_METHOD).is_none() {
        // It is chosen when the server starts.
        values.remove(FLUSH_METHOD);
    }
    values
}

/// The help prints the binary log's name; `MariaDB` prints 0 for none and for one that is called 0.
fn has_binary_log(told: &ServerVariables<'_>, values: &BTreeMap<String, String>) -> bool {
    told.binary_log().unwrap_or_else(|| {
        let name = values.get(LOG_BIN).map_or("", String::as_str);
        !(name.is_empty() || told.flavor() == Flavor::Mariadb && name == "0")
    })
}
