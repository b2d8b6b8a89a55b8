//! The tables of a schema by their names, which are compared as the server does.

use std::collections::BTreeMap;

use weir_mysql::NameCase;

use crate::fit::schema::TableFacts;

/// Tables of a schema.
#[derive(Debug, Default)]
pub(crate) struct SchemaFacts {
    case: NameCase,
    tables: BTreeMap<String, TableFacts>,
}

impl SchemaFacts {
    pub(crate) fn new(case: NameCase) -> Self {
        Self {
            case,
            tables: BTreeMap::new(),
        }
    }

    pub(crate) fn insert(&mut self, table: TableFacts) {
        let name = self.case.fold(&table.name).into_owned();
        self.tables.insert(name, table);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&TableFacts> {
        self.tables.get(&*self.case.fold(name))
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut TableFacts> {
        self.tables.get_mut(&*self.case.fold(name))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &TableFacts> {
        self.tables.values()
    }
}
