//! The B-trees of the tables of a server, by tablespace.

use std::collections::{BTreeSet, HashMap};

use weir_innodb::{BTree, Tablespace};

use crate::pool_pages::catalog::Catalog;
use crate::pool_pages::{PoolError, PoolServer};

/// Trees of some tables.
#[derive(Debug, Default)]
pub struct Trees {
    spaces: HashMap<u32, SpaceTrees>,
    names: HashMap<String, u32>,
}

/// Trees of the table of one tablespace.
#[derive(Debug)]
pub struct SpaceTrees {
    /// The table, by InnoDB's name.
    pub table: String,
    /// Number of the tablespace.
    pub space: u32,
    /// Pages of its file.
    pub pages: u32,
    /// Bytes of a page.
    pub page_size: usize,
    /// Indexes by name.
    pub indexes: Vec<(String, BTree)>,
}

impl Trees {
    /// Reads the trees of `tables` from the files of `server`. Tables whose files are elsewhere are left out.
    ///
    /// # Errors
    ///
    /// A file that is there and cannot be read.
    pub fn read(
        server: &PoolServer,
        catalog: &Catalog,
        tables: &BTreeSet<String>,
    ) -> Result<Self, PoolError> {
        let mut trees = Self::default();
        for table in tables {
            let Some(&space) = catalog.spaces.get(table) else {
                continue;
            };
            let path = server.data_dir().join(format!("{table}.ibd"));
            if !path.is_file() {
                continue;
            }
            let file = Tablespace::open(&path)?;
            let mut indexes = Vec::new();
            let own = catalog.indexes.iter().filter(|index| index.space == space);
            for index in own {
                if let Some(format) = &index.format {
                    indexes.push((index.name.clone(), file.tree(&index.root, format)?));
                }
            }
            let found = SpaceTrees {
                table: table.clone(),
                space,
                pages: file.pages(),
                page_size: file.page_size(),
                indexes,
            };
            trees.names.insert(table.clone(), space);
            trees.spaces.insert(space, found);
        }
        Ok(trees)
    }

    /// Those of a tablespace.
    pub fn of_space(&self, space: u32) -> Option<&SpaceTrees> {
        self.spaces.get(&space)
    }

    /// Those of a table, by InnoDB's name.
    pub fn of_table(&self, table: &str) -> Option<&SpaceTrees> {
        self.spaces.get(self.names.get(table)?)
    }

    /// Leaf pages of all, and how many of them have the same number and the same smallest key in `other`.
    pub fn correspondence(&self, other: &Self) -> (usize, usize) {
        let mut all = 0;
        let mut common = 0;
        for space in self.spaces.values() {
            let there = other.of_table(&space.table);
            for (name, tree) in &space.indexes {
                let Some(leaves) = tree.levels.first() else {
                    continue;
                };
                all += leaves.nodes().len();
                let there = there.and_then(|there| there.tree(name)?.levels.first());
                common += there.map_or(0, |there| leaves.in_common(there));
            }
        }
        (all, common)
    }

    /// Pages above the leaves that could not be read as what they should be.
    pub fn unknown(&self) -> u32 {
        let trees = self.spaces.values().flat_map(|space| &space.indexes);
        trees.map(|(_, tree)| tree.unknown).sum()
    }
}

impl SpaceTrees {
    /// The tree of the index `name`.
    pub fn tree(&self, name: &str) -> Option<&BTree> {
        let found = self.indexes.iter().find(|(known, _)| known == name);
        found.map(|(_, tree)| tree)
    }

    /// The index and the level that have `page`.
    pub fn find(&self, page: u32) -> Option<(&str, usize)> {
        self.indexes.iter().find_map(|(name, tree)| {
            let level = tree.levels.iter().position(|level| level.has(page))?;
            Some((name.as_str(), level))
        })
    }
}
