//! Lease of the agent: one conductor at a time has it, for loads and tables.
//!
//! A conductor takes it before its first order and gives it back at its end. One that is not heard any more loses it.

use std::time::{Duration, Instant};

use super::Agent;
use crate::messages::{Answer, Call};

/// A conductor that is silent for so long may be followed by another: it beats once a second.
const SUCCESSOR_PATIENCE: Duration = Duration::from_millis(3_500);
/// A conductor that is silent for so long is gone, also where no other asks for the agent.
pub(super) const CONDUCTOR_PATIENCE: Duration = Duration::from_secs(10);

/// A conductor's hold on the agent.
pub(super) struct Lease {
    run: String,
    heard: Instant,
}

impl Lease {
    fn new(run: &str) -> Self {
        Self {
            run: run.to_owned(),
            heard: Instant::now(),
        }
    }

    pub(super) fn run(&self) -> &str {
        &self.run
    }

    fn silence(&self) -> Duration {
        self.heard.elapsed()
    }
}

impl Agent<'_> {
    /// Takes the agent for `run`; busy while another conductor has it, or while its work has not ended yet.
    #[allow(clippy::result_large_err, reason = "an answer is sent, once a run")]
    pub(super) fn take_for(&mut self, run: &str) -> Result<(), Answer> {
        let other = self.lease.take_if(|lease| lease.run != run);
        if let Some(lease) = other {
            let silence = lease.silence();
            if silence <= SUCCESSOR_PATIENCE {
                self.lease = Some(lease);
                return Err(Answer::Busy);
            }
            self.give_up(&format!(
                "its conductor was silent for {:.1} s, and another one took the agent",
                silence.as_secs_f64()
            ));
        }
        if self.is_working() {
            return Err(Answer::Busy);
        }
        self.lease = Some(Lease::new(run));
        Ok(())
    }

    fn is_working(&self) -> bool {
        let preparing = self.preparing.as_ref();
        self.job.is_some() || preparing.is_some_and(|preparing| !preparing.has_ended())
    }

    /// The conductor of `run` was heard.
    pub(super) fn hear_conductor(&mut self, run: &str) {
        if let Some(lease) = self.lease.as_mut().filter(|lease| lease.run == run) {
            lease.heard = Instant::now();
        }
    }

    /// A conductor's word to all agents.
    pub(super) fn hear(&mut self, call: &Call) {
        match call {
            Call::Beat { run } => self.hear_conductor(run),
            Call::Stop { run } => {
                if let Some(job) = self.job.as_ref().filter(|job| job.run == *run) {
                    job.end();
                }
                if let Some(preparing) = self.preparing.as_ref().filter(|one| one.run == *run) {
                    preparing.end();
                }
                self.lease.take_if(|lease| lease.run == *run);
            }
        }
    }

    /// Ends what is under way before its time; its conductor learns why.
    pub(super) fn give_up(&mut self, why: &str) {
        if let Some(job) = &self.job {
            job.give_up(why);
        }
        if let Some(preparing) = &self.preparing {
            preparing.give_up(why);
        }
    }

    /// Lets a conductor go that is not heard any more although the bus is there. Without the bus the load goes on to its
    /// planned end.
    pub(super) fn look_for_conductor(&mut self, has_bus: bool) {
        let Some(lease) = &mut self.lease else {
            return;
        };
        if !has_bus {
            lease.heard = Instant::now();
        } else if lease.silence() > CONDUCTOR_PATIENCE {
            self.lease = None;
            self.give_up(&format!(
                "its conductor was silent for {} s",
                CONDUCTOR_PATIENCE.as_secs()
            ));
        }
    }
}
