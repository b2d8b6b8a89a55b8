//! One run of several agents: shares, a common start, and the merging of what comes back.

mod liveness;
mod part;
mod report_collector;
mod results;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use weir_load::{LoadPlan, PartsMerger, PlanMessage, Progress};
use weir_process::{instant_at, monotonic_ns};

use self::part::Part;
use self::report_collector::ReportCollector;
use self::results::Results;
use crate::agent_pool::{AgentPool, unexpected};
use crate::allowance::Permission;
use crate::authority_message::AuthorityMessage;
use crate::clock::Offset;
use crate::error::AgentError;
use crate::lead::until_stopped;
use crate::messages::{Answer, Assignment, Order};
use crate::sealing::seal;
pub use part::AgentsOutcome;

/// Least time from the order to begin to the beginning.
const START_AHEAD: Duration = Duration::from_millis(500);
/// The same as a multiple of the longest round trip.
const START_ROUND_TRIPS: u64 = 20;
/// All must have answered so long before the start.
const CONFIRMED_BEFORE: Duration = Duration::from_millis(100);
/// Time that an agent may need beyond the time to connect.
const GRACE: Duration = Duration::from_secs(5);

/// A load that agents share.
#[derive(Clone, Copy)]
struct SharedLoad<'a> {
    plan: &'a LoadPlan,
    agents: u32,
    /// It may write to a server that is a replica.
    writes_replicas: bool,
}

impl AgentPool {
    /// Runs `plan` from `agents` agents, those with the first names. As [`weir_load::run_observed`] otherwise.
    ///
    /// # Errors
    ///
    /// Too few agents, one that refuses, fails or is lost: the others stop then, and there is no result.
    pub fn run(
        &self,
        plan: &LoadPlan,
        agents: u32,
        writes_replicas: bool,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<AgentsOutcome, AgentError> {
        let load = SharedLoad {
            plan,
            agents,
            writes_replicas,
        };
        self.lead(async |run| self.conduct(run, load, stop, on_progress).await)
    }

    async fn conduct(
        &self,
        run: &str,
        load: SharedLoad<'_>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<AgentsOutcome, AgentError> {
        let plan = load.plan;
        let mut parts = self.choose(plan, load.agents).await?;
        self.reserve(run, parts.iter().map(|part| part.name.as_str()), stop)
            .await?;
        let results = Results::subscribe(self, run).await?;
        let ready = parts.iter().map(|part| self.assign(run, load, part, stop));
        let ready = join_all(ready).await;
        for (part, ready) in parts.iter_mut().zip(ready) {
            let (reporters, warnings) = ready?;
            part.reporters = reporters;
            for warning in warnings {
                on_progress(Progress::Warning(&format!("{}: {warning}", part.name)));
            }
        }
        let offsets = parts.iter().map(|part| self.compare_clock(&part.name));
        let offsets = join_all(offsets).await;
        for (part, offset) in parts.iter_mut().zip(offsets) {
            part.offset = offset?;
        }
        if stop.load(Ordering::Relaxed) {
            return Err(AgentError::Interrupted);
        }
        let reporters: Vec<u32> = parts.iter().map(|part| part.reporters).collect();
        let start_ns = self.arm(run, &parts, &reporters).await?;
        let merger = PartsMerger::new(plan, &reporters, instant_at(start_ns))?;
        on_progress(Progress::Began(merger.measured_from()));
        let mut collecting = ReportCollector::new(self, run, &parts, merger, plan.load.measure.0);
        collecting.collect(&results, stop, on_progress).await?;
        let later = parts.iter().map(|part| self.compare_clock(&part.name));
        // The run is complete: an agent that left right after it changes nothing of it.
        let later: Vec<_> = join_all(later).await.into_iter().map(Result::ok).collect();
        collecting.note_clocks(&later);
        let conducted = collecting.finish(stop.load(Ordering::Relaxed), on_progress);
        results.forget().await;
        conducted
    }

    /// The agents of a run, with their shares.
    async fn choose(&self, plan: &LoadPlan, agents: u32) -> Result<Vec<Part>, AgentError> {
        let mut shares = plan.whole().deal(agents);
        let mut parts = Vec::new();
        let task = if plan.workload.is_lua() {
            Permission::Script
        } else {
            Permission::Load
        };
        let loaders = self.loaders(agents, &plan.load.agent_label, task).await?;
        for ((name, facts), share) in loaders.into_iter().zip(shares.drain(..)) {
            parts.push(Part {
                name,
                host: facts.host,
                cores: facts.cores,
                share,
                sealing_key: facts.sealing_key,
                reporters: 0,
                offset: Offset {
                    ahead_ns: 0,
                    error_ns: 0,
                },
            });
        }
        Ok(parts)
    }

    /// Lets an agent make its connections; its reporters and its warnings.
    async fn assign(
        &self,
        run: &str,
        load: SharedLoad<'_>,
        part: &Part,
        stop: &AtomicBool,
    ) -> Result<(u32, Vec<String>), AgentError> {
        let plan = load.plan;
        let password = seal(&plan.endpoint.password, &part.name, &part.sealing_key)?;
        let order = Order::Assign(Box::new(Assignment {
            run: run.to_owned(),
            version: self.version.clone(),
            plan: PlanMessage::new(plan, Some(part.share.clone())),
            writes_replicas: load.writes_replicas,
            password,
            authority: AuthorityMessage::new(&plan.endpoint.tls),
        }));
        let patience = plan.init_timeout + GRACE;
        let asked = self.ask(&part.name, "connect", &order, patience);
        match until_stopped(asked, stop).await?? {
            Answer::Ready {
                reporters,
                warnings,
            } => Ok((reporters, warnings)),
            answer => Err(unexpected(&part.name, &answer)),
        }
    }

    /// Tells all when to begin; the moment by this host's clock, nanoseconds. All must confirm it in time, or none
    /// begins.
    async fn arm(&self, run: &str, parts: &[Part], reporters: &[u32]) -> Result<u64, AgentError> {
        let round_trips = parts.iter().map(|part| part.offset.round_trip_ns());
        let longest = Duration::from_nanos(round_trips.max().unwrap_or(0) * START_ROUND_TRIPS);
        let ahead = START_AHEAD.max(longest);
        let mut silent = Vec::new();
        for _ in 0..2 {
            let start_ns = monotonic_ns() + ahead.as_nanos() as u64;
            let mut before = 0;
            let orders = parts.iter().zip(reporters).map(|(part, count)| {
                let order = Order::Arm {
                    run: run.to_owned(),
                    start_ns: part.offset.there(start_ns),
                    reporters_before: before,
                };
                before += count;
                async move {
                    let patience = ahead.saturating_sub(CONFIRMED_BEFORE);
                    self.ask(&part.name, "arm", &order, patience).await
                }
            });
            let answers = join_all(orders.collect::<Vec<_>>()).await;
            let in_time =
                monotonic_ns() + CONFIRMED_BEFORE.as_nanos() as u64 <= start_ns + 50_000_000;
            silent = parts
                .iter()
                .zip(&answers)
                .filter(|(_, answer)| !matches!(answer, Ok(Answer::Done)))
                .map(|(part, _)| part.name.clone())
                .collect();
            if silent.is_empty() && in_time {
                return Ok(start_ns);
            }
            let disarm = Order::Disarm {
                run: run.to_owned(),
            };
            let taken_back = parts
                .iter()
                .map(|part| self.ask(&part.name, "disarm", &disarm, CONFIRMED_BEFORE));
            join_all(taken_back).await;
        }
        Err(AgentError::NotArmed {
            agents: silent.join(", "),
        })
    }
}
