//! Alias by which a poll's own statements are left out of what it sees: digests keep names of columns and tables.

/// The alias.
pub(super) const MARK: &str = "weir_poll";

/// Returns true if a statement is one of a poll.
pub(super) fn is_marked(text: &[u8]) -> bool {
    text.windows(MARK.len()).any(|part| part == MARK.as_bytes())
}
