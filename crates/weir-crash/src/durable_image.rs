//! The media at a moment of a recording: what is surely on it, and what a cut decides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weir_drive::{Data, Event, Operation, Recording, Replayer};
use weir_model::FileKind;

use crate::cut::{Choice, Cut};
use crate::device_rules::{Cache, DeviceRules, OpenWrite};
use crate::error::CrashError;
use crate::ground_truth::GroundTruth;
use crate::torn_page::TornPage;
use crate::write_kind::kind_of_write;
use crate::write_outcome::{self, Part, WriteOutcome};

/// A directory that follows the recording and holds what no cut can take back any more.
#[derive(Debug)]
pub(crate) struct DurableImage {
    directory: PathBuf,
    replayer: Replayer,
    cache: Cache,
    rules: DeviceRules,
    /// Bytes of the server's pages, the unit of the ground truth.
    page_bytes: u64,
    /// Data of the undecided writes.
    data: BTreeMap<u64, Data>,
    /// Number of the next event.
    pub(crate) position: u64,
    /// Time of the last event.
    pub(crate) at_ns: u64,
}

impl DurableImage {
    /// Before the first event: `directory` holds what the drive held.
    pub(crate) fn new(
        directory: &Path,
        recording: &Recording,
        rules: DeviceRules,
        page_bytes: u64,
    ) -> Self {
        Self {
            directory: directory.to_owned(),
            replayer: Replayer::new(directory, recording.base()),
            cache: Cache::new(rules),
            rules,
            page_bytes,
            data: BTreeMap::new(),
            position: 0,
            at_ns: 0,
        }
    }

    /// Takes the next event.
    pub(crate) fn advance(&mut self, event: &Event) -> Result<(), CrashError> {
        for write in self.cache.advance(event) {
            if let Some(data) = self.data.remove(&write.sequence) {
                self.replayer.write_part(write.file, write.offset, &data)?;
            }
        }
        match &event.operation {
            Operation::Write { data, .. } => {
                self.data.insert(event.sequence, data.clone());
            }
            Operation::Flush { .. } | Operation::Done { .. } => {}
            // A journaling file system keeps its metadata in order, whatever happens to the data.
            _ => self.replayer.apply(event)?,
        }
        self.position = event.sequence + 1;
        self.at_ns = event.at_ns;
        Ok(())
    }

    /// Makes the state of one outcome in `directory`, which does not exist yet.
    pub(crate) fn branch(
        &self,
        directory: &Path,
        cut: Cut,
        seed: u64,
        choice: Choice,
    ) -> Result<GroundTruth, CrashError> {
        weir_server::copy_directory(&self.directory, directory)?;
        let mut replayer = self.replayer.rebased(directory);
        self.decide(&mut replayer, cut, seed, choice)
    }

    /// Decides over the undecided writes in the directory itself, which ends here.
    pub(crate) fn end(
        self,
        cut: Cut,
        seed: u64,
        choice: Choice,
    ) -> Result<GroundTruth, CrashError> {
        let mut replayer = self.replayer.rebased(&self.directory);
        self.decide(&mut replayer, cut, seed, choice)
    }

    fn decide(
        &self,
        replayer: &mut Replayer,
        cut: Cut,
        seed: u64,
        choice: Choice,
    ) -> Result<GroundTruth, CrashError> {
        let mut truth = GroundTruth::default();
        let open = self.cache.open();
        let seed = at_position(seed, self.position);
        let outcomes = match cut {
            Cut::Power => {
                let is_aimed_at = |write: &OpenWrite| choice.moment.aims_at(self.kind(write));
                write_outcome::decide(open, &self.rules, is_aimed_at, (seed, choice.branch))
            }
            Cut::ProcessKill => write_outcome::of_kill(open, seed),
        };
        for outcome in outcomes {
            let data = &self.data[&outcome.write.sequence];
            for part in &outcome.written {
                let from = part.start - outcome.write.offset;
                let part_data = data.part(from, part.end - part.start);
                replayer.write_part(outcome.write.file, part.start, &part_data)?;
            }
            self.note(&mut truth, &outcome);
        }
        Ok(truth)
    }

    fn kind(&self, write: &OpenWrite) -> FileKind {
        let path = self.replayer.path(write.file);
        path.map_or(FileKind::Other, |path| {
            kind_of_write(&path, write.offset, self.page_bytes)
        })
    }

    /// Adds what the drive knows of one write to the truth, page by page.
    fn note(&self, truth: &mut GroundTruth, outcome: &WriteOutcome) {
        truth.undecided += 1;
        if !matches!(self.kind(&outcome.write), FileKind::Data | FileKind::Undo) {
            return;
        }
        let path = self.replayer.path(outcome.write.file).unwrap_or_default();
        let (size, end) = (self.page_bytes, outcome.write.offset + outcome.write.bytes);
        let pages = outcome.write.offset / size..end.div_ceil(size);
        for page in pages {
            match outcome.part_in(page * size..(page + 1) * size) {
                Part::All => {}
                Part::Some => truth
                    .torn_pages
                    .push(TornPage::new(path.clone(), page as u32)),
                Part::None if outcome.write.is_in_flight() => truth.lost_pages += 1,
                Part::None => truth.stale_pages += 1,
            }
        }
    }
}

/// The seed of the outcomes at one place.
fn at_position(seed: u64, position: u64) -> u64 {
    // An odd multiplier keeps neighbouring places apart; the generator's own seeding mixes the bits.
    seed.wrapping_add(position.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
