//! An agent: waits for orders of one conductor, and does its share of runs.

mod delivery;
mod facts;
mod job;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::{Client, Message, Subscriber, connection::State};
use futures_util::StreamExt as _;
use nkeys::XKey;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::MissedTickBehavior;
use weir_bus::{JoinFile, Subjects};
use weir_model::Secret;

use self::job::{Event, Job, StartOrder};
use crate::allowance::Allowance;
use crate::clock::{instant_at, now_ns};
use crate::error::AgentError;
use crate::messages::{Answer, Assignment, Beat, Call, Facts, Order, json};

/// Time between two signs of life.
const BEAT: Duration = Duration::from_millis(500);
/// A conductor that is silent for so long is gone.
const CONDUCTOR_PATIENCE: Duration = Duration::from_secs(10);
/// An order to begin must come so long before.
const NOTICE_NS: u64 = 100_000_000;

/// What an agent is started with.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Address and key.
    pub join: JoinFile,
    /// What its owner allows.
    pub allowance: Allowance,
    /// Version and commit of the program.
    pub version: String,
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
        let client = weir_bus::connect(&options.join).await?;
        on_event(&format!(
            "agent {} joined the bus at {}; Ctrl-C ends it",
            options.join.name, options.join.address
        ));
        let (mut agent, listening) = Agent::new(options, client).await?;
        agent.serve(listening, stop, on_event).await;
        let _ = agent.client.flush().await;
        Ok(())
    })
}

/// What an agent hears.
struct Listening {
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
    conductor_heard: Instant,
    goes_home: bool,
}

impl<'a> Agent<'a> {
    async fn new(
        options: &'a AgentOptions,
        client: Client,
    ) -> Result<(Self, Listening), AgentError> {
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
        let listening = Listening {
            orders: subscribe(subjects.orders(name)).await?,
            clock: subscribe(subjects.clock(name)).await?,
            all: subscribe(subjects.all()).await?,
            events: event_receiver,
        };
        let sealing_key = XKey::new();
        let agent = Self {
            facts: facts::of_this_host(
                &options.version,
                &options.allowance,
                sealing_key.public_key(),
            ),
            process: format!("{}-{}", std::process::id(), now_ns()),
            options,
            client,
            subjects,
            sealing_key,
            events,
            job: None,
            conductor_heard: Instant::now(),
            goes_home: false,
        };
        Ok((agent, listening))
    }

