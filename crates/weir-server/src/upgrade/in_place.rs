//! In place: each server on the way starts on the data and ends again.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use weir_model::{Flavor, ServerVersion};
use weir_mysql::write_client_options;
use weir_process::{PathError, WorkDirectory, runtime_directory};

use super::{NO_TLS, WatchStart, program_of, refusal, run_with_words};
use crate::data_directory::{DataNote, USER};
use crate::{PrivateServer, ServerBinary, ServerError, StartOptions};

/// Long-term series of MySQL, none of which an upgrade may leave out.
const LONG_TERM: [(u32, u32); 4] = [(5, 7), (8, 0), (8, 4), (9, 7)];
/// The first MySQL with `caching_sha2_password`; later ones lack the method that 5.7 used.
const SHA2: ServerVersion = ServerVersion::new(8, 0, 4);
/// The first MySQL that upgrades its system tables at its start.
const UPGRADES_ITSELF: ServerVersion = ServerVersion::new(8, 0, 16);
/// Time limits for a start on the data of another version, for `mariadb-upgrade`, and for the end.
const START_LIMIT: Duration = Duration::from_mins(30);
const PROGRAM_LIMIT: Duration = Duration::from_hours(2);
const STOP_LIMIT: Duration = Duration::from_mins(10);

/// A server on the way of an upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UpgradeStep {
    server: ServerBinary,
    /// Program that brings the system tables up to date, where the server does not do it itself.
    tables_by: Option<(&'static str, Option<PathBuf>)>,
}

impl UpgradeStep {
    fn new(server: &ServerBinary) -> Self {
        let name = match server.flavor {
            Flavor::Mysql if server.version >= UPGRADES_ITSELF => None,
            Flavor::Mysql => Some("mysql_upgrade"),
            Flavor::Mariadb => Some("mariadb-upgrade"),
        };
        Self {
            server: server.clone(),
            tables_by: name.map(|name| (name, program_of(server, name))),
        }
    }

    /// Returns true if the system tables stay as the older server left them, since the program for them is not there.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self.tables_by, Some((_, None)))
    }

    fn run_program(
        &self,
        server: &PrivateServer,
        program: &Path,
        work: &Path,
    ) -> Result<(), ServerError> {
        let login = work.join("client.cnf");
        write_client_options(&login, &server.endpoint()).map_err(PathError::on("write", &login))?;
        let mut command = Command::new(program);
        command
            .arg(format!("--defaults-file={}", login.display()))
            .arg(NO_TLS)
            // One of the same series is of use, and it refuses every other release of it.
            .arg("--skip-version-check")
            .current_dir(work);
        let own = (self.server.flavor, self.server.version);
        run_with_words(&mut command, &work.join("program.err"), PROGRAM_LIMIT)
            .map_err(|why| refusal(own, &self.server, why))
    }
}

impl fmt::Display for UpgradeStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ServerBinary {
            flavor, version, ..
        } = self.server;
        write!(f, "upgraded to {flavor} {version}")?;
        match self.tables_by {
            None => Ok(()),
            Some((name, Some(_))) => write!(f, " and by {name}"),
            Some((name, None)) => write!(
                f,
                " without {name}, which is not installed: the system tables are of the older server"
            ),
        }
    }
}

