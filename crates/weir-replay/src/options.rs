//! Options by which a capture is sent again.

use weir_model::{Duration, ReplayFilter, ReplayOrder, ReplayPace, ReplaySpec};

/// Options by which a capture is sent again.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOptions {
    /// When statements are due.
    pub pace: ReplayPace,
    /// Times are divided by it.
    pub speed: f64,
    /// Order between sessions.
    pub order: ReplayOrder,
    /// Which statements are sent, transactions always whole.
    pub filter: ReplayFilter,
    /// The schema of the capture whose statements are sent; `None`: that of most of them.
    pub schema: Option<String>,
    /// Only sessions of this account.
    pub user: Option<String>,
    /// From this time of the capture on, microseconds; a transaction is sent whole if it begins then.
    pub from_us: u64,
    /// So long; `None`: to its end.
    pub length_us: Option<u64>,
    /// This share of the sessions, each whole, 0 to 1.
    pub sessions: f64,
    /// Longest time that the server may be away before the replay ends.
    pub away_max: std::time::Duration,
}

/// A server that is started again after a crash may have to recover first.
const AWAY_MAX: std::time::Duration = std::time::Duration::from_mins(2);

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            pace: ReplayPace::default(),
            speed: 1.0,
            order: ReplayOrder::default(),
            filter: ReplayFilter::default(),
            schema: None,
            user: None,
            from_us: 0,
            length_us: None,
            sessions: 1.0,
            away_max: AWAY_MAX,
        }
    }
}

impl ReplayOptions {
    /// Those of a run; `length`: how long the run is to take, `None`: to the capture's end.
    pub fn of_spec(spec: &ReplaySpec, length: Option<Duration>) -> Self {
        let given = |text: &String| (!text.is_empty()).then(|| text.clone());
        let us = |length: Duration| u64::try_from(length.0.as_micros()).unwrap_or(u64::MAX);
        Self {
            pace: spec.pace,
            speed: spec.speed,
            order: spec.order,
            filter: spec.filter,
            schema: given(&spec.schema),
            user: given(&spec.user),
            from_us: us(spec.from),
            length_us: length.map(|length| (us(length) as f64 * spec.speed) as u64),
            sessions: spec.sessions,
            away_max: AWAY_MAX,
        }
    }

    /// Returns true if what an account asks is sent.
    pub(crate) fn takes_user(&self, user: &str) -> bool {
        self.user.as_ref().is_none_or(|wanted| wanted == user)
    }

    /// Returns true if a session is among the share. The same sessions are in each replay of a capture.
    pub(crate) fn takes(&self, session: u32) -> bool {
        // Weyl's sequence: any number of sessions in turn is spread evenly (Knuth, "The Art of Computer Programming",
        // volume 2, 3.5, exercise 3).
        let place = f64::from(session.wrapping_mul(0x9E37_79B9)) / 2_f64.powi(32);
        self.sessions >= 1.0 || place < self.sessions
    }

    /// Returns true if a transaction that begins then is sent.
    pub(crate) fn contains(&self, at_us: u64) -> bool {
        at_us >= self.from_us && !self.is_past(at_us)
    }

    /// Returns true if nothing begins any more.
    pub(crate) fn is_past(&self, at_us: u64) -> bool {
        let length_us = self.length_us;
        length_us.is_some_and(|length_us| at_us >= self.from_us.saturating_add(length_us))
    }

    /// When something of the capture is due, nanoseconds after the replay began.
    pub(crate) fn due_ns(&self, at_us: u64) -> u64 {
        self.scaled_ns(at_us.saturating_sub(self.from_us))
    }

    /// A length of the capture as one of the replay, nanoseconds.
    pub(crate) fn scaled_ns(&self, us: u64) -> u64 {
        (us as f64 * 1e3 / self.speed) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_sessions_is_that_share() {
        let options = ReplayOptions {
            sessions: 0.25,
            ..ReplayOptions::default()
        };
        let taken = (1..=4_000)
            .filter(|session| options.takes(*session))
            .count();
        assert!((990..=1_010).contains(&taken), "{taken}");
        let of_user = ReplayOptions {
            user: Some("app".to_owned()),
            ..ReplayOptions::default()
        };
        assert!(of_user.takes_user("app") && !of_user.takes_user("root"));
        let twice = ReplayOptions {
            speed: 2.0,
            ..ReplayOptions::default()
        };
        assert_eq!(twice.scaled_ns(1_000), 500_000);
    }
}
