//! Faults at run time: which operation fails, takes longer, or meets a flipped bit.
//!
//! What happens is drawn from a seeded generator in the order in which operations arrive, so the
//! same operations meet the same faults. While no fault is set, an operation costs one load.
//!
//! After a flush that failed, what was written before it can still be read, and the next flush that
//! succeeds makes it durable: the drive keeps its buffer. (A kernel's page cache in front of a real
//! drive may drop pages that it could not write; servers that know stop at the first failed fsync.)

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use glob::{MatchOptions, Pattern};
use weir_model::{FaultError, FaultStatistics, Faults, Nanoseconds, OpKind};

use crate::model::Random;

/// Draws the faults.
#[derive(Debug)]
pub(crate) struct Injector {
    /// True if any fault of single operations is set.
    active: AtomicBool,
    state: Mutex<State>,
    errors: AtomicU64,
    spikes: AtomicU64,
    flipped_bits: AtomicU64,
}

#[derive(Debug)]
struct State {
    faults: Faults,
    error_files: FileNames,
    rot_files: FileNames,
    random: Random,
    was_set: bool,
}

/// Effect of the faults on one operation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Verdict {
    /// It fails with `EIO`.
    pub(crate) fails: bool,
    /// It takes longer by this.
    pub(crate) longer_by: Nanoseconds,
    /// A bit of what it reads flips before: a random number that says which.
    pub(crate) flipped_bit: Option<u64>,
}

impl Injector {
    pub(crate) fn new() -> Self {
        let state = State::new(Faults::default(), false).expect("invariant: `*` is a pattern");
        Self {
            active: AtomicBool::new(false),
            state: Mutex::new(state),
            errors: AtomicU64::new(0),
            spikes: AtomicU64::new(0),
            flipped_bits: AtomicU64::new(0),
        }
    }

    /// Returns the effect on an operation on the file that `path` names, relative to the drive's
    /// root.
    pub(crate) fn judge(&self, what: OpKind, path: impl FnOnce() -> String) -> Verdict {
        if !self.active.load(Ordering::Relaxed) {
            return Verdict::default();
        }
        let verdict = self.lock().judge(what, &path());
        let count = |counter: &AtomicU64, happens: bool| {
            counter.fetch_add(u64::from(happens), Ordering::Relaxed);
        };
        count(&self.errors, verdict.fails);
        count(&self.spikes, verdict.longer_by > 0);
        count(&self.flipped_bits, verdict.flipped_bit.is_some());
        verdict
    }

    /// Replaces the faults by `faults`.
    pub(crate) fn set(&self, faults: Faults) -> Result<(), FaultError> {
        let of_operations = Faults {
            stuck: false,
            drain_share: 1.0,
            full: false,
            ..faults.clone()
        };
        let next = State::new(faults, true)?;
        *self.lock() = next;
        self.active
            .store(!of_operations.are_none(), Ordering::Relaxed);
        Ok(())
    }

    /// The faults as they are.
    pub(crate) fn faults(&self) -> Faults {
        self.lock().faults.clone()
    }

