//! What would survive a power cut: which writes were durable when, and which were not.
//!
//! A write is acknowledged at its completion; whether it is then safe depends on the drive. With
//! capacitors or a battery it is. With a volatile cache it is safe after a flush that was asked for
//! later than its completion (`NVMe` base specification, "Flush command"; what fsync, `O_SYNC`,
//! `O_DSYNC` and FUA end in). A drive that only says that it flushes keeps what its cache has
//! drained by itself.
//!
//! What is not durable at a cut may be on the media or not, in any combination and, in the pieces
//! that [`weir_model::Atomicity::pieces`] names, in part.

use std::collections::VecDeque;

use weir_model::Nanoseconds;

/// From when on a write survives a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// From its completion on.
    AtCompletion,
    /// From the end of a flush on that was asked for after its completion.
    WithFlush,
    /// From this time on, whatever is flushed: the drive ignores flushes.
    OnMedia(Nanoseconds),
}

/// A write that a drive has accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedWrite {
    /// Number of the operation, ascending.
    pub id: u64,
    /// Identity of the file; `offset` is within it.
    pub file: u64,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// When it was asked for.
    pub submitted: Nanoseconds,
    /// When it was, or will be, acknowledged.
    pub completed: Nanoseconds,
    /// What makes it durable.
    pub durable: Durable,
}

/// What is sure of a write at a given moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is on the media whatever happens.
    Kept,
    /// It was acknowledged, and a power cut may lose it or tear it.
    AcknowledgedOnly,
    /// It was asked for and not acknowledged; a power cut may lose it or tear it.
    InFlight,
}

/// The writes of a drive in the order of their submission, and what became of them.
#[derive(Debug, Clone, Default)]
pub struct DurabilityLog {
    writes: VecDeque<Entry>,
    /// All writes before this one are known to be durable.
    first_open: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    write: LoggedWrite,
    durable_at: Option<Nanoseconds>,
}

impl DurabilityLog {
    /// A log without writes.
    pub fn new() -> Self {
        Self::default()
    }

    /// A write was accepted. They come in the order of their submission.
    pub fn write(&mut self, write: LoggedWrite) {
        let durable_at = match write.durable {
            Durable::AtCompletion => Some(write.completed),
            Durable::OnMedia(time) => Some(time.max(write.submitted)),
            Durable::WithFlush => None,
        };
        self.writes.push_back(Entry { write, durable_at });
    }

    /// A flush was asked for at `submitted` and ends at `completed`.
    pub fn flush(&mut self, submitted: Nanoseconds, completed: Nanoseconds) {
        for entry in self.writes.iter_mut().skip(self.first_open) {
            if entry.durable_at.is_none() && entry.write.completed <= submitted {
                entry.durable_at = Some(completed);
            }
        }
        while self
            .writes
            .get(self.first_open)
            .is_some_and(|entry| entry.durable_at.is_some())
        {
            self.first_open += 1;
        }
    }

    /// The writes that were submitted by `time`, in their order, and what is sure of each then.
    pub fn at(&self, time: Nanoseconds) -> impl Iterator<Item = (&LoggedWrite, Fate)> {
        let submitted = move |entry: &&Entry| entry.write.submitted <= time;
        let fate = move |entry: &Entry| match entry.durable_at {
            Some(durable_at) if durable_at <= time => Fate::Kept,
            _ if entry.write.completed <= time => Fate::AcknowledgedOnly,
            _ => Fate::InFlight,
        };
        self.writes
            .iter()
            .take_while(submitted)
            .map(move |entry| (&entry.write, fate(entry)))
    }

    /// Drops the writes at the beginning of the log that were durable at `time`, and passes each to
    /// `kept`, in order: together with what was passed before they are what the media hold for
    /// sure. This bounds the log's memory.
    pub fn settle(&mut self, time: Nanoseconds, mut kept: impl FnMut(&LoggedWrite)) {
        while let Some(entry) = self.writes.front()
            && entry.durable_at.is_some_and(|at| at <= time)
        {
            kept(&entry.write);
            self.writes.pop_front();
            self.first_open = self.first_open.saturating_sub(1);
        }
    }

