//! The way to one agent for several threads: a thread of its own keeps it, and gives signs of life if there are any.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::agent_pool::{AgentPool, unexpected};
use crate::error::AgentError;
use crate::messages::{Answer, Order, Sample, json};

/// Time between two signs of life.
const BEAT: Duration = Duration::from_secs(1);

/// Longest wait for figures; a sample that is a second old is none.
const SAMPLE_PATIENCE: Duration = Duration::from_millis(1_500);

/// The way to an agent, for several threads. When the last of them drops it, the connection ends.
#[derive(Debug)]
pub(crate) struct Line {
    agent: String,
    /// `None`: it was ended.
    requests: Mutex<Option<UnboundedSender<Request>>>,
}

/// An order, and where its answer goes.
struct Request {
    order: Order,
    what: &'static str,
    patience: Duration,
    answer: Sender<Result<Answer, AgentError>>,
}

impl Line {
    /// The way to `agent`, and the thread that keeps it; `beat`: an order without an answer, once a second.
    pub(crate) fn open(
        crew: AgentPool,
        agent: String,
        beat: Option<&Order>,
    ) -> Result<(Self, JoinHandle<()>), AgentError> {
        let (line, requests) = unbounded_channel();
        let name = agent.clone();
        let beat = beat.map(json);
        let thread = std::thread::Builder::new()
            .name("weir-line".to_owned())
            .spawn(move || keep_line(&crew, &name, beat.as_deref(), requests))
            .map_err(|error| AgentError::Host {
                what: "start a thread",
                why: error.to_string(),
            })?;
        let requests = Mutex::new(Some(line));
        Ok((Self { agent, requests }, thread))
    }

    /// The agent's answer to an order.
    pub(crate) fn ask(
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
            let requests = self.requests.lock();
            let requests = requests.unwrap_or_else(PoisonError::into_inner);
            let sent = requests.as_ref().map(|requests| requests.send(request));
            sent.and_then(Result::ok).ok_or_else(gone)?;
        }
        answered.recv().map_err(|_| gone())?
    }

    /// Ends it: there are no more orders.
    pub(crate) fn close(&self) {
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The figures of this moment, of a watch that the agent keeps.
    pub(crate) fn sample(&self, watch: &str) -> Result<Sample, AgentError> {
        let watch = watch.to_owned();
        match self.ask(Order::Sample { watch }, "sample", SAMPLE_PATIENCE)? {
            Answer::Sample(sample) => Ok(sample),
            answer => Err(unexpected(&self.agent, &answer)),
        }
    }
}

/// Passes orders on and gives signs of life, until there are no more orders.
fn keep_line(
    crew: &AgentPool,
    agent: &str,
    beat: Option<&[u8]>,
    mut requests: UnboundedReceiver<Request>,
) {
    let subject = crew.subjects.orders(agent);
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
                _ = beats.tick() => if let Some(beat) = beat {
                    let _ = crew.client.publish(subject.clone(), beat.to_vec().into()).await;
                }
            }
        }
    });
}

async fn pass_on(crew: &AgentPool, agent: &str, request: Request) {
    let answer = crew.ask(agent, request.what, &request.order, request.patience);
    let answer = answer.await;
    // Who asked may be gone.
    let _ = request.answer.send(answer);
}
