//! Servers of this machine: every mysqld and mariadbd in the usual places, asked for its version.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use weir_model::{Flavor, ServerVersion};

use crate::ServerError;
use crate::helper_process::run_within;

/// Names under which servers are installed.
pub(crate) const NAMES: [&str; 2] = ["mysqld", "mariadbd"];

/// Directories into which distributions and vendors put servers, beside those of PATH. `sbin` is
/// not in every user's PATH.
const PLACES: [&str; 8] = [
    "/usr/sbin",
    "/usr/libexec",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/local/mysql/bin",
    "/usr/local/mariadb/bin",
    "/opt/mysql/bin",
    "/opt/homebrew/bin",
];

/// A server that could be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerBinary {
    /// Path of the program; links are resolved.
    pub path: PathBuf,
    /// Flavor of the server.
    pub flavor: Flavor,
    /// Version of the server.
    pub version: ServerVersion,
}

impl ServerBinary {
    /// A command of this program that reads the options of `defaults`, no others, and the files of its own folder.
    pub(crate) fn command(&self, defaults: &Defaults<'_>) -> Command {
        let mut command = Command::new(&self.path);
        command.arg(match defaults {
            Defaults::None => OsString::from("--no-defaults"),
            Defaults::File(path) => named("--defaults-file=", path),
        });
        if let Some(folder) = own_folder(&self.path) {
            command.arg(named("--basedir=", folder));
        }
        command
    }

    /// Asks the program at `path` what it is.
    ///
    /// # Errors
    ///
    /// A program that is no server, or that does not say its version.
    pub fn at(path: &Path) -> Result<Self, ServerError> {
        let not_a_server = |why: String| ServerError::NotAServer {
            path: path.to_owned(),
            why,
        };
        let path = path
            .canonicalize()
            .map_err(|error| not_a_server(error.to_string()))?;
        let mut command = Command::new(&path);
        command.args(["--no-defaults", "--version"]);
        command.stderr(Stdio::null());
        let printed = run_within(&mut command, Vec::new(), Duration::from_secs(10))
            .map_err(|error| not_a_server(error.to_string()))?
            .output;
        let (flavor, version) = parse_version(&printed)
            .ok_or_else(|| not_a_server("`--version` does not print a server's version".into()))?;
        Ok(Self {
            path,
            flavor,
            version,
        })
    }
}

/// Where a server takes its options from.
pub(crate) enum Defaults<'a> {
    /// From its command line alone.
    None,
    /// From this file.
    File(&'a Path),
}

fn named(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

/// The folder that an archive of the vendor was unpacked to. Its server looks for messages and plugins in the folder
/// that it was built for, unless `--basedir` names another.
fn own_folder(program: &Path) -> Option<&Path> {
    let folder = program.parent()?.parent()?;
    let messages = folder.join("share/english/errmsg.sys");
    messages.is_file().then_some(folder)
}

/// Reads `mysqld  Ver 9.7.4-2 for Linux on x86_64` and
/// `mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu`.
fn parse_version(printed: &str) -> Option<(Flavor, ServerVersion)> {
    // The path before "Ver" may hold any word, so the flavour is looked for after it.
    let (_, after) = printed.split_once(" Ver ")?;
    let version = after.trim_start().parse().ok()?;
    let flavor = if after.contains("MariaDB") {
        Flavor::Mariadb
    } else {
        Flavor::Mysql
    };
    Some((flavor, version))
}

/// All servers of this machine, newest first within a flavour, each once.
///
/// `extra` is a path that the user gave: it must be a server. All other places are optional.
///
/// # Errors
///
/// An `extra` that is no server.
pub fn find(extra: Option<&Path>) -> Result<Vec<ServerBinary>, ServerError> {
    let mut found = Vec::new();
    if let Some(path) = extra {
        found.push(ServerBinary::at(path)?);
    }
    let mut seen: BTreeSet<PathBuf> = found.iter().map(|server| server.path.clone()).collect();
    for path in candidates() {
        let Ok(canonical) = path.canonicalize() else {
            continue;
        };
        if seen.insert(canonical) {
            // A program that only has the name (a wrapper that fails, another architecture) is
            // no server of this machine.
            found.extend(ServerBinary::at(&path));
        }
    }
    found.sort_by(|a, b| (a.flavor, b.version).cmp(&(b.flavor, a.version)));
    Ok(found)
}

fn candidates() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = env::var_os("PATH")
        .map(|path| env::split_paths(&path).collect())
        .unwrap_or_default();
    directories.extend(PLACES.iter().map(PathBuf::from));
    if let Some(prefix) = servers_directory() {
        let unpacked = fs::read_dir(prefix).into_iter().flatten().flatten();
        directories.extend(unpacked.map(|entry| entry.path().join("bin")));
    }
    directories
        .iter()
        .flat_map(|directory| NAMES.map(|name| directory.join(name)))
        .filter(|path| path.is_file())
        .collect()
}

