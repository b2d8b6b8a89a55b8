//! Statements whose names are known only once they have been sent.

use std::sync::OnceLock;

/// As many are counted apart: each has a histogram for each of the reporters.
const MOST: usize = 48;

/// Names of statements that turn up during a run. They are only added to, so that counting needs no lock
/// for one that is known.
#[derive(Debug)]
pub struct FoundStatements([OnceLock<String>; MOST]);

impl Default for FoundStatements {
    fn default() -> Self {
        Self([const { OnceLock::new() }; MOST])
    }
}

impl FoundStatements {
    /// The position of the statement of this name, which is added if it is new; `None`: there are too many.
    pub fn position(&self, name: &str) -> Option<usize> {
        let is_it = |slot: &OnceLock<String>| slot.get_or_init(|| name.to_owned()) == name;
        self.0.iter().position(is_it)
    }

    /// The names so far, in the order of their positions.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.0.iter().map_while(OnceLock::get);
        names.map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_position_and_there_are_not_too_many() {
        let found = FoundStatements::default();
        assert_eq!(
            [found.position("a"), found.position("b")],
            [Some(0), Some(1)]
        );
        assert_eq!(found.position("a"), Some(0));
        assert_eq!(found.names().collect::<Vec<_>>(), ["a", "b"]);
        for number in 2..MOST {
            assert_eq!(found.position(&number.to_string()), Some(number));
        }
        assert_eq!(found.position("one more"), None);
        assert_eq!(found.position("b"), Some(1));
    }
}
