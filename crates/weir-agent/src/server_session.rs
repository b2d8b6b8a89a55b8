//! The server of a study on the host of an agent, as the conductor leads it.
//!
//! One thread keeps the connection: it passes steps on, and gives a sign of life each second. Without one for 10 s
//! the agent ends whatever it started.

mod choice;
mod probe;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use weir_model::{Secret, ServerHost};
use weir_process::monotonic_ns;

pub use self::probe::RemoteProbe;
use crate::agent_pool::{AgentPool, PROMPT, unexpected};
use crate::error::AgentError;
use crate::line::Line;
use crate::messages::{Answer, Facts, Order, ServeOrder, json};
use crate::own_process::own_process;
use crate::sealing::seal;
use crate::server_host::host;
use crate::server_role::{ServerReply, ServerStep};

/// So long an order is repeated to an agent that does not answer: the bus may be started again.
const SILENCE: Duration = Duration::from_secs(10);
/// So long the end of an earlier conductor's server is waited for.
const BUSY: Duration = Duration::from_secs(30);
/// Pause before an order is given again.
const PAUSE: Duration = Duration::from_millis(300);
/// Longest wait for the end of a server.
const END: Duration = Duration::from_mins(1);
/// Most bytes of an order: the bus takes messages of 1 MiB.
const ORDER_BYTES_MAX: usize = 1_000_000;

/// An agent that starts the servers of one study. When it is dropped, all that was started there ends.
#[derive(Debug)]
pub struct ServerSession {
    line: Arc<Line>,
    agent: String,
    facts: Facts,
    version: String,
    session: String,
    /// Of the latest step.
    number: Mutex<u64>,
    /// It gave no answer for [`SILENCE`]: it is not waited for again.
    is_lost: AtomicBool,
    thread: Option<JoinHandle<()>>,
}

impl ServerSession {
    /// Takes the agent that `wanted` names: the agent's name, its host's, a label of it, or `auto` for the only one that
    /// may start servers.
    ///
    /// # Errors
    ///
    /// A bus that cannot be joined, no such agent, or one that may not.
    pub fn join(join_file: &Path, version: &str, wanted: &str) -> Result<Self, AgentError> {
        let crew = AgentPool::join(join_file, version)?;
        let (agent, facts) = crew.runtime.block_on(crew.server_agent(wanted))?;
        let session = format!("{}-{:x}", std::process::id(), monotonic_ns());
        let beat = Order::ServeBeat {
            session: session.clone(),
        };
        let (line, thread) = Line::open(crew, agent.clone(), Some(&beat))?;
        Ok(Self {
            line: Arc::new(line),
            agent,
            facts,
            version: version.to_owned(),
            session,
            number: Mutex::new(0),
            is_lost: AtomicBool::new(false),
            thread: Some(thread),
        })
    }

    /// The agent's own name.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the host for a result; `device`: the block device below the data.
    pub fn host(&self, device: Option<String>) -> ServerHost {
        host(
            self.agent.clone(),
            self.facts.clone(),
            device,
            &own_process(),
        )
    }

    /// Does a step and waits for what it gives. `on_rows` hears of rows that are made. `stop` ends the wait; the session
    /// is of no more use then.
    ///
    /// # Errors
    ///
    /// What the agent refuses or fails at; an agent that is silent; [`AgentError::Interrupted`].
    pub fn step(
        &self,
        step: ServerStep,
        password: Option<&Secret>,
        stop: &AtomicBool,
        on_rows: &mut dyn FnMut(u64, u64),
    ) -> Result<ServerReply, AgentError> {
        match self.answer_to(step, password, stop, on_rows)? {
            Answer::Served(reply) => Ok(reply),
            answer => Err(unexpected(&self.agent, &answer)),
        }
    }

    /// Sources of the server that runs, its drive and its host, from now on.
    ///
    /// # Errors
    ///
    /// As [`ServerSession::step`].
    pub fn probes(&self, stop: &AtomicBool) -> Result<Vec<RemoteProbe>, AgentError> {
        match self.answer_to(ServerStep::Watch, None, stop, &mut |_, _| ())? {
            Answer::WatchingServer(watching) => {
                let probes = watching.into_iter().map(|(source, watch)| RemoteProbe {
                    line: Arc::clone(&self.line),
                    name: format!("{} on {}: {source}", self.agent, self.facts.host),
                    watch,
                });
                Ok(probes.collect())
            }
            answer => Err(unexpected(&self.agent, &answer)),
        }
    }

    fn answer_to(
        &self,
        step: ServerStep,
        password: Option<&Secret>,
        stop: &AtomicBool,
        on_rows: &mut dyn FnMut(u64, u64),
    ) -> Result<Answer, AgentError> {
        let seal = |password| seal(password, &self.agent, &self.facts.sealing_key);
        let password = password.map(seal).transpose()?;
        let mut number = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        *number += 1;
        let order = ServeOrder {
            session: self.session.clone(),
            number: *number,
            version: self.version.clone(),
            step,
            client: own_process(),
            password,
        };
        let bytes = json(&order).len();
        if bytes > ORDER_BYTES_MAX {
            return Err(AgentError::TooLarge {
                bytes,
                max: ORDER_BYTES_MAX,
            });
        }
        let began = Instant::now();
        let mut heard = Instant::now();
        loop {
            let order = Order::Serve(Box::new(order.clone()));
            match self.line.ask(order, "serve", PROMPT) {
                Ok(Answer::Working { rows, rows_total }) => {
                    heard = Instant::now();
                    if rows_total > 0 {
                        on_rows(rows, rows_total);
                    }
                }
                // An earlier conductor's server is ending.
                Ok(Answer::Busy) if *number == 1 && began.elapsed() < BUSY => {
                    std::thread::sleep(PAUSE);
                }
                Err(AgentError::Silent { .. }) if heard.elapsed() < self.patience() => {
                    std::thread::sleep(PAUSE);
                }
                Err(error @ AgentError::Silent { .. }) => {
                    self.is_lost.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                answer => return answer,
            }
            if stop.load(Ordering::Relaxed) {
                return Err(AgentError::Interrupted);
            }
        }
    }

    /// For so long an agent that gives no answer is asked again.
    fn patience(&self) -> Duration {
        if self.is_lost.load(Ordering::Relaxed) {
            Duration::ZERO
        } else {
            SILENCE
        }
    }

    /// Ends all that was started there; whether the agent has said so.
    fn end(&self) -> bool {
        let until = Instant::now() + END;
        let mut heard = Instant::now();
        loop {
            let session = self.session.clone();
            match self.line.ask(Order::ServeEnd { session }, "end", PROMPT) {
                Ok(Answer::Working { .. }) => heard = Instant::now(),
                Ok(_) => return true,
                Err(_) => std::thread::sleep(PAUSE),
            }
            if Instant::now() >= until || heard.elapsed() >= self.patience() {
                return false;
            }
        }
    }
}

impl Drop for ServerSession {
    fn drop(&mut self) {
        // An agent that does not hear it ends the server when the signs of life end.
        let _ = self.end();
        self.line.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
