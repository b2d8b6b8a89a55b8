//! The thread that reads the capture ahead of its sessions.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_capture::{CaptureError, CaptureReader, Happening, Record};

use crate::feeding::{Feeding, Move, Numbers};
use crate::item::Item;
use crate::slot::Stage;
use weir_model::ReplayPace;

/// Part of the capture that is read ahead of the replay, nanoseconds.
const AHEAD_NS: u64 = 5_000_000_000;
/// Items that may wait in all slots.
const WAITING_MAX: usize = 200_000;
/// Pause between two looks at whether more is wanted.
const PAUSE: Duration = Duration::from_millis(2);
/// Records between two looks at the clock.
const RECORDS: u64 = 64;

/// Reads a capture into the slots of a stage.
#[derive(Debug)]
pub(crate) struct Feed<'a> {
    stage: &'a Stage,
    numbers: Numbers,
    live: HashMap<u32, Feeding>,
    /// Slots without a session, the one that is free for longest first.
    free: VecDeque<usize>,
    has_begun: bool,
}

impl<'a> Feed<'a> {
    pub(crate) fn new(stage: &'a Stage, numbers: Numbers) -> Self {
        Self {
            stage,
            numbers,
            live: HashMap::new(),
            free: (0..stage.slots.len()).collect(),
            has_begun: false,
        }
    }

    /// Reads so many records, or until it is to stop.
    pub(crate) fn run(
        mut self,
        path: &Path,
        records: u64,
        stop: &AtomicBool,
    ) -> Result<(), CaptureError> {
        let read = self.read(path, records, stop);
        // Sessions that the capture does not see leave do so at its end.
        let live: Vec<_> = self.live.values().filter_map(Feeding::slot).collect();
        for slot in live {
            self.stage.push(slot, Item::Close { at_us: 0 });
        }
        self.stage.fed_all();
        read
    }

    fn read(&mut self, path: &Path, records: u64, stop: &AtomicBool) -> Result<(), CaptureError> {
        let mut reader = CaptureReader::open(path)?;
        let mut until_us = 0;
        let mut count = 0_u64;
        while let Some(record) = reader.next_record()? {
            until_us = until_us.max(record.at_us);
            let is_past = self.stage.options.is_past(record.at_us);
            self.take(record);
            if is_past && !self.live.values().any(Feeding::is_open) {
                break;
            }
            count += 1;
            if count.is_multiple_of(RECORDS) {
                self.stage.fed(until_us);
                self.wait(until_us, stop);
            }
            if count == records || stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }

    /// Waits until more is wanted.
    fn wait(&self, until_us: u64, stop: &AtomicBool) {
        let options = &self.stage.options;
        let is_ahead = || {
            options.pace != ReplayPace::Fast
                && options.due_ns(until_us) > self.stage.age_ns().saturating_add(AHEAD_NS)
        };
        while !stop.load(Ordering::Relaxed) && (self.stage.waiting() > WAITING_MAX || is_ahead()) {
            std::thread::sleep(PAUSE);
        }
    }

    /// The replay's part begins: the sessions that are there connect, the oldest first.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let mut sessions: Vec<_> = self.live.iter_mut().collect();
        sessions.sort_unstable_by_key(|(session, _)| **session);
        for (_, feeding) in sessions {
            if feeding.is_taken()
                && let Some(slot) = self.free.pop_front()
            {
                feeding.open(slot, self.stage.options.from_us, self.stage);
            }
        }
    }

    fn take(&mut self, record: Record) {
        let Record {
            at_us,
            session,
            happening,
        } = record;
        let options = &self.stage.options;
        let has_begun = at_us >= options.from_us;
        if has_begun {
            self.begin();
        }
        match happening {
            Happening::Opened(login) => {
                if options.is_past(at_us) || !options.takes(session) {
                    return;
                }
                let is_taken = options.takes_user(&login.user);
                let mut feeding = Feeding::new(session, login, is_taken, &self.numbers);
                // There are as many slots as sessions at a time.
                if has_begun
                    && is_taken
                    && let Some(slot) = self.free.pop_front()
                {
                    feeding.open(slot, at_us, self.stage);
                }
                self.live.insert(session, feeding);
            }
            Happening::Closed => {
                let feeding = self.live.remove(&session);
                let slot = feeding.and_then(|mut feeding| {
                    feeding.close(self.stage);
                    feeding.slot()
                });
                if let Some(slot) = slot {
                    self.stage.push(slot, Item::Close { at_us });
                    self.free.push_back(slot);
                }
            }
            Happening::Started(started) => {
                if let Some(feeding) = self.live.get_mut(&session) {
                    feeding.started(at_us, started, &mut self.numbers, self.stage);
                }
            }
            Happening::Ended(ended) => {
                let Some(feeding) = self.live.get_mut(&session) else {
                    return;
                };
                match feeding.ended(at_us, ended, &mut self.numbers, self.stage) {
                    Some(Move::Joins) if has_begun => {
                        if let Some(slot) = self.free.pop_front() {
                            feeding.open(slot, at_us, self.stage);
                        }
                    }
                    Some(Move::Leaves) => {
                        feeding.close(self.stage);
                        if let Some(slot) = feeding.leave() {
                            self.stage.push(slot, Item::Close { at_us });
                            self.free.push_back(slot);
                        }
                    }
                    Some(Move::Joins) | None => {}
                }
            }
        }
    }
}
