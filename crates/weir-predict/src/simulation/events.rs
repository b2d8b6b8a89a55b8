//! What happens when, and what is random.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::Nanoseconds;

/// What takes a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worker {
    /// A connection.
    Client(u32),
    /// The drive, if it is an emulated one: nobody waits for it to leave the core.
    Drive,
}

/// Something that is over; the number is that of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    SliceOver(Worker),
    ReadOver(u32),
    TurnOver(u32),
    WaitOver(u32),
    LogTaken,
    LogWritten,
    CopiesWritten,
    BatchPageWritten,
    PageWritten,
}

/// Events in the order of their times; those of one time in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    events: BinaryHeap<Reverse<(Nanoseconds, u64, Event)>>,
    added: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, at: Nanoseconds, event: Event) {
        self.events.push(Reverse((at, self.added, event)));
        self.added += 1;
    }

    pub(super) fn next(&mut self) -> Option<(Nanoseconds, Event)> {
        self.events.pop().map(|Reverse((at, _, event))| (at, event))
    }
}
