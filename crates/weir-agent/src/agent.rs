//! An agent: waits for orders of one conductor, and does its share of runs.

mod delivery;
mod facts;
mod hosted_session;
mod job;
mod lease;
mod orders;
mod prepare_job;
mod server_steps;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::bus::{JoinFile, Subjects};
use async_nats::{Client, Message, Subscriber, connection::State};
use futures_util::StreamExt as _;
use nkeys::XKey;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use weir_process::monotonic_ns;

use self::hosted_session::HostedSession;
use self::job::{Event, Job, StartOrder};
use self::lease::Lease;
use self::prepare_job::PrepareJob;
use self::watch::Watch;
use crate::allowance::Allowance;
use crate::error::AgentError;
use crate::messages::{Answer, Beat, Facts, Order, json};
use crate::server_role::ServerRole;

/// Time between two signs of life.
const BEAT: Duration = Duration::from_millis(500);
/// Longest wait of an agent that ends for the end of its load, and for the bus to take what it has said of it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Options of an agent.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Address and key.
    pub join: JoinFile,
    /// Permissions by its owner.
    pub allowance: Allowance,
    /// By which a conductor chooses among agents: `zone=b`.
    pub labels: Vec<String>,
    /// Version and commit of the program.
    pub version: String,
    /// Role that starts servers of studies here, if its owner allows it.
    pub server_role: Option<Arc<dyn ServerRole>>,
}

/// Serves until `stop`, or until the conductor ends it. Calls `on_event` with a line for each event.
///
/// # Errors
///
/// A bus that cannot be joined.
pub fn serve(
    options: &AgentOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&str),
) -> Result<(), AgentError> {
    let runtime = crate::runtime()?;
    runtime.block_on(async {
        let client = crate::bus::connect(&options.join).await?;
        on_event(&format!(
            "agent {} joined the bus at {}; Ctrl-C ends it",
            options.join.name, options.join.address
        ));
        let (mut agent, listening) = Agent::new(options, client).await?;
        agent.serve(listening, stop, on_event).await;
        // Without the bus there is nothing to wait for.
        let _ = tokio::time::timeout(LAST_WORDS, agent.last_words()).await;
        Ok(())
    })
}

/// Subscriptions of an agent.
struct Subscriptions {
    orders: Subscriber,
    clock: Subscriber,
    all: Subscriber,
    events: UnboundedReceiver<Event>,
}

struct Agent<'a> {
    options: &'a AgentOptions,
    client: Client,
    subjects: Subjects,
    facts: Facts,
    sealing_key: XKey,
    /// Of this process.
    process: String,
    events: UnboundedSender<Event>,
    job: Option<Job>,
    preparing: Option<PrepareJob>,
    /// Of servers that others run; the latest last.
    watches: Vec<Watch>,
    serving: Option<HostedSession>,
    lease: Option<Lease>,
    /// The way of the reports of the latest job to the bus.
    delivery: Option<JoinHandle<()>>,
    is_shutting_down: bool,
}

impl<'a> Agent<'a> {
    async fn new(
        options: &'a AgentOptions,
        client: Client,
    ) -> Result<(Self, Subscriptions), AgentError> {
        let subjects = options.join.subjects();
        let name = &options.join.name;
        let subscribe = async |subject: String| {
            let subscribed = client.subscribe(subject).await;
            subscribed.map_err(|error| AgentError::Host {
                what: "listen to the bus",
                why: error.to_string(),
            })
        };
        let (events, event_receiver) = unbounded_channel();
        let listening = Subscriptions {
            orders: subscribe(subjects.orders(name)).await?,
            clock: subscribe(subjects.clock(name)).await?,
            all: subscribe(subjects.all()).await?,
            events: event_receiver,
        };
        let sealing_key = XKey::new();
        let agent = Self {
            facts: facts::of_this_host(options, sealing_key.public_key()),
            process: format!("{}-{}", std::process::id(), monotonic_ns()),
            options,
            client,
            subjects,
            sealing_key,
            events,
            job: None,
            preparing: None,
            watches: Vec::new(),
            serving: None,
            lease: None,
            delivery: None,
            is_shutting_down: false,
        };
        Ok((agent, listening))
    }

