//! Options as a user wrote them.

/// Options as given; `-` and `_` are one in names, and later ones win.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenOptions<'a>(&'a [(String, Option<String>)]);

impl<'a> GivenOptions<'a> {
    pub(crate) fn new(given: &'a [(String, Option<String>)]) -> Self {
        Self(given)
    }

    /// An option as it was given last.
    pub(crate) fn get(self, name: &str) -> Option<&'a (String, Option<String>)> {
        let mut all = self.0.iter().rev();
        all.find(|(given, _)| is_same(given, name))
    }
}

/// Returns true if two spellings are one name.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.replace('_', "-") == other.replace('_', "-")
}
