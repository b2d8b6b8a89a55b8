//! Chooses where in a recording to cut: at random, and at the moments that are known to be dangerous.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_drive::{Event, Names, Operation, Recording};
use weir_model::FileKind;

use crate::cut::{Choice, Cut, Moment};
use crate::device_rules::{Cache, DeviceRules};
use crate::error::CrashError;
use crate::explore_options::ExploreOptions;
use crate::write_kind::kind_of_write;
use crate::write_outcome;

/// Outcomes of one cut that has too many to try them all.
const DRAWN: u32 = 4;
/// Events after a change of files for which they count as having just happened.
const AFTERMATH_EVENTS: u64 = 40;
/// A checkpoint is noted in the first blocks of a redo file (`MariaDB`: at 4096 and 8192).
const REDO_HEAD_BYTES: u64 = 12 * 1024;

/// Chooses crash states of `recording` from `from_ns` on, in the order of their place.
///
/// Where a cut has few outcomes all are tried, else some are drawn.
/// One pass, and memory for the choices only: candidates of each moment are sampled from a reservoir
/// (Vitter's algorithm R). States are spread evenly over the moments that were met.
pub(crate) fn choose(
    recording: &Recording,
    from_ns: u64,
    options: &ExploreOptions,
) -> Result<Vec<Choice>, CrashError> {
    let (rules, states) = (options.rules, options.states);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let mut reservoirs: BTreeMap<Moment, Reservoir> = BTreeMap::new();
    let mut watch = Watch::new(recording, rules, options.page_bytes());
    for event in recording.events() {
        let event = event?;
        let position = event.sequence;
        if event.at_ns >= from_ns {
            let outcomes = match options.cut {
                Cut::Power => write_outcome::outcomes(watch.cache.open(), &rules),
                Cut::ProcessKill => None,
            };
            for moment in watch.moments(position) {
                let reservoir = reservoirs.entry(moment).or_default();
                reservoir.offer((position, outcomes), states as usize, &mut random);
            }
        }
        watch.observe(&event);
    }
    if reservoirs.is_empty() {
        let why = "nothing reached the drive while the workload ran".to_owned();
        return Err(CrashError::TooShort { why });
    }
    let drawn = match options.cut {
        Cut::Power => DRAWN,
        // What a process had handed over is there, but for the end of a write in flight.
        Cut::ProcessKill => 1,
    };
    Ok(spread(reservoirs, (states, drawn), &mut random))
}

/// Candidates of one moment.
#[derive(Default)]
struct Reservoir {
    met: usize,
    kept: Vec<(u64, Option<u32>)>,
}

impl Reservoir {
    fn offer(
        &mut self,
        candidate: (u64, Option<u32>),
        size: usize,
        random: &mut Xoshiro256PlusPlus,
    ) {
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
    (states, drawn): (u32, u32),
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Choice> {
    let mut chosen = Vec::with_capacity(states as usize);
    let mut places = BTreeSet::new();
    while chosen.len() < states as usize && !reservoirs.is_empty() {
        reservoirs.retain(|_, reservoir| !reservoir.kept.is_empty());
        for (&moment, reservoir) in &mut reservoirs {
            if reservoir.kept.is_empty() {
                continue;
            }
            let taken = random.random_range(0..reservoir.kept.len());
            let (position, outcomes) = reservoir.kept.swap_remove(taken);
            if !places.insert(position) {
                // Another moment has it already.
                continue;
            }
            let choices = (0..outcomes.unwrap_or(drawn)).map(|branch| Choice {
                position,
                branch,
                outcomes,
                moment,
            });
            chosen.extend(choices);
        }
    }
    chosen.truncate(states as usize);
    chosen.sort_by_key(|choice| (choice.position, choice.branch, choice.moment));
    chosen
}

/// Operations in flight, and those that have just happened, at the present position.
struct Watch {
    cache: Cache,
    names: Names,
    page_bytes: u64,
    /// Last position of each event that has just happened.
    recent: BTreeMap<Moment, u64>,
    /// File and offset of the last redo write.
    redo_at: Option<(u64, u64)>,
}

impl Watch {
    fn new(recording: &Recording, rules: DeviceRules, page_bytes: u64) -> Self {
        Self {
            cache: Cache::new(rules),
            names: recording.names(),
            page_bytes,
            recent: BTreeMap::new(),
            redo_at: None,
        }
    }

    fn moments(&self, position: u64) -> Vec<Moment> {
        let mut moments = vec![Moment::Any];
        let in_flight = |moment: Moment, kinds: &[FileKind]| {
            let mut writes = self.cache.open().filter(|write| write.is_in_flight());
            let met = writes.any(|write| {
                let path = self.names.path(write.file);
                let kind = |path: PathBuf| kind_of_write(&path, write.offset, self.page_bytes);
                path.is_some_and(|path| kinds.contains(&kind(path)))
            });
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
        self.cache.advance(event);
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
