//! The members of an `enum` column, which are part of its definition.

use weir_mysql::sql_words;

/// The members of an `enum`.
pub(crate) fn enum_members(full_type: &str) -> Option<Vec<String>> {
    if !full_type.get(..5)?.eq_ignore_ascii_case("enum(") {
        return None;
    }
    let words = sql_words(full_type);
    Some(
        words
            .iter()
            .filter_map(|word| word.text().map(str::to_owned))
            .collect(),
    )
}
