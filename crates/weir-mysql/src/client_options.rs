//! Options of a login in option files, in the words of the servers' clients.

use std::path::PathBuf;

use weir_model::{Flavor, Secret, Tls, TlsMode};

use crate::option_file::{OptionFileError, OptionFileSetting};

/// The options of a login so far; none of them has a default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// Host name or address.
    pub host: Option<String>,
    /// Port of TCP.
    pub port: Option<u16>,
    /// The socket that `localhost` means.
    pub socket: Option<PathBuf>,
    /// `localhost` means TCP, too.
    pub uses_tcp: bool,
    /// The account.
    pub user: Option<String>,
    /// Password of the account.
    pub password: Option<ClientPassword>,
    /// The schema.
    pub database: Option<String>,
    /// Mode of encryption, if an option sets it.
    pub tls_mode: Option<TlsMode>,
    /// Parameters of encryption; its mode is not used.
    pub tls: Tls,
}

/// A password of an option file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientPassword {
    /// It stands there, and may be empty.
    Given(Secret),
    /// `password` without a value: the user is to be asked for it.
    Asked,
}

/// Names of the options of a login.
const KNOWN: [&str; 14] = [
    "host",
    "port",
    "socket",
    "protocol",
    "user",
    "password",
    "database",
    "ssl",
    "ssl-mode",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-cipher",
    "ssl-verify-server-cert",
];

/// The shortest forms of them that mean no other option to MariaDB's client, which takes those; MySQL's does not.
const ABBREVIATED: [(&str, &str); 12] = [
    ("ho", "host"),
    ("po", "port"),
    ("so", "socket"),
    ("prot", "protocol"),
    ("us", "user"),
    ("pas", "password"),
    ("da", "database"),
    ("ssl-ce", "ssl-cert"),
    ("ssl-k", "ssl-key"),
    ("ssl-ci", "ssl-cipher"),
    ("ssl-v", "ssl-verify-server-cert"),
    ("ssl-m", "ssl-mode"),
];

/// Groups that are one program's and not all clients'.
const PROGRAM_GROUPS: [&str; 3] = ["mysql", "mariadb", "mariadb-client"];

/// Groups that the clients of a flavour read; of both, where it is not known.
pub(crate) fn groups(flavor: Option<Flavor>) -> &'static [&'static str] {
    match flavor {
        Some(Flavor::Mysql) => &["client", "mysql"],
        Some(Flavor::Mariadb) | None => &[
            "client",
            "client-server",
            "client-mariadb",
            "mysql",
            "mariadb-client",
        ],
    }
}

impl ClientOptions {
    /// Takes a line of an option file; one that says nothing of a login is passed over.
    ///
    /// # Errors
    ///
    /// A value that does not fit its option.
    pub fn apply(
        &mut self,
        setting: &OptionFileSetting,
        flavor: Option<Flavor>,
    ) -> Result<(), OptionFileError> {
        let Some((name, is_off)) = meaning(&setting.name, flavor) else {
            return Ok(());
        };
        // Where a client's prompt stays, tables are not to be made without being asked for.
        if name == "database" && PROGRAM_GROUPS.contains(&setting.group.as_str()) {
            return Ok(());
        }
        let value = setting.value.as_deref();
        let value = if is_off { Some("0") } else { value };
        let wrong = |why: String| OptionFileError {
            place: setting.place.clone(),
            why,
        };
        if value.is_some_and(|value| value.contains(char::REPLACEMENT_CHARACTER)) {
            return Err(wrong(format!(
                "the value of {name} is not UTF-8; write it in UTF-8"
            )));
        }
        match (name, value) {
            ("password", _) if is_off => {
                self.password = Some(ClientPassword::Given(Secret::new("")));
            }
            ("password", None) => self.password = Some(ClientPassword::Asked),
            _ => self
                .set(name, value)
                .map_err(|why| wrong(format!("{name} = `{}`: {why}", value.unwrap_or_default())))?,
        }
        Ok(())
    }

