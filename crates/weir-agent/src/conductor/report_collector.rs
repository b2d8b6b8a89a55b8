//! Takes the reports of all agents until the last one, and watches that none is lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::jetstream::Message;
use futures_util::{FutureExt as _, StreamExt as _};
use weir_load::{Frame, PartsMerger, Progress};
use weir_model::LoadHost;

use super::liveness::Liveness;
use super::part::{AgentsOutcome, Part};
use super::results::{Results, id_of};
use crate::agent_pool::AgentPool;
use crate::clock::Offset;
use crate::error::AgentError;
use crate::messages::{Report, of_report_id, read_report};
use crate::report_parts::Parts;

/// Pause between two questions to the bus.
const LOOK: Duration = Duration::from_millis(100);
/// Longest absence of the bus.
const BUS_PATIENCE: Duration = Duration::from_mins(1);
/// Longest wait for reports after the planned end, while the bus passes messages on: a script may need two minutes for its
/// last events.
const REPORTS_LATE_MAX: Duration = Duration::from_mins(3);
/// Longest wait for reports after the caller wanted an end.
const AFTER_STOP: Duration = Duration::from_secs(30);

/// Reports of an agent so far.
#[derive(Default)]
struct AgentReports {
    /// Number of the next part of a report.
    next: u64,
    /// Parts of reports that came before their turn.
    early: BTreeMap<u64, Vec<u8>>,
    /// Of a report that is not complete.
    parts: Parts,
    transactions: u64,
    idle_connections: u64,
    began_late_ns: u64,
    has_ended: bool,
    /// Movement of its clock during the run, and the error of that, nanoseconds.
    clock_moved_ns: Option<(i64, u64)>,
}

/// A run whose reports come in.
pub(super) struct ReportCollector<'a> {
    crew: &'a AgentPool,
    run: &'a str,
    parts: &'a [Part],
    merger: PartsMerger<'a>,
    began: Instant,
    /// Planned end, if it has one.
    due: Option<Instant>,
    /// Time that was observed by then.
    observed_when_due: Option<Duration>,
    received: Vec<AgentReports>,
    liveness: Liveness,
}

impl<'a> ReportCollector<'a> {
    pub(super) fn new(
        crew: &'a AgentPool,
        run: &'a str,
        parts: &'a [Part],
        merger: PartsMerger<'a>,
        measure: Duration,
    ) -> Self {
        let began = merger.began();
        Self {
            crew,
            run,
            due: (!measure.is_zero()).then(|| merger.measured_from() + measure),
            observed_when_due: None,
            parts,
            merger,
            began,
            received: parts.iter().map(|_| AgentReports::default()).collect(),
            liveness: Liveness::new(parts.len(), Instant::now()),
        }
    }

