//! Option files as the programs of MySQL and MariaDB read them; both read them alike (MySQL manual, "Using
//! Option Files"; what it leaves open was found by asking `my_print_defaults` of both).

mod client;
mod line;
mod login_file;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use client::write_client_options;
use line::Line;

/// Files may include files no deeper than this, as in MySQL.
const DEPTH_MAX: usize = 10;
/// Files that include each other's folders must come to an end.
const FILES_MAX: usize = 1000;
/// No option file is larger.
const BYTES_MAX: u64 = 16 << 20;
/// All users may write.
const WORLD_WRITABLE: u32 = 0o002;
/// Some editors begin a file with it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// An option file that cannot be used.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[error("option file {place}: {why}")]
pub struct OptionFileError {
    /// The file, and the line if it is one.
    pub place: String,
    /// Problem of the file.
    pub why: String,
}

impl OptionFileError {
    fn new(path: &Path, why: impl Into<String>) -> Self {
        Self {
            place: path.display().to_string(),
            why: why.into(),
        }
    }
}

/// A line `name = value` or `name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionFileSetting {
    /// In lower case with dashes.
    pub name: String,
    /// Text after the sign, without quotes.
    pub value: Option<String>,
    /// The group it stands in, in lower case.
    pub group: String,
    /// File and line.
    pub place: String,
}

/// Settings of option files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptionFile {
    /// In the order of reading: of two with one name the later counts.
    pub settings: Vec<OptionFileSetting>,
    /// Warnings on lines that were passed over, one each, where the servers' programs warn and go
    /// on.
    pub warnings: Vec<String>,
}

impl OptionFile {
    /// Reads `path`, which the user named, and what it includes.
    ///
    /// # Errors
    ///
    /// A file that is not there or not to be trusted, a line that the servers' programs refuse.
    pub fn read(path: &Path) -> Result<Self, OptionFileError> {
        let mut reader = Reader::new(true);
        if is_open_to_all(path) {
            return Err(OptionFileError::new(
                path,
                "all users may write it, so it is not trusted; chmod o-w it",
            ));
        }
        reader.file(path, 0)?;
        Ok(reader.read)
    }

    /// Reads sysbench's file of `--config-file`, which is an option file without groups.
    ///
    /// # Errors
    ///
    /// As [`OptionFile::read`].
    pub fn read_without_groups(path: &Path) -> Result<Self, OptionFileError> {
        let mut reader = Reader::new(false);
        reader.file(path, 0)?;
        Ok(reader.read)
    }

    /// Adds what another file says after these.
    pub fn append(&mut self, other: Self) {
        self.settings.extend(other.settings);
        self.warnings.extend(other.warnings);
    }

    /// Adds what stands in `path`, a file that programs read without being asked to: it need not exist, and
    /// one that all users may write is left out.
    ///
    /// # Errors
    ///
    /// A line that the servers' programs refuse.
    pub fn add(&mut self, path: &Path) -> Result<(), OptionFileError> {
        if !path.exists() {
            return Ok(());
        }
        let mut reader = Reader::new(true);
        reader.read = std::mem::take(self);
        let done = match File::open(path) {
            Ok(_) => reader.trusted_file(path, 0),
            // Those for all users may be there for the server alone.
            Err(error) => {
                let what = format!("not read ({})", words(&error));
                reader.warn(&path.display().to_string(), &what);
                Ok(())
            }
        };
        *self = reader.read;
        done
    }

    /// Adds what stands in `path`, the file that `mysql_config_editor` writes.
    ///
    /// # Errors
    ///
    /// A file that is none.
    pub fn add_login_file(&mut self, path: &Path) -> Result<(), OptionFileError> {
        let Ok(metadata) = fs::metadata(path) else {
            return Ok(());
        };
        if metadata.permissions().mode() & login_file::FORBIDDEN_MODE != 0 {
            self.warnings.push(format!(
                "option file {}: not read, as others than its owner may use it; chmod 600 it",
                path.display()
            ));
            return Ok(());
        }
        let bytes = bytes_of(path).map_err(|error| OptionFileError::new(path, words(&error)))?;
        let text = login_file::decrypt(&bytes).ok_or_else(|| {
            let why = "it is none that mysql_config_editor wrote; write it anew with that program";
            OptionFileError::new(path, why)
        })?;
        let mut reader = Reader::new(true);
        reader.read = std::mem::take(self);
        let done = reader.text(path, &text, 0);
        *self = reader.read;
        done
    }
}

struct Reader {
    read: OptionFile,
    /// Empty before the first.
    group: String,
    needs_groups: bool,
    files: usize,
}

impl Reader {
    fn new(needs_groups: bool) -> Self {
        Self {
            read: OptionFile::default(),
            group: String::new(),
            needs_groups,
            files: 0,
        }
    }