    async fn serve(
        &mut self,
        mut listening: Listening,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&str),
    ) {
        let mut beats = tokio::time::interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !stop.load(Ordering::Relaxed) && !self.goes_home {
            tokio::select! {
                biased;
                Some(question) = listening.clock.next() => self.tell_time(&question).await,
                Some(message) = listening.orders.next() => self.obey(&message, on_event).await,
                Some(message) = listening.all.next() => self.hear(&message.payload),
                Some(event) = listening.events.recv() => self.on_job(event, on_event).await,
                _ = beats.tick() => self.beat().await,
            }
        }
        if let Some(job) = self.job.take() {
            job.end();
        }
    }

    /// The time at which the question came, and at which the answer leaves.
    async fn tell_time(&self, question: &Message) {
        let received_ns = now_ns();
        let mut answer = received_ns.to_be_bytes().to_vec();
        answer.extend(now_ns().to_be_bytes());
        if let Some(reply) = &question.reply {
            let _ = self.client.publish(reply.clone(), answer.into()).await;
        }
    }

    async fn answer(&self, to: Option<&async_nats::Subject>, answer: &Answer) {
        if let Some(reply) = to {
            let _ = self
                .client
                .publish(reply.clone(), json(answer).into())
                .await;
        }
    }

    async fn obey(&mut self, message: &Message, on_event: &mut dyn FnMut(&str)) {
        self.conductor_heard = Instant::now();
        let reply = message.reply.as_ref();
        let answer = match serde_json::from_slice(&message.payload) {
            Ok(Order::Probe) => Answer::Facts(self.facts.clone()),
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
            Ok(Order::Down) => {
                on_event("the conductor ends this agent");
                self.goes_home = true;
                Answer::Done
            }
            Err(error) => refused(format!("the order is not understood ({error})")),
        };
        self.answer(reply, &answer).await;
    }

    /// Begins to connect for a share of a run.
    #[allow(clippy::result_large_err, reason = "an answer is sent, once a run")]
    fn assign(
        &mut self,
        assignment: Assignment,
        reply: Option<async_nats::Subject>,
    ) -> Result<(), Answer> {
        if let Some(job) = &self.job {
            // An earlier run whose end was not heard of.
            job.end();
            return Err(Answer::Busy);
        }
        if assignment.version != self.options.version {
            return Err(refused(format!(
                "its version is {}, the conductor's is {}; install the same on both hosts",
                self.options.version, assignment.version
            )));
        }
        let password = self.open(&assignment).map_err(refused)?;
        let writes_replicas = assignment.plan.writes_replicas;
        let plan = assignment.plan.plan(password).map_err(refused)?;
        self.options.allowance.check(&plan).map_err(refused)?;
        let reports = delivery::start(
            &self.client,
            self.subjects
                .result(&assignment.run, &self.options.join.name),
            &assignment.run,
            &self.options.join.name,
        );
        let job = Job::start(
            assignment.run,
            plan,
            writes_replicas,
            reply,
            self.events.clone(),
            reports,
        );
        self.job = Some(job.map_err(refused)?);
        Ok(())
    }

    fn open(&self, assignment: &Assignment) -> Result<Secret, String> {
        let failed =
            |error: nkeys::error::Error| format!("the password cannot be opened ({error})");
        let sender = XKey::from_public_key(&assignment.sealed_by).map_err(failed)?;
        let opened = self.sealing_key.open(&assignment.password, &sender);
        let text = String::from_utf8(opened.map_err(failed)?);
        text.map(Secret::new)
            .map_err(|_| "the password is no text".to_owned())
    }

    fn arm(&self, run: &str, start_ns: u64, reporters_before: u32) -> Answer {
        if now_ns() + NOTICE_NS > start_ns {
            return refused("the order to begin came too late".to_owned());
        }
        let order = StartOrder::Arm(weir_load::PartStart {
            at: instant_at(start_ns),
            reporters_before,
        });
        self.order_start(run, order)
    }

    fn order_start(&self, run: &str, order: StartOrder) -> Answer {
        match self.job.as_ref().filter(|job| job.run == run) {
            Some(job) if job.order(order) => Answer::Done,
            _ => refused(format!("it has no run {run} that waits for its start")),
        }
    }

    fn hear(&mut self, payload: &[u8]) {
        self.conductor_heard = Instant::now();
        let Some(job) = &self.job else {
            return;
        };
        match serde_json::from_slice(payload) {
            Ok(Call::Stop { run }) if run == job.run => job.end(),
            // The conductor is at another run.
            Ok(Call::Beat { run }) if run != job.run => job.end(),
            _ => {}
        }
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
        }
    }

    /// A sign of life. A conductor that is not heard any more, although the bus is there, is gone.
    async fn beat(&mut self) {
        let beat = Beat {
            process: self.process.clone(),
            run: self.job.as_ref().map(|job| job.run.clone()),
            done: self.job.as_ref().map_or(0, Job::done),
        };
        if self.client.connection_state() != State::Connected {
            // Without the bus the load goes on to its planned end.
            self.conductor_heard = Instant::now();
            return;
        }
        let subject = self.subjects.beat(&self.options.join.name);
        let _ = self.client.publish(subject, json(&beat).into()).await;
        if self.conductor_heard.elapsed() > CONDUCTOR_PATIENCE
            && let Some(job) = &self.job
        {
            job.end();
        }
    }
}

fn refused(why: String) -> Answer {
    Answer::Refused { why }
}