    async fn serve(
        &mut self,
        mut listening: Subscriptions,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&str),
    ) {
        let mut beats = tokio::time::interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ending = None;
        loop {
            if ending.is_none() && (self.is_shutting_down || stop.load(Ordering::Relaxed)) {
                ending = Some(Instant::now());
                self.give_up("the agent was ended on its host");
            }
            if ending.is_some_and(|since| self.job.is_none() || since.elapsed() > LAST_WORDS) {
                break;
            }
            tokio::select! {
                biased;
                Some(question) = listening.clock.next() => self.tell_time(&question).await,
                Some(message) = listening.orders.next() => self.obey(&message, on_event).await,
                Some(message) = listening.all.next() => {
                    if let Ok(call) = serde_json::from_slice(&message.payload) {
                        self.hear(&call);
                    }
                }
                Some(event) = listening.events.recv() => self.on_job(event, on_event).await,
                _ = beats.tick() => self.beat().await,
            }
        }
        // Waits until its server is gone.
        drop(self.serving.take());
    }

    /// Waits until the bus has all reports.
    async fn last_words(&mut self) {
        if let Some(delivery) = self.delivery.take() {
            let _ = delivery.await;
        }
        let _ = self.client.flush().await;
    }

    /// The time at which the question came, and at which the answer leaves.
    async fn tell_time(&self, question: &Message) {
        let received_ns = monotonic_ns();
        let mut answer = received_ns.to_be_bytes().to_vec();
        answer.extend(monotonic_ns().to_be_bytes());
        if let Some(reply) = &question.reply {
            let _ = self.client.publish(reply.clone(), answer.into()).await;
        }
    }

    async fn answer(&self, to: Option<&async_nats::Subject>, answer: &Answer) {
        self.answer_bytes(to, json(answer)).await;
    }

    async fn answer_bytes(&self, to: Option<&async_nats::Subject>, answer: Vec<u8>) {
        if let Some(reply) = to {
            let _ = self.client.publish(reply.clone(), answer.into()).await;
        }
    }

    async fn obey(&mut self, message: &Message, on_event: &mut dyn FnMut(&str)) {
        let reply = message.reply.as_ref();
        let order = serde_json::from_slice(&message.payload);
        let answer = match order {
            Ok(Order::Probe) => Answer::Facts(self.facts.clone()),
            Ok(Order::Reserve { run }) => match self.take_for(&run) {
                Ok(()) => Answer::Done,
                Err(answer) => answer,
            },
            Ok(Order::Assign(assignment)) => {
                let run = assignment.run.clone();
                match self.assign(*assignment, reply.cloned()) {
                    // The answer comes when the connections are there.
                    Ok(()) => {
                        on_event(&format!("run {run}: connecting"));
                        return;
                    }
                    Err(answer) => answer,
                }
            }
            Ok(Order::Arm {
                run,
                start_ns,
                reporters_before,
            }) => self.arm(&run, start_ns, reporters_before),
            Ok(Order::Disarm { run }) => self.order_start(&run, StartOrder::Disarm),
            Ok(Order::Prepare(assignment)) => match self.prepare(*assignment, on_event) {
                Ok(()) => Answer::Done,
                Err(answer) => answer,
            },
            Ok(Order::Preparing { run }) => match &self.preparing {
                Some(preparing) if preparing.run == run => preparing.state(),
                _ => refused("it was started again meanwhile".to_owned()),
            },
            Ok(Order::Watch(order)) => self.watch(&order),
            Ok(Order::Sample { watch }) => {
                if self.sample(&watch, reply.cloned(), on_event) {
                    return;
                }
                refused("it was started again since the run began".to_owned())
            }
            Ok(Order::Serve(order)) => match self.serve_step(*order, reply.cloned(), on_event) {
                Some(answer) => return self.answer_bytes(reply, answer).await,
                None => return,
            },
            Ok(Order::ServeBeat { session }) => return self.hear_session(&session),
            Ok(Order::ServeEnd { session }) => match self.end_session(&session, reply.cloned()) {
                Some(answer) => answer,
                None => return,
            },
            Ok(Order::Down) => {
                on_event("the conductor ends this agent");
                self.is_shutting_down = true;
                Answer::Done
            }
            Err(error) => refused(format!("the order is not understood ({error})")),
        };
        self.answer(reply, &answer).await;
    }

    async fn on_job(&mut self, event: Event, on_event: &mut dyn FnMut(&str)) {
        match event {
            Event::Ready { reply, ready } => {
                let answer = match ready {
                    Ok(ready) => Answer::Ready {
                        reporters: ready.reporters,
                        warnings: ready.warnings,
                    },
                    Err(why) => {
                        on_event(&format!("not ready: {why}"));
                        refused(why)
                    }
                };
                self.answer(reply.as_ref(), &answer).await;
            }
            Event::Ended { run, how } => {
                on_event(&format!("run {run}: {how}"));
                self.job = None;
            }
            Event::Sampled { reply, answer } => self.answer(reply.as_ref(), &answer).await,
            Event::WatchEnded { id } => self.watch_has_ended(&id, on_event),
            Event::Served {
                session,
                number,
                outcome,
            } => {
                let told = self.step_is_done(&session, number, outcome, on_event);
                if let Some((reply, answer)) = told {
                    self.answer_bytes(Some(&reply), answer).await;
                }
            }
            Event::ServingEnded { session } => {
                if let Some(reply) = self.session_has_ended(&session, on_event) {
                    self.answer(Some(&reply), &Answer::Done).await;
                }
            }
        }
    }

    /// A sign of life.
    async fn beat(&mut self) {
        let beat = Beat {
            process: self.process.clone(),
            run: self.lease.as_ref().map(|lease| lease.run().to_owned()),
            done: self.job.as_ref().map_or(0, Job::done),
        };
        let has_bus = self.client.connection_state() == State::Connected;
        self.keep_session(has_bus).await;
        self.look_for_conductor(has_bus);
        if has_bus {
            let subject = self.subjects.beat(&self.options.join.name);
            let _ = self.client.publish(subject, json(&beat).into()).await;
        }
    }
}

fn refused(why: String) -> Answer {
    Answer::Refused { why }
}
