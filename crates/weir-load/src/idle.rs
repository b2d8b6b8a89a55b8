//! Connections that do nothing but stay, as those of applications' pools do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::LoadError;
use crate::connect::Servers;
use crate::plan::LoadPlan;
use weir_mysql::{ClientError, Connection, Patience};

/// Interval at which each sends something, so that neither the server nor a firewall closes it.
const SIGN_OF_LIFE: Duration = Duration::from_secs(20);
/// Longest wait for an answer: a server that is silent must not hold the end of a run.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// Interval of looks for the end of the load.
const PACE: Duration = Duration::from_millis(50);

/// Connections that are open.
pub(crate) struct IdleConnections(Vec<Connection>);

impl IdleConnections {
    /// Opens as many as `plan` wants, after those of the load.
    pub(crate) fn open(
        plan: &LoadPlan,
        servers: &Servers,
        stop: &AtomicBool,
    ) -> Result<Self, LoadError> {
        let numbers = plan.share().idle;
        let mut connections = Vec::new();
        for number in numbers {
            if stop.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted("connecting"));
            }
            connections.push(Connection::connect(
                servers.for_connection(number),
                true,
                Patience::Each(ANSWER_LIMIT),
            )?);
        }
        Ok(Self(connections))
    }

    /// Keeps them alive until `is_over`; how many were still there then.
    pub(crate) fn keep(mut self, is_over: &AtomicBool) -> u64 {
        let mut due = Instant::now() + SIGN_OF_LIFE;
        while !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(PACE);
            if Instant::now() >= due {
                self.say_something();
                due = Instant::now() + SIGN_OF_LIFE;
            }
        }
        self.say_something();
        self.0.len() as u64
    }

    /// Connections that do not answer are gone; after one that is silent the others are not asked.
    fn say_something(&mut self) {
        let mut is_silent = false;
        self.0.retain_mut(|connection| {
            if is_silent {
                return false;
            }
            let answer = connection.run("DO 0");
            is_silent = matches!(answer, Err(ClientError::Timeout { .. }));
            answer.is_ok()
        });
    }
}