    /// Returns the counts of faults; `None` if no fault was ever set.
    pub(crate) fn statistics(&self) -> Option<FaultStatistics> {
        let state = self.lock();
        state.was_set.then(|| FaultStatistics {
            set: state.faults.clone(),
            errors: self.errors.load(Ordering::Relaxed),
            spikes: self.spikes.load(Ordering::Relaxed),
            flipped_bits: self.flipped_bits.load(Ordering::Relaxed),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(faults: Faults, was_set: bool) -> Result<Self, FaultError> {
        Ok(Self {
            error_files: FileNames::parse("error_files", &faults.error_files)?,
            rot_files: FileNames::parse("rot_files", &faults.rot_files)?,
            random: Random::seeded(faults.seed),
            faults,
            was_set,
        })
    }

    fn judge(&mut self, what: OpKind, path: &str) -> Verdict {
        let faults = &self.faults;
        let may_fail = faults.error_operations.contain(what) && self.error_files.contain(path);
        let fails = may_fail && self.random.unit() < faults.error_rate;
        let spikes = faults.spike_rate > 0.0 && self.random.unit() < faults.spike_rate;
        let may_rot = what == OpKind::Read && self.rot_files.contain(path);
        let rots = may_rot && self.random.unit() < faults.rot_rate;
        Verdict {
            fails,
            longer_by: if spikes {
                (faults.spike_us * 1e3) as Nanoseconds
            } else {
                0
            },
            flipped_bit: rots.then(|| self.random.below(u64::MAX)),
        }
    }
}

/// A pattern of names, or of paths if it has a `/`.
#[derive(Debug)]
struct FileNames {
    pattern: Pattern,
    is_of_paths: bool,
}

impl FileNames {
    fn parse(key: &str, text: &str) -> Result<Self, FaultError> {
        let pattern = Pattern::new(text).map_err(|error| FaultError::Syntax {
            key: key.to_owned(),
            value: text.to_owned(),
            message: error.to_string(),
        })?;
        Ok(Self {
            pattern,
            is_of_paths: text.contains('/'),
        })
    }

    fn contain(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let subject = if self.is_of_paths { path } else { name };
        let options = MatchOptions {
            require_literal_separator: true,
            ..MatchOptions::default()
        };
        self.pattern.matches_with(subject, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn injector(settings: &[(&str, &str)]) -> Injector {
        let injector = Injector::new();
        let faults = settings
            .iter()
            .fold(Faults::default(), |faults, (key, value)| {
                faults.with(key, value).unwrap()
            });
        injector.set(faults).unwrap();
        injector
    }

    fn verdicts(injector: &Injector, path: &str) -> Vec<Verdict> {
        let judge = |_| injector.judge(OpKind::Read, || path.to_owned());
        (0..10_000).map(judge).collect()
    }

    #[test]
    fn operations_fail_at_the_rate_and_the_same_ones_for_the_same_seed() {
        let settings = [("error_rate", "0.1"), ("seed", "7")];
        let (one, two) = (injector(&settings), injector(&settings));
        let found = verdicts(&one, "t.ibd");
        assert_eq!(found, verdicts(&two, "t.ibd"));
        let failed = found.iter().filter(|verdict| verdict.fails).count();
        assert!((900..1_100).contains(&failed), "{failed}");
        assert_eq!(one.statistics().unwrap().errors, failed as u64);
    }

    #[test]
    fn patterns_are_of_names_unless_they_say_more() {
        let matches = |pattern: &str, path: &str| {
            FileNames::parse("error_files", pattern)
                .unwrap()
                .contain(path)
        };
        assert!(matches("*.ibd", "sbtest/t1.ibd") && !matches("*.ibd", "ibdata1"));
        assert!(matches("#ib_redo*", "#innodb_redo/#ib_redo7"));
        assert!(matches("sbtest/*", "sbtest/t1.ibd") && !matches("sbtest/*", "mysql/t1.ibd"));
        assert!(FileNames::parse("error_files", "[").is_err());
    }

    #[test]
    fn other_operations_and_other_files_are_left_alone() {
        let of_writes = injector(&[("error_rate", "1"), ("error_operations", "write")]);
        assert_eq!(verdicts(&of_writes, "a")[0], Verdict::default());
        assert!(of_writes.judge(OpKind::Write, || "a".to_owned()).fails);
        let of_one = injector(&[("rot_rate", "1"), ("rot_files", "t1*")]);
        assert_eq!(verdicts(&of_one, "t2.ibd")[0], Verdict::default());
        assert!(verdicts(&of_one, "t1.ibd")[0].flipped_bit.is_some());
    }

    #[test]
    fn a_drive_without_faults_says_nothing_about_them() {
        assert_eq!(Injector::new().statistics(), None);
        let spiky = injector(&[("spike_rate", "1"), ("spike_us", "250")]);
        assert_eq!(verdicts(&spiky, "a")[0].longer_by, 250_000);
        assert_eq!(spiky.statistics().unwrap().spikes, 10_000);
    }
}
