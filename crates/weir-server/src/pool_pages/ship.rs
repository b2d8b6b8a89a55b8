//! The pool of one server brought to another.

use std::time::{Duration, Instant};

use weir_model::Bytes;

use crate::pool_pages::catalog::Catalog;
use crate::pool_pages::dump::Dump;
use crate::pool_pages::keys::KeyRanges;
use crate::pool_pages::load::Pace;
use crate::pool_pages::translation::{Translation, check_names, same, shared_tables, translate};
use crate::pool_pages::trees::Trees;
use crate::pool_pages::{PoolError, PoolServer};

/// Share of the leaf pages that must have the same number and keys for mode same.
const SAME_LEAST: f64 = 0.95;
/// Share of a pool that a list may fill: the server needs free pages, and what it reads itself.
const FILL: f64 = 0.9;

/// Method by which pages of one server are found on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// By the ranges of their keys.
    #[default]
    Translate,
    /// By their numbers, if these mean the same on both.
    Same,
    /// By their numbers, whatever they mean there: as a list of the server's own that is copied.
    Numbers,
}

/// Request for a shipment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ship {
    /// Method by which pages are found.
    pub mode: Mode,
    /// Share of the first pool that is shipped, percent: the most recently used pages.
    pub percent: u8,
    /// Bytes a second that the second server may read for it.
    pub limit: Option<Bytes>,
}

/// Ranges of keys that can be read, and what they are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyShipment {
    /// The queries.
    pub ranges: KeyRanges,
    /// Pages that the first server listed.
    pub listed: usize,
    /// Bytes of a page.
    pub page: Bytes,
}

/// A list that can be loaded, and what it cost to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Shipment {
    /// The pages and their counts.
    pub translation: Translation,
    /// Pages that the first server listed.
    pub listed: usize,
    /// Lines of its list that are no pages.
    pub ignored: u64,
    /// Share of the leaf pages with the same number and keys on both servers.
    pub correspondence: f64,
    /// Pages above the leaves whose files are older than the pools.
    pub unknown: u32,
    /// Pages that were left out, since they do not fit into the second pool.
    pub left_out: usize,
    /// Bytes of a page.
    pub page: Bytes,
    /// Time that the first server took to write its list.
    pub dump_time: Duration,
    /// Time that it took to find the pages.
    pub translate_time: Duration,
}

impl Ship {
    /// Makes the list of pages that `to` would read to have what `from` has. Nothing is loaded.
    ///
    /// # Errors
    ///
    /// Mode same with files that differ, no table in common, and what the servers say.
    pub fn prepare(&self, from: &PoolServer, to: &PoolServer) -> Result<Shipment, PoolError> {
        let began = Instant::now();
        let dump = from.resident_pages(self.percent)?;
        let dump_time = began.elapsed();
        let (here, there) = (from.catalog()?, to.catalog()?);
        let mut shipment = self.found(from, to, &dump, (&here, &there))?;
        shipment.dump_time = dump_time;
        shipment.translate_time = began.elapsed().saturating_sub(dump_time);
        let pool = to.session()?.pool()?;
        let fits = (pool.pages as f64 * FILL) as usize;
        let pages = &mut shipment.translation.pages;
        shipment.left_out = pages.len().saturating_sub(fits);
        pages.truncate(fits);
        shipment.page = pool.page;
        Ok(shipment)
    }

    fn found(
        &self,
        from: &PoolServer,
        to: &PoolServer,
        dump: &Dump,
        (here, there): (&Catalog, &Catalog),
    ) -> Result<Shipment, PoolError> {
        check_names(&dump.pages, (from, here), (to, there))?;
        let tables = shared_tables(&dump.pages, here, there);
        if tables.is_empty() {
            return Err(PoolError::NothingInCommon {
                from: from.name().to_owned(),
                to: to.name().to_owned(),
                pages: dump.pages.len(),
            });
        }
        let own = Trees::read(from, here, &tables)?;
        let other = Trees::read(to, there, &tables)?;
        let (leaves, common) = own.correspondence(&other);
        let correspondence = common as f64 / leaves.max(1) as f64;
        let translation = match self.mode {
            Mode::Same if correspondence < SAME_LEAST => {
                return Err(PoolError::Different {
                    from: from.name().to_owned(),
                    to: to.name().to_owned(),
                    share: correspondence * 100.0,
                    needed: SAME_LEAST * 100.0,
                });
            }
            Mode::Same | Mode::Numbers => same(&dump.pages, here, there, &other),
            Mode::Translate => translate(&dump.pages, (here, &own), (there, &other)),
        };
        Ok(Shipment {
            translation,
            listed: dump.pages.len(),
            ignored: dump.ignored,
            correspondence,
            unknown: own.unknown() + other.unknown(),
            left_out: 0,
            page: Bytes(0),
            dump_time: Duration::ZERO,
            translate_time: Duration::ZERO,
        })
    }

    /// The ranges of keys that the pool of `from` has, as queries for `to`. Nothing is read there.
    ///
    /// # Errors
    ///
    /// What the first server says, and files that cannot be read.
    pub fn ranges(&self, from: &PoolServer) -> Result<KeyShipment, PoolError> {
        let dump = from.resident_pages(self.percent)?;
        let catalog = from.catalog()?;
        let tables = shared_tables(&dump.pages, &catalog, &catalog);
        let trees = Trees::read(from, &catalog, &tables)?;
        Ok(KeyShipment {
            ranges: KeyRanges::new(&dump, &catalog, &trees),
            listed: dump.pages.len(),
            page: from.session()?.pool()?.page,
        })
    }

    /// Lets `to` answer the queries of a shipment; `go_on` is asked now and then, with the pages read so far.
    ///
    /// # Errors
    ///
    /// As [`PoolServer::read_ranges`].
    pub fn read(
        &self,
        to: &PoolServer,
        shipment: &KeyShipment,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), PoolError> {
        to.read_ranges(&shipment.ranges, self.pace(shipment.page), go_on)
    }

    fn pace(&self, page: Bytes) -> Pace {
        let page = page.0.max(1);
        Pace {
            pages_per_second: self.limit.map(|limit| (limit.0 / page).max(1)),
        }
    }

    /// Lets `to` read the pages of a shipment; `go_on` is asked between slices, with the pages read so far.
    ///
    /// # Errors
    ///
    /// As [`PoolServer::load`].
    pub fn load(
        &self,
        to: &PoolServer,
        shipment: &Shipment,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), PoolError> {
        to.load(&shipment.translation.pages, self.pace(shipment.page), go_on)
    }
}