/// Starts each server of `way` on the data and ends it again, so that the last one finds them as its own.
///
/// # Errors
///
/// A server that does not start on the data, and a program for the system tables that fails. The data are of no use then.
pub(super) fn upgrade_in_place(
    data: &Path,
    way: &[UpgradeStep],
    watch: WatchStart<'_>,
) -> Result<(), ServerError> {
    for step in way {
        let binary = &step.server;
        // The server would not be allowed on data of another series.
        let note = DataNote {
            flavor: binary.flavor,
            version: binary.version,
            ..DataNote::read(data)?
        };
        note.write(data)?;
        let work = WorkDirectory::create(&runtime_directory()?, "upgrade")?;
        let mut options = StartOptions {
            timeout: START_LIMIT,
            ..StartOptions::new(data, work.path().join("run"))
        };
        options.variables = [("event_scheduler", "OFF"), ("skip_replica_start", "ON")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let server = PrivateServer::start_watched(binary, &options, watch)?;
        if let Some((_, Some(program))) = &step.tables_by {
            step.run_program(&server, program, work.path())?;
        }
        if binary.flavor == Flavor::Mysql && binary.version >= SHA2 && !step.is_partial() {
            let password = note.password.reveal();
            let renewal = format!(
                "ALTER USER '{USER}'@'localhost' IDENTIFIED WITH caching_sha2_password BY '{password}'"
            );
            server
                .session()?
                .run("renew the login of Weir's account", &renewal)?;
        }
        server.stop(STOP_LIMIT)?;
    }
    Ok(())
}

/// Returns the steps that data of version `from` have to take, one after the other; the last one is `to`. Data of the same
/// version take none.
///
/// # Errors
///
/// Data of a newer server, or of one so old that a server between both is needed and not among `installed`.
pub(super) fn upgrade_way(
    from: ServerVersion,
    to: &ServerBinary,
    installed: &[ServerBinary],
) -> Result<Vec<UpgradeStep>, ServerError> {
    let refused = |why: String| refusal((to.flavor, from), to, why);
    if from == to.version {
        return Ok(Vec::new());
    }
    // MariaDB reads data of a later release of the same series.
    let is_later = match to.flavor {
        Flavor::Mysql => from > to.version,
        Flavor::Mariadb => series(from) > series(to.version),
    };
    if is_later {
        return Err(refused(
            "a server does not read data of a newer one".to_owned(),
        ));
    }
    let mut way = Vec::new();
    for (major, minor) in long_term_between(from, to) {
        let of_step = |server: &&ServerBinary| {
            server.flavor == to.flavor && series(server.version) == (major, minor)
        };
        let newest = installed
            .iter()
            .filter(of_step)
            .max_by_key(|server| server.version);
        let Some(server) = newest else {
            let why = "no server of it is installed";
            return Err(refused(format!(
                "the way leads over {major}.{minor}, and {why}"
            )));
        };
        way.push(UpgradeStep::new(server));
    }
    way.push(UpgradeStep::new(to));
    // Without its accounts for itself, MySQL 8.0 does not answer questions about its own tables.
    let mut partial = way.iter().filter(|step| step.is_partial());
    if let (Flavor::Mysql, Some(step)) = (to.flavor, partial.next()) {
        let version = step.server.version;
        return Err(refused(format!(
            "{version} needs mysql_upgrade, which is not installed"
        )));
    }
    Ok(way)
}

fn series(version: ServerVersion) -> (u32, u32) {
    (version.major, version.minor)
}

/// Series of MySQL between both; MariaDB leaves out every one.
fn long_term_between(from: ServerVersion, to: &ServerBinary) -> Vec<(u32, u32)> {
    let is_between = |step: &(u32, u32)| series(from) < *step && *step < series(to.version);
    match to.flavor {
        Flavor::Mysql => LONG_TERM.into_iter().filter(is_between).collect(),
        Flavor::Mariadb => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(flavor: Flavor, version: &str) -> ServerBinary {
        ServerBinary {
            path: PathBuf::from(version),
            flavor,
            version: version.parse().unwrap(),
        }
    }

    fn way(flavor: Flavor, from: &str, to: &str) -> Result<Vec<String>, String> {
        let installed = ["5.7.22", "8.0.46", "8.4.6", "9.7.4"];
        let installed = installed.map(|version| server(Flavor::Mysql, version));
        let way = upgrade_way(from.parse().unwrap(), &server(flavor, to), &installed);
        let versions = |way: Vec<UpgradeStep>| {
            way.iter()
                .map(|step| step.server.version.to_string())
                .collect()
        };
        way.map(versions).map_err(|error| error.to_string())
    }

    #[test]
    fn mysql_leaves_out_no_long_term_series_and_mariadb_every_one() {
        let found = |from, to| way(Flavor::Mysql, from, to).unwrap();
        assert_eq!(found("9.7.4", "9.7.4"), [""; 0]);
        assert_eq!(found("8.0.12", "8.0.46"), ["8.0.46"]);
        assert_eq!(found("8.0.12", "8.4.6"), ["8.4.6"]);
        assert_eq!(found("5.7.22", "9.7.4"), ["8.0.46", "8.4.6", "9.7.4"]);
        assert_eq!(found("8.1.0", "9.7.4"), ["8.4.6", "9.7.4"]);
        assert_eq!(found("9.7.4", "26.4.0"), ["26.4.0"]);
        let mariadb = way(Flavor::Mariadb, "10.2.11", "11.8.9").unwrap();
        assert_eq!(mariadb, ["11.8.9"]);
        assert_eq!(
            way(Flavor::Mariadb, "10.11.19", "10.11.5").unwrap(),
            ["10.11.5"]
        );
    }

    #[test]
    fn no_way_leads_back_or_over_a_series_that_is_missing() {
        for (flavor, from, to) in [
            (Flavor::Mysql, "8.0.46", "8.0.12"),
            (Flavor::Mariadb, "11.8.9", "10.11.19"),
        ] {
            let error = way(flavor, from, to).unwrap_err();
            assert!(
                error.contains("newer") && error.lines().count() == 1,
                "{error}"
            );
        }
        let none = upgrade_way(
            "8.0.12".parse().unwrap(),
            &server(Flavor::Mysql, "9.7.4"),
            &[server(Flavor::Mariadb, "8.4.0")],
        );
        let error = none.unwrap_err().to_string();
        assert!(error.contains("over 8.4"), "{error}");
    }
}
