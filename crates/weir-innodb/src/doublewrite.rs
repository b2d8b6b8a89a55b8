//! The copies of pages that a doublewrite buffer holds: what recovery repairs a torn page from.
//!
//! MySQL since 8.0.20 keeps them in files of its own, `#ib_PAGESIZE_NUMBER.dblwr` (manual, "Doublewrite
//! Buffer"); `MariaDB`, and MySQL before, in two extents of the system tablespace. Both are an array of
//! whole pages, each as it was to be written to its place.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::InnodbError;
use crate::layout::Layout;
use crate::page::{Page, PageState};

/// Bytes of a page's header: number, log sequence number and space stand in it.
const HEADER: usize = 38;
const SYSTEM: &str = "ibdata1";

/// The headers of all copies, in the order of their places.
#[derive(Debug, Default)]
pub struct DoublewriteBuffer {
    slots: Vec<Slot>,
}

/// One copy of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageCopy {
    /// The file that it stands in, relative to the data directory.
    pub file: PathBuf,
    /// Place in the buffer, counted in pages from its beginning.
    pub place: u32,
    /// The LSN in its header.
    pub lsn: u64,
    /// True if its checksum fits.
    pub is_whole: bool,
}

/// A page as it lies in its tablespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFound {
    /// The LSN in its header.
    pub lsn: u64,
    /// State of the page.
    pub state: PageState,
}

#[derive(Debug)]
struct Slot {
    path: PathBuf,
    offset: u64,
    place: u32,
    header: [u8; HEADER],
}

impl Slot {
    fn be32(&self, offset: usize) -> u32 {
        let field = self.header[offset..offset + 4].try_into();
        u32::from_be_bytes(field.expect("invariant: four bytes"))
    }

    fn number(&self) -> u32 {
        self.be32(4)
    }

    fn lsn(&self) -> u64 {
        u64::from(self.be32(16)) << 32 | u64::from(self.be32(20))
    }

    /// `FIL_PAGE_SPACE_ID`.
    fn space(&self) -> u32 {
        self.be32(34)
    }
}

impl DoublewriteBuffer {
    /// Reads the buffer of the data directory `data`; empty where there is none.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(data: &Path) -> Result<Self, InnodbError> {
        let mut buffer = Self::default();
        for (path, page_size) in files(data)? {
            buffer.take(&path, page_size, 0, u64::MAX)?;
        }
        let system = data.join(SYSTEM);
        if let Some((page_size, area)) = area(&system)? {
            for first in area.extents {
                let pages = u64::from(area.pages_per_extent);
                buffer.take(&system, page_size, u64::from(first), pages)?;
            }
        }
        Ok(buffer)
    }

    /// Adds up to `pages` places from page `first` of the file on.
    fn take(
        &mut self,
        path: &Path,
        page_size: u64,
        first: u64,
        pages: u64,
    ) -> Result<(), InnodbError> {
        let failed = failed(path);
        let file = File::open(path).map_err(&failed)?;
        let in_file = file.metadata().map_err(&failed)?.len() / page_size;
        // Places count on over both extents of a system tablespace.
        let same_file = |slot: &&Slot| slot.path == path;
        let next = self.slots.iter().rfind(same_file);
        let next = next.map_or(0, |slot| slot.place + 1);
        for (place, page) in (next..).zip(first..in_file.min(first.saturating_add(pages))) {
            let mut header = [0; HEADER];
            let offset = page * page_size;
            file.read_exact_at(&mut header, offset).map_err(&failed)?;
            let path = path.to_owned();
            self.slots.push(Slot {
                path,
                offset,
                place,
                header,
            });
        }
        Ok(())
    }

    /// The copies of page `number` of the file at `tablespace` under `data`.
    ///
    /// # Errors
    /// A file that cannot be read, or a tablespace without a first page that can be.
    pub fn copies(
        &self,
        data: &Path,
        tablespace: &Path,
        number: u32,
    ) -> Result<Vec<PageCopy>, InnodbError> {
        let Some((layout, space)) = identity(tablespace)? else {
            return Ok(Vec::new());
        };
        let of_page =
            |slot: &&Slot| (slot.space(), slot.number()) == (space, number) && slot.lsn() > 0;
        let copy = |slot: &Slot| {
            let failed = failed(&slot.path);
            let mut bytes = vec![0; layout.page_size];
            let file = File::open(&slot.path).map_err(&failed)?;
            file.read_exact_at(&mut bytes, slot.offset)
                .map_err(&failed)?;
            let state = Page::new(&bytes, layout).state(number);
            Ok(PageCopy {
                file: slot
                    .path
                    .strip_prefix(data)
                    .unwrap_or(&slot.path)
                    .to_owned(),
                place: slot.place,
                lsn: slot.lsn(),
                is_whole: !matches!(state, PageState::Damaged(_)),
            })
        };
        self.slots.iter().filter(of_page).map(copy).collect()
    }
}

