//! Where in a recording to cut: at random, and at the moments that are known to be dangerous.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use weir_drive::{Event, Names, Operation, Recording};
use weir_model::FileKind;

use crate::cache::{Cache, DeviceRules, OpenWrite};
use crate::error::CrashError;
use crate::fate;

/// What was going on at a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Anywhere.
    Any,
    /// A page of a table was being written to its place.
    PageFlush,
    /// Pages were being written to the doublewrite buffer.
    DoublewriteBatch,
    /// The redo log was being written.
    RedoWrite,
    /// The redo log had just begun again at its start, or in a new file.
    RedoWrap,
    /// The head of a redo log file, where a checkpoint is noted, was being written.
    Checkpoint,
    /// An undo tablespace had just been truncated or replaced.
    UndoTruncation,
    /// Files had just been created, renamed, truncated or removed: DDL.
    Ddl,
}

impl Moment {
    /// Whether a cut at this moment is meant to hit a write to a file of `kind`.
    pub(crate) fn aims_at(self, kind: FileKind) -> bool {
        match self {
            Self::PageFlush => matches!(kind, FileKind::Data | FileKind::Undo),
            Self::DoublewriteBatch => kind == FileKind::Doublewrite,
            Self::RedoWrite | Self::RedoWrap | Self::Checkpoint => kind == FileKind::Redo,
            Self::UndoTruncation => kind == FileKind::Undo,
            Self::Any | Self::Ddl => true,
        }
    }

    /// As words for a reader.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any moment",
            Self::PageFlush => "page flush in flight",
            Self::DoublewriteBatch => "doublewrite batch half written",
            Self::RedoWrite => "redo write in flight",
            Self::RedoWrap => "redo wrap",
            Self::Checkpoint => "checkpoint",
            Self::UndoTruncation => "undo truncation",
            Self::Ddl => "DDL",
        }
    }
}

/// Events after a change of files for which they count as having just happened.
const AFTERMATH_EVENTS: u64 = 40;
/// A checkpoint is noted in the first blocks of a redo file (`MariaDB`: at 4096 and 8192).
const REDO_HEAD_BYTES: u64 = 12 * 1024;

/// One crash state: a place in the recording, and one outcome there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choice {
    /// Number of the first event that does not happen any more.
    pub(crate) position: u64,
    /// Which of the possible outcomes at this place.
    pub(crate) branch: u32,
    pub(crate) moment: Moment,
}

/// Chooses `states` crash states of `recording` from event `from` on, in the order of their place.
///
/// At most `branches_max` different outcomes are tried of one cut.
/// One pass, and memory for the choices only: candidates of each moment are sampled from a reservoir
/// (Vitter's algorithm R). States are spread evenly over the moments that were met.
pub(crate) fn choose(
    recording: &Recording,
    rules: DeviceRules,
    from_ns: u64,
    (states, branches_max): (u32, u32),
    seed: u64,
) -> Result<Vec<Choice>, CrashError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut reservoirs: BTreeMap<Moment, Reservoir> = BTreeMap::new();
    let mut watch = Watch::new(recording, rules);
    for event in recording.events() {
        let event = event?;
        let position = event.sequence;
        if event.at_ns >= from_ns {
            let branches = fate::branches(watch.cache.open(), &rules.atomicity, branches_max);
            for moment in watch.moments(position) {
                let reservoir = reservoirs.entry(moment).or_default();
                reservoir.offer((position, branches), states as usize, &mut random);
            }
        }
        watch.observe(&event);
    }
    if reservoirs.is_empty() {
        let why = "nothing reached the drive while the workload ran".to_owned();
        return Err(CrashError::TooShort { why });
    }
    Ok(spread(reservoirs, states, &mut random))
}

/// Candidates of one moment.
#[derive(Default)]
struct Reservoir {
    met: usize,
    kept: Vec<(u64, u32)>,
}

impl Reservoir {
    fn offer(&mut self, candidate: (u64, u32), size: usize, random: &mut Xoshiro256PlusPlus) {
        self.met += 1;
        if self.kept.len() < size {
            self.kept.push(candidate);
        } else {
            let place = random.random_range(0..self.met);
            if place < size {
                self.kept[place] = candidate;
            }
        }
    }
}

