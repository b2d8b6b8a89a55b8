//! The process's own command line, which every user of the machine may read.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;

/// Options that hold a secret, with dashes for underscores.
const SECRET: &str = "--mysql-password=";
/// Field of `/proc/self/stat` with the address of the arguments (`proc_pid_stat(5)`), counted from
/// the one after the program's name in parentheses.
const ARGUMENTS_ADDRESS_FIELD: usize = 48 - 3;

/// Overwrites the passwords among `words`, the arguments, where `ps` shows them. They stand there from the start of the
/// process until now, so this is the second best way to give one.
pub(crate) fn hide_passwords(words: &[OsString]) -> io::Result<()> {
    let mut words = words.iter().map(|word| word.as_bytes());
    if words.all(|word| secret_length(word).is_none()) {
        return Ok(());
    }
    let arguments = fs::read("/proc/self/cmdline")?;
    let mut address = arguments_address()?;
    let memory = OpenOptions::new().write(true).open("/proc/self/mem")?;
    for argument in arguments.split(|byte| *byte == 0) {
        if let Some(length) = secret_length(argument) {
            let at = address + (argument.len() - length) as u64;
            memory.write_all_at(&vec![b'x'; length], at)?;
        }
        address += argument.len() as u64 + 1;
    }
    Ok(())
}

/// Bytes at the end of an argument that are a secret.
fn secret_length(argument: &[u8]) -> Option<usize> {
    let (name, secret) = argument.split_at_checked(SECRET.len())?;
    let is_named = name
        .iter()
        .map(|byte| if *byte == b'_' { b'-' } else { *byte })
        .eq(SECRET.bytes());
    (is_named && !secret.is_empty()).then_some(secret.len())
}

fn arguments_address() -> io::Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    stat.rsplit_once(") ")
        .and_then(|(_, fields)| fields.split(' ').nth(ARGUMENTS_ADDRESS_FIELD))
        .and_then(|field| field.parse().ok())
        .filter(|address| *address > 0)
        .ok_or_else(|| io::Error::other("no address of the arguments in /proc/self/stat"))
}

#[cfg(test)]
mod tests {
    use super::secret_length;

    #[test]
    fn secrets_are_told_from_other_arguments() {
        assert_eq!(secret_length(b"--mysql-password=abc"), Some(3));
        assert_eq!(secret_length(b"--mysql_password=ab"), Some(2));
        assert_eq!(secret_length(b"--mysql-password="), None);
        assert_eq!(secret_length(b"--mysql-user=abc"), None);
        assert_eq!(secret_length(b""), None);
    }
}
