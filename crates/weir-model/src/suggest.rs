//! "Did you mean": the nearest of the names that exist.

/// The name of `known` that is nearest to `wrong`, if one is near enough to be what was meant.
///
/// Jaro-Winkler similarity; 0.75 separates a typo from another word on the names that Weir has.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(similarity, _)| *similarity >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_its_word_and_nonsense_finds_none() {
        let known = ["innodb_doublewrite", "innodb_flush_method", "threads"];
        assert_eq!(
            nearest("inodb_doublewrite", known),
            Some("innodb_doublewrite")
        );
        assert_eq!(nearest("zzz", known), None);
    }
}
