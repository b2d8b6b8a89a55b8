//! Option files as MySQL's programs read them (MySQL manual, "Using Option Files"), and the file of
//! sysbench's `--config-file`, which is the same without groups.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Files may include files no deeper than this, as in MySQL.
const DEPTH_MAX: usize = 10;
/// Anybody may write.
const WORLD_WRITABLE: u32 = 0o002;

/// An option file that cannot be used.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[error("option file {place}: {why}")]
pub struct OptionFileError {
    /// The file, and the line if it is one.
    pub place: String,
    /// What is wrong with it.
    pub why: String,
}

/// A line `name = value` or `name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionFileSetting {
    /// In lower case with dashes.
    pub name: String,
    /// What stands after the sign, without quotes.
    pub value: Option<String>,
    /// The group it stands in; empty before the first.
    pub group: String,
    /// File and line.
    pub place: String,
}

/// Reads `path` and what it includes.
pub fn read(path: &Path) -> Result<Vec<OptionFileSetting>, OptionFileError> {
    let mut reader = Reader {
        settings: Vec::new(),
        group: String::new(),
    };
    reader.file(path, 0)?;
    Ok(reader.settings)
}

struct Reader {
    settings: Vec<OptionFileSetting>,
    group: String,
}

impl Reader {
    fn file(&mut self, path: &Path, depth: usize) -> Result<(), OptionFileError> {
        let refused = |why: String| OptionFileError {
            place: path.display().to_string(),
            why,
        };
        if depth > DEPTH_MAX {
            return Err(refused("files include each other too deeply".to_owned()));
        }
        let words = |error: std::io::Error| refused(error.to_string().to_lowercase());
        let metadata = fs::metadata(path).map_err(words)?;
        if metadata.is_file() && metadata.permissions().mode() & WORLD_WRITABLE != 0 {
            return Err(refused(
                "anybody may write it, so it is not trusted; chmod o-w it".to_owned(),
            ));
        }
        let text = fs::read_to_string(path).map_err(words)?;
        for (number, line) in (1..).zip(text.lines()) {
            self.line(path, number, line.trim(), depth)?;
        }
        Ok(())
    }

    fn line(
        &mut self,
        path: &Path,
        number: usize,
        line: &str,
        depth: usize,
    ) -> Result<(), OptionFileError> {
        let place = format!("{}:{number}", path.display());
        if line.is_empty() || line.starts_with(['#', ';']) {
            return Ok(());
        }
        if let Some(directive) = line.strip_prefix('!') {
            return self.include(path, &place, directive, depth);
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some((group, _)) = rest.split_once(']') else {
                let why = "a group needs a closing bracket".to_owned();
                return Err(OptionFileError { place, why });
            };
            group.trim().clone_into(&mut self.group);
            return Ok(());
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(unquote(value.trim()))),
            None => (without_comment(line), None),
        };
        self.settings.push(OptionFileSetting {
            name: name.to_ascii_lowercase().replace('_', "-"),
            value,
            group: self.group.clone(),
            place,
        });
        Ok(())
    }

    /// `!include FILE` and `!includedir DIRECTORY`, whose files end in `.cnf`.
    fn include(
        &mut self,
        path: &Path,
        place: &str,
        directive: &str,
        depth: usize,
    ) -> Result<(), OptionFileError> {
        let refused = |why: String| OptionFileError {
            place: place.to_owned(),
            why,
        };
        let (word, target) = directive
            .split_once(char::is_whitespace)
            .unwrap_or((directive, ""));
        let target = path.parent().unwrap_or(Path::new("")).join(target.trim());
        let files = match word {
            "include" => vec![target],
            "includedir" => option_files_in(&target)
                .map_err(|error| refused(format!("{}: {error}", target.display())))?,
            _ => {
                return Err(refused(format!(
                    "`!{word}` is neither include nor includedir"
                )));
            }
        };
        for file in files {
            // A file's own groups end with it.
            let group = std::mem::take(&mut self.group);
            self.file(&file, depth + 1)?;
            self.group = group;
        }
        Ok(())
    }
}

