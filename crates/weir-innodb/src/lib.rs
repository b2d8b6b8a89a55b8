//! InnoDB's pages on disk: how a tablespace is laid out, and whether each of its pages is whole.
//! Change here: a page and its damage: `page.rs`; page size and format by a file's flags: `layout.rs`; checksums: `checksum.rs`; records of a B-tree: `index_page.rs`; keys: `btree.rs`, `key.rs`.
//!
//! Written from the servers' documentation of the page format (MySQL Internals, "InnoDB Page
//! Structure"; `MariaDB` Knowledge Base, "`innodb_checksum_algorithm`") and checked against files that
//! both servers wrote. Nothing here writes.

mod btree;
mod checksum;
mod doublewrite;
mod error;
mod extents;
mod index_page;
mod key;
mod layout;
mod page;
mod scan;

pub use btree::{BTree, IndexRoot, RangeMap, RangeNode, Tablespace};
pub use doublewrite::{DoublewriteBuffer, PageCopy, PageFound, find_page};
pub use error::InnodbError;
pub use index_page::{IndexPage, NodePointer};
pub use key::{FieldLength, Key, KeyField, KeyFormat};
pub use layout::{Format, Layout};
pub use page::{Damage, Page, PageState};
pub use scan::{FileReport, Finding, is_tablespace, scan, scan_directory, tablespaces};