    fn warn(&mut self, place: &str, what: &str) {
        self.read
            .warnings
            .push(format!("option file {place}: {what}"));
    }

    /// Leaves out a file that all users may write.
    fn trusted_file(&mut self, path: &Path, depth: usize) -> Result<(), OptionFileError> {
        if is_open_to_all(path) {
            let what = "not read, as all users may write it; chmod o-w it";
            self.warn(&path.display().to_string(), what);
            return Ok(());
        }
        self.file(path, depth)
    }

    fn file(&mut self, path: &Path, depth: usize) -> Result<(), OptionFileError> {
        self.files += 1;
        if self.files > FILES_MAX {
            let why = format!("files include more than {FILES_MAX} files; include fewer");
            return Err(OptionFileError::new(path, why));
        }
        let bytes = bytes_of(path).map_err(|error| OptionFileError::new(path, words(&error)))?;
        self.text(path, &bytes, depth)
    }

    fn text(&mut self, path: &Path, bytes: &[u8], depth: usize) -> Result<(), OptionFileError> {
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        if text.len() < bytes.len() {
            let what = "begins with a byte order mark, with which the servers' own clients refuse it; \
                        save it without one";
            self.warn(&path.display().to_string(), what);
        }
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let place = format!("{}:{number}", path.display());
            self.line(&place, &String::from_utf8_lossy(line), depth)?;
        }
        Ok(())
    }

    fn line(&mut self, place: &str, line: &str, depth: usize) -> Result<(), OptionFileError> {
        let refused = |why: &str| OptionFileError {
            place: place.to_owned(),
            why: why.to_owned(),
        };
        match Line::parse(line).map_err(refused)? {
            Line::Nothing => Ok(()),
            Line::Group(group) => {
                self.group = group;
                Ok(())
            }
            Line::Directive(directive) => self.include(place, directive, depth),
            Line::Setting { .. } if self.needs_groups && self.group.is_empty() => Err(refused(
                "an option stands before the first group; write [client] above it",
            )),
            Line::Setting { name, value } => {
                self.read.settings.push(OptionFileSetting {
                    name,
                    value,
                    group: self.group.clone(),
                    place: place.to_owned(),
                });
                Ok(())
            }
        }
    }

    /// `!include FILE` and `!includedir DIRECTORY`, whose files end in `.cnf`. Paths are relative to the
    /// working directory, as they are for the servers' programs.
    fn include(
        &mut self,
        place: &str,
        directive: &str,
        depth: usize,
    ) -> Result<(), OptionFileError> {
        let (word, target) = directive
            .split_once(line::is_space)
            .unwrap_or((directive, ""));
        let target = Path::new(target.trim_matches(line::is_space));
        let files = match word {
            "include" | "includedir" if target.as_os_str().is_empty() => {
                return Err(OptionFileError {
                    place: place.to_owned(),
                    why: format!("`!{word}` needs a path"),
                });
            }
            "include" | "includedir" if depth >= DEPTH_MAX => {
                self.warn(
                    place,
                    "not included, as files include each other too deeply",
                );
                return Ok(());
            }
            "include" if !target.exists() => {
                let what = format!("`{}` is not there to be included", target.display());
                self.warn(place, &what);
                return Ok(());
            }
            "include" => vec![target.to_owned()],
            "includedir" => option_files_in(target).map_err(|error| OptionFileError {
                place: place.to_owned(),
                why: format!("cannot read {}: {}", target.display(), words(&error)),
            })?,
            _ => {
                let what = format!("`!{word}` is neither include nor includedir");
                self.warn(place, &what);
                return Ok(());
            }
        };
        for file in files {
            // A file's own groups end with it.
            let group = std::mem::take(&mut self.group);
            self.trusted_file(&file, depth + 1)?;
            self.group = group;
        }
        Ok(())
    }
}

/// A file, or what comes through a pipe.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(io::Error::other("it is larger than any option file"));
    }
    Ok(bytes)
}

/// The system's words, and what to do.
fn words(error: &io::Error) -> String {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "; check the name",
        io::ErrorKind::PermissionDenied => "; let this user read it",
        _ => "",
    };
    format!("{}{remedy}", error.to_string().to_lowercase())
}

fn is_open_to_all(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| {
        metadata.is_file() && metadata.permissions().mode() & WORLD_WRITABLE != 0
    })
}

fn option_files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<_> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| is_option_file(file));
    files.sort();
    Ok(files)
}

/// Returns true if a file of a folder is an option file, by its name; a name that is nothing but
/// `.cnf` is.
fn is_option_file(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    name.as_encoded_bytes().ends_with(b".cnf") && file.is_file()
}

#[cfg(test)]
mod tests;