fn option_files_in(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files: Vec<_> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cnf"));
    files.sort();
    Ok(files)
}

/// What stands before a comment.
fn without_comment(text: &str) -> &str {
    text.split('#').next().unwrap_or_default().trim_end()
}

/// A value without its quotes and comment, escapes resolved.
fn unquote(text: &str) -> String {
    let quoted = |quote: char| {
        let inner = text.strip_prefix(quote)?;
        // An escaped quote does not end it.
        let mut is_escaped = false;
        let end = inner.find(|c| {
            let ends = c == quote && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        })?;
        Some(&inner[..end])
    };
    unescape(
        quoted('"')
            .or_else(|| quoted('\''))
            .unwrap_or_else(|| without_comment(text)),
    )
}

/// `\b`, `\t`, `\n`, `\r`, `\\` and `\s`, which is a space; other backslashes stay.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next() {
            Some('b') => out.push('\u{8}'),
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('s') => out.push(' '),
            Some(c @ ('\\' | '"' | '\'')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(directory: &Path, name: &str, text: &str) -> PathBuf {
        let path = directory.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn pairs(path: &Path) -> Vec<(String, String, Option<String>)> {
        let settings = read(path).unwrap();
        settings
            .into_iter()
            .map(|setting| (setting.group, setting.name, setting.value))
            .collect()
    }

    #[test]
    fn groups_quotes_escapes_and_comments_are_understood() {
        let directory = tempfile::tempdir().unwrap();
        let text = r#"
            before = 1
            # a comment
            ; another
            [client]
            user=root # the administrator
            password = "a # is \"no\" comment"
            SSL_CA='/x y/ca.pem'   # quoted
            path=C:\\data\sx\q
            compress
            empty =
            [ weir ]
            threads=64
        "#;
        let path = write(directory.path(), "my.cnf", text);
        let of = |group: &str, name: &str, value: Option<&str>| {
            (group.to_owned(), name.to_owned(), value.map(str::to_owned))
        };
        assert_eq!(
            pairs(&path),
            [
                of("", "before", Some("1")),
                of("client", "user", Some("root")),
                of("client", "password", Some("a # is \"no\" comment")),
                of("client", "ssl-ca", Some("/x y/ca.pem")),
                of("client", "path", Some("C:\\data x\\q")),
                of("client", "compress", None),
                of("client", "empty", Some("")),
                of("weir", "threads", Some("64")),
            ]
        );
    }

    #[test]
    fn files_include_files_and_folders_but_not_themselves() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("conf.d");
        fs::create_dir(&folder).unwrap();
        write(&folder, "b.cnf", "[client]\nport=2");
        write(&folder, "a.cnf", "[client]\nport=1");
        write(&folder, "c.txt", "[client]\nport=3");
        write(directory.path(), "one.cnf", "[client]\nhost=h");
        let text = "[weir]\n!include one.cnf\n!includedir conf.d\nthreads=1";
        let path = write(directory.path(), "my.cnf", text);
        let values: Vec<_> = pairs(&path).into_iter().map(|p| (p.0, p.2)).collect();
        let of = |group: &str, value: &str| (group.to_owned(), Some(value.to_owned()));
        assert_eq!(
            values,
            [
                of("client", "h"),
                of("client", "1"),
                of("client", "2"),
                of("weir", "1")
            ]
        );
        let circle = write(directory.path(), "circle.cnf", "!include circle.cnf");
        assert!(
            read(&circle)
                .unwrap_err()
                .to_string()
                .contains("too deeply")
        );
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let message = |path: &Path| read(path).unwrap_err().to_string();
        assert!(message(&directory.path().join("none.cnf")).contains("none.cnf"));
        let broken = write(directory.path(), "broken.cnf", "\n[client");
        assert!(message(&broken).contains("broken.cnf:2: a group needs"));
        let strange = write(directory.path(), "strange.cnf", "!load x");
        assert!(message(&strange).contains("`!load`"));
        let open = write(directory.path(), "open.cnf", "[client]");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(message(&open).contains("chmod o-w"));
    }
}
