//! The process of a server on its own host, by what the server says of itself.
//!
//! The looker may be another user, or outside of the server's container: then the pid file or the working directory
//! cannot be read. Figures of the wrong host would be worse than none, so that two things must fit.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weir_process::ProcessIdentity;

use crate::find::NAMES;
use crate::hidden_states::wants_direct_pages;
use crate::{ServerError, Session};

/// A process began when the server says so if it is not further off than this, seconds: the server takes the time
/// before it opens its data, and tells it in whole seconds.
const SAME_START_S: f64 = 10.0;

/// Host, data directory and process of a server, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerIdentity {
    /// Name of the host.
    pub host: String,
    /// Data directory of the server.
    pub data_dir: PathBuf,
    /// The file with its process's number.
    pub pid_file: PathBuf,
    /// For how long it has been up, seconds.
    pub uptime_s: u64,
    /// True if it is to write pages past the page cache.
    pub writes_directly: bool,
}

/// A server's process on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    /// Process id.
    pub pid: u32,
    /// Data directory as it can be looked at from here.
    pub data_dir: Option<PathBuf>,
}

impl ServerIdentity {
    /// Asks the server.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn ask(session: &mut Session) -> Result<Self, ServerError> {
        let variables = session.variables()?;
        let said = |name: &str| variables.get(name).cloned().unwrap_or_default();
        let uptime = session.status()?.remove("Uptime");
        Ok(Self {
            host: said("hostname"),
            data_dir: said("datadir").into(),
            pid_file: said("pid_file").into(),
            uptime_s: uptime
                .and_then(|uptime| uptime.parse().ok())
                .unwrap_or_default(),
            writes_directly: wants_direct_pages(&variables),
        })
    }

    /// The server's process, if it is on this host; an error says what was found instead.
    ///
    /// # Errors
    ///
    /// No process that fits, or several.
    pub fn find(&self) -> Result<FoundServer, String> {
        let here = rustix::system::uname();
        let host = here.nodename().to_string_lossy();
        let candidates: Vec<_> = processes()
            .filter_map(|pid| self.candidate(pid, &host))
            .collect();
        let first = candidates.iter().map(|one| one.rank()).max();
        let fitting: Vec<_> = candidates
            .iter()
            .filter(|one| one.fits() && Some(one.rank()) == first)
            .collect();
        match (fitting.as_slice(), candidates.len()) {
            ([one], _) => Ok(FoundServer {
                pid: one.pid,
                data_dir: self.data_dir_of(one.pid),
            }),
            ([], 0) => Err(format!("no server runs on {host}")),
            ([], _) => Err(format!(
                "of the servers on {host} none is the one on {} with the data directory {}",
                self.host,
                self.data_dir.display()
            )),
            (several, _) => Err(format!(
                "{} processes on {host} look like the server; start the agent as the server's user",
                several.len()
            )),
        }
    }

    fn candidate(&self, pid: u32, host: &str) -> Option<Candidate> {
        if !is_server(pid) {
            return None;
        }
        let age_s = age_s(pid)?;
        Some(Candidate {
            pid,
            has_its_place: self.is_in_pid_file(pid) || self.is_in_data_dir(pid),
            // Many hosts have that name.
            is_on_its_host: self.host == host && host != "localhost",
            began_with_it: (age_s - self.uptime_s as f64).abs() <= SAME_START_S,
        })
    }

    fn is_in_pid_file(&self, pid: u32) -> bool {
        let text = fs::read_to_string(self.data_dir.join(&self.pid_file));
        text.is_ok_and(|text| text.trim() == pid.to_string())
    }

    /// Servers work in their data directory.
    fn is_in_data_dir(&self, pid: u32) -> bool {
        let directory = fs::read_link(format!("/proc/{pid}/cwd"));
        // Said with a slash at the end, which a path's components do not have.
        directory.is_ok_and(|directory| {
            let said = fs::canonicalize(&self.data_dir).unwrap_or_else(|_| self.data_dir.clone());
            directory == said || directory == self.data_dir
        })
    }

    /// Through the process, since its container may have mounts of its own; else by the path that the server says.
    fn data_dir_of(&self, pid: u32) -> Option<PathBuf> {
        let through = PathBuf::from(format!("/proc/{pid}/cwd"));
        let found = self.is_in_data_dir(pid).then_some(through);
        found.or_else(|| self.data_dir.is_dir().then(|| self.data_dir.clone()))
    }
}

/// A process that is a server, and what speaks for its being the one that is looked for.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    pid: u32,
    has_its_place: bool,
    is_on_its_host: bool,
    began_with_it: bool,
}

impl Candidate {
    /// Data directories have the same path on many hosts, and so do servers that began together: two of three.
    fn fits(self) -> bool {
        self.witnesses() >= 2
    }

    /// A place of its own tells it from others that began with it on this host.
    fn rank(self) -> (bool, usize) {
        (self.has_its_place, self.witnesses())
    }

    fn witnesses(self) -> usize {
        let all = [self.has_its_place, self.is_on_its_host, self.began_with_it];
        all.into_iter().filter(|fits| *fits).count()
    }
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns true if a process of this host is a server.
pub(crate) fn is_server(pid: u32) -> bool {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    is_of_server(&String::from_utf8_lossy(&command))
}

/// Returns true if a command line is a server's, which may be started through a dynamic linker.
fn is_of_server(command: &str) -> bool {
    let mut words = command
        .split('\0')
        .take_while(|word| !word.starts_with("--defaults"));
    words.any(|word| {
        let name = Path::new(word).file_name().unwrap_or_default();
        NAMES.iter().any(|program| name == *program)
    })
}

/// Time since a process began, seconds (`proc_uptime(5)`).
fn age_s(pid: u32) -> Option<f64> {
    let start = ProcessIdentity::for_pid(pid)?.started_ticks as f64;
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let up_s: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    Some(up_s - start / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_three_witnesses_make_a_process_the_server() {
        let candidate = |has_its_place, is_on_its_host, began_with_it| Candidate {
            pid: 1,
            has_its_place,
            is_on_its_host,
            began_with_it,
        };
        assert!(candidate(true, false, true).fits() && candidate(false, true, true).fits());
        for alone in [
            candidate(true, false, false),
            candidate(false, true, false),
            candidate(false, false, true),
        ] {
            assert!(!alone.fits(), "{alone:?}");
        }
        // A container's host name, or a path that all hosts have, is not enough by itself.
        for (command, is_one) in [
            ("/usr/sbin/mysqld\0--datadir=/d\0", true),
            (
                "/lib/ld-linux.so\0--library-path\0/l\0/opt/mariadbd\0--defaults-file=/x\0",
                true,
            ),
            ("vi\0/etc/mysqld.conf\0", false),
            ("/usr/bin/mysqld_safe\0", false),
            ("socat\0UNIX-LISTEN:/run/mysqld/mysqld.sock\0", false),
        ] {
            assert_eq!(is_of_server(command), is_one, "{command}");
        }
        let age_s = age_s(std::process::id()).unwrap();
        assert!((0.0..3_600.0).contains(&age_s), "{age_s}");
    }

    #[test]
    fn a_server_of_another_host_is_not_found_here() {
        let identity = ServerIdentity {
            host: "no-such-host".to_owned(),
            data_dir: "/no/such/place/".into(),
            pid_file: "no-such.pid".into(),
            uptime_s: 3_000_000_000,
            writes_directly: true,
        };
        let why = identity.find().unwrap_err();
        assert!(
            why.contains("no server runs on") || why.contains("none is"),
            "{why}"
        );
    }
}
