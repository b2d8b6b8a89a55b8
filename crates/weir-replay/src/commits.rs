//! Which writing transactions of the capture have ended in the replay, for those that come after them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Writing transactions are numbered from 1, in the order in which the capture says that they ended.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    /// All up to this one have ended.
    all_up_to: AtomicU64,
    /// Others that have.
    beyond: Mutex<BTreeSet<u64>>,
}

impl Commits {
    /// All transactions up to this number have ended, or were not sent.
    pub(crate) fn all_up_to(&self) -> u64 {
        self.all_up_to.load(Ordering::Acquire)
    }

    /// A transaction has ended, or is not sent.
    pub(crate) fn ended(&self, number: u64) {
        let mut beyond = self.beyond.lock().unwrap_or_else(PoisonError::into_inner);
        beyond.insert(number);
        let mut up_to = self.all_up_to();
        while beyond.remove(&(up_to + 1)) {
            up_to += 1;
        }
        self.all_up_to.store(up_to, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_ended_up_to_the_first_that_has_not() {
        let commits = Commits::default();
        commits.ended(2);
        commits.ended(3);
        assert_eq!(commits.all_up_to(), 0);
        commits.ended(1);
        assert_eq!(commits.all_up_to(), 3);
        commits.ended(5);
        assert_eq!(commits.all_up_to(), 3);
    }
}
