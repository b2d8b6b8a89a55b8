//! Columns that hold keys of another table: by a foreign key, or because transactions use one value for both.
//!
//! Such a column has the numbers of that table's rows, also where its own rows have few of them: a search by a key of the
//! one must find in the other what it found in the capture.

use std::collections::HashMap;
use std::iter::repeat_n;

use weir_workload::MarkUse;

use crate::fit::links::{Link, links};
use crate::fit::schema::{ReferencedKey, TableFacts};
use crate::fit::schema_facts::SchemaFacts;
use crate::fit::shapes::{Shape, Shapes};

/// A table and a column of it.
type Column = (String, String);

/// Notes in each such column whose keys it holds.
pub(crate) fn note_references(tables: &mut SchemaFacts, found: &Shapes) {
    let mut referenced: Vec<(Column, ReferencedKey)> = Vec::new();
    for table in tables.iter() {
        for (column, other) in &table.definition.references {
            if let Some(key) = tables.get(other).and_then(TableFacts::as_referenced) {
                referenced.push(((table.name.clone(), column.clone()), key));
            }
        }
    }
    for shape in &found.shapes {
        for uses in same_values(found, shape) {
            let columns: Vec<Column> = uses.into_iter().filter_map(column_of).collect();
            let Some(key) = columns.iter().find_map(|column| key_of(tables, column)) else {
                continue;
            };
            let others = columns.into_iter().filter(|column| !is_key(tables, column));
            referenced.extend(others.map(|column| (column, key)));
        }
    }
    for ((table, column), key) in referenced {
        let facts = tables.get_mut(&table);
        if let Some(facts) = facts.and_then(|table| table.columns.get_mut(&column)) {
            facts.referenced = Some(key);
        }
    }
}

/// Uses of values that are the same in nearly all transactions of a kind.
fn same_values<'a>(found: &'a Shapes, shape: &Shape) -> Vec<Vec<&'a MarkUse>> {
    let statements = shape
        .statements
        .iter()
        .map(|number| &found.catalog.statements[*number]);
    let uses: Vec<&MarkUse> = statements
        .clone()
        .flat_map(|statement| &statement.uses)
        .collect();
    let of_statement: Vec<usize> = statements
        .enumerate()
        .flat_map(|(position, statement)| repeat_n(position, statement.uses.len()))
        .collect();
    let mut groups: HashMap<usize, Vec<&MarkUse>> = HashMap::new();
    for (slot, link) in links(&shape.samples, &of_statement).iter().enumerate() {
        if let Some(Link::Same(earlier)) = link {
            let group = groups
                .entry(*earlier)
                .or_insert_with(|| vec![uses[*earlier]]);
            group.push(uses[slot]);
        }
    }
    groups.into_values().collect()
}

fn column_of(found: &MarkUse) -> Option<Column> {
    let (column, _) = found.column.as_ref()?;
    Some((found.table.clone()?, column.clone()))
}

fn is_key(tables: &SchemaFacts, (table, column): &Column) -> bool {
    let key = tables.get(table).and_then(TableFacts::integer_key);
    key.is_some_and(|key| key.eq_ignore_ascii_case(column))
}

fn key_of(tables: &SchemaFacts, column: &Column) -> Option<ReferencedKey> {
    let table = tables.get(&column.0).filter(|_| is_key(tables, column))?;
    table.as_referenced()
}
