//! Indexes whose columns another index begins with.

use std::collections::BTreeMap;

/// An index of a table, by its columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Index {
    pub(super) table: String,
    pub(super) name: String,
    pub(super) is_unique: bool,
    /// `BTREE`, `HASH`, `FULLTEXT` or `SPATIAL`.
    pub(super) kind: String,
    /// Columns in their order: name, or expression, and length of the prefix.
    pub(super) columns: Vec<(String, Option<u64>)>,
}

/// Each index that another one makes redundant, with that one's name. Unique indexes are constraints: they stay, unless
/// another unique one has the same columns.
pub(super) fn redundant(indexes: &[Index]) -> Vec<(&Index, &str)> {
    let mut tables: BTreeMap<&str, Vec<&Index>> = BTreeMap::new();
    for index in indexes {
        tables.entry(&index.table).or_default().push(index);
    }
    let mut found = Vec::new();
    for indexes in tables.values() {
        for (at, index) in indexes.iter().enumerate() {
            let covering = indexes
                .iter()
                .enumerate()
                .find(|(other_at, other)| at != *other_at && covers(other, index, *other_at < at));
            if let Some((_, covering)) = covering {
                found.push((*index, covering.name.as_str()));
            }
        }
    }
    found
}

/// Of two equal indexes the first one stays, or the unique one.
fn covers(other: &Index, index: &Index, is_first: bool) -> bool {
    let is_ordered = index.kind == "BTREE" && other.kind == "BTREE";
    if index.name == "PRIMARY" || !is_ordered || !other.columns.starts_with(&index.columns) {
        return false;
    }
    let is_equal = other.columns.len() == index.columns.len();
    match (index.is_unique, other.is_unique) {
        (true, true) => is_equal && (is_first || other.name == "PRIMARY"),
        (true, false) => false,
        (false, true) => true,
        (false, false) => !is_equal || is_first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(name: &str, is_unique: bool, columns: &[(&str, Option<u64>)]) -> Index {
        Index {
            table: "shop.orders".to_owned(),
            name: name.to_owned(),
            is_unique,
            kind: "BTREE".to_owned(),
            columns: columns
                .iter()
                .map(|(name, part)| ((*name).to_owned(), *part))
                .collect(),
        }
    }

    fn names(indexes: &[Index]) -> Vec<(String, String)> {
        let found = redundant(indexes).into_iter();
        found
            .map(|(index, by)| (index.name.clone(), by.to_owned()))
            .collect()
    }

    #[test]
    fn an_index_that_another_begins_with_is_redundant_and_constraints_are_not() {
        let (a, b) = (("a", None), ("b", None));
        let primary = index("PRIMARY", true, &[("id", None)]);
        let pair = |one: &str, two: &str| vec![(one.to_owned(), two.to_owned())];
        let short = index("k_a", false, &[a]);
        let long = index("k_ab", false, &[a, b]);
        assert_eq!(
            names(&[primary.clone(), short.clone(), long.clone()]),
            pair("k_a", "k_ab")
        );
        // In either order, and one of two equal ones.
        assert_eq!(names(&[long, short.clone()]), pair("k_a", "k_ab"));
        assert_eq!(
            names(&[short.clone(), index("again", false, &[a])]),
            pair("again", "k_a")
        );
        // Other columns, another order, a prefix of a column.
        assert!(names(&[short.clone(), index("k_ba", false, &[b, a])]).is_empty());
        assert!(names(&[short.clone(), index("k_p", false, &[("a", Some(10)), b])]).is_empty());
        // A unique one is a constraint, also where a longer index begins like it.
        let unique = index("u_a", true, &[a]);
        assert!(names(&[unique.clone(), index("k_ab", false, &[a, b])]).is_empty());
        assert_eq!(names(&[unique.clone(), short]), pair("k_a", "u_a"));
        assert_eq!(
            names(&[unique, index("u_again", true, &[a])]),
            pair("u_again", "u_a")
        );
        let own_id = index("u_id", true, &[("id", None)]);
        assert_eq!(names(&[own_id, primary]), pair("u_id", "PRIMARY"));
    }

    #[test]
    fn an_index_of_another_kind_or_table_covers_nothing() {
        let short = index("k_a", false, &[("a", None)]);
        let mut text = index("text", false, &[("a", None), ("b", None)]);
        text.kind = "FULLTEXT".to_owned();
        let mut other = index("k_ab", false, &[("a", None), ("b", None)]);
        other.table = "shop.items".to_owned();
        assert!(names(&[short, text, other]).is_empty());
    }
}
