//! By a dump: the old server's program writes all schemas as SQL, and a new server loads them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use weir_model::{Bytes, Flavor, ServerVersion};
use weir_mysql::{Connection, Connector, Gate, Patience, write_client_options};
use weir_process::{PathError, create_private_directory};

use super::{NO_TLS, WatchStart, refusal, run_with_words};
use crate::data_directory::USER;
use crate::{PrivateServer, ServerBinary, ServerError, StartOptions, load_dump, make_empty_data};

/// Time limits of the dump, and of the end of a server.
const DUMP_LIMIT: Duration = Duration::from_hours(12);
const STOP_LIMIT: Duration = Duration::from_mins(10);
/// Schemas that each server makes for itself.
const OWN_SCHEMAS: &str = "'mysql', 'information_schema', 'performance_schema', 'sys'";

/// A dump on one server that another one loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DumpUpgrade {
    from: ServerBinary,
    to: ServerBinary,
    program: PathBuf,
}

impl fmt::Display for DumpUpgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (&self.from, &self.to);
        write!(
            f,
            "dumped from {} {} and loaded by {} {}, without accounts and settings of their own",
            from.flavor, from.version, to.flavor, to.version
        )
    }
}

impl DumpUpgrade {
    /// The way by a dump, if a server of the data's series and a program that dumps are installed.
    pub(super) fn find(
        (flavor, version): (Flavor, ServerVersion),
        to: &ServerBinary,
        installed: &[ServerBinary],
    ) -> Option<Self> {
        let reads = |server: &&ServerBinary| {
            let ours = server.version;
            server.flavor == flavor
                && (ours.major, ours.minor) == (version.major, version.minor)
                && (flavor == Flavor::Mariadb || ours >= version)
        };
        let from = installed
            .iter()
            .filter(reads)
            .min_by_key(|server| server.version)?;
        let program = dump_program(installed)?;
        Some(Self {
            from: from.clone(),
            to: to.clone(),
            program,
        })
    }

    /// Replaces the data in `data` by those of the new server.
    pub(super) fn go(
        &self,
        data: &Path,
        work: &Path,
        page_size: Bytes,
        watch: WatchStart<'_>,
    ) -> Result<(), ServerError> {
        create_private_directory(work)?;
        let file = work.join("all.sql");
        self.dump(data, work, (&file, &mut *watch))?;
        fs::remove_dir_all(data).map_err(PathError::on("remove", data))?;
        let shaping = [("innodb_page_size".to_owned(), page_size.0.to_string())].into();
        make_empty_data(&self.to, data, &shaping)?;
        let mut options = StartOptions::new(data, work.join("new"));
        let fast = [
            ("innodb_flush_log_at_trx_commit", "0"),
            ("innodb_buffer_pool_size", "268435456"),
            ("event_scheduler", "OFF"),
        ];
        options.variables = fast
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let server = PrivateServer::start_watched(&self.to, &options, watch)?;
        let connector = Connector::new(server.endpoint(), None, Gate::own());
        let connected = connector
            .and_then(|connector| Connection::connect(&connector, true, Patience::Endless));
        let mut connection = connected.map_err(ServerError::query("load the dump"))?;
        load_dump(&file, &mut connection)?;
        drop(connection);
        server.stop(STOP_LIMIT)?;
        fs::remove_file(&file).map_err(PathError::on("remove", &file))?;
        Ok(())
    }

    /// A client of MariaDB may lack the method by which MySQL 8.0 logs in. These data go after the dump, so their account may
    /// have the older one; 8.4 has it no longer.
    fn let_any_client_in(&self, server: &PrivateServer) -> Result<(), ServerError> {
        let has_both = ServerVersion::new(8, 0, 4)..ServerVersion::new(8, 4, 0);
        if self.from.flavor != Flavor::Mysql || !has_both.contains(&self.from.version) {
            return Ok(());
        }
        let password = server.endpoint().password;
        let password = password.reveal();
        let change = format!(
            "ALTER USER '{USER}'@'localhost' IDENTIFIED WITH mysql_native_password BY '{password}'"
        );
        server.session()?.run("let the dump log in", &change)
    }

    /// Writes all schemas of the data to a file.
    fn dump(
        &self,
        data: &Path,
        work: &Path,
        (file, watch): (&Path, WatchStart<'_>),
    ) -> Result<(), ServerError> {
        let options = StartOptions::new(data, work.join("old"));
        let server = PrivateServer::start_watched(&self.from, &options, watch)?;
        let schemas: Vec<String> = server.session()?.rows(
            "read the names of schemas",
            &format!(
                "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ({OWN_SCHEMAS})"
            ),
        )?;
        self.let_any_client_in(&server)?;
        let login = work.join("client.cnf");
        write_client_options(&login, &server.endpoint()).map_err(PathError::on("write", &login))?;
        let mut command = Command::new(&self.program);
        command
            .arg(format!("--defaults-file={}", login.display()))
            .arg(NO_TLS);
        command.args([
            "--single-transaction",
            "--quick",
            "--hex-blob",
            "--routines",
            "--triggers",
            "--events",
            "--default-character-set=utf8mb4",
            // Of MySQL's program, which would ask for tables that an old server lacks.
            "--loose-column-statistics=0",
            "--loose-set-gtid-purged=OFF",
        ]);
        command.arg(format!("--result-file={}", file.display()));
        command.arg("--databases").args(&schemas).current_dir(work);
        let from = (self.from.flavor, self.from.version);
        run_with_words(&mut command, &work.join("dump.err"), DUMP_LIMIT)
            .map_err(|why| refusal(from, &self.to, why))?;
        server.stop(STOP_LIMIT)
    }
}

/// The newest program that dumps: in PATH, or beside an installed server.
fn dump_program(installed: &[ServerBinary]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut servers: Vec<_> = installed.iter().collect();
    servers.sort_by_key(|server| std::cmp::Reverse(server.version));
    for server in servers {
        let beside = server.path.parent().map(Path::to_owned);
        let above = beside
            .as_deref()
            .and_then(Path::parent)
            .map(|above| above.join("usr/bin"));
        folders.extend(beside.into_iter().chain(above));
    }
    let names = ["mariadb-dump", "mysqldump"];
    let programs = folders
        .iter()
        .flat_map(|folder| names.map(|name| folder.join(name)));
    programs.into_iter().find(|program| {
        let version = Command::new(program).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    })
}
