//! An option file by which a client logs in: the password stands in no command line.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use weir_model::{Address, Endpoint};

/// Writes a new option file for clients of `endpoint`, which only this user can read.
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
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file?.write_all(text.as_bytes())
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
