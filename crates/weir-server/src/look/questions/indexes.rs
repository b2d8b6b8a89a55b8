//! Questions on indexes: those that heavy statements lack, by their plans.

use serde::Serialize;

use super::super::plans::MissingIndex;

/// Most indexes of a screen.
const INDEXES_MAX: usize = 5;

/// An index that could matter, and has to be tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndexQuestion {
    /// Short name, of the change that makes it: `shop.orders (status, total)`.
    pub name: String,
    /// Statement that makes it.
    pub statement: String,
    /// Part of the time of all statements that lack it.
    pub share: f64,
    /// Rows that the server expects one of them to read.
    pub rows: f64,
}

/// The indexes that take the most time by their absence; statements that lack the same one count together.
pub(super) fn indexes(missing: &[MissingIndex]) -> Vec<IndexQuestion> {
    let mut asked: Vec<IndexQuestion> = Vec::new();
    for index in missing {
        let Some(statement) = index.statement() else {
            continue;
        };
        if let Some(known) = asked.iter_mut().find(|known| known.statement == statement) {
            known.share += index.share;
            known.rows = known.rows.max(index.rows);
            continue;
        }
        let columns = index.columns.join(", ");
        asked.push(IndexQuestion {
            // A level of a study joins names by ` + `.
            name: format!("{}.{} ({columns})", index.schema, index.table).replace(" + ", "+"),
            statement,
            share: index.share,
            rows: index.rows,
        });
    }
    asked.sort_by(|a, b| b.share.total_cmp(&a.share));
    asked.truncate(INDEXES_MAX);
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(column: &str, key_part: Option<&str>, share: f64) -> MissingIndex {
        MissingIndex {
            schema: "shop".to_owned(),
            table: "orders".to_owned(),
            columns: vec![column.to_owned()],
            key_parts: key_part.into_iter().map(str::to_owned).collect(),
            rows: 40_000.0,
            share,
            ..MissingIndex::default()
        }
    }

    #[test]
    fn statements_that_lack_one_index_ask_once_and_the_heaviest_come_first() {
        let found = indexes(&[
            missing("at", Some("`at`"), 0.1),
            missing("status", Some("`status`"), 0.08),
            missing("place", None, 0.5),
            missing("status", Some("`status`"), 0.07),
        ]);
        let names: Vec<_> = found.iter().map(|index| index.name.as_str()).collect();
        assert_eq!(names, ["shop.orders (status)", "shop.orders (at)"]);
        assert!((found[0].share - 0.15).abs() < 1e-9);
        let many: Vec<_> = (0..9)
            .map(|number| format!("c{number}"))
            .map(|name| missing(&name, Some(&name), 0.05))
            .collect();
        assert_eq!(indexes(&many).len(), INDEXES_MAX);
    }
}
