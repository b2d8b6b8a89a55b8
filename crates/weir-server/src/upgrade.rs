//! Data of one server made ready for another: in place where the vendor allows it, in steps, else by a dump.
//!
//! A server of MySQL takes data of its own series and of those since the last long-term one before it; a way over several
//! long-term series needs a server of each (MySQL manual, "Upgrade Paths"). MariaDB takes data of every older series
//! (MariaDB manual, "Upgrading between major versions"); its system tables are then brought up to date by
//! `mariadb-upgrade`. Data of a newer server or of the other flavour go by a dump, which leaves accounts behind.

mod by_dump;
mod in_place;

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use weir_model::{Bytes, Flavor, ServerVersion};

use self::by_dump::DumpUpgrade;
use self::in_place::{UpgradeStep, upgrade_in_place, upgrade_way};
use crate::helper_process::run_within;
use crate::{ServerBinary, ServerError};

/// Option of clients that want TLS by default: a socket has no need of it, and an old server does not have it.
const NO_TLS: &str = "--loose-skip-ssl";

/// Lines of a program's words that an error repeats: `mariadb-upgrade` breaks a sentence into five.
const WORDS_MAX: usize = 5;

/// Progress of a wait; ends it with [`ControlFlow::Break`].
type WatchStart<'a> = &'a mut dyn FnMut(Duration) -> ControlFlow<()>;

/// Way of data to another server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpgradeWay(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    InPlace(Vec<UpgradeStep>),
    /// With the reason why it is not in place.
    Dump(DumpUpgrade, String),
}

impl UpgradeWay {
    /// Returns the way of data that a server `from` wrote to the server `to`; `None` if it takes them as they are.
    ///
    /// # Errors
    ///
    /// No way: with what is missing for one in place.
    pub fn find(
        from: (Flavor, ServerVersion),
        to: &ServerBinary,
    ) -> Result<Option<Self>, ServerError> {
        if from == (to.flavor, to.version) {
            return Ok(None);
        }
        let installed = &crate::find(None)?;
        let in_place = if from.0 == to.flavor {
            upgrade_way(from.1, to, installed)
        } else {
            let why = "the flavours keep their data in different forms".to_owned();
            Err(refusal(from, to, why))
        };
        let kind = match in_place {
            Ok(way) => Kind::InPlace(way),
            Err(error) => {
                let why = match &error {
                    ServerError::Upgrade { why, .. } => why.clone(),
                    other => other.to_string(),
                };
                let dump = DumpUpgrade::find(from, to, installed);
                Kind::Dump(dump.ok_or(error)?, why)
            }
        };
        Ok(Some(Self(kind)))
    }

    /// Returns its steps in words.
    pub fn words(&self) -> Vec<String> {
        match &self.0 {
            Kind::InPlace(steps) => steps.iter().map(ToString::to_string).collect(),
            Kind::Dump(dump, _) => vec![dump.to_string()],
        }
    }

    /// Returns why it is not in place, where that is so.
    pub fn obstacle(&self) -> Option<&str> {
        match &self.0 {
            Kind::InPlace(_) => None,
            Kind::Dump(_, why) => Some(why),
        }
    }

    /// Returns the words of steps that leave something as it was.
    pub fn remarks(&self) -> Vec<String> {
        match &self.0 {
            Kind::InPlace(steps) => {
                let partial = steps.iter().filter(|step| step.is_partial());
                partial.map(ToString::to_string).collect()
            }
            Kind::Dump(..) => self.words(),
        }
    }

    /// Goes it with the data in `data`, of which it keeps nothing else. `work`: an empty folder for what it needs beside
    /// them. `page_size`: of the new data, where they are made anew.
    ///
    /// # Errors
    ///
    /// A server or a program that fails. The data are of no use then.
    pub fn go(
        &self,
        data: &Path,
        work: &Path,
        page_size: Bytes,
        watch: WatchStart<'_>,
    ) -> Result<(), ServerError> {
        match &self.0 {
            Kind::InPlace(steps) => upgrade_in_place(data, steps, watch),
            Kind::Dump(dump, _) => dump.go(data, work, page_size, watch),
        }
    }
}

fn refusal(from: (Flavor, ServerVersion), to: &ServerBinary, why: String) -> ServerError {
    ServerError::Upgrade {
        from: format!("{} {}", from.0, from.1),
        to: format!("{} {}", to.flavor, to.version),
        why,
        remedy: "install what is missing below ~/.local/share/weir/servers; or mysqldump or mariadb-dump beside a server of \
                 the data's version, and Weir goes by a dump",
    }
}

/// Runs a program of a server's package to its end; an error is the program with its last words. `log`: a file for them.
fn run_with_words(command: &mut Command, log: &Path, limit: Duration) -> Result<(), String> {
    let ended = File::create(log).and_then(|errors| {
        command.stderr(errors);
        run_within(command, Vec::new(), limit)
    });
    let why = match ended {
        Ok(finished) if finished.success => return Ok(()),
        Ok(finished) => format!(
            "{}\n{}",
            finished.output,
            fs::read_to_string(log).unwrap_or_default()
        ),
        Err(error) => error.to_string(),
    };
    let lines: Vec<_> = why
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let program = Path::new(command.get_program()).display();
    let last = &lines[lines.len().saturating_sub(WORDS_MAX)..];
    Err(format!("{program}: {}", last.join(" ")))
}

/// The program of this name that is of the server's own series.
fn program_of(binary: &ServerBinary, name: &str) -> Option<PathBuf> {
    let beside = binary.path.parent()?;
    let mut folders = vec![beside.to_owned()];
    if let Some(above) = beside.parent() {
        folders.extend(["bin", "usr/bin"].map(|folder| above.join(folder)));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let series = format!("{}.{}.", binary.version.major, binary.version.minor);
    folders
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|program| {
            let version = Command::new(program).arg("--version").output();
            version.is_ok_and(|output| {
                let words = String::from_utf8_lossy(&output.stdout).into_owned();
                words
                    .split_whitespace()
                    .any(|word| word.starts_with(&series))
            })
        })
}