/// Takes states from the moments in turn, until there are enough or none is left.
fn spread(
    mut reservoirs: BTreeMap<Moment, Reservoir>,
    states: u32,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Choice> {
    let mut chosen = Vec::with_capacity(states as usize);
    while chosen.len() < states as usize && !reservoirs.is_empty() {
        reservoirs.retain(|_, reservoir| !reservoir.kept.is_empty());
        for (&moment, reservoir) in &mut reservoirs {
            if reservoir.kept.is_empty() {
                continue;
            }
            let taken = random.random_range(0..reservoir.kept.len());
            let (position, branches) = reservoir.kept.swap_remove(taken);
            let choices = (0..branches).map(|branch| Choice {
                position,
                branch,
                moment,
            });
            chosen.extend(choices);
        }
    }
    chosen.truncate(states as usize);
    chosen.sort_by_key(|choice| (choice.position, choice.branch, choice.moment));
    chosen
}

/// What is in flight, and what has just happened, at the present position.
struct Watch {
    cache: Cache,
    names: Names,
    /// Where what has just happened happened last.
    recent: BTreeMap<Moment, u64>,
    /// File and offset of the last redo write.
    redo_at: Option<(u64, u64)>,
}

impl Watch {
    fn new(recording: &Recording, rules: DeviceRules) -> Self {
        Self {
            cache: Cache::new(rules),
            names: recording.names(),
            recent: BTreeMap::new(),
            redo_at: None,
        }
    }

    fn moments(&self, position: u64) -> Vec<Moment> {
        let mut moments = vec![Moment::Any];
        let in_flight = |moment: Moment, kinds: &[FileKind]| {
            let mut writes = self.cache.open().filter(|write| write.is_in_flight());
            let met = writes.any(|write| kinds.contains(&self.names.kind(write.file)));
            met.then_some(moment)
        };
        moments.extend(in_flight(
            Moment::PageFlush,
            &[FileKind::Data, FileKind::Undo],
        ));
        moments.extend(in_flight(
            Moment::DoublewriteBatch,
            &[FileKind::Doublewrite],
        ));
        moments.extend(in_flight(Moment::RedoWrite, &[FileKind::Redo]));
        let mut open = self.cache.open().filter(|write| write.is_in_flight());
        if open.any(|write| self.is_checkpoint(write.file, write.offset)) {
            moments.push(Moment::Checkpoint);
        }
        let just_now = |(_, at): &(&Moment, &u64)| position - **at <= AFTERMATH_EVENTS;
        moments.extend(
            self.recent
                .iter()
                .filter(just_now)
                .map(|(&moment, _)| moment),
        );
        moments
    }

    fn observe(&mut self, event: &Event) {
        let position = event.sequence;
        match &event.operation {
            Operation::Write { file, offset, .. } => self.written(position, *file, *offset),
            Operation::Truncate { file, .. } => self.changed(position, self.names.kind(*file)),
            Operation::Create { at, .. }
            | Operation::Rename { to: at, .. }
            | Operation::Remove { at, .. } => self.changed(position, self.names.kind_at(at)),
            _ => {}
        }
        self.names.follow(&event.operation);
        advance(&mut self.cache, event);
    }

    fn changed(&mut self, position: u64, kind: FileKind) {
        let moment = match kind {
            FileKind::Undo => Moment::UndoTruncation,
            FileKind::Data | FileKind::Other => Moment::Ddl,
            _ => return,
        };
        self.recent.insert(moment, position);
    }

    fn is_checkpoint(&self, file: u64, offset: u64) -> bool {
        offset < REDO_HEAD_BYTES && self.names.kind(file) == FileKind::Redo
    }

    fn written(&mut self, position: u64, file: u64, offset: u64) {
        if self.names.kind(file) != FileKind::Redo || offset < REDO_HEAD_BYTES {
            return;
        }
        let wrapped = self
            .redo_at
            .is_some_and(|(last_file, last_offset)| file != last_file || offset < last_offset / 2);
        if wrapped {
            self.recent.insert(Moment::RedoWrap, position);
        }
        self.redo_at = Some((file, offset));
    }
}

/// Takes one event into `cache`; the writes that are durable from now on, in order.
pub(crate) fn advance(cache: &mut Cache, event: &Event) -> Vec<OpenWrite> {
    match &event.operation {
        Operation::Write {
            file,
            offset,
            data,
            durable,
        } => cache.write(event.sequence, (*file, *offset, data.bytes()), *durable),
        Operation::Flush { .. } => cache.flush(event.sequence),
        Operation::Done { sequence } => return cache.done(*sequence, event.sequence),
        Operation::Truncate { file, .. } | Operation::Allocate { file, .. } => {
            return cache.settle_file(*file);
        }
        _ => {}
    }
    Vec::new()
}
