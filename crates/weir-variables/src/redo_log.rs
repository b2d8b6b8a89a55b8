//! The redo log's size: one capacity, or files of a size.
//!
//! MySQL 8.0.30 and later have one capacity. Before, the log was `innodb_log_files_in_group` files, two
//! unless said otherwise, of `innodb_log_file_size`; MariaDB has one file since 10.5, and no variable
//! for their number since 10.6.

use std::collections::BTreeMap;

use super::SettingError;
use weir_model::{Bytes, Flavor, ServerVersion};

pub(super) use weir_model::variables::{
    LOG_FILE_SIZE as FILE_SIZE, LOG_FILES_IN_GROUP as FILES, REDO_LOG_CAPACITY as CAPACITY,
};

/// Form of a version's redo log variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One capacity.
    Capacity,
    /// The size of the one file.
    OneFile,
    /// The size of a file, and the number of files, by default this.
    Files(u64),
}

impl Form {
    fn for_server(flavor: Flavor, version: ServerVersion) -> Self {
        let number = (version.major, version.minor, version.patch);
        match flavor {
            Flavor::Mysql if number >= (8, 0, 30) => Self::Capacity,
            Flavor::Mariadb if number >= (10, 6, 0) => Self::OneFile,
            Flavor::Mariadb if number >= (10, 5, 0) => Self::Files(1),
            Flavor::Mysql | Flavor::Mariadb => Self::Files(2),
        }
    }
}

/// Takes the variables of the redo log's size out of `wanted` and gives them as the server has them.
pub(super) fn translate(
    flavor: Flavor,
    version: ServerVersion,
    wanted: &mut BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, SettingError> {
    let [capacity, file_size, files] = [CAPACITY, FILE_SIZE, FILES].map(|name| wanted.remove(name));
    let form = Form::for_server(flavor, version);
    let mut native = BTreeMap::new();
    if let (Some(files), Form::Files(_)) = (&files, form) {
        native.insert(FILES.to_owned(), files.clone());
    }
    let size = match (&capacity, &file_size) {
        (None, None) => return Ok(native),
        (Some(value), Some(_)) => {
            let why = format!("{FILE_SIZE} says the same in another way; keep one");
            return Err(refused(CAPACITY, value, why));
        }
        (Some(value), None) => of_capacity(form, value, files.as_deref())?,
        (None, Some(value)) => of_file_size(form, value, files.as_deref())?,
    };
    native.extend([size]);
    Ok(native)
}

/// Under which names a server says what the variable `name` of the redo log sets; none if it is no such variable.
pub(super) fn names_of(
    flavor: Flavor,
    version: ServerVersion,
    name: &str,
) -> impl Iterator<Item = String> {
    let shown = match (Form::for_server(flavor, version), name) {
        (Form::Capacity, CAPACITY | FILE_SIZE | FILES) => Some(CAPACITY),
        (Form::OneFile, CAPACITY | FILE_SIZE | FILES) | (Form::Files(_), CAPACITY) => {
            Some(FILE_SIZE)
        }
        _ => None,
    };
    shown.map(str::to_owned).into_iter()
}

/// The whole log's size as `form` has it.
fn of_capacity(
    form: Form,
    value: &str,
    files: Option<&str>,
) -> Result<(String, String), SettingError> {
    Ok(match form {
        // As it was written: `2G` stays `2G`.
        Form::Capacity => (CAPACITY.to_owned(), value.to_owned()),
        Form::OneFile => (FILE_SIZE.to_owned(), bytes(CAPACITY, value)?.to_string()),
        Form::Files(default) => {
            let one = bytes(CAPACITY, value)? / number(files)?.unwrap_or(default);
            (FILE_SIZE.to_owned(), one.to_string())
        }
    })
}

/// The size of one of the log's files as `form` has it.
fn of_file_size(
    form: Form,
    value: &str,
    files: Option<&str>,
) -> Result<(String, String), SettingError> {
    let whole = |files: u64| {
        let one = bytes(FILE_SIZE, value)?;
        Ok::<_, SettingError>(one.saturating_mul(files).to_string())
    };
    Ok(match (form, number(files)?) {
        (Form::Capacity, files) => (CAPACITY.to_owned(), whole(files.unwrap_or(2))?),
        (Form::OneFile, Some(files)) => (FILE_SIZE.to_owned(), whole(files)?),
        (Form::OneFile, None) | (Form::Files(_), _) => (FILE_SIZE.to_owned(), value.to_owned()),
    })
}

fn bytes(name: &str, value: &str) -> Result<u64, SettingError> {
    let size: Result<Bytes, _> = value.parse();
    size.map(|bytes| bytes.0)
        .map_err(|error| refused(name, value, error.to_string()))
}

fn number(files: Option<&str>) -> Result<Option<u64>, SettingError> {
    let Some(text) = files else {
        return Ok(None);
    };
    let number = text.trim().parse().ok().filter(|number| *number > 0);
    number
        .map(Some)
        .ok_or_else(|| refused(FILES, text, "must be a number of files".to_owned()))
}

fn refused(name: &str, value: &str, why: String) -> SettingError {
    SettingError {
        name: name.to_owned(),
        value: value.to_owned(),
        why,
    }
}
