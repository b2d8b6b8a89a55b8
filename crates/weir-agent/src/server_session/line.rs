//! The way to the agent of a study's server: one thread keeps it, and gives a sign of life each second.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::crew::Crew;
use crate::error::AgentError;
use crate::messages::{Answer, Order, json};

/// Time between two signs of life.
const BEAT: Duration = Duration::from_secs(1);

/// The way to the agent, for several threads.
#[derive(Debug)]
pub(super) struct Line(Mutex<Option<UnboundedSender<Request>>>);

/// An order, and where its answer goes.
pub(super) struct Request {
    order: Order,
    what: &'static str,
    patience: Duration,
    answer: Sender<Result<Answer, AgentError>>,
}

impl Line {
    /// The way to `agent`, for the orders of `session`, and the thread that keeps it.
    pub(super) fn open(
        crew: Crew,
        agent: String,
        session: String,
    ) -> Result<(Self, JoinHandle<()>), AgentError> {
        let (line, requests) = unbounded_channel();
        let thread = std::thread::Builder::new()
            .name("weir-server-session".to_owned())
            .spawn(move || keep_line(&crew, &agent, &session, requests))
            .map_err(|error| AgentError::Host {
                what: "start a thread",
                why: error.to_string(),
            })?;
        Ok((Self(Mutex::new(Some(line))), thread))
    }

    pub(super) fn ask(
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

    /// Ends it: there are no more orders.
    pub(super) fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
