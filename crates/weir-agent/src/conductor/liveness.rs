//! Who is alive, by the conductor's own clock.

use std::time::{Duration, Instant};

/// An agent that gives no sign of life for so long is lost.
pub(crate) const LOST_AFTER: Duration = Duration::from_millis(2_250);
/// After the bus was away, agents have so long to show up again.
const AFTER_OUTAGE: Duration = Duration::from_secs(3);

/// Signs of life of some agents.
#[derive(Debug)]
pub(crate) struct Liveness {
    last: Vec<Instant>,
    longest: Vec<Duration>,
    /// Until then no agent is judged.
    judged_from: Instant,
    is_away: bool,
}

impl Liveness {
    /// Of so many agents, all of which were there at `now`.
    pub(crate) fn new(agents: usize, now: Instant) -> Self {
        Self {
            last: vec![now; agents],
            longest: vec![Duration::ZERO; agents],
            judged_from: now,
            is_away: false,
        }
    }

    /// An agent was heard.
    pub(crate) fn heard(&mut self, agent: usize, now: Instant) {
        if let (Some(last), Some(longest)) = (self.last.get_mut(agent), self.longest.get_mut(agent))
        {
            *longest = (*longest).max(now.saturating_duration_since(*last));
            *last = now;
        }
    }

    /// Whether this host reaches the bus.
    pub(crate) fn bus(&mut self, is_there: bool, now: Instant) {
        if !is_there {
            self.is_away = true;
        } else if std::mem::take(&mut self.is_away) {
            self.judged_from = now + AFTER_OUTAGE;
        }
    }

    /// How long an agent has been silent, if it is lost.
    pub(crate) fn lost(&self, agent: usize, now: Instant) -> Option<Duration> {
        if self.is_away || now < self.judged_from {
            return None;
        }
        let silent = now.saturating_duration_since(*self.last.get(agent)?);
        (silent > LOST_AFTER).then_some(silent)
    }

    /// The longest silence of an agent between two signs of life.
    pub(crate) fn longest_silence(&self, agent: usize) -> Duration {
        self.longest.get(agent).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_lost_after_two_and_a_quarter_seconds_and_not_while_the_bus_is_away() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut liveness = Liveness::new(2, start);
        liveness.heard(0, at(500));
        assert!(liveness.lost(1, at(2_200)).is_none());
        assert!(liveness.lost(1, at(2_300)).is_some() && liveness.lost(0, at(2_300)).is_none());
        // The bus dies: no agent is judged, and all get time to come back.
        liveness.bus(false, at(2_400));
        assert!(liveness.lost(1, at(9_000)).is_none());
        liveness.bus(true, at(9_000));
        assert!(liveness.lost(1, at(11_900)).is_none());
        liveness.heard(0, at(11_000));
        assert!(liveness.lost(0, at(12_100)).is_none());
        assert!(liveness.lost(1, at(12_100)).is_some());
        assert_eq!(liveness.longest_silence(0), Duration::from_millis(10_500));
    }
}
