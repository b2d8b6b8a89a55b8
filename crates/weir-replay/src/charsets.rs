//! Character sets of captured logins, as the replay's server has them.
//!
//! A login asks for a collation by its number. A server whose own character set is the collation's takes its own collation
//! in place of that (`thd_init_client_charset` of both). A replay logs in with one collation for all, and sends `SET NAMES`
//! where a session had another.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use weir_model::Address;
use weir_mysql::{ClientError, Connection, Gate};

/// `utf8mb4_general_ci`, with which all sessions of a replay log in.
const OWN: u16 = 45;
/// Collations of utf8mb4 that only some servers have: of the Unicode algorithm 4.0 and 5.2, `MySQL`'s of 9.0, and
/// `MariaDB`'s of 14.0.
const OF_UTF8MB4: [RangeInclusive<u16>; 3] = [224..=247, 255..=323, 2_304..=2_559];
const COLLATIONS: &str = "SELECT id, character_set_name, collation_name FROM information_schema.collations \
                          WHERE id IS NOT NULL AND character_set_name IS NOT NULL";

/// A character set and a collation.
type CharsetAndCollation = (String, String);

/// Way to give a session the character set of its login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoginCharset {
    /// It is that of the replay's logins.
    Own,
    /// This statement sets it.
    Names(String),
    /// It cannot be set on this server: only plain ASCII is sent.
    NotHere,
}

/// The character sets of a server.
#[derive(Debug)]
pub(crate) struct Charsets {
    gate: Gate,
    address: Address,
    collations: HashMap<u16, CharsetAndCollation>,
    /// The server's own.
    global: CharsetAndCollation,
}

impl Charsets {
    /// Those of a server; none where no session asks for another than the replay's own.
    pub(crate) fn new(gate: &Gate, address: &Address) -> Self {
        Self {
            gate: gate.clone(),
            address: address.clone(),
            collations: HashMap::new(),
            global: CharsetAndCollation::default(),
        }
    }

    /// Asks the server.
    pub(crate) fn read(&mut self, connection: &mut Connection) -> Result<(), ClientError> {
        let rows: Vec<(u16, String, String)> = connection.rows(COLLATIONS)?;
        let named = rows
            .into_iter()
            .map(|(number, charset, collation)| (number, (charset, collation)));
        self.collations = named.collect();
        let global: Option<CharsetAndCollation> = connection
            .first("SELECT @@GLOBAL.character_set_client, @@GLOBAL.collation_connection")?;
        self.global = global.unwrap_or_default();
        Ok(())
    }

    /// Returns the way to give a session the character set of its login, which asked for this collation.
    pub(crate) fn of_login(&self, collation: Option<u16>) -> LoginCharset {
        let Some(collation) = collation else {
            return LoginCharset::Own;
        };
        if self.collations.is_empty() || collation == OWN {
            return LoginCharset::Own;
        }
        let Some(wanted) = self.effective(collation) else {
            let is_utf8mb4 = OF_UTF8MB4.iter().any(|range| range.contains(&collation));
            return if is_utf8mb4 {
                LoginCharset::Own
            } else {
                LoginCharset::NotHere
            };
        };
        if Some(wanted) == self.effective(OWN) {
            return LoginCharset::Own;
        }
        let (charset, collation) = wanted;
        let names = format!("SET NAMES {charset} COLLATE {collation}");
        if self.admits(&names) {
            LoginCharset::Names(names)
        } else {
            LoginCharset::NotHere
        }
    }

    /// Returns true if a statement that sets the character set may be sent.
    pub(crate) fn admits(&self, names: &str) -> bool {
        self.gate.admit(&self.address, names).is_ok()
    }

    /// The encoding that a login with this collation has.
    fn effective(&self, collation: u16) -> Option<&CharsetAndCollation> {
        if collation == 0 {
            return Some(&self.global);
        }
        let found = self.collations.get(&collation)?;
        let is_servers = found.0 == self.global.0;
        Some(if is_servers { &self.global } else { found })
    }
}

/// Returns true if a statement sets the character set in which the session's next ones are read.
pub(crate) fn sets_charset(fingerprint: &str) -> bool {
    let words = [
        "set names",
        "set character set",
        "set charset",
        "set char set",
    ];
    words.iter().any(|word| fingerprint.starts_with(word))
        || fingerprint.starts_with("set ") && fingerprint.contains("character_set_client")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charsets(global: (&str, &str), gate: &Gate) -> Charsets {
        let address = Address::Tcp("127.0.0.1".to_owned(), 1);
        let owned = |(charset, collation): (&str, &str)| (charset.to_owned(), collation.to_owned());
        let mut charsets = Charsets::new(gate, &address);
        charsets.collations = HashMap::from([
            (8, owned(("latin1", "latin1_swedish_ci"))),
            (28, owned(("gbk", "gbk_chinese_ci"))),
            (45, owned(("utf8mb4", "utf8mb4_general_ci"))),
            (224, owned(("utf8mb4", "utf8mb4_unicode_ci"))),
        ]);
        charsets.global = owned(global);
        charsets
    }

    #[test]
    fn a_session_gets_the_character_set_of_its_login() {
        use LoginCharset::{Names, NotHere, Own};
        let names = |text: &str| Names(text.to_owned());
        let reading = charsets(("latin1", "latin1_german1_ci"), &Gate::reading());
        assert_eq!(reading.of_login(None), Own);
        assert_eq!(reading.of_login(Some(45)), Own);
        assert_eq!(
            reading.of_login(Some(8)),
            names("SET NAMES latin1 COLLATE latin1_german1_ci")
        );
        assert_eq!(
            reading.of_login(Some(224)),
            names("SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci")
        );
        // The gate of a user's server cannot tell its quotes.
        assert_eq!(reading.of_login(Some(28)), NotHere);
        assert_eq!(
            (reading.of_login(Some(255)), reading.of_login(Some(999))),
            (Own, NotHere)
        );
        // A server of utf8mb4 takes its own collation for each of that character set.
        let own = charsets(("utf8mb4", "utf8mb4_0900_ai_ci"), &Gate::own());
        assert_eq!(own.of_login(Some(224)), Own);
        assert_eq!(
            own.of_login(Some(28)),
            names("SET NAMES gbk COLLATE gbk_chinese_ci")
        );
    }

    #[test]
    fn statements_that_set_the_character_set_are_known() {
        for text in [
            "set names gbk",
            "set character set ?",
            "set @@session.character_set_client = gbk",
        ] {
            assert!(sets_charset(text), "{text}");
        }
        for text in ["set autocommit = 0", "select character_set_client"] {
            assert!(!sets_charset(text), "{text}");
        }
    }
}
