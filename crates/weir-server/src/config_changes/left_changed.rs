//! Notes of settings that are changed: what a Weir that was killed could not put back.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use weir_model::ServerUrl;
use weir_process::{PathError, ProcessIdentity, create_private_directory, create_private_file};

use crate::{ExternalServer, ServerError};

/// A setting of a server that a Weir left changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftChanged {
    /// The process that changed it.
    pub owner: ProcessIdentity,
    /// The server, as the user named it.
    pub server: String,
    /// The variable, by the server's own name.
    pub variable: String,
    /// Time of the change: ISO 8601.
    pub changed_at: String,
    /// Statement that restores the value.
    pub statement: String,
}

/// A note that stands until the setting is as it was.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    /// The user's own file, and the line there that says that the setting is as it was.
    elsewhere: Option<(PathBuf, String)>,
}

impl Note {
    /// Writes down, durably, how a setting is put back that is about to be changed: in `directory`, and at the end of a
    /// file of the user's.
    pub(super) fn write(
        (directory, file): (&Path, Option<&Path>),
        server: &ServerUrl,
        variable: &str,
        statement: &str,
    ) -> Result<Self, ServerError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        create_private_directory(directory)?;
        let owner = ProcessIdentity::current();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{number}.json", owner.pid, owner.started_ticks);
        let path = directory.join(name);
        let left = LeftChanged {
            owner,
            server: server.to_string(),
            variable: variable.to_owned(),
            changed_at: jiff::Timestamp::now().to_string(),
            statement: statement.to_owned(),
        };
        let text = serde_json::to_string(&left).expect("invariant: a note is plain data");
        if let Err(error) = write_durably(directory, &path, &text) {
            let _ = fs::remove_file(&path);
            return Err(PathError::on("write", &path)(error).into());
        }
        let note = Self {
            path,
            elsewhere: file.map(|file| (file.to_owned(), left.restored_line())),
        };
        if let Some(file) = file
            && let Err(error) = append_durably(file, &left.script())
        {
            let _ = fs::remove_file(&note.path);
            return Err(PathError::on("write the note to", file)(error).into());
        }
        Ok(note)
    }

    /// The setting is as it was.
    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
        if let Some((file, line)) = self.elsewhere {
            // The statement above this line changes nothing when it is sent once more.
            let _ = append_durably(&file, &line);
        }
    }
}

/// Adds lines that outlast a power cut, and the loss of this host where the file is on another.
fn append_durably(path: &Path, lines: &str) -> io::Result<()> {
    let mut file = File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(lines.as_bytes())?;
    file.sync_all()?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// A new file that outlasts a power cut, and so does its name.
fn write_durably(directory: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = create_private_file(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    File::open(directory)?.sync_all()
}

pub(super) fn directory() -> PathBuf {
    crate::state_directory().join("changed-settings")
}

/// Settings that are still changed and whose Weir is gone, the oldest first. Of several notes of one
/// variable the oldest counts: what the later ones found was changed already.
pub fn left_changed() -> Vec<LeftChanged> {
    left_in(&directory())
}

fn left_in(directory: &Path) -> Vec<LeftChanged> {
    let mut oldest: Vec<LeftChanged> = Vec::new();
    for (_, left) in notes_in(directory) {
        if !oldest.iter().any(|known| known.is_of_same(&left)) {
            oldest.push(left);
        }
    }
    oldest
}

/// Removes these notes: their settings were put back by hand. How many there were.
pub fn forget_left_changed() -> usize {
    remove(&directory(), |_| true)
}

/// Puts a setting of `server` back that a Weir left changed, and removes its notes.
///
/// # Errors
///
/// What the server says; the notes stay.
pub fn put_back_left(server: &mut ExternalServer, left: &LeftChanged) -> Result<(), ServerError> {
    put_back_noted(&directory(), server, left)
}

fn put_back_noted(
    directory: &Path,
    server: &mut ExternalServer,
    left: &LeftChanged,
) -> Result<(), ServerError> {
    server.permit_variables(&[left.variable.clone()].into());
    server.session()?.put_back(&left.statement)?;
    remove(directory, |note| note.is_of_same(left));
    Ok(())
}

impl LeftChanged {
    /// The note as lines for a client of the server.
    fn script(&self) -> String {
        let (at, server, variable) = (&self.changed_at, &self.server, &self.variable);
        format!(
            "-- {at} {server}: weir changes {variable}; before:\n{};\n",
            self.statement
        )
    }

    fn restored_line(&self) -> String {
        format!(
            "-- {}: {} is as it was before {}\n",
            self.server, self.variable, self.changed_at
        )
    }

    fn is_of_same(&self, other: &Self) -> bool {
        (&self.server, &self.variable) == (&other.server, &other.variable)
    }
}

fn remove(directory: &Path, chosen: impl Fn(&LeftChanged) -> bool) -> usize {
    let notes = notes_in(directory).into_iter();
    notes
        .filter(|(path, left)| chosen(left) && fs::remove_file(path).is_ok())
        .count()
}

/// A file that is no note is passed over.
fn notes_in(directory: &Path) -> Vec<(PathBuf, LeftChanged)> {
    let files = fs::read_dir(directory).into_iter().flatten();
    let mut notes: Vec<_> = files
        .filter_map(Result::ok)
        .filter_map(|file| {
            let text = fs::read_to_string(file.path()).ok()?;
            let left: LeftChanged = serde_json::from_str(&text).ok()?;
            Some((file.path(), left))
        })
        .filter(|(_, left)| !left.owner.is_alive())
        .collect();
    notes.sort_by(|(_, one), (_, other)| one.changed_at.cmp(&other.changed_at));
    notes
}

#[cfg(test)]
mod tests;
