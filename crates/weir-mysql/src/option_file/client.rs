//! An option file by which a client logs in: the password stands in no command line.

use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;
use weir_model::{Address, Endpoint};

/// Writes a new option file for clients of `endpoint`, which only this user can read. It is there whole or not at all.
///
/// # Errors
///
/// A file that is there, or that cannot be written.
pub fn write_client_options(path: &Path, endpoint: &Endpoint) -> std::io::Result<()> {
    let address = match &endpoint.address {
        Address::Tcp(host, port) => format!("host = {host}\nport = {port}\n"),
        Address::Socket(path) => format!("socket = {}\n", path.display()),
    };
    let text = format!(
        "[client]\nuser = {}\npassword = {}\n{address}",
        quoted(&endpoint.user),
        quoted(endpoint.password.reveal())
    );
    let directory = path.parent().unwrap_or(Path::new(""));
    // A file that only its owner can read, whatever the umask is.
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// A value as the servers' clients read it: outside of quotes `#` would begin a comment.
fn quoted(value: &str) -> String {
    let escaped = value.replace('\\', r"\\").replace('"', r#"\""#);
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::OptionFile;
    use super::*;
    use weir_model::{Secret, Tls};

    #[test]
    fn a_password_is_read_back_and_only_by_its_owner() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("client.cnf");
        let password = r#"a # b"c\td"#;
        let endpoint = Endpoint {
            address: Address::Socket("/run/a.sock".into()),
            user: "app".to_owned(),
            password: Secret::new(password),
            database: String::new(),
            tls: Tls::default(),
        };
        write_client_options(&path, &endpoint).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(write_client_options(&path, &endpoint).is_err());
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
        let read = OptionFile::read(&path).unwrap();
        let settings = read.settings.iter();
        let settings: Vec<_> = settings
            .map(|setting| (setting.name.as_str(), setting.value.as_deref()))
            .collect();
        assert_eq!(
            settings,
            [
                ("user", Some("app")),
                ("password", Some(password)),
                ("socket", Some("/run/a.sock"))
            ]
        );
    }
}
