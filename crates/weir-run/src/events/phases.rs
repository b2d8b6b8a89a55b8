//! Phases of a statement, from looks at the server's process list.

use weir_model::{Blocker, EventPhase};

/// A look at the process list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    /// Time of the look, seconds since the measurement began.
    pub(super) at_s: f64,
    /// The statement's state.
    pub(super) state: String,
}

/// The phases so far. A phase begins halfway between the last look before it and its first.
#[derive(Debug)]
pub(super) struct Phases {
    began_s: f64,
    last: Option<Look>,
    phases: Vec<EventPhase>,
}

impl Phases {
    pub(super) fn new(began_s: f64) -> Self {
        Self {
            began_s,
            last: None,
            phases: Vec::new(),
        }
    }

    /// Adds a look.
    pub(super) fn add(&mut self, look: Look) {
        let begins_s = match (&self.last, self.phases.last_mut()) {
            (Some(last), Some(phase)) if last.state != look.state => {
                let turn_s = f64::midpoint(last.at_s, look.at_s);
                phase.to_s = turn_s;
                Some(turn_s)
            }
            (None, _) => Some(self.began_s),
            _ => None,
        };
        if let Some(from_s) = begins_s {
            self.phases.push(EventPhase {
                waits_for_lock: is_lock_wait(&look.state),
                state: look.state.clone(),
                from_s,
                to_s: look.at_s,
                blockers: Vec::new(),
            });
        }
        self.last = Some(look);
    }

    /// Looks at a wait for a lock that goes on and of which nothing is known yet.
    pub(super) fn unexplained_wait(&mut self) -> Option<&mut Vec<Blocker>> {
        let last_s = self.last.as_ref()?.at_s;
        let phase = self.phases.last_mut()?;
        // At its first look connections that only pass by may hold the lock, too.
        let lasts = last_s - phase.from_s > 0.1;
        (phase.waits_for_lock && lasts && phase.blockers.is_empty()).then_some(&mut phase.blockers)
    }

    /// The statement is over.
    pub(super) fn end(mut self, at_s: f64) -> Vec<EventPhase> {
        match self.phases.last_mut() {
            Some(last) => last.to_s = at_s,
            // It was over before the first look.
            None => self.phases.push(EventPhase {
                state: String::new(),
                from_s: self.began_s,
                to_s: at_s,
                waits_for_lock: false,
                blockers: Vec::new(),
            }),
        }
        self.phases
    }
}

/// `Waiting for table metadata lock`, `Waiting for table level lock`, and the like.
pub(super) fn is_lock_wait(state: &str) -> bool {
    state.starts_with("Waiting for ") && state.ends_with(" lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: &str = "Waiting for table metadata lock";

    #[test]
    fn phases_have_no_gaps_and_sum_up_to_the_statement() {
        let mut phases = Phases::new(1.0);
        for (at_s, state) in [
            (1.05, WAIT),
            (1.1, WAIT),
            (1.2, "altering table"),
            (1.3, WAIT),
        ] {
            phases.add(Look {
                at_s,
                state: state.to_owned(),
            });
        }
        let phases = phases.end(1.4);
        let found: Vec<_> = phases
            .iter()
            .map(|phase| (phase.waits_for_lock, phase.length_s()))
            .collect();
        for ((waits, length_s), expected) in
            found.iter().zip([(true, 0.15), (false, 0.1), (true, 0.15)])
        {
            assert_eq!(*waits, expected.0);
            assert!((length_s - expected.1).abs() < 1e-9, "{found:?}");
        }
        let sum: f64 = found.iter().map(|(_, length_s)| length_s).sum();
        assert!((sum - 0.4).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn a_statement_that_nobody_saw_has_one_phase() {
        let phases = Phases::new(2.0).end(2.01);
        assert_eq!(phases.len(), 1);
        assert!((phases[0].length_s() - 0.01).abs() < 1e-9);
    }

    #[test]
    fn a_wait_is_asked_about_once_it_lasts() {
        let mut phases = Phases::new(0.0);
        let look = |at_s| Look {
            at_s,
            state: WAIT.to_owned(),
        };
        phases.add(look(0.05));
        assert!(phases.unexplained_wait().is_none());
        phases.add(look(0.15));
        assert!(phases.unexplained_wait().is_some());
    }

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
