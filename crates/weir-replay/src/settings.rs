//! Settings of a session that a new connection of it does not have.

use std::collections::VecDeque;

/// Statements that are kept of a session.
const SETTINGS_MAX: usize = 100;
/// Beginning of such statements; comments and blanks before them are not in a capture.
const BEGINNING: &str = "set ";

/// A statement that says how its session is from then on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) text: Vec<u8>,
    /// Text that the gate judges.
    pub(crate) judged: String,
}

/// Settings of a session.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    all: Vec<Setting>,
    /// Those that the connection of now does not have yet.
    missing: VecDeque<Setting>,
}

impl Settings {
    /// Keeps a statement that is sent, if it sets something; one that comes again is kept once.
    pub(crate) fn note(&mut self, text: &[u8], judged: &str) {
        let beginning = judged.as_bytes().get(..BEGINNING.len());
        if !beginning.is_some_and(|found| found.eq_ignore_ascii_case(BEGINNING.as_bytes())) {
            return;
        }
        self.all.retain(|setting| setting.text != text);
        if self.all.len() < SETTINGS_MAX {
            self.all.push(Setting {
                text: text.to_vec(),
                judged: judged.to_owned(),
            });
        }
    }

    /// The session has a new connection.
    pub(crate) fn lost(&mut self) {
        self.missing = self.all.iter().cloned().collect();
    }

    /// The next statement that is to be sent again.
    pub(crate) fn next_missing(&mut self) -> Option<Setting> {
        self.missing.pop_front()
    }

    /// The session is as new.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.missing.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_missing_on_a_new_connection_in_its_order() {
        let mut settings = Settings::default();
        for text in [
            "SET NAMES utf8mb4",
            "select 1",
            "set autocommit = 0",
            "SET NAMES utf8mb4",
            "SE",
        ] {
            settings.note(text.as_bytes(), text);
        }
        assert_eq!(settings.next_missing(), None);
        settings.lost();
        let missing = std::iter::from_fn(|| settings.next_missing());
        let texts: Vec<_> = missing.map(|setting| setting.judged).collect();
        assert_eq!(texts, ["set autocommit = 0", "SET NAMES utf8mb4"]);
        settings.clear();
        settings.lost();
        assert_eq!(settings.next_missing(), None);
    }
}