/// Page `number` of the file at `tablespace`; `None` where the file does not reach so far.
///
/// # Errors
/// A file that cannot be read, or whose first page does not say what a page is.
pub fn find_page(tablespace: &Path, number: u32) -> Result<Option<PageFound>, InnodbError> {
    let Some((layout, _)) = identity(tablespace)? else {
        return Ok(None);
    };
    let mut bytes = vec![0; layout.page_size];
    let offset = u64::from(number) * layout.page_size as u64;
    let read = File::open(tablespace).and_then(|file| file.read_exact_at(&mut bytes, offset));
    match read {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        read => {
            read.map_err(failed(tablespace))?;
            let page = Page::new(&bytes, layout);
            Ok(Some(PageFound {
                lsn: page.lsn(),
                state: page.state(number),
            }))
        }
    }
}

/// Layout and number of a tablespace, from its first page; `None`: it has not been written yet.
fn identity(tablespace: &Path) -> Result<Option<(Layout, u32)>, InnodbError> {
    let mut start = [0; Layout::PREFIX];
    let read = File::open(tablespace).and_then(|file| file.read_exact_at(&mut start, 0));
    match read {
        Err(error) if [ErrorKind::UnexpectedEof, ErrorKind::NotFound].contains(&error.kind()) => {
            return Ok(None);
        }
        read => read.map_err(failed(tablespace))?,
    }
    if start.iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    let layout = Layout::parse(&start).map_err(|flags| InnodbError::Flags {
        path: tablespace.to_owned(),
        flags,
    })?;
    let space = start[34..38].try_into();
    let space = u32::from_be_bytes(space.expect("invariant: four bytes"));
    Ok(Some((layout, space)))
}

/// MySQL's doublewrite files in `data` with their page sizes, in the order of their numbers.
fn files(data: &Path) -> Result<Vec<(PathBuf, u64)>, InnodbError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(data).map_err(failed(data))? {
        let entry = entry.map_err(failed(data))?;
        let name = entry.file_name();
        let parts = name.to_str().and_then(|name| {
            let (page_size, number) = name
                .strip_prefix("#ib_")?
                .strip_suffix(".dblwr")?
                .split_once('_')?;
            Some((number.parse::<u32>().ok()?, page_size.parse::<u64>().ok()?))
        });
        if let Some((number, page_size)) = parts.filter(|&(_, page_size)| page_size > 0) {
            found.push((number, entry.path(), page_size));
        }
    }
    found.sort();
    let files = found.into_iter();
    Ok(files
        .map(|(_, path, page_size)| (path, page_size))
        .collect())
}

/// Page size of the system tablespace and the buffer in it, if it has one.
fn area(system: &Path) -> Result<Option<(u64, Area)>, InnodbError> {
    let Some((layout, _)) = identity(system)? else {
        return Ok(None);
    };
    let (number, _) = Area::PAGE;
    let mut bytes = vec![0; layout.page_size];
    let offset = u64::from(number) * layout.page_size as u64;
    let read = File::open(system).and_then(|file| file.read_exact_at(&mut bytes, offset));
    if read.is_err() {
        return Ok(None);
    }
    let area = Area::in_page(Page::new(&bytes, layout), layout);
    Ok(area.map(|area| (layout.page_size as u64, area)))
}

/// The two extents of the system tablespace that hold copies of pages on purpose. Their place stands in
/// the transaction system's page, which comes before them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    /// First pages of the two extents.
    extents: [u32; 2],
    pages_per_extent: u32,
}

impl Area {
    /// The transaction system's page and its type.
    pub(crate) const PAGE: (u32, u16) = (5, 7);
    /// From the page's end to the doublewrite header: 10 bytes of a segment, a magic number, two pages.
    const HEADER_FROM_END: usize = 200;
    const MAGIC: u32 = 536_853_855;

    /// Returns the area that the transaction system's page names.
    pub(crate) fn in_page(page: Page<'_>, layout: Layout) -> Option<Self> {
        let header = layout.page_size - Self::HEADER_FROM_END + 10;
        let is_there = page.kind() == Self::PAGE.1 && page.be32(header) == Self::MAGIC;
        is_there.then(|| Self {
            extents: [page.be32(header + 4), page.be32(header + 8)],
            // An extent is 1 MiB of pages of up to 16 KiB, and 64 pages of larger ones.
            pages_per_extent: (1_u32 << 20).div_euclid(layout.page_size as u32).max(64),
        })
    }

    pub(crate) fn holds(&self, number: u32) -> bool {
        let in_extent = |&first: &u32| (first..first + self.pages_per_extent).contains(&number);
        self.extents.iter().any(in_extent)
    }
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> InnodbError {
    let path = path.to_owned();
    move |source| InnodbError::Read {
        path: path.clone(),
        source,
    }
}
