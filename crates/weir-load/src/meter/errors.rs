//! Errors of a server, their counts, and the words of the first of each.

use serde::{Deserialize, Serialize};

use weir_mysql::ServerError;

/// A server error that was tolerated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// The server's error code.
    pub code: u16,
    /// Number of times that it came.
    pub count: u64,
    /// The server's words when it first came.
    pub first_message: String,
    /// Time of the first one, nanoseconds since the run began.
    #[serde(skip)]
    pub first_ns: u64,
}

/// Errors by code. A load meets a handful of codes, so that looking through a list is fastest.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<ErrorRow>", into = "Vec<ErrorRow>")]
pub(crate) struct Errors(Vec<ErrorCount>);

/// Code, count, first message, and when that was; nanoseconds since the run began.
type ErrorRow = (u16, u64, String, u64);

impl From<Errors> for Vec<ErrorRow> {
    fn from(errors: Errors) -> Self {
        let written = |e: ErrorCount| (e.code, e.count, e.first_message, e.first_ns);
        errors.0.into_iter().map(written).collect()
    }
}

impl From<Vec<ErrorRow>> for Errors {
    fn from(written: Vec<ErrorRow>) -> Self {
        let read = |(code, count, first_message, first_ns)| ErrorCount {
            code,
            count,
            first_message,
            first_ns,
        };
        Self(written.into_iter().map(read).collect())
    }
}

impl Errors {
    /// Counts an error that came at `now_ns`.
    pub(crate) fn count(&mut self, error: &ServerError, now_ns: u64) {
        match self.0.iter_mut().find(|known| known.code == error.code) {
            Some(known) => known.count += 1,
            None => self.0.push(ErrorCount {
                code: error.code,
                count: 1,
                first_message: error.message.clone(),
                first_ns: now_ns,
            }),
        }
    }

    /// Adds another reactor's or interval's errors; the earliest words are kept.
    pub(crate) fn add(&mut self, other: &Self) {
        for error in &other.0 {
            match self.0.iter_mut().find(|known| known.code == error.code) {
                Some(known) => {
                    known.count += error.count;
                    if error.first_ns < known.first_ns {
                        known.first_ns = error.first_ns;
                        known.first_message.clone_from(&error.first_message);
                    }
                }
                None => self.0.push(error.clone()),
            }
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The most frequent first.
    pub(crate) fn into_sorted(mut self) -> Vec<ErrorCount> {
        self.0
            .sort_by_key(|error| (std::cmp::Reverse(error.count), error.code));
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(seen: &[(u16, &str, u64)]) -> Errors {
        let mut errors = Errors::default();
        for (code, message, at_ns) in seen {
            let message = (*message).to_owned();
            errors.count(
                &ServerError {
                    code: *code,
                    state: String::new(),
                    message,
                },
                *at_ns,
            );
        }
        errors
    }

    #[test]
    fn counts_add_up_and_the_earliest_words_stay() {
        let mut sum = errors(&[(1213, "second", 20), (1213, "third", 30), (1205, "slow", 5)]);
        sum.add(&errors(&[(1213, "first", 10), (1020, "changed", 40)]));
        let sorted = sum.into_sorted();
        let shown: Vec<_> = sorted
            .iter()
            .map(|e| (e.code, e.count, e.first_message.as_str()))
            .collect();
        assert_eq!(
            shown,
            [(1213, 3, "first"), (1020, 1, "changed"), (1205, 1, "slow")]
        );
    }
}
