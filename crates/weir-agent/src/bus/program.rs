//! Search for `nats-server`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bus::BusError;

const NAME: &str = "nats-server";
/// Oldest version with all that a bus needs.
const OLDEST: (u32, u32) = (2, 10);

/// The first `nats-server` that is new enough: of PATH, the system's folders, and those beside the servers that
/// `scripts/install-mysql.sh` unpacks.
///
/// # Errors
///
/// There is none; the error names what was found.
pub fn find_program() -> Result<PathBuf, BusError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin", "/usr/local/bin"].map(PathBuf::from));
    let unpacked = weir_server::servers_directory().map(std::fs::read_dir);
    for entry in unpacked.into_iter().flatten().flatten().flatten() {
        folders.push(entry.path().join("bin"));
    }
    let mut why = "not found".to_owned();
    for program in folders.iter().map(|folder| folder.join(NAME)) {
        if !program.is_file() {
            continue;
        }
        match version(&program) {
            Some(found) if found >= OLDEST => return Ok(program),
            Some((major, minor)) => {
                why = format!("{} is version {major}.{minor}", program.display());
            }
            None => why = format!("{} does not tell its version", program.display()),
        }
    }
    Err(BusError::Program { why })
}

fn version(program: &Path) -> Option<(u32, u32)> {
    let output = weir_process::inherit_nothing(Command::new(program).arg("--version"))
        .output()
        .ok()?;
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Reads `nats-server: v2.15.1`.
fn parse(printed: &str) -> Option<(u32, u32)> {
    let (_, version) = printed.split_once(": v")?;
    let mut parts = version.split(['.', '-']).map(str::trim);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(parse("nats-server: v2.15.1\n"), Some((2, 15)));
        assert_eq!(parse("nats-server: v2.10\n"), Some((2, 10)));
        assert_eq!(parse("mysqld 9"), None);
        assert!((2, 9) < OLDEST && (2, 15) > OLDEST && (3, 0) > OLDEST);
    }
}
