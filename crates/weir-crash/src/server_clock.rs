//! Time for which a server is waited for.
//!
//! A limit in wall-clock time takes a slow server on a busy machine for a hung one. So a time in which a
//! thread of the server was ready to run and had no processor does not count. The kernel says how long
//! each has waited for one: `/proc/PID/task/TID/schedstat`, second number
//! (Documentation/scheduler/sched-stats).

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::time::{Duration, Instant};

/// The kernel is asked no more often than this: a server has some forty threads.
const READ_EVERY: Duration = Duration::from_millis(500);
/// No server is waited for longer than this, whatever else the machine does.
pub(crate) const WAIT_MAX: Duration = Duration::from_mins(20);

/// Time in which a server could have worked.
#[derive(Debug)]
pub(crate) struct ServerClock {
    pid: u32,
    began: Instant,
    read_at: Instant,
    /// Time that each thread had waited for a processor by then, nanoseconds.
    queued_ns: HashMap<OsString, u64>,
    counted: Duration,
}

impl ServerClock {
    /// Begins now, with the server `pid`.
    pub(crate) fn start(pid: u32) -> Self {
        let now = Instant::now();
        let mut clock = Self {
            pid,
            began: now,
            read_at: now,
            queued_ns: HashMap::new(),
            counted: Duration::ZERO,
        };
        clock.queued_since_last();
        clock
    }

    /// The time so far, to half a second.
    pub(crate) fn elapsed(&mut self) -> Duration {
        let passed = self.read_at.elapsed();
        if passed >= READ_EVERY {
            self.read_at += passed;
            let queued = self.queued_since_last();
            self.counted += passed.saturating_sub(queued);
        }
        self.counted
    }

    /// Returns true if it has been waited for as long as `limit`, or as anything is.
    pub(crate) fn is_past(&mut self, limit: Duration) -> bool {
        self.elapsed() > limit || self.began.elapsed() > WAIT_MAX
    }

    /// The longest that any of its threads waited for a processor since the last look.
    fn queued_since_last(&mut self) -> Duration {
        let mut queued_ns = HashMap::new();
        let mut longest_ns = 0;
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid));
        for thread in threads.into_iter().flatten().flatten() {
            // A kernel without it, or a thread that has just ended, says nothing.
            let Some(now_ns) = fs::read_to_string(thread.path().join("schedstat"))
                .ok()
                .and_then(|text| text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok())
            else {
                continue;
            };
            let name = thread.file_name();
            let before_ns = self.queued_ns.get(&name).copied().unwrap_or(0);
            longest_ns = longest_ns.max(now_ns.saturating_sub(before_ns));
            queued_ns.insert(name, now_ns);
        }
        self.queued_ns = queued_ns;
        Duration::from_nanos(longest_ns)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::process::{Child, Command};
    use std::thread;

    use super::*;

    /// Ends what a test started.
    struct Children(Vec<Child>);

    impl Drop for Children {
        fn drop(&mut self) {
            for child in &mut self.0 {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }

    fn spinning(nice: &str) -> Child {
        let command = ["-n", nice, "sh", "-c", "while :; do :; done"];
        Command::new("nice").args(command).spawn().unwrap()
    }

    #[test]
    fn who_sleeps_is_timed_and_who_waits_for_a_processor_is_not() {
        let asleep = Children(vec![Command::new("sleep").arg("60").spawn().unwrap()]);
        let mut clock = ServerClock::start(asleep.0[0].id());
        thread::sleep(2 * READ_EVERY);
        let slept = clock.elapsed();
        assert!(slept >= READ_EVERY, "{slept:?}");
        assert!(clock.is_past(READ_EVERY / 2));

        // All processors are taken, and the watched one comes after others; often enough for the kernel to say so.
        let mut busy = Children(vec![spinning("10")]);
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        busy.0.extend((0..2 * processors).map(|_| spinning("0")));
        let mut clock = ServerClock::start(busy.0[0].id());
        let began = Instant::now();
        while began.elapsed() < 3 * READ_EVERY {
            thread::sleep(READ_EVERY);
            clock.elapsed();
        }
        let (counted, waited) = (clock.elapsed(), began.elapsed());
        assert!(counted < waited / 2, "{counted:?} of {waited:?}");
    }
}