    /// Sets the option `name` of MySQL's clients; those that are not about a login are left out. The
    /// error says why the value is wrong.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let text = value.unwrap_or_default();
        let some = || Some(text.to_owned()).filter(|text| !text.is_empty());
        let path = || some().map(PathBuf::from);
        match name {
            "host" => self.host = some(),
            "port" => self.port = port(text)?,
            "socket" => self.socket = path(),
            "protocol" => self.uses_tcp = text.eq_ignore_ascii_case("tcp"),
            "user" => self.user = some(),
            "password" => self.password = Some(ClientPassword::Given(Secret::new(text))),
            "database" => self.database = some(),
            "ssl" => self.tls_mode = Some(when(value, TlsMode::Preferred)),
            "ssl-verify-server-cert" => self.tls_mode = Some(when(value, TlsMode::VerifyIdentity)),
            "ssl-mode" => self.tls_mode = Some(text.parse()?),
            "ssl-ca" => self.tls.authority = path(),
            "ssl-cert" => self.tls.certificate = path(),
            "ssl-key" => self.tls.key = path(),
            "ssl-cipher" => {
                let names = text.split([':', ',']).map(str::trim);
                let names = names.filter(|name| !name.is_empty());
                self.tls.ciphers = names.map(str::to_owned).collect();
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the encryption, by the options; an authority alone asks for certificates that it has signed, as in
    /// MySQL's clients.
    pub fn encryption(&self) -> Tls {
        let implied = self.tls.authority.is_some().then_some(TlsMode::VerifyCa);
        Tls {
            mode: self.tls_mode.or(implied).unwrap_or_default(),
            ..self.tls.clone()
        }
    }

    /// These, and where they say nothing, `others`; encryption is taken as a whole.
    pub(crate) fn or(self, others: Self) -> Self {
        let says_tls = self.tls_mode.is_some() || self.tls != Tls::default();
        let (tls_mode, tls) = if says_tls {
            (self.tls_mode, self.tls)
        } else {
            (others.tls_mode, others.tls)
        };
        Self {
            host: self.host.or(others.host),
            port: self.port.or(others.port),
            socket: self.socket.or(others.socket),
            uses_tcp: self.uses_tcp || others.uses_tcp,
            user: self.user.or(others.user),
            password: self.password.or(others.password),
            database: self.database.or(others.database),
            tls_mode,
            tls,
        }
    }
}

/// The option that a name in a file means, and whether it is switched off (MySQL manual, "Program Option
/// Modifiers").
fn meaning(name: &str, flavor: Option<Flavor>) -> Option<(&'static str, bool)> {
    let name = name.strip_prefix("loose-").unwrap_or(name);
    let (name, is_off) = match name.split_once('-') {
        Some(("skip" | "disable", rest)) => (rest, true),
        Some(("enable", rest)) => (rest, false),
        _ => (name, false),
    };
    if let Some(known) = KNOWN.iter().find(|known| **known == name) {
        return Some((known, is_off));
    }
    let (_, known) = ABBREVIATED
        .iter()
        .filter(|_| flavor != Some(Flavor::Mysql))
        .find(|(short, known)| name.starts_with(short) && known.starts_with(name))?;
    Some((known, is_off))
}

/// 0 and nothing are the default, as in the clients.
fn port(text: &str) -> Result<Option<u16>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let port = text.parse().map_err(|_| "write a port".to_owned())?;
    Ok(Some(port).filter(|port| *port > 0))
}

/// The mode that a switch asks for.
fn when(value: Option<&str>, on: TlsMode) -> TlsMode {
    let is_off = value.is_some_and(|value| {
        ["0", "off", "false", "no"].contains(&value.to_ascii_lowercase().as_str())
    });
    if is_off { TlsMode::Disabled } else { on }
}

#[cfg(test)]
mod tests;
