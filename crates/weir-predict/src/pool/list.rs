//! A doubly linked list of pages with a border in it, in one array: a page's links stand at its
//! number.

/// No page.
const NONE: u32 = u32::MAX;

const RESIDENT: u8 = 1;
const OLD: u8 = 2;
const DIRTY: u8 = 4;

/// A page's place in the list, and what its rules ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links {
    before: u32,
    after: u32,
    pub(super) first_used_ms: u32,
    /// Evictions when it was last put at the head.
    pub(super) clock: u32,
    flags: u8,
}

impl Links {
    pub(super) fn is_resident(&self) -> bool {
        self.flags & RESIDENT != 0
    }

    pub(super) fn is_old(&self) -> bool {
        self.flags & OLD != 0
    }

    pub(super) fn set_dirty(&mut self, dirty: bool) {
        self.flags |= DIRTY * u8::from(dirty);
    }

    pub(super) fn take_dirty(&mut self) -> bool {
        let dirty = self.flags & DIRTY != 0;
        self.flags &= !DIRTY;
        dirty
    }
}

/// The list. Pages from `border` to the tail are old.
#[derive(Debug)]
pub(super) struct List {
    pages: Vec<Links>,
    head: u32,
    tail: u32,
    border: u32,
    len: usize,
    old_len: usize,
}

impl List {
    pub(super) fn new(pages: u32) -> Self {
        let links = Links {
            before: NONE,
            after: NONE,
            first_used_ms: 0,
            clock: 0,
            flags: 0,
        };
        Self {
            pages: vec![links; pages as usize],
            head: NONE,
            tail: NONE,
            border: NONE,
            len: 0,
            old_len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn old_len(&self) -> usize {
        self.old_len
    }

    pub(super) fn has_border(&self) -> bool {
        self.border != NONE
    }

    pub(super) fn page(&self, page: u32) -> &Links {
        &self.pages[page as usize]
    }

    pub(super) fn page_mut(&mut self, page: u32) -> &mut Links {
        &mut self.pages[page as usize]
    }

    pub(super) fn push_head(&mut self, page: u32) {
        let first = self.head;
        self.link(NONE, page, first);
    }

    /// Puts an old page behind the first one.
    pub(super) fn insert_behind_border(&mut self, page: u32) {
        let after = self.page(self.border).after;
        self.link(self.border, page, after);
        self.page_mut(page).flags |= OLD;
        self.old_len += 1;
    }

    /// Takes the last page out.
    pub(super) fn pop_tail(&mut self) -> Option<u32> {
        let last = self.tail;
        if last == NONE {
            return None;
        }
        self.unlink(last);
        Some(last)
    }

    pub(super) fn unlink(&mut self, page: u32) {
        let links = *self.page(page);
        if self.border == page {
            // The next page is the first old one then, if there is one.
            self.border = links.after;
        }
        if links.is_old() {
            self.old_len -= 1;
        }
        self.join(links.before, links.after);
        self.page_mut(page).flags &= !(RESIDENT | OLD);
        self.len -= 1;
    }

    /// Makes the last `old` pages of a list without a border old.
    pub(super) fn make_border(&mut self, old: usize) {
        let mut page = self.tail;
        for _ in 0..old.min(self.len) {
            self.page_mut(page).flags |= OLD;
            self.border = page;
            self.old_len += 1;
            page = self.page(page).before;
        }
    }

    /// Makes all pages young.
    pub(super) fn drop_border(&mut self) {
        while self.has_border() {
            self.border_to_tail();
        }
    }

    /// Makes the last young page old.
    pub(super) fn border_to_head(&mut self) {
        let page = self.page(self.border).before;
        if page != NONE {
            self.page_mut(page).flags |= OLD;
            self.border = page;
            self.old_len += 1;
        }
    }

    /// Makes the first old page young.
    pub(super) fn border_to_tail(&mut self) {
        let page = self.border;
        self.page_mut(page).flags &= !OLD;
        self.border = self.page(page).after;
        self.old_len -= 1;
    }

    fn link(&mut self, before: u32, page: u32, after: u32) {
        self.join(before, page);
        self.join(page, after);
        self.page_mut(page).flags |= RESIDENT;
        self.len += 1;
    }

    fn join(&mut self, before: u32, after: u32) {
        if before == NONE {
            self.head = after;
        } else {
            self.page_mut(before).after = after;
        }
        if after == NONE {
            self.tail = before;
        } else {
            self.page_mut(after).before = before;
        }
    }
}
