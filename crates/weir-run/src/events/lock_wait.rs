//! How long a statement waits for locks, seen in the server's process list, and its end when the load is over.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use weir_mysql::Connection;

use super::clock::Clock;

/// Time between two looks at the process list.
const LOOK: Duration = Duration::from_millis(50);

/// What was seen of a statement.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Seen {
    /// How long it waited for locks, to a look, seconds.
    pub(super) lock_wait_s: f64,
    /// Whether it was ended because the load was over.
    pub(super) was_ended: bool,
}

/// Watches the statement of connection `id` until `done` says that it is over.
pub(super) fn watch(watcher: &mut Connection, id: u32, clock: &Clock, done: &Receiver<()>) -> Seen {
    let mut seen = Seen::default();
    let mut waits_since: Option<Instant> = None;
    loop {
        let is_done = done.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout);
        let now = Instant::now();
        if let Some(since) = waits_since.replace(now) {
            seen.lock_wait_s += (now - since).as_secs_f64();
        }
        if is_done {
            return seen;
        }
        if !waits_for_lock(watcher, id) {
            waits_since = None;
        }
        if clock.is_over() && !seen.was_ended {
            // The connection may be gone, and with it the statement.
            let _ = watcher.run(format!("KILL QUERY {id}"));
            seen.was_ended = true;
        }
    }
}

/// Whether the connection waits for a lock now. A look that fails sees none.
fn waits_for_lock(watcher: &mut Connection, id: u32) -> bool {
    let look = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id}");
    let state = watcher.first::<Option<String>>(look);
    matches!(state, Ok(Some(Some(state))) if is_lock_wait(&state))
}

/// `Waiting for table metadata lock`, `Waiting for table level lock`, and the like.
fn is_lock_wait(state: &str) -> bool {
    state.starts_with("Waiting for ") && state.ends_with(" lock")
}

#[cfg(test)]
mod tests {
    use super::is_lock_wait;

    #[test]
    fn states_of_both_servers_that_wait_for_locks_are_known() {
        for state in [
            "Waiting for table metadata lock",
            "Waiting for schema metadata lock",
            "Waiting for table level lock",
        ] {
            assert!(is_lock_wait(state), "{state}");
        }
        for state in ["", "altering table", "Waiting for query cache lock release"] {
            assert!(!is_lock_wait(state), "{state}");
        }
    }
}
