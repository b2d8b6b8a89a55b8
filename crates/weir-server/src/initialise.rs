//! A new data directory: system tables, one account with a generated password, one schema.
//!
//! MySQL makes its system tables itself (`--initialize-insecure`, which runs the init file at its
//! end). MariaDB wants the SQL files that its package ships, fed to `mariadbd --bootstrap`: that is
//! what mariadb-install-db does, but that script needs a program of the client package.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_model::{Flavor, ServerVersion};
use weir_process::{WorkDirectory, create_private_directory, runtime_directory, write_private};

use crate::data_directory::{DATABASE, DataNote, USER, is_free};
use crate::find::Defaults;
use crate::helper_process::run_within;
use crate::option_file_writer::OptionFileWriter;
use crate::{ServerBinary, ServerError, error_log, translate};
use weir_process::PathError;

/// A slow disk takes a minute for the 200 MB that MySQL writes; more means that it hangs.
const LIMIT: Duration = Duration::from_mins(5);

/// Redo written at initialisation is thrown away: the server resizes it at its next start.
const REDO_BYTES: &str = "16777216";

/// Makes `data_dir` (absent or empty) a data directory of `server`.
///
/// `variables` are those that shape the files, such as `innodb_page_size`. On failure nothing
/// stays in `data_dir`. The password is generated and never leaves 0700 directories.
///
/// # Errors
///
/// A directory that is not empty, or a server that does not make its files.
pub fn initialise(
    server: &ServerBinary,
    data_dir: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<(), ServerError> {
    if !is_free(data_dir) {
        return Err(ServerError::NotEmpty {
            action: "initialise",
            path: data_dir.to_owned(),
        });
    }
    let existed = data_dir.exists();
    create_private_directory(data_dir)?;
    let data_dir = &data_dir
        .canonicalize()
        .map_err(PathError::on("find", data_dir))?;
    let made = make(server, data_dir, variables);
    if made.is_err() {
        clear(data_dir, existed);
    }
    made
}

fn make(
    server: &ServerBinary,
    data_dir: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<(), ServerError> {
    let work = WorkDirectory::create(&runtime_directory()?, "initialise")?;
    let log = work.path().join("error.log");
    let options = work.path().join("my.cnf");
    let note = DataNote::generate(server);
    let init_file = work.path().join("accounts.sql");
    write_private(&init_file, &accounts(server, &note))?;
    let text = option_text(server, data_dir, &log, variables)?;
    write_private(&options, &text)?;

    let mut command = server.command(&Defaults::File(&options));
    command.current_dir(work.path());
    let stderr = File::options()
        .append(true)
        .create(true)
        .open(&log)
        .map_err(PathError::on("create", &log))?;
    command.stderr(stderr);
    let input = match server.flavor {
        Flavor::Mysql => {
            command.arg("--initialize-insecure");
            command.arg(format!("--init-file={}", init_file.display()));
            Vec::new()
        }
        Flavor::Mariadb => {
            command.arg("--bootstrap");
            mariadb_sql(server, &note)?
        }
    };
    let failed = |words: String| ServerError::Initialise {
        path: data_dir.to_owned(),
        words,
    };
    match run_within(&mut command, input, LIMIT) {
        Ok(finished) if finished.success => Ok(note.write(data_dir)?),
        Ok(_) => Err(failed(error_log::cause(&log))),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn option_text(
    server: &ServerBinary,
    data_dir: &Path,
    log: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<String, ServerError> {
    let mut file = OptionFileWriter::new();
    file.set_path("datadir", data_dir)?;
    file.set_path("log_error", log)?;
    // Of its own: a server that starts removes what look like leftovers in its directory for temporary
    // files, also when they are the temporary tables of another one (MariaDB's bootstrap uses some).
    file.set_path("tmpdir", log.parent().unwrap_or(data_dir))?;
    if rustix::process::geteuid().is_root() {
        file.set("user", "root")?;
    }
    // What is written now is made durable by the clean shutdown at the end.
    file.set("innodb_flush_log_at_trx_commit", "0")?;
    file.flag("skip-log-bin");
    let mut shaping = BTreeMap::new();
    shaping.insert("innodb_redo_log_capacity".to_owned(), REDO_BYTES.to_owned());
    shaping.extend(variables.clone());
    file.set_all(&translate(server.flavor, server.version, &shaping)?)?;
    Ok(file.text().to_owned())
}

/// The statements that make the account and the schema, one per line as servers read them.
fn accounts(server: &ServerBinary, note: &DataNote) -> String {
    let password = note.password.reveal();
    let without_others = without_others(server);
    format!(
        "CREATE USER '{USER}'@'localhost' IDENTIFIED BY '{password}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'localhost' WITH GRANT OPTION;\n\
         {without_others}\n\
         CREATE DATABASE {DATABASE};\n"
    )
}

/// The statement after which no client logs in as another account.
fn without_others(server: &ServerBinary) -> String {
    let locks_accounts = ServerVersion::new(10, 4, 2);
    if server.flavor == Flavor::Mariadb && server.version < locks_accounts {
        return format!("DELETE FROM mysql.user WHERE User <> '{USER}';");
    }
    // Root stays for the server's own views and routines.
    "ALTER USER 'root'@'localhost' ACCOUNT LOCK;".to_owned()
}

/// The system tables' SQL, in the order in which mariadb-install-db feeds it, then the account.
fn mariadb_sql(server: &ServerBinary, note: &DataNote) -> Result<Vec<u8>, ServerError> {
    // From 11 on, those that were named after MySQL are named after MariaDB.
    const FILES: [(&str, &str); 6] = [
        ("mysql_system_tables.sql", "mariadb_system_tables.sql"),
        (
            "mysql_performance_tables.sql",
            "mariadb_performance_tables.sql",
        ),
        (
            "mysql_system_tables_data.sql",
            "mariadb_system_tables_data.sql",
        ),
        ("fill_help_tables.sql", "fill_help_tables.sql"),
        (
            "maria_add_gis_sp_bootstrap.sql",
            "maria_add_gis_sp_bootstrap.sql",
        ),
        ("mysql_sys_schema.sql", "mariadb_sys_schema.sql"),
    ];
    let share = share_directory(&server.path, FILES[0])?;
    let mut sql = b"create database if not exists mysql;\nuse mysql;\n\
                    SET @auth_root_socket=NULL;\n"
        .to_vec();
    for (old, new) in FILES {
        let path = [old, new].map(|name| share.join(name));
        let path = path.iter().find(|path| path.is_file()).unwrap_or(&path[0]);
        match fs::read(path) {
            Ok(bytes) => sql.extend(bytes),
            // Versions differ in the later files: 10.4 and 10.5 have no sys schema.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(PathError::on("read", path)(error).into()),
        }
        sql.push(b'\n');
    }
    // Bootstrap runs without grant tables until they are loaded.
    sql.extend(b"FLUSH PRIVILEGES;\n");
    sql.extend(accounts(server, note).into_bytes());
    Ok(sql)
}

/// Returns the directory in which the package of the server at `path` keeps its SQL files, of which
/// one has either name.
fn share_directory(path: &Path, file: (&str, &str)) -> Result<PathBuf, ServerError> {
    const PLACES: [&str; 5] = [
        "share/mysql",
        "share/mariadb",
        "share",
        "scripts",
        // A package that was unpacked beside the system, with a launcher in its own folder.
        "usr/share/mariadb",
    ];
    let above = path.parent().and_then(Path::parent);
    let prefix = above.unwrap_or(Path::new("/usr"));
    let has = |directory: &PathBuf| {
        [file.0, file.1]
            .iter()
            .any(|name| directory.join(name).is_file())
    };
    PLACES
        .iter()
        .map(|place| prefix.join(place))
        .find(has)
        .ok_or_else(|| ServerError::NotAServer {
            path: path.to_owned(),
            why: format!(
                "`{}` is not in `{}`, so its system tables cannot be made",
                file.0,
                prefix.join("share").display()
            ),
        })
}

/// Removes what a failed initialisation left; the directory itself only if it was made for it.
fn clear(data_dir: &Path, existed: bool) {
    if !existed {
        let _ = fs::remove_dir_all(data_dir);
        return;
    }
    for entry in fs::read_dir(data_dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let _ = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sql_of_a_package_is_found_under_either_name() {
        let directory = tempfile::tempdir().unwrap();
        let names = ("mysql_system_tables.sql", "mariadb_system_tables.sql");
        let server = directory.path().join("bin/mariadbd");
        let error = share_directory(&server, names).unwrap_err().to_string();
        assert!(
            error.contains(names.0) && error.lines().count() == 1,
            "{error}"
        );
        for (place, name) in [("usr/share/mariadb", names.1), ("share/mysql", names.0)] {
            let folder = directory.path().join(place);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), "").unwrap();
            assert_eq!(share_directory(&server, names).unwrap(), folder);
        }
    }
}
