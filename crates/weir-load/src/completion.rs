//! Asked and done, quantity by quantity: why a load ended, and whether that is complete.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::LoadError;

/// Reason that a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadEnd {
    /// The planned time was over.
    Time,
    /// The planned number of transactions was done.
    Events,
    /// The sessions had nothing more to do.
    Sessions,
    /// The caller stopped it.
    Stopped,
}

impl fmt::Display for LoadEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "its time was over",
            Self::Events => "its transactions were done",
            Self::Sessions => "its sessions ended by themselves",
            Self::Stopped => "it was stopped",
        })
    }
}

/// Way in which a quantity binds a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// The load ends where the first of these is reached.
    Limit,
    /// All of it must be done.
    Owed,
    /// A wish that the server may be too slow for.
    Wish,
}

/// A quantity as it was asked for and as it was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Name, with its unit if it has one: `seconds`, `connections`.
    pub name: String,
    /// Way in which it binds the load.
    pub duty: Duty,
    /// As asked for.
    pub asked: f64,
    /// As done.
    pub done: f64,
}

impl Goal {
    /// A quantity of which all must be done.
    pub(crate) fn owed(name: &str, asked: u64, done: u64) -> Self {
        Self::new(name, Duty::Owed, asked as f64, done as f64)
    }

    pub(crate) fn new(name: &str, duty: Duty, asked: f64, done: f64) -> Self {
        Self {
            name: name.to_owned(),
            duty,
            asked,
            done,
        }
    }

    /// Less was done than asked for; a rounded nanosecond is not less.
    fn is_short(&self) -> bool {
        self.done + 1e-9 < self.asked
    }
}

/// A load's goals, and why it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// Reason that it ended.
    pub end: LoadEnd,
    /// Each quantity as asked for and as done.
    pub goals: Vec<Goal>,
}

impl Completion {
    /// Creates the completion of these goals; `is_stopped`: the caller wanted an end.
    pub(crate) fn new(goals: Vec<Goal>, is_stopped: bool) -> Self {
        let end = end(&goals, is_stopped);
        Self { end, goals }
    }

    /// The quantity that is missing, unless the caller stopped the load; `ends_with_sessions`: a limit need not be reached.
    fn shortfall(&self, ends_with_sessions: bool) -> Option<&Goal> {
        if self.end == LoadEnd::Stopped {
            return None;
        }
        let limits_bind = self.end == LoadEnd::Sessions && !ends_with_sessions;
        self.goals.iter().find(|goal| {
            let binds = match goal.duty {
                Duty::Limit => limits_bind,
                Duty::Owed => true,
                Duty::Wish => false,
            };
            binds && goal.is_short()
        })
    }

    /// Passes if all was done that was asked for, or if the caller stopped the load.
    ///
    /// # Errors
    ///
    /// [`LoadError::Incomplete`] names the first quantity that is missing.
    pub(crate) fn check(&self, ends_with_sessions: bool) -> Result<(), LoadError> {
        self.shortfall(ends_with_sessions).map_or(Ok(()), |goal| {
            Err(LoadError::Incomplete {
                what: goal.name.clone(),
                asked: goal.asked,
                done: goal.done,
                why: self.end.to_string(),
            })
        })
    }
}

/// Returns the reason that a load with these goals ended.
fn end(goals: &[Goal], is_stopped: bool) -> LoadEnd {
    let is_reached = |name: &str| {
        let mut goals = goals.iter();
        goals.any(|goal| goal.name == name && !goal.is_short())
    };
    if is_reached("seconds") {
        LoadEnd::Time
    } else if is_reached("transactions") {
        LoadEnd::Events
    } else if is_stopped {
        LoadEnd::Stopped
    } else {
        LoadEnd::Sessions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(asked: f64, done: f64) -> Goal {
        Goal::new("seconds", Duty::Limit, asked, done)
    }

    fn transactions(asked: u64, done: u64) -> Goal {
        Goal::new("transactions", Duty::Limit, asked as f64, done as f64)
    }

    fn refusal(completion: &Completion) -> String {
        completion.check(false).unwrap_err().to_string()
    }

    #[test]
    fn the_first_limit_ends_a_load_and_no_other_is_owed_then() {
        let by_time = Completion::new(vec![seconds(10.0, 10.0), transactions(9, 5)], false);
        assert_eq!(by_time.end, LoadEnd::Time);
        by_time.check(false).unwrap();
        let by_events = Completion::new(vec![seconds(10.0, 2.0), transactions(9, 9)], false);
        assert_eq!(by_events.end, LoadEnd::Events);
        by_events.check(false).unwrap();
    }

    #[test]
    fn a_load_that_ends_before_its_limits_is_an_error_unless_it_was_stopped() {
        let short = Completion::new(vec![seconds(40.0, 12.9)], false);
        assert_eq!(
            refusal(&short),
            "the load is incomplete: 12.9 of 40 seconds (its sessions ended by themselves); it does not count"
        );
        short.check(true).unwrap();
        let stopped = Completion::new(vec![seconds(40.0, 12.9), Goal::owed("rows", 7, 2)], true);
        assert_eq!(stopped.end, LoadEnd::Stopped);
        stopped.check(false).unwrap();
        // A wish to stop that comes after the end changes nothing.
        assert_eq!(
            Completion::new(vec![seconds(40.0, 40.0)], true).end,
            LoadEnd::Time
        );
    }

    #[test]
    fn what_is_owed_must_be_done_whatever_ended_the_load() {
        let fewer = Completion::new(
            vec![seconds(4.0, 4.0), Goal::owed("connections", 64, 63)],
            false,
        );
        let told = refusal(&fewer);
        assert!(
            told.contains("63 of 64 connections (its time was over)"),
            "{told}"
        );
        let slow = Goal::new("transactions/s", Duty::Wish, 1_000.0, 500.0);
        Completion::new(vec![seconds(4.0, 4.0), slow], false)
            .check(false)
            .unwrap();
    }
}
