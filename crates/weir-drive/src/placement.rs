//! On which processor the drive's threads run: on that of a caller who waits for its reply.
//!
//! A FUSE request wakes the reader where it ran last (the kernel's `fuse_dev_wake_and_unlock`, and
//! `select_task_rq_rt`, which leaves a real-time thread where it is). If that is a processor that
//! something else keeps busy, the interrupt that tells it takes 17 us on a virtual machine, and 2 us
//! where it idles. A caller that waits has left *its* processor, so that is where reader and timer
//! belong; no interrupt between processors is then needed on the way there or back.
//!
//! When several requests are under way, callers run beside the drive, and the scheduler knows better.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};
use weir_model::Nanoseconds;

/// Between two looks at where the caller is; one takes about 10 us.
const INTERVAL_NS: Nanoseconds = 10_000_000;
/// Share of the requests since the last look that must have been alone for the threads to follow.
const ALONE_SHARE: f64 = 0.8;
const EVERYWHERE: usize = usize::MAX;

/// Moves the drive's threads.
#[derive(Debug)]
pub(crate) struct Placement {
    permitted: Option<CpuSet>,
    timer: OnceLock<Pid>,
    processor: AtomicUsize,
    requests: AtomicU64,
    alone: AtomicU64,
    looked_at: AtomicU64,
}

impl Placement {
    pub(crate) fn new() -> Self {
        Self {
            // Where it is not told, the threads stay where the scheduler puts them.
            permitted: sched_getaffinity(None).ok(),
            timer: OnceLock::new(),
            processor: AtomicUsize::new(EVERYWHERE),
            requests: AtomicU64::new(0),
            alone: AtomicU64::new(0),
            looked_at: AtomicU64::new(0),
        }
    }

    /// The calling thread is the timer.
    pub(crate) fn enter_timer(&self) {
        // Once per drive.
        let _ = self.timer.set(gettid());
    }

    /// The reader's thread has served a request of `caller`, and has time until its reply is due.
    pub(crate) fn served(&self, caller: u32, alone: bool, now: Nanoseconds) {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let alone = self.alone.fetch_add(u64::from(alone), Ordering::Relaxed) + u64::from(alone);
        if now.saturating_sub(self.looked_at.load(Ordering::Relaxed)) < INTERVAL_NS {
            return;
        }
        self.looked_at.store(now, Ordering::Relaxed);
        self.requests.store(0, Ordering::Relaxed);
        self.alone.store(0, Ordering::Relaxed);
        let follows = alone as f64 > ALONE_SHARE * requests as f64;
        let wanted = follows.then(|| processor_of(caller)).flatten();
        self.move_to(wanted.unwrap_or(EVERYWHERE));
    }

    /// Returns true if there is one caller that waits, whom the threads follow.
    pub(crate) fn follows(&self) -> bool {
        self.processor.load(Ordering::Relaxed) != EVERYWHERE
    }

    /// Puts the calling thread, which is a caller itself, where callers are expected.
    pub(crate) fn join(&self) {
        self.place(None, self.processor.load(Ordering::Relaxed));
    }

    fn move_to(&self, processor: usize) {
        if self.processor.swap(processor, Ordering::Relaxed) == processor {
            return;
        }
        self.place(None, processor);
        if let Some(timer) = self.timer.get() {
            self.place(Some(*timer), processor);
        }
    }

    fn place(&self, thread: Option<Pid>, processor: usize) {
        let Some(permitted) = self.permitted else {
            return;
        };
        let mut set = permitted;
        if processor < CpuSet::MAX_CPU && permitted.is_set(processor) {
            set = CpuSet::new();
            set.set(processor);
        }
        // A thread that cannot be moved stays where it is, which is slower and no error.
        let _ = sched_setaffinity(thread, &set);
    }
}

/// The processor on which `thread` runs, or ran last (proc(5), field 39 of `stat`).
fn processor_of(thread: u32) -> Option<usize> {
    let stat = std::fs::read_to_string(format!("/proc/{thread}/task/{thread}/stat")).ok()?;
    // The name in parentheses may hold anything; field 3 follows it.
    let fields = stat.get(stat.rfind(')')? + 1..)?;
    fields.split_ascii_whitespace().nth(39 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_thread() -> u32 {
        gettid().as_raw_pid().cast_unsigned()
    }

    #[test]
    fn a_thread_is_found_on_the_only_processor_that_it_may_use() {
        let permitted = sched_getaffinity(None).unwrap();
        for processor in (0..CpuSet::MAX_CPU).filter(|&cpu| permitted.is_set(cpu)) {
            let mut only = CpuSet::new();
            only.set(processor);
            sched_setaffinity(None, &only).unwrap();
            assert_eq!(processor_of(own_thread()), Some(processor));
        }
        sched_setaffinity(None, &permitted).unwrap();
        assert_eq!(processor_of(0), None);
    }

    #[test]
    fn a_lone_caller_is_followed_and_many_are_not() {
        let placement = Placement::new();
        let here = processor_of(own_thread()).unwrap();
        placement.served(own_thread(), true, INTERVAL_NS);
        let followed = sched_getaffinity(None).unwrap();
        assert_eq!(followed.count(), 1, "was on {here}");
        for request in 0..10 {
            let now = INTERVAL_NS + request * INTERVAL_NS / 9;
            placement.served(own_thread(), request == 0, now);
        }
        let permitted = placement.permitted.unwrap();
        assert_eq!(sched_getaffinity(None).unwrap(), permitted);
    }
}