    /// How many writes it holds.
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use weir_model::{DeviceModel, FileKind, Op, OpKind, Scale};

    use super::*;
    use crate::{Model, profiles};

    fn write(id: u64, completed: Nanoseconds, durable: Durable) -> LoggedWrite {
        LoggedWrite {
            id,
            file: 1,
            offset: id * 4096,
            bytes: 4096,
            submitted: completed - 10,
            completed,
            durable,
        }
    }

    fn fates(log: &DurabilityLog, time: Nanoseconds) -> Vec<Fate> {
        log.at(time).map(|(_, fate)| fate).collect()
    }

    #[test]
    fn capacitors_keep_what_was_acknowledged() {
        let mut log = DurabilityLog::new();
        log.write(write(1, 100, Durable::AtCompletion));
        assert_eq!(fates(&log, 80), []);
        assert_eq!(fates(&log, 95), [Fate::InFlight]);
        assert_eq!(fates(&log, 100), [Fate::Kept]);
    }

    #[test]
    fn a_volatile_cache_keeps_what_completed_before_a_flush_was_asked_for() {
        let mut log = DurabilityLog::new();
        log.write(write(1, 100, Durable::WithFlush));
        log.write(write(2, 115, Durable::WithFlush));
        log.flush(110, 200);
        let open = [Fate::AcknowledgedOnly; 2];
        assert_eq!(fates(&log, 199), open);
        assert_eq!(fates(&log, 200), [Fate::Kept, Fate::AcknowledgedOnly]);
        log.flush(300, 310);
        assert_eq!(fates(&log, 310), [Fate::Kept; 2]);
    }

    #[test]
    fn a_drive_that_lies_keeps_what_it_drained_and_not_what_was_flushed() {
        let mut log = DurabilityLog::new();
        log.write(write(1, 100, Durable::OnMedia(5000)));
        log.flush(110, 120);
        assert_eq!(fates(&log, 4999), [Fate::AcknowledgedOnly]);
        assert_eq!(fates(&log, 5000), [Fate::Kept]);
    }

    #[test]
    fn what_is_settled_leaves_the_log_in_order() {
        let mut log = DurabilityLog::new();
        for id in 1..=4 {
            log.write(write(id, id * 100, Durable::WithFlush));
        }
        log.flush(250, 260);
        let mut kept = Vec::new();
        log.settle(260, |write| kept.push(write.id));
        assert_eq!((kept.as_slice(), log.len()), ([1, 2].as_slice(), 2));
        log.flush(500, 510);
        log.settle(509, |write| kept.push(write.id));
        assert_eq!((kept.len(), log.is_empty()), (2, false));
        log.settle(510, |write| kept.push(write.id));
        assert_eq!((kept.len(), log.is_empty()), (4, true));
    }

    /// What each kind of drive says of a write.
    #[test]
    fn a_drives_profile_says_what_makes_a_write_durable() {
        let op = Op {
            kind: OpKind::Write,
            file: 1,
            file_kind: FileKind::Redo,
            offset: 0,
            bytes: 1 << 20,
            compressed_fraction: 1.0,
        };
        let durable = |profile: &weir_model::DriveProfile| {
            let mut model = Model::new(profile, Scale::FULL);
            (model.submit(&op, 1000), model.durable())
        };
        let protected = profiles::embedded("intel-p4610").unwrap();
        assert_eq!(durable(&protected).1, Durable::AtCompletion);
        let mut volatile = profiles::embedded("intel-x25e-32gb").unwrap();
        assert_eq!(durable(&volatile).1, Durable::WithFlush);
        volatile.flush.ignored = true;
        let (completed, lying) = durable(&volatile);
        // 1 MiB drains at 170 MB/s.
        let on_media = 1000 + (1 << 20) * 1000 / 170;
        assert!(matches!(lying, Durable::OnMedia(time) if time.abs_diff(on_media) < 1000));
        assert!(completed > 1000);
    }
}