    /// Takes all reports.
    pub(super) async fn collect(
        &mut self,
        results: &Results,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), AgentError> {
        let mut beats = self.crew.listen(self.crew.subjects.beat("*")).await?;
        let mut echoes = self.crew.listen(self.crew.subjects.echo()).await?;
        let mut looks = tokio::time::interval(LOOK);
        let mut messages = results.messages().await;
        let mut stopping: Option<Instant> = None;
        while !self.received.iter().all(|received| received.has_ended) {
            tokio::select! {
                message = next(&mut messages) => if let Some(Ok(message)) = message {
                    self.take_message(&message, on_progress)?;
                    let _ = message.ack().await;
                } else {
                    tokio::time::sleep(LOOK).await;
                    messages = results.messages().await;
                },
                Some(beat) = beats.next() => self.hear(&beat.subject),
                Some(_) = echoes.next() => {
                    // Signs of life that came before it may wait behind reports.
                    while let Some(Some(beat)) = beats.next().now_or_never() {
                        self.hear(&beat.subject);
                    }
                    self.liveness.echoed(Instant::now());
                    self.look()?;
                }
                _ = looks.tick() => {
                    self.look_at_bus()?;
                    let _ = self.crew.client.publish(self.crew.subjects.echo(), "".into()).await;
                    if stop.load(Ordering::Relaxed) {
                        let since = *stopping.get_or_insert_with(Instant::now);
                        // Again and again: one may not have heard it.
                        self.crew.stop(self.run).await;
                        if since.elapsed() > AFTER_STOP {
                            return Err(AgentError::Interrupted);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Passes while the bus is there and brings reports in time.
    fn look_at_bus(&mut self) -> Result<(), AgentError> {
        let now = Instant::now();
        let is_there = self.crew.client.connection_state() == State::Connected;
        self.liveness.bus(is_there, now);
        if self.liveness.away(now) > BUS_PATIENCE {
            return Err(AgentError::NoBus {
                seconds: BUS_PATIENCE.as_secs(),
            });
        }
        if self.due.is_none_or(|due| now < due) {
            return Ok(());
        }
        let observed = self.liveness.observed();
        let late = observed.saturating_sub(*self.observed_when_due.get_or_insert(observed));
        if late <= REPORTS_LATE_MAX {
            return Ok(());
        }
        let both = self.parts.iter().zip(&self.received);
        let missing = both.filter(|(_, received)| !received.has_ended);
        let missing: Vec<_> = missing.map(|(part, _)| part.name.as_str()).collect();
        Err(AgentError::NoReports {
            agents: missing.join(", "),
            seconds: late.as_secs(),
        })
    }

    fn hear(&mut self, subject: &str) {
        let name = subject.rsplit('.').next();
        if let Some(agent) = self
            .parts
            .iter()
            .position(|part| Some(part.name.as_str()) == name)
        {
            self.liveness.heard(agent, Instant::now());
        }
    }

    /// Checks that all agents with reports to come are alive.
    fn look(&mut self) -> Result<(), AgentError> {
        let now = Instant::now();
        for (agent, part) in self.parts.iter().enumerate() {
            if self.received[agent].has_ended {
                continue;
            }
            if let Some(silent) = self.liveness.lost(agent, now) {
                let since = now.saturating_duration_since(self.began);
                return Err(AgentError::Lost {
                    agent: part.name.clone(),
                    second: since.saturating_sub(silent).as_secs_f64(),
                    silent_s: silent.as_secs_f64(),
                });
            }
        }
        Ok(())
    }

    fn take_message(
        &mut self,
        message: &Message,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), AgentError> {
        // The subject holds the name that the bus has checked; the id, the number.
        let name = message.subject.rsplit('.').next().unwrap_or_default();
        let number = id_of(message.headers.as_ref()).and_then(of_report_id);
        let agent = self.parts.iter().position(|part| part.name == name);
        let (Some(agent), Some((_, number))) = (agent, number) else {
            return Ok(());
        };
        if number >= self.received[agent].next {
            let part = message.payload.to_vec();
            self.received[agent].early.insert(number, part);
        }
        loop {
            let received = &mut self.received[agent];
            let Some(part) = received.early.remove(&received.next) else {
                return Ok(());
            };
            received.next += 1;
            let Some(report) = received.parts.take(&part) else {
                continue;
            };
            let report = read_report(&report).map_err(|why| AgentError::Message {
                agent: name.to_owned(),
                why,
            })?;
            self.take(agent, report, on_progress)?;
        }
    }

    fn take(
        &mut self,
        agent: usize,
        report: Report<Frame>,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), AgentError> {
        let received = &mut self.received[agent];
        match report {
            Report::Frame(frame) => {
                received.transactions += frame.counts().0;
                self.merger.take(agent, frame, on_progress);
            }
            Report::Ended {
                idle_connections,
                began_late_ns,
            } => {
                received.idle_connections = idle_connections;
                received.began_late_ns = began_late_ns;
                received.has_ended = true;
            }
            Report::Failed { why } => {
                return Err(AgentError::Refused {
                    agent: self.parts[agent].name.clone(),
                    why,
                });
            }
        }
        Ok(())
    }

    /// Clocks compared again at the end.
    pub(super) fn note_clocks(&mut self, later: &[Option<Offset>]) {
        for ((part, received), later) in self.parts.iter().zip(&mut self.received).zip(later) {
            received.clock_moved_ns = later.map(|later| part.offset.moved(later));
        }
    }

    /// The whole; `is_stopped`: its caller wanted an end.
    pub(super) fn finish(
        self,
        is_stopped: bool,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<AgentsOutcome, AgentError> {
        let idle = self
            .received
            .iter()
            .map(|received| received.idle_connections);
        let outcome = self.merger.finish(idle.sum(), is_stopped, on_progress)?;
        let mut reactors = outcome.client_cpu_s.iter();
        let mut shares = Vec::new();
        for (agent, (part, received)) in self.parts.iter().zip(&self.received).enumerate() {
            let cpu_s = reactors.by_ref().take(part.reporters as usize).sum();
            shares.push(LoadHost {
                name: part.name.clone(),
                host: part.host.clone(),
                cores: part.cores,
                connections: part.share.count(),
                clock_ahead_s: part.offset.ahead_ns as f64 / 1e9,
                clock_error_us: part.offset.error_ns as f64 / 1e3,
                clock_moved_us: received
                    .clock_moved_ns
                    .map(|(moved_ns, _)| moved_ns as f64 / 1e3),
                clock_moved_error_us: received
                    .clock_moved_ns
                    .map(|(_, error_ns)| error_ns as f64 / 1e3),
                began_late_us: received.began_late_ns as f64 / 1e3,
                transactions: received.transactions,
                cpu_s,
                longest_silence_s: self.liveness.longest_silence(agent).as_secs_f64(),
            });
        }
        Ok(AgentsOutcome { outcome, shares })
    }
}

/// The next message of a stream; without a stream, none.
async fn next(
    messages: &mut Option<async_nats::jetstream::consumer::pull::Stream>,
) -> Option<Result<async_nats::jetstream::Message, ()>> {
    let message = messages.as_mut()?.next().await?;
    Some(message.map_err(|_| ()))
}
