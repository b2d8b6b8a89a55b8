//! A page that the cut tore, and what recovery had to repair it from.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weir_innodb::{DoublewriteBuffer, PageCopy, PageFound, PageState, find_page};

use crate::error::CrashError;

/// A page of which a part is new and a part is old.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TornPage {
    /// Path of the file, from the drive's root.
    pub file: PathBuf,
    /// Number of the page in the file.
    pub page: u32,
    /// Copies in the doublewrite buffer before recovery, by place; noted of failed states only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<PageCopy>,
    /// The LSN of the page before recovery, if it was whole all the same: the parts that are missing did not
    /// differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lsn_before_recovery: Option<u64>,
    /// The LSN that the page had when recovery had ended, if it was whole then; noted of failed states only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lsn_after_recovery: Option<u64>,
    /// It was still torn when the server had recovered; noted of failed states only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_left_torn: bool,
}

impl fmt::Display for TornPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: page {}", self.file.display(), self.page)
    }
}

impl TornPage {
    pub(crate) fn new(file: PathBuf, page: u32) -> Self {
        Self {
            file,
            page,
            copies: Vec::new(),
            lsn_before_recovery: None,
            lsn_after_recovery: None,
            is_left_torn: false,
        }
    }

    /// Drops what is noted of failed states only.
    pub(crate) fn forget(&mut self) {
        *self = Self::new(std::mem::take(&mut self.file), self.page);
    }

    /// The newest whole copy of a page that recovery left torn all the same.
    pub fn copy_not_taken(&self) -> Option<&PageCopy> {
        self.newest_copy().filter(|_| self.is_left_torn)
    }

    /// The copy that recovery took, and the newest one, where they differ: the page is then older than the
    /// redo log takes it to be.
    pub fn older_copy_taken(&self) -> Option<(&PageCopy, &PageCopy)> {
        if self.lsn_before_recovery.is_some() {
            return None;
        }
        let newest = self.newest_copy()?;
        let taken = self
            .whole_copies()
            .find(|copy| Some(copy.lsn) == self.lsn_after_recovery)?;
        (taken.lsn < newest.lsn).then_some((taken, newest))
    }

    fn newest_copy(&self) -> Option<&PageCopy> {
        self.whole_copies().max_by_key(|copy| copy.lsn)
    }

    fn whole_copies(&self) -> impl Iterator<Item = &PageCopy> {
        self.copies.iter().filter(|copy| copy.is_whole)
    }
}

/// Notes what `pages` and their doublewrite copies are in the state in `home`, before its recovery.
pub(crate) fn note_before(pages: &mut [TornPage], home: &Path) -> Result<(), CrashError> {
    if pages.is_empty() {
        return Ok(());
    }
    let data = home.join("data");
    let buffer = DoublewriteBuffer::read(&data)?;
    for page in pages {
        // A file without a readable first page has no copies that could be told from others'.
        let copies = buffer.copies(&data, &home.join(&page.file), page.page);
        page.copies = copies.unwrap_or_default();
        page.lsn_before_recovery = lsn_if_whole(found(page, home));
    }
    Ok(())
}

/// Notes what became of `pages` in `home`, whose server came up (`is_recovered`) or did not.
pub(crate) fn note_after(pages: &mut [TornPage], home: &Path, is_recovered: bool) {
    for page in pages {
        let found = found(page, home);
        page.lsn_after_recovery = lsn_if_whole(found);
        let is_damaged = |found: PageFound| matches!(found.state, PageState::Damaged(_));
        page.is_left_torn = is_recovered && found.is_some_and(is_damaged);
    }
}

fn found(page: &TornPage, home: &Path) -> Option<PageFound> {
    find_page(&home.join(&page.file), page.page).ok()?
}

fn lsn_if_whole(found: Option<PageFound>) -> Option<u64> {
    let found = found?;
    (found.state == PageState::Whole).then_some(found.lsn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(copies: &[(u64, bool)], lsn_after_recovery: Option<u64>) -> TornPage {
        let copy = |(place, &(lsn, is_whole)): (u32, &(u64, bool))| PageCopy {
            file: "#ib_16384_0.dblwr".into(),
            place,
            lsn,
            is_whole,
        };
        TornPage {
            copies: (0..).zip(copies).map(copy).collect(),
            lsn_after_recovery,
            ..TornPage::new("data/sbtest/crash1.ibd".into(), 7)
        }
    }

    #[test]
    fn an_older_copy_is_told_from_the_newest_whole_one() {
        let taken = |copies: &[_], after| {
            let page = page(copies, after);
            page.older_copy_taken()
                .map(|(taken, newest)| (taken.lsn, newest.lsn))
        };
        let copies = [(30, false), (10, true), (20, true)];
        assert_eq!(taken(&copies, Some(10)), Some((10, 20)));
        assert_eq!(taken(&copies, Some(20)), None, "the newest");
        assert_eq!(taken(&copies, Some(25)), None, "redo was applied to it");
        assert_eq!(taken(&copies, None), None, "still torn");
        assert_eq!(taken(&[], Some(10)), None);
        let mut whole = page(&copies, Some(10));
        whole.lsn_before_recovery = Some(10);
        assert!(whole.older_copy_taken().is_none(), "nothing was restored");
    }

    #[test]
    fn a_copy_that_a_torn_page_was_not_restored_from_is_named() {
        let mut torn = page(&[(30, false), (10, true), (20, true)], None);
        assert_eq!(torn.copy_not_taken(), None, "the server did not come up");
        torn.is_left_torn = true;
        assert_eq!(torn.copy_not_taken().map(|copy| copy.lsn), Some(20));
    }
}
