//! What the installed servers would make of a plan's settings: asked before anything runs.
//!
//! A rule that judges a design sees what a server would say, not what somebody wrote. What a server decides only
//! when it starts, and a server that is not installed or not Weir's, cannot be asked; then it is what is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use weir_model::variables::{FLUSH_METHOD, LOG_BIN};
use weir_model::{Flavor, Plan, ServerChoice, ServerVariables, ServerVersion, option_variable};
use weir_server::ServerBinary;

use crate::{StudyError, programs, target};

/// How long all questions together may take: one takes some 50 ms, and there may be a thousand.
const PATIENCE: Duration = Duration::from_secs(10);

/// What one server would say.
#[derive(Debug)]
pub(crate) struct Foretold {
    pub(crate) version: ServerVersion,
    pub(crate) values: BTreeMap<String, String>,
}

/// What the servers of a plan's cells would say.
#[derive(Debug, Default)]
pub struct Foreseen {
    cells: Vec<Option<Arc<Foretold>>>,
    /// Who was asked, who was not, and what a server makes something else of; one line each.
    pub notes: Vec<String>,
}

impl Foreseen {
    /// Nobody was asked.
    pub const NOTHING: Self = Self {
        cells: Vec::new(),
        notes: Vec::new(),
    };

    /// Asks the installed programs; the error is the first setting that one of them does not take.
    pub fn ask(plan: &Plan) -> Result<Self, StudyError> {
        let mut asking = Asking {
            installed: weir_server::find(None).unwrap_or_default(),
            began: Instant::now(),
            known: BTreeMap::new(),
            answers: BTreeMap::new(),
            notes: BTreeSet::new(),
        };
        let cells = plan.cells.iter();
        let cells = cells.map(|cell| asking.of(plan.server_of(cell), plan.variables_of(cell)));
        let cells = cells.collect::<Result<_, StudyError>>()?;
        let notes = asking.notes.into_iter();
        Ok(Self {
            cells,
            notes: notes.map(|note| format!("settings: {note}")).collect(),
        })
    }

    /// What the server of the cell `index` would say; `None`: it was not asked.
    pub(crate) fn of(&self, index: usize) -> Option<&Foretold> {
        self.cells.get(index)?.as_deref()
    }
}

/// Questions to the installed programs; cells with the same settings ask once.
struct Asking {
    installed: Vec<ServerBinary>,
    began: Instant,
    /// Names of each program's variables, and of what else a factor can be, for suggestions.
    known: BTreeMap<PathBuf, BTreeMap<String, String>>,
    answers: BTreeMap<(ServerChoice, BTreeMap<String, String>), Arc<Foretold>>,
    notes: BTreeSet<String>,
}

impl Asking {
    /// What the server `choice` makes of `written`; `None`, with a note, where nobody can be asked.
    fn of(
        &mut self,
        choice: ServerChoice,
        written: BTreeMap<String, String>,
    ) -> Result<Option<Arc<Foretold>>, StudyError> {
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
            let program = programs::of_choice(&self.installed, choice);
            program.map_err(|why| format!("as they are written ({why})"))
        };
        match program {
            Ok(program) => {
                self.check_names(&program, written)?;
                let answer = Arc::new(ask(&program, written, &mut self.notes)?);
                self.answers.insert(key, Arc::clone(&answer));
                Ok(Some(answer))
            }
            Err(note) => {
                self.notes.insert(note);
                Ok(None)
            }
        }
    }
}

impl Asking {
    /// Every variable must be one of the program's: `MariaDB` would take the beginning of a name.
    fn check_names(
        &mut self,
        program: &ServerBinary,
        written: &BTreeMap<String, String>,
    ) -> Result<(), StudyError> {
        let native = weir_server::translate(program.flavor, program.version, written)?;
        if !self.known.contains_key(&program.path) {
            let mut known = weir_server::known_variables(program)?;
            known.extend(target::own_names().map(|name| (name.to_owned(), String::new())));
            self.known.insert(program.path.clone(), known);
        }
        let names: Vec<_> = native.keys().map(String::as_str).collect();
        Ok(weir_server::check_variables(
            &self.known[&program.path],
            &names,
        )?)
    }
}

/// What `program` makes of `written`.
fn ask(
    program: &ServerBinary,
    written: &BTreeMap<String, String>,
    notes: &mut BTreeSet<String>,
) -> Result<Foretold, StudyError> {
    let ServerBinary {
        flavor, version, ..
    } = program;
    let native = weir_server::translate(*flavor, *version, written)?;
    let answer = weir_server::ask(program, written)?;
    if let Some(refused) = answer.refused.into_iter().next() {
        return Err(StudyError::RefusedSetting {
            server: format!("{flavor} {version}"),
            refused,
        });
    }
    let mut known = answer.values;
    notes.insert(format!("as {flavor} {version} reads them"));
    let told = ServerVariables::written(*flavor, &native);
    let said = ServerVariables::said(*flavor, &known);
    let changed = told.values().iter().filter(|(name, _)| {
        name.as_str() != LOG_BIN && said.get(name).is_some() && !told.agrees(&said, name)
    });
    notes.extend(changed.map(|(name, value)| {
        let made = said.get(name).unwrap_or_default();
        format!("{flavor} {version} makes {name} {made} of {value}")
    }));
    let log = binary_log(*flavor, &told, &known);
    known.insert(LOG_BIN.to_owned(), log);
    if *flavor == Flavor::Mysql && told.get(FLUSH_METHOD).is_none() {
        // It is chosen when the server starts.
        known.remove(FLUSH_METHOD);
    }
    Ok(Foretold {
        version: *version,
        values: known,
    })
}

/// Whether there is a binary log. The help prints its name, and `MariaDB` prints 0 for none and for one called 0.
fn binary_log(
    flavor: Flavor,
    told: &ServerVariables<'_>,
    known: &BTreeMap<String, String>,
) -> String {
    let is_on = told.binary_log().unwrap_or_else(|| {
        let name = known
            .iter()
            .find(|(name, _)| option_variable(name) == LOG_BIN);
        let name = name.map_or("", |(_, value)| value.as_str());
        !(name.is_empty() || flavor == Flavor::Mariadb && name == "0")
    });
    if is_on { "ON" } else { "OFF" }.to_owned()
}
