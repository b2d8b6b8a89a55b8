//! Liveness of agents, by a clock that runs only while this host hears the bus.
//!
//! The conductor sends itself messages through the bus. Each one that comes back (an echo) proves that the bus passes
//! messages on and that this process reads them; the signs of life that the bus had before it have been read. Only
//! such time counts as an agent's silence: a bus or a conductor that stands still makes no agent a lost one.

use std::time::{Duration, Instant};

/// An agent that gives no sign of life for so long is lost.
pub(crate) const LOST_AFTER: Duration = Duration::from_millis(2_250);
/// After the bus was away, agents have so long to show up again.
const AFTER_OUTAGE: Duration = Duration::from_secs(3);
/// An echo proves no more time than this: what was before it may have been a standstill.
const OBSERVED_MAX: Duration = Duration::from_millis(200);

/// Signs of life of some agents.
#[derive(Debug)]
pub(crate) struct Liveness {
    agents: Vec<Signs>,
    /// Time of the latest echo.
    echoed: Instant,
    /// Time that echoes have shown.
    observed: Duration,
    /// Until then no agent is judged.
    judged_from: Instant,
    away_since: Option<Instant>,
}

/// The signs of one agent.
#[derive(Debug, Clone)]
struct Signs {
    last: Instant,
    /// Time that was observed then.
    last_observed: Duration,
    longest: Duration,
}

impl Liveness {
    /// Of so many agents, all of which were there at `now`.
    pub(crate) fn new(agents: usize, now: Instant) -> Self {
        let signs = Signs {
            last: now,
            last_observed: Duration::ZERO,
            longest: Duration::ZERO,
        };
        Self {
            agents: vec![signs; agents],
            echoed: now,
            observed: Duration::ZERO,
            judged_from: now,
            away_since: None,
        }
    }

    /// An agent was heard.
    pub(crate) fn heard(&mut self, agent: usize, now: Instant) {
        if let Some(signs) = self.agents.get_mut(agent) {
            signs.longest = signs.longest.max(now.saturating_duration_since(signs.last));
            signs.last = now;
            signs.last_observed = self.observed;
        }
    }

    /// An echo came, and all signs of life that came before it were heard.
    pub(crate) fn echoed(&mut self, now: Instant) {
        let since = now.saturating_duration_since(self.echoed);
        self.observed += since.min(OBSERVED_MAX);
        self.echoed = now;
    }

    /// Notes that this host reaches the bus, or does not.
    pub(crate) fn bus(&mut self, is_there: bool, now: Instant) {
        if !is_there {
            self.away_since.get_or_insert(now);
        } else if self.away_since.take().is_some() {
            self.judged_from = now + AFTER_OUTAGE;
        }
    }

    /// Returns the time for which the bus has been away.
    pub(crate) fn away(&self, now: Instant) -> Duration {
        self.away_since
            .map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Time that echoes have shown.
    pub(crate) fn observed(&self) -> Duration {
        self.observed
    }

    /// Returns the time for which an agent has been silent, if it is lost.
    pub(crate) fn lost(&self, agent: usize, now: Instant) -> Option<Duration> {
        if self.away_since.is_some() || now < self.judged_from {
            return None;
        }
        let signs = self.agents.get(agent)?;
        let is_lost = self.observed.saturating_sub(signs.last_observed) > LOST_AFTER;
        is_lost.then(|| now.saturating_duration_since(signs.last))
    }

    /// The longest silence of an agent between two signs of life.
    pub(crate) fn longest_silence(&self, agent: usize) -> Duration {
        self.agents
            .get(agent)
            .map_or(Duration::ZERO, |signs| signs.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conductor that hears an echo every 100 ms.
    struct Scene {
        start: Instant,
        liveness: Liveness,
    }

    impl Scene {
        fn new(agents: usize) -> Self {
            let start = Instant::now();
            let liveness = Liveness::new(agents, start);
            Self { start, liveness }
        }

        fn at(&self, ms: u64) -> Instant {
            self.start + Duration::from_millis(ms)
        }

        fn echoes(&mut self, from_ms: u64, to_ms: u64) {
            for ms in (from_ms..=to_ms).step_by(100) {
                self.liveness.echoed(self.at(ms));
            }
        }

        fn is_lost(&self, agent: usize, ms: u64) -> bool {
            self.liveness.lost(agent, self.at(ms)).is_some()
        }
    }

    #[test]
    fn an_agent_is_lost_after_two_and_a_quarter_seconds() {
        let mut scene = Scene::new(2);
        scene.echoes(100, 500);
        scene.liveness.heard(0, scene.at(500));
        scene.echoes(600, 2_200);
        assert!(!scene.is_lost(1, 2_200));
        scene.echoes(2_300, 2_300);
        assert!(scene.is_lost(1, 2_300) && !scene.is_lost(0, 2_300));
        let silent = scene.liveness.lost(1, scene.at(2_300));
        assert_eq!(silent, Some(Duration::from_millis(2_300)));
    }

    #[test]
    fn a_conductor_or_a_bus_that_stands_still_loses_no_agent() {
        let mut scene = Scene::new(1);
        scene.echoes(100, 400);
        // It goes on after 10 s, and looks before it has read what came meanwhile.
        assert!(!scene.is_lost(0, 10_400));
        scene.echoes(10_400, 11_900);
        assert!(!scene.is_lost(0, 11_900));
        scene.liveness.heard(0, scene.at(11_900));
        assert_eq!(
            scene.liveness.longest_silence(0),
            Duration::from_millis(11_900)
        );
        // One that does not come back is lost for all that.
        scene.echoes(12_000, 14_200);
        assert!(scene.is_lost(0, 14_200));
    }

    #[test]
    fn no_agent_is_judged_while_the_bus_is_away() {
        let mut scene = Scene::new(2);
        scene.echoes(100, 2_300);
        scene.liveness.bus(false, scene.at(2_400));
        assert!(!scene.is_lost(1, 9_000));
        // All get time to come back.
        scene.liveness.bus(true, scene.at(9_000));
        scene.echoes(9_100, 11_900);
        assert!(!scene.is_lost(1, 11_900));
        scene.liveness.heard(0, scene.at(11_900));
        scene.echoes(12_000, 12_100);
        assert!(scene.is_lost(1, 12_100) && !scene.is_lost(0, 12_100));
    }
}
