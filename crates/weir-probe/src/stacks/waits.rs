//! Waits of a process's threads: state and place in the kernel of each thread at each look, by `/proc/PID/task/TID/stat`
//! (`proc_pid_stat(5)`) and `wchan` (`proc_pid_wchan(5)`).

use std::fs;

use weir_model::StackCounts;

/// Place of a wait that the kernel does not tell.
const HIDDEN: &str = "place not shown";

/// Threads that did not run, by name, state and place.
#[derive(Debug, Default)]
pub(super) struct WaitCounts {
    pub(super) counts: StackCounts,
    /// Waits whose place the kernel did not tell.
    pub(super) hidden: u64,
}

impl WaitCounts {
    /// Counts the thread if it does not run.
    pub(super) fn look(&mut self, pid: u32, thread: u32, name: &str) {
        let file = |file: &str| fs::read_to_string(format!("/proc/{pid}/task/{thread}/{file}"));
        // It may have ended meanwhile.
        let Some(state) = file("stat").ok().and_then(|stat| state_of(&stat)) else {
            return;
        };
        let place = file("wchan").unwrap_or_default();
        let place = match place.trim() {
            "" | "0" => {
                self.hidden += 1;
                HIDDEN
            }
            place => place,
        };
        self.counts.add(format!("{name};{state};{place}"), 1);
    }
}

/// State of a thread that waits; `None` if it runs or has ended.
fn state_of(stat: &str) -> Option<&'static str> {
    // The name before it may have any letters.
    match stat.rsplit_once(')')?.1.trim_start().chars().next()? {
        'S' => Some("sleeps"),
        'D' => Some("waits for the kernel (D)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn a_state_stands_after_the_name() {
        assert_eq!(state_of("7 (a) D) S 1 7"), Some("sleeps"));
        assert!(state_of("7 (x) D 1").unwrap().contains("(D)"));
        assert_eq!(state_of("7 (x) R 1"), None);
        assert_eq!(state_of("7"), None);
    }

    #[test]
    fn a_thread_that_waits_is_counted_with_its_place() {
        let (to_waiter, wait) = mpsc::channel::<()>();
        let (told, id) = mpsc::channel();
        let waiter = thread::spawn(move || {
            told.send(rustix::thread::gettid()).unwrap();
            wait.recv().unwrap_err();
        });
        let thread = id.recv().unwrap().as_raw_nonzero().get() as u32;
        let mut waits = WaitCounts::default();
        while waits.counts.samples() == 0 {
            waits.look(std::process::id(), thread, "waiter");
        }
        let text = waits.counts.to_string();
        assert!(text.starts_with("waiter;sleeps;"), "{text}");
        assert!(waits.hidden == 1 || text.contains("futex"), "{text}");
        drop(to_waiter);
        waiter.join().unwrap();
        waits.look(std::process::id(), thread, "waiter");
        assert_eq!(waits.counts.samples(), 1);
    }
}
