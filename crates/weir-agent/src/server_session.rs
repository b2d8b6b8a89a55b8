//! The server of a study on the host of an agent, as the conductor leads it.
//!
//! One thread keeps the connection: it passes steps on, and gives a sign of life each second. Without one for 10 s
//! the agent ends whatever it started.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use weir_model::{AGENT_AUTO, Secret, ServerHost};
use weir_probe::{Probe, ProbeError, Readings};

use crate::allowance::Permission;
use crate::clock::now_ns;
use crate::crew::{Crew, PROMPT, unexpected};
use crate::error::AgentError;
use crate::messages::{Answer, Facts, Order, Sample, ServeOrder, json};
use crate::own_process::own_process;
use crate::sealing::seal;
use crate::server_host::{SAMPLE_PATIENCE, host, read};
use crate::server_role::{ServerReply, ServerStep};

/// Time between two signs of life.
const BEAT: Duration = Duration::from_secs(1);
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
    thread: Option<JoinHandle<()>>,
}

/// The way to the agent, for several threads.
#[derive(Debug)]
struct Line(Mutex<Option<UnboundedSender<Request>>>);

/// An order, and where its answer goes.
struct Request {
    order: Order,
    what: &'static str,
    patience: Duration,
    answer: Sender<Result<Answer, AgentError>>,
}

impl Line {
    fn ask(
        &self,
        order: Order,
        what: &'static str,
        patience: Duration,
    ) -> Result<Answer, AgentError> {
        let gone = || AgentError::Host {
            what: "talk to the server's host",
            why: "the connection was ended".to_owned(),
        };
        let (answer, answered) = channel();
        let request = Request {
            order,
            what,
            patience,
            answer,
        };
        {
            let line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let sent = line.as_ref().map(|line| line.send(request));
            sent.and_then(Result::ok).ok_or_else(gone)?;
        }
        answered.recv().map_err(|_| gone())?
    }

    fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl ServerSession {
    /// Takes the agent that `wanted` names: the agent's name, its host's, or `auto` for the only one that may start
    /// servers.
    ///
    /// # Errors
    ///
    /// A bus that cannot be joined, no such agent, or one that may not.
    pub fn join(join_file: &Path, version: &str, wanted: &str) -> Result<Self, AgentError> {
        let crew = Crew::join(join_file, version)?;
        let (agent, facts) = crew.runtime.block_on(crew.server_agent(wanted))?;
        let session = format!("{}-{:x}", std::process::id(), now_ns());
        let (line, requests) = unbounded_channel();
        let (to, of) = (agent.clone(), session.clone());
        let thread = std::thread::Builder::new()
            .name("weir-server-session".to_owned())
            .spawn(move || keep_line(&crew, &to, &of, requests))
            .map_err(|error| AgentError::Host {
                what: "start a thread",
                why: error.to_string(),
            })?;
        Ok(Self {
            line: Arc::new(Line(Mutex::new(Some(line)))),
            agent,
            facts,
            version: version.to_owned(),
            session,
            number: Mutex::new(0),
            thread: Some(thread),
        })
    }

    /// What a result says of the host; `device`: the block device below the data.
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
                    agent: self.agent.clone(),
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
                Err(AgentError::Silent { .. }) if heard.elapsed() < SILENCE => {
                    std::thread::sleep(PAUSE);
                }
                answer => return answer,
            }
            if stop.load(Ordering::Relaxed) {
                return Err(AgentError::Interrupted);
            }
        }
    }

    /// Ends all that was started there; whether the agent has said so.
    fn end(&self) -> bool {
        let until = Instant::now() + END;
        let mut heard = Instant::now();
        while Instant::now() < until && heard.elapsed() < SILENCE {
            let session = self.session.clone();
            match self.line.ask(Order::ServeEnd { session }, "end", PROMPT) {
                Ok(Answer::Working { .. }) => heard = Instant::now(),
                Ok(_) => return true,
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
        false
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

/// Passes orders on and gives signs of life, until there are no more orders.
fn keep_line(crew: &Crew, agent: &str, session: &str, mut requests: UnboundedReceiver<Request>) {
    let subject = crew.subjects.orders(agent);
    let beat = json(&Order::ServeBeat {
        session: session.to_owned(),
    });
    crew.runtime.block_on(async {
        let mut beats = tokio::time::interval(BEAT);
        let mut asked = FuturesUnordered::new();
        loop {
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => asked.push(pass_on(crew, agent, request)),
                    None => return,
                },
                Some(()) = asked.next(), if !asked.is_empty() => {}
                _ = beats.tick() => {
                    let _ = crew.client.publish(subject.clone(), beat.clone().into()).await;
                }
            }
        }
    });
}

async fn pass_on(crew: &Crew, agent: &str, request: Request) {
    let answer = crew.ask(agent, request.what, &request.order, request.patience);
    let answer = answer.await;
    // Who asked may be gone.
    let _ = request.answer.send(answer);
}

/// Asks for the samples of one source on the server's host.
#[derive(Debug)]
pub struct RemoteProbe {
    line: Arc<Line>,
    agent: String,
    /// Agent, host and source.
    name: String,
    watch: String,
}

impl RemoteProbe {
    fn ask(&self) -> Result<Sample, AgentError> {
        let watch = self.watch.clone();
        match self
            .line
            .ask(Order::Sample { watch }, "sample", SAMPLE_PATIENCE)?
        {
            Answer::Sample(sample) => Ok(sample),
            answer => Err(unexpected(&self.agent, &answer)),
        }
    }
}

impl Probe for RemoteProbe {
    fn name(&self) -> &'static str {
        ServerHost::SOURCE
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        read(readings, &self.name, self.ask())
    }
}

impl Crew {
    /// The agent that `wanted` means and that may start servers.
    async fn server_agent(&self, wanted: &str) -> Result<(String, Facts), AgentError> {
        let none = |why: String| AgentError::NoServerRole {
            wanted: wanted.to_owned(),
            why,
        };
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        for name in self.present().await?.into_keys() {
            let facts = self.facts(&name).await?;
            if wanted != AGENT_AUTO && wanted != name && wanted != facts.host {
                continue;
            }
            if facts.allows.contains(&Permission::Server) {
                found.push((name, facts));
            } else {
                refused.push(name);
            }
        }
        if found.len() > 1 {
            let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
            return Err(none(format!(
                "{} may start it; name one of them",
                names.join(" and ")
            )));
        }
        let Some((agent, facts)) = found.pop() else {
            return Err(none(match refused.as_slice() {
                [] => "no such agent is there".to_owned(),
                names => format!("the owner of {} does not allow `server`", names.join(", ")),
            }));
        };
        if facts.version != self.version {
            return Err(AgentError::Version {
                agent,
                theirs: facts.version,
                ours: self.version.clone(),
            });
        }
        Ok((agent, facts))
    }
}
