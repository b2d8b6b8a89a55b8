//! The thread that reads the capture ahead of its sessions.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_capture::{CaptureError, CaptureReader, Happening, Record};

use crate::Pace;
use crate::feeding::{Feeding, Numbers};
use crate::item::Item;
use crate::slot::Stage;

/// How far ahead of the replay is read, nanoseconds.
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
}

impl<'a> Feed<'a> {
    pub(crate) fn new(stage: &'a Stage, numbers: Numbers) -> Self {
        Self {
            stage,
            numbers,
            live: HashMap::new(),
            free: (0..stage.slots.len()).collect(),
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
        let live: Vec<_> = self.live.values().map(|feeding| feeding.slot).collect();
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
            self.take(record);
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
            options.pace != Pace::Fast
                && options.scaled_ns(until_us) > self.stage.age_ns().saturating_add(AHEAD_NS)
        };
        while !stop.load(Ordering::Relaxed) && (self.stage.waiting() > WAITING_MAX || is_ahead()) {
            std::thread::sleep(PAUSE);
        }
    }

    fn take(&mut self, record: Record) {
        let Record {
            at_us,
            session,
            happening,
        } = record;
        match happening {
            Happening::Opened { user, schema } => {
                if !self.stage.options.takes(session, &user) {
                    return;
                }
                // There are as many slots as sessions at a time.
                let Some(slot) = self.free.pop_front() else {
                    return;
                };
                self.live.insert(session, Feeding::new(slot, schema));
                self.stage.push(slot, Item::Open { at_us });
            }
            Happening::Closed => {
                if let Some(feeding) = self.live.remove(&session) {
                    self.stage.push(feeding.slot, Item::Close { at_us });
                    self.free.push_back(feeding.slot);
                }
            }
            Happening::Started(started) => {
                if let Some(feeding) = self.live.get_mut(&session) {
                    feeding.started(at_us, started, &mut self.numbers, self.stage);
                }
            }
            Happening::Ended(ended) => {
                if let Some(feeding) = self.live.get_mut(&session) {
                    feeding.ended(at_us, ended, &self.numbers, self.stage);
                }
            }
        }
    }
}
