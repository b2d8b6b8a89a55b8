//! The name of a server that the user gives: a URL, which never holds a password.
//!
//! In the form of MySQL's "URI-Like Connection Strings" (MySQL manual, "Connecting to the Server Using
//! URI-Like Strings"), with the scheme for the flavour and the options of MySQL's clients:
//! `mysql://app@db1:3306/sbtest?ssl-mode=REQUIRED`, `mariadb:///sbtest?socket=/run/mysqld/mysqld.sock`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{Flavor, nearest};

/// Options that a URL may have beyond host, port, account and schema.
const OPTIONS: [&str; 6] = [
    "option-file",
    "socket",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
];

/// Characters that would have another meaning in a part of a URL.
const RESERVED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');
/// And in a name, which is no path.
const RESERVED_IN_NAME: &AsciiSet = &RESERVED.add(b'/');

/// A server that the user gives. An option file may have what the URL leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct ServerUrl {
    /// The flavour that the server is to be.
    pub flavor: Flavor,
    /// The account.
    pub user: Option<String>,
    /// Host name or address.
    pub host: Option<String>,
    /// Port of TCP.
    pub port: Option<u16>,
    /// The schema of the workload's tables.
    pub database: Option<String>,
    /// Options by the names of MySQL's clients: `socket`, `option-file`, `ssl-mode`, `ssl-ca`,
    /// `ssl-cert`, `ssl-key`.
    pub options: BTreeMap<String, String>,
}

impl ServerUrl {
    /// Returns true if `text` is meant to be a URL, rather than a name or a path.
    pub fn is_meant(text: &str) -> bool {
        text.contains("://")
    }

    /// `text` as an error may show it: without a password between `:` and `@`.
    pub fn without_password(text: &str) -> Cow<'_, str> {
        let (scheme, rest) = text.split_at(text.find("://").map_or(0, |at| at + 3));
        let account = rest.split_once('@').map(|(account, _)| account);
        // A password that is not encoded may have an `@` itself.
        match (
            account.and_then(|account| account.split_once(':')),
            rest.rsplit_once('@'),
        ) {
            (Some((user, _)), Some((_, server))) => format!("{scheme}{user}:...@{server}").into(),
            _ => text.into(),
        }
    }
}

impl FromStr for ServerUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let no_url = |why: &dyn fmt::Display| {
            let text = Self::without_password(text);
            format!(
                "`{text}` is no URL of a server ({why}); write `mysql://USER@HOST:PORT/SCHEMA` or `mariadb://...`"
            )
        };
        if !Self::is_meant(text) {
            return Err(no_url(&"it does not begin with `mysql://`"));
        }
        let url = Url::parse(text).map_err(|error| no_url(&error))?;
        let flavor = url.scheme().parse()?;
        if url.password().is_some() {
            return Err(
                "a password in a URL can be seen by others; put it into an option file \
                 (`?option-file=FILE`) or into WEIR_MYSQL_PASSWORD"
                    .to_owned(),
            );
        }
        let decode = |text: &str| {
            let decoded = percent_decode_str(text).decode_utf8();
            decoded.map(Cow::into_owned).map_err(|_| {
                format!("no URL of a server (`{text}` is not UTF-8); write it in UTF-8, encoded by percent")
            })
        };
        let some = |text: &str| decode(text).map(|text| Some(text).filter(|text| !text.is_empty()));
        let mut options = BTreeMap::new();
        let pairs = url.query().unwrap_or_default().split('&');
        // A `+` is itself here, as in MySQL's connection strings.
        for pair in pairs.filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            if !OPTIONS.contains(&name.as_str()) {
                let meant = nearest(&name, OPTIONS);
                let hint = meant.map_or_else(
                    || format!("there are {}", OPTIONS.join(", ")),
                    |meant| format!("did you mean `{meant}`?"),
                );
                return Err(format!("no option `{name}` of a server's URL; {hint}"));
            }
            options.insert(name, value);
        }
        let host = url.host_str().map(some).transpose()?.flatten();
        Ok(Self {
            flavor,
            user: some(url.username())?,
            // The brackets of an IPv6 address are the URL's.
            host: host.map(|host| host.trim_matches(['[', ']']).to_owned()),
            port: url.port(),
            database: some(url.path().strip_prefix('/').unwrap_or_default())?,
            options,
        })
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.flavor)?;
        if let Some(user) = &self.user {
            write!(f, "{}@", utf8_percent_encode(user, RESERVED_IN_NAME))?;
        }
        match &self.host {
            Some(host) if host.contains(':') => write!(f, "[{host}]")?,
            Some(host) => f.write_str(host)?,
            None => {}
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        let database = self.database.as_deref().unwrap_or_default();
        write!(f, "/{}", utf8_percent_encode(database, RESERVED_IN_NAME))?;
        for (number, (name, value)) in self.options.iter().enumerate() {
            let sign = if number == 0 { '?' } else { '&' };
            write!(f, "{sign}{name}={}", utf8_percent_encode(value, RESERVED))?;
        }
        Ok(())
    }
}

impl TryFrom<String> for ServerUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ServerUrl> for String {
    fn from(url: ServerUrl) -> Self {
        url.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_and_written_back() {
        for text in [
            "mysql://app@db1:3306/sbtest?ssl-mode=REQUIRED",
            "mariadb:///sbtest?socket=/run/mysqld/mysqld.sock",
            "mysql://[::1]:3307/",
            "mysql:///?option-file=/home/x/.my.cnf",
        ] {
            let url: ServerUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), text);
        }
        let url: ServerUrl = "mysql://app%40x@db1/shop".parse().unwrap();
        assert_eq!(url.user.as_deref(), Some("app@x"));
        assert_eq!((url.host.as_deref(), url.port), (Some("db1"), None));
        assert_eq!(url.database.as_deref(), Some("shop"));
    }

    #[test]
    fn any_name_survives_being_written_and_read() {
        let url: ServerUrl = "mariadb://a%2Fb%40c:@db1/my%20shop%3F%23%2F%25?socket=/x+y/%26s.sock"
            .parse()
            .unwrap();
        assert_eq!(url.user.as_deref(), Some("a/b@c"));
        assert_eq!(url.database.as_deref(), Some("my shop?#/%"));
        assert_eq!(url.options["socket"], "/x+y/&s.sock");
        assert_eq!(url.to_string().parse(), Ok(url));
        let error = "mysql://db1/%FF".parse::<ServerUrl>().unwrap_err();
        assert!(
            error.contains("UTF-8") && error.lines().count() == 1,
            "{error}"
        );
    }

    #[test]
    fn what_is_wrong_is_told_and_a_password_is_not_repeated() {
        for (text, word) in [
            ("mysql://app:hunter2@db1/", "option file"),
            ("postgres://db1/", "mariadb"),
            ("mysql://db1/?ssl-mod=X", "ssl-mode"),
            ("mysql://db1:99999/", "no URL"),
            ("db1:3306", "`db1:3306` is no URL"),
            ("app:hunter2@db1", "`app:...@db1` is no URL"),
            (
                "mysql://app:h@hunter2@db1:x/",
                "`mysql://app:...@db1:x/` is no URL",
            ),
        ] {
            let error = text.parse::<ServerUrl>().unwrap_err();
            assert!(error.contains(word), "{error}");
            assert!(!error.contains("hunter2") && error.lines().count() == 1);
        }
    }
}
