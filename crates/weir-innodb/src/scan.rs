//! Every page of a file, or of all tablespaces under a data directory.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::doublewrite::Area;
use crate::error::InnodbError;
use crate::extents::Extents;
use crate::layout::Layout;
use crate::page::{Damage, Page, PageState};

/// One damaged page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Position in the file, in pages.
    pub number: u32,
    /// Damage of the page.
    pub damage: Damage,
    /// The LSN in the page's header.
    pub lsn: u64,
}

/// States of one file's pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// The file.
    pub path: PathBuf,
    /// Page size and format.
    pub layout: Layout,
    /// Pages in the file, whatever their state.
    pub pages: u32,
    /// Pages that only the server can judge.
    pub opaque: u32,
    /// Every damaged page that is in use, in order: a free one is made anew before it is read.
    pub damaged: Vec<Finding>,
    /// Bytes after the last whole page: a file that was being extended.
    pub remainder: usize,
}

/// Returns true if InnoDB keeps pages in a file of this name: tables, undo, the system tablespace.
///
/// Not the doublewrite files: they hold old copies on purpose; nor temporary tablespaces, which are
/// made anew at each start. Of a system tablespace in several files only the first has a header.
pub fn is_tablespace(name: &str) -> bool {
    let has = |suffix: &str| name.len() > suffix.len() && name.ends_with(suffix);
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    has(".ibd") || has(".ibu") || name == "ibdata1" || numbered("undo_") || numbered("undo")
}

/// Checks every page of the tablespace at `path`.
///
/// # Errors
/// When the file cannot be read, or its first page does not say what a page is.
pub fn scan(path: &Path) -> Result<FileReport, InnodbError> {
    let failed = |source| InnodbError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
    let mut page = vec![0; Layout::PREFIX];
    let read = read_full(&mut file, &mut page).map_err(failed)?;
    if read < Layout::PREFIX {
        return Err(failed(ErrorKind::UnexpectedEof.into()));
    }
    let layout = Layout::parse(&page).map_err(|flags| InnodbError::Flags {
        path: path.to_owned(),
        flags,
    })?;
    let mut report = FileReport {
        path: path.to_owned(),
        layout,
        pages: 0,
        opaque: 0,
        damaged: Vec::new(),
        remainder: 0,
    };
    page.resize(layout.page_size, 0);
    let mut filled =
        Layout::PREFIX + read_full(&mut file, &mut page[Layout::PREFIX..]).map_err(failed)?;
    let mut known = ScanContext::default();
    while filled == layout.page_size {
        report.judge(Page::new(&page, layout), &mut known);
        filled = read_full(&mut file, &mut page).map_err(failed)?;
    }
    report.remainder = filled;
    Ok(report)
}

/// Facts from pages of a file about those that follow.
#[derive(Debug, Default)]
struct ScanContext {
    /// Pages of the doublewrite buffer hold copies of others on purpose.
    doublewrite: Option<Area>,
    extents: Option<Extents>,
}

impl ScanContext {
    fn learn(&mut self, page: Page<'_>, number: u32, report: &FileReport) {
        let layout = report.layout;
        let is_system = report
            .path
            .file_name()
            .is_some_and(|name| name == "ibdata1");
        if is_system && number == Area::PAGE.0 {
            self.doublewrite = Area::in_page(page, layout);
        }
        if Extents::stand_in(number, layout) {
            self.extents = Extents::in_page(page, number, layout);
        }
    }

    /// Returns true if no reader takes the page at `number` for the kind that it names.
    fn is_unread(&self, number: u32) -> bool {
        let is_copy = self.doublewrite.is_some_and(|area| area.holds(number));
        let extents = self.extents.as_ref();
        is_copy || extents.is_some_and(|extents| extents.is_free(number))
    }
}

impl FileReport {
    fn judge(&mut self, page: Page<'_>, known: &mut ScanContext) {
        let number = self.pages;
        self.pages += 1;
        known.learn(page, number, self);
        if known.is_unread(number) {
            return;
        }
        match page.state(number) {
            PageState::Whole | PageState::Zero => {}
            PageState::Opaque => self.opaque += 1,
            PageState::Damaged(damage) => self.damaged.push(Finding {
                number,
                damage,
                lsn: page.lsn(),
            }),
        }
    }
}

/// Checks all tablespaces under `directory`, in the order of their paths.
///
/// # Errors
/// The first file that cannot be read as a tablespace.
pub fn scan_directory(directory: &Path) -> Result<Vec<FileReport>, InnodbError> {
    let paths = tablespaces(directory)?;
    paths.iter().map(|path| scan(path)).collect()
}

/// The files under `directory` that hold pages, in order. An empty file holds none: a crash came between
/// its creation and its first write.
///
/// # Errors
/// A directory that cannot be read.
pub fn tablespaces(directory: &Path) -> Result<Vec<PathBuf>, InnodbError> {
    let mut paths = Vec::new();
    find(directory, &mut paths)?;
    paths.sort();
    Ok(paths)
}

fn find(directory: &Path, paths: &mut Vec<PathBuf>) -> Result<(), InnodbError> {
    let failed = |source| InnodbError::Read {
        path: directory.to_owned(),
        source,
    };
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let metadata = entry.metadata().map_err(failed)?;
        if metadata.is_dir() {
            find(&entry.path(), paths)?;
        } else if metadata.len() > 0 && entry.file_name().to_str().is_some_and(is_tablespace) {
            paths.push(entry.path());
        }
    }
    Ok(())
}

/// Fills `buffer` as far as the file goes: bytes read.
fn read_full(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tablespaces() {
        for name in [
            "sbtest1.ibd",
            "mysql.ibd",
            "ibdata1",
            "undo_001",
            "undo002",
            "x.ibu",
        ] {
            assert!(is_tablespace(name), "{name}");
        }
        for name in [
            "#ib_16384_0.dblwr",
            "ibtmp1",
            "ib_logfile0",
            "#innodb_redo",
            "undo",
            ".ibd",
            "t.frm",
        ] {
            assert!(!is_tablespace(name), "{name}");
        }
    }
}
