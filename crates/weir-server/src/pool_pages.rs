//! Pages that a buffer pool holds, and the way in which another server gets those with the same keys into its own.
//!
//! A server writes down the numbers of the pages that it holds, and loads such a list (MySQL manual, "Saving and
//! Restoring the Buffer Pool State"). The numbers mean the same on another server only as long as its files are
//! a copy. So a page is taken for the range of keys that it has, as the pages above the leaves say
//! ([`weir_innodb::Tablespace`]), and the other server loads the pages that have these keys there. The worst that a wrong number
//! does is a useless read.

mod catalog;
mod dump;
mod error;
mod keys;
mod load;
mod overlap;
mod own_list;
mod server;
mod ship;
mod translation;
mod trees;

pub use catalog::{Catalog, IndexInfo, RangeColumn};
pub use dump::{Dump, PageId};
pub use error::PoolError;
pub use keys::KeyRanges;
pub use load::{Pace, abort};
pub use overlap::{IndexOverlap, Overlap, compare};
pub use server::PoolServer;
pub use ship::{KeyShipment, Mode, Ship, Shipment};
pub use translation::{Counts, Translation, same, translate};
pub use trees::{SpaceTrees, Trees};