/// Returns the directory into which `scripts/install-mysql.sh` unpacks servers: `$WEIR_SERVERS`,
/// else the user's data directory (XDG Base Directory Specification).
pub fn servers_directory() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    set("WEIR_SERVERS").map(PathBuf::from).or_else(|| {
        let data = set("XDG_DATA_HOME")
            .map(PathBuf::from)
            .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".local/share")))?;
        Some(data.join("weir/servers"))
    })
}

/// The newest server of `flavor`.
///
/// # Errors
///
/// No server of this flavour.
pub fn choose(servers: &[ServerBinary], flavor: Flavor) -> Result<&ServerBinary, ServerError> {
    servers
        .iter()
        .filter(|server| server.flavor == flavor)
        .max_by_key(|server| server.version)
        .ok_or_else(|| ServerError::NotFound {
            flavor,
            prefix: servers_directory().unwrap_or_default(),
        })
}

/// The server of this machine that is like another in flavour and in the first two numbers of its version; one of
/// the same version if there is one. `path`: the only program to look at.
///
/// # Errors
///
/// A path that is no server.
pub fn find_like(
    flavor: Flavor,
    version: ServerVersion,
    path: Option<&Path>,
) -> Result<Option<ServerBinary>, ServerError> {
    let found = match path {
        Some(path) => vec![ServerBinary::at(path)?],
        None => find(None)?,
    };
    Ok(like(&found, flavor, version).cloned())
}

fn like(servers: &[ServerBinary], flavor: Flavor, version: ServerVersion) -> Option<&ServerBinary> {
    let same = |server: &&ServerBinary| {
        let ours = server.version;
        server.flavor == flavor && (version.major, version.minor) == (ours.major, ours.minor)
    };
    let exact = servers
        .iter()
        .find(|server| same(server) && server.version == version);
    exact.or_else(|| servers.iter().find(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavour_and_version_are_read_from_what_servers_print() {
        let mysql = "/x/MariaDB/bin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))";
        let mariadb = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
        let (flavor, version) = parse_version(mysql).unwrap();
        assert_eq!(
            (flavor, version.to_string().as_str()),
            (Flavor::Mysql, "9.7.4")
        );
        let (flavor, version) = parse_version(mariadb).unwrap();
        assert_eq!(
            (flavor, version.to_string().as_str()),
            (Flavor::Mariadb, "10.11.19")
        );
        assert_eq!(parse_version("ls (GNU coreutils) 9.1"), None);
    }

    #[test]
    fn the_newest_of_a_flavour_is_chosen() {
        let server = |flavor, version: &str| ServerBinary {
            path: PathBuf::from(version),
            flavor,
            version: version.parse().unwrap(),
        };
        let servers = [
            server(Flavor::Mysql, "8.4.10"),
            server(Flavor::Mysql, "9.7.4"),
        ];
        let chosen = choose(&servers, Flavor::Mysql).unwrap();
        assert_eq!(chosen.path, Path::new("9.7.4"));
        let error = choose(&servers, Flavor::Mariadb).unwrap_err().to_string();
        assert!(error.contains("scripts/setup.sh"), "{error}");
    }

    #[test]
    fn a_server_like_another_has_its_first_two_numbers_and_the_third_if_it_can() {
        let server = |version: &str| ServerBinary {
            path: PathBuf::from(version),
            flavor: Flavor::Mysql,
            version: version.parse().unwrap(),
        };
        let servers = [server("8.4.10"), server("8.4.9"), server("9.7.4")];
        let found = |version: &str, flavor| {
            like(&servers, flavor, version.parse().unwrap()).map(|found| found.path.clone())
        };
        assert_eq!(found("8.4.9", Flavor::Mysql), Some("8.4.9".into()));
        assert_eq!(found("8.4.2", Flavor::Mysql), Some("8.4.10".into()));
        assert_eq!(found("8.0.9", Flavor::Mysql), None);
        assert_eq!(found("9.7.4", Flavor::Mariadb), None);
    }

    #[test]
    fn a_path_that_is_no_server_is_named() {
        for path in ["/bin/true", "/nonexistent/mysqld"] {
            let error = find(Some(Path::new(path))).unwrap_err().to_string();
            assert!(error.contains(path) && !error.contains('\n'), "{error}");
        }
    }
}
