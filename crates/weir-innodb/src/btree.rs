//! The shape of a B-tree in a tablespace's file: which page has which range of keys.
//!
//! Only pages above the leaves are read, about one in 500. A server that runs may hold newer versions of
//! them; pages that disagree are counted, and what they point to is unknown.

mod range_map;

use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

pub use range_map::{RangeMap, RangeNode};

use crate::error::InnodbError;
use crate::index_page::{IndexPage, NodePointer};
use crate::key::{Key, KeyFormat};
use crate::layout::Layout;
use crate::page::Page;

/// Levels of a tree that is larger than any file.
const LEVELS_MAX: u16 = 12;

/// A tablespace's file, of which single pages are read.
#[derive(Debug)]
pub struct Tablespace {
    path: PathBuf,
    file: File,
    layout: Layout,
    pages: u32,
}

/// An index in its tablespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRoot {
    /// Root page of the index.
    pub page: u32,
    /// Number of the index.
    pub id: u64,
}

/// The pages of one index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BTree {
    /// Those of each level, leaves first, in the order of their keys.
    pub levels: Vec<RangeMap>,
    /// Pages that could not be read as what the page above says that they are: torn, or older than it.
    pub unknown: u32,
}

impl Tablespace {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or its first page does not say what a page is.
    pub fn open(path: &Path) -> Result<Self, InnodbError> {
        let failed = |source| InnodbError::Read {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let mut first = [0; Layout::PREFIX];
        file.read_exact_at(&mut first, 0).map_err(failed)?;
        let layout = Layout::parse(&first).map_err(|flags| InnodbError::Flags {
            path: path.to_owned(),
            flags,
        })?;
        let length = file.metadata().map_err(failed)?.len();
        Ok(Self {
            path: path.to_owned(),
            file,
            layout,
            pages: u32::try_from(length / layout.page_size as u64).unwrap_or(u32::MAX),
        })
    }

    /// Pages of the file.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> usize {
        self.layout.page_size
    }

    /// The tree of the index at `root`, whose keys have the `format`.
    ///
    /// # Errors
    /// When the file cannot be read. Pages that make no sense are no error: they are counted.
    pub fn tree(&self, root: &IndexRoot, format: &KeyFormat) -> Result<BTree, InnodbError> {
        let mut buffer = vec![0; self.layout.page_size];
        let mut tree = BTree::default();
        let Some(page) = self.index_page(root.page, &mut buffer)? else {
            tree.unknown = 1;
            return Ok(tree);
        };
        let level = page.level();
        if page.index_id() != root.id || level > LEVELS_MAX {
            tree.unknown = 1;
            return Ok(tree);
        }
        let mut nodes = vec![NodePointer {
            low: Key::new(),
            child: root.page,
        }];
        let mut levels = Vec::new();
        for level in (1..=level).rev() {
            let below = self.below(&nodes, (root.id, level), format, &mut tree.unknown)?;
            levels.push(RangeMap::new(nodes, format.is_ordered));
            nodes = below;
        }
        levels.push(RangeMap::new(nodes, format.is_ordered));
        levels.reverse();
        tree.levels = levels;
        Ok(tree)
    }

    /// Returns the pages that `nodes`, of index and level, point to.
    fn below(
        &self,
        nodes: &[NodePointer],
        (id, level): (u64, u16),
        format: &KeyFormat,
        unknown: &mut u32,
    ) -> Result<Vec<NodePointer>, InnodbError> {
        let mut buffer = vec![0; self.layout.page_size];
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for node in nodes {
            let page = self.index_page(node.child, &mut buffer)?;
            let pointers = page
                .filter(|page| page.index_id() == id && page.level() == level)
                .and_then(|page| page.node_pointers(format));
            let Some(pointers) = pointers else {
                *unknown += 1;
                continue;
            };
            for mut pointer in pointers {
                if pointer.child >= self.pages || !seen.insert(pointer.child) {
                    *unknown += 1;
                    continue;
                }
                // The leftmost record of a level has no key of its own.
                if pointer.low.is_empty() {
                    pointer.low.clone_from(&node.low);
                }
                found.push(pointer);
            }
        }
        Ok(found)
    }

    /// The page `number`, if it is one of an index.
    fn index_page<'a>(
        &self,
        number: u32,
        buffer: &'a mut [u8],
    ) -> Result<Option<IndexPage<'a>>, InnodbError> {
        let offset = u64::from(number) * self.layout.page_size as u64;
        match self.file.read_exact_at(buffer, offset) {
            Ok(()) => Ok(IndexPage::new(Page::new(buffer, self.layout), number)),
            // The file says less than the page above: it is older.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(source) => Err(InnodbError::Read {
                path: self.path.clone(),
                source,
            }),
        }
    }
}
