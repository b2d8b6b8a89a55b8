//! Pages that a cache holds: least recently used goes first, clean before dirty.

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashlink::LinkedHashMap;

/// A page of a file: the file, and the offset in pages.
pub(super) type Page = (u64, u64);

type Recency = LinkedHashMap<Page, u32, FixedState>;

/// The pages of a cache and their slots on the fast drive.
#[derive(Debug)]
pub(super) struct CachedPages {
    /// Both in the order of use, the least recent first.
    clean: Recency,
    dirty: Recency,
    free: Vec<u32>,
    slots: u32,
    slots_used: u32,
    /// Pages that the host still has, by when it read them.
    with_host: VecDeque<Page>,
    with_host_max: usize,
}

impl CachedPages {
    /// A cache of `slots` pages in front of which the host keeps `with_host_max` itself.
    pub(super) fn new(slots: u32, with_host_max: usize) -> Self {
        Self {
            clean: Recency::default(),
            dirty: Recency::default(),
            free: Vec::new(),
            slots,
            slots_used: 0,
            with_host: VecDeque::new(),
            with_host_max,
        }
    }

    /// Uses a page; its slot, if it is there.
    pub(super) fn touch(&mut self, page: Page) -> Option<u32> {
        let slot = self.clean.to_back(&page);
        slot.or_else(|| self.dirty.to_back(&page)).copied()
    }

    /// The host has read `page` from the slow drive: the page that enters the cache now, if one
    /// does, and its slot.
    pub(super) fn read_by_host(&mut self, page: Page) -> Option<u32> {
        self.with_host.push_back(page);
        if self.with_host.len() <= self.with_host_max {
            return None;
        }
        let dropped = self.with_host.pop_front()?;
        // It may have been written meanwhile.
        match self.touch(dropped) {
            Some(_) => None,
            None => self.insert(dropped),
        }
    }

    /// A clean page enters; its slot, or `None` if all others are dirty.
    pub(super) fn insert(&mut self, page: Page) -> Option<u32> {
        let slot = self.slot()?;
        self.clean.insert(page, slot);
        Some(slot)
    }

    /// A page is written in the cache and in the slow drive; its slot, if there is room for it.
    pub(super) fn write_through(&mut self, page: Page) -> Option<u32> {
        match self.dirty.remove(&page) {
            Some(slot) => {
                self.clean.insert(page, slot);
                Some(slot)
            }
            None => self.touch(page).or_else(|| self.insert(page)),
        }
    }

    /// A page is written in the cache alone; its slot, if there is room for it.
    pub(super) fn write_back(&mut self, page: Page) -> Option<u32> {
        if let Some(&mut slot) = self.dirty.to_back(&page) {
            return Some(slot);
        }
        let slot = match self.clean.remove(&page) {
            Some(slot) => slot,
            None => self.slot()?,
        };
        self.dirty.insert(page, slot);
        Some(slot)
    }

    /// The least recently used dirty page, which is clean from now on.
    pub(super) fn clean_oldest(&mut self) -> Option<(Page, u32)> {
        let (page, slot) = self.dirty.pop_front()?;
        self.clean.insert(page, slot);
        Some((page, slot))
    }

    /// Drops a page.
    pub(super) fn remove(&mut self, page: Page) {
        let slot = self.clean.remove(&page);
        self.free.extend(slot.or_else(|| self.dirty.remove(&page)));
    }

    /// Drops all pages of `file` from `first` on.
    pub(super) fn remove_from(&mut self, file: u64, first: u64) {
        for pages in [&mut self.clean, &mut self.dirty] {
            pages.retain(|&(of, page), &mut slot| {
                let dropped = of == file && page >= first;
                self.free.extend(dropped.then_some(slot));
                !dropped
            });
        }
    }

    pub(super) fn is_dirty(&self, page: Page) -> bool {
        self.dirty.contains_key(&page)
    }

    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) fn dirty(&self) -> usize {
        self.dirty.len()
    }

    pub(super) fn held(&self) -> usize {
        self.clean.len() + self.dirty.len()
    }

    fn slot(&mut self) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        if self.slots_used < self.slots {
            self.slots_used += 1;
            return Some(self.slots_used - 1);
        }
        self.clean.pop_front().map(|(_, slot)| slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u64) -> Page {
        (1, number)
    }

    #[test]
    fn the_least_recently_used_page_makes_room() {
        let mut pages = CachedPages::new(2, 0);
        assert!(pages.insert(page(1)).is_some() && pages.insert(page(2)).is_some());
        let slot = pages.touch(page(1));
        assert!(pages.insert(page(3)).is_some());
        assert_eq!((pages.touch(page(1)), pages.touch(page(2))), (slot, None));
    }

    #[test]
    fn dirty_pages_stay_until_they_are_cleaned_oldest_first() {
        let mut pages = CachedPages::new(2, 0);
        pages.write_back(page(1));
        pages.write_back(page(2));
        pages.write_back(page(1));
        assert_eq!((pages.insert(page(3)), pages.dirty()), (None, 2));
        assert_eq!(pages.clean_oldest().unwrap().0, page(2));
        assert!(pages.insert(page(3)).is_some() && !pages.is_dirty(page(2)));
        assert_eq!((pages.dirty(), pages.held()), (1, 2));
        pages.write_through(page(1));
        assert_eq!(pages.dirty(), 0);
    }

    #[test]
    fn a_page_enters_when_the_host_has_dropped_it() {
        let mut pages = CachedPages::new(8, 2);
        assert_eq!(pages.read_by_host(page(1)), None);
        assert_eq!(pages.read_by_host(page(2)), None);
        assert!(pages.read_by_host(page(3)).is_some());
        assert!(pages.touch(page(1)).is_some() && pages.touch(page(2)).is_none());
    }

    #[test]
    fn a_removed_page_leaves_its_slot() {
        let mut pages = CachedPages::new(2, 0);
        for number in 1..=2 {
            pages.write_back(page(number));
        }
        pages.remove(page(1));
        assert!(pages.insert(page(3)).is_some());
        pages.remove_from(1, 3);
        assert_eq!((pages.held(), pages.dirty()), (1, 1));
        pages.remove_from(1, 0);
        assert_eq!((pages.held(), pages.free.len()), (0, 2));
    }
}
