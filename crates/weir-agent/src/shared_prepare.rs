//! Making tables from several agents: whole tables are dealt, and the conductor asks how far each is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_load::{LoadError, PreparePlan};

use crate::agent_pool::{AgentPool, PROMPT, unexpected};
use crate::allowance::Permission;
use crate::authority_message::AuthorityMessage;
use crate::error::AgentError;
use crate::messages::{Answer, Assignment, Facts, Order};
use crate::prepare_message::PrepareMessage;
use crate::sealing::seal;

/// Pause between two questions: agents end a preparation without questions.
const PAUSE: Duration = Duration::from_millis(500);
/// Longest wait for the others' last statements after one has failed.
const END_PATIENCE: Duration = Duration::from_secs(15);

/// Requirement on agents.
#[derive(Debug, Clone, Copy)]
pub struct AgentRequirement<'a> {
    /// Number of agents.
    pub count: u32,
    /// Only with this label; empty: any.
    pub label: &'a str,
}

impl AgentPool {
    /// Makes the tables of `plan` from agents, those with the first names; from fewer if there are fewer
    /// tables. As [`weir_load::prepare`] otherwise: what a lost agent has begun the next call goes on with.
    ///
    /// # Errors
    ///
    /// Too few agents, one that refuses, fails or is lost: the others stop then.
    pub fn prepare(
        &self,
        plan: &PreparePlan,
        agents: AgentRequirement<'_>,
        writes_replicas: bool,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), AgentError> {
        let AgentRequirement { count, label } = agents;
        let plans = plan.deal(count)?;
        self.lead(async |run| {
            let members = self.loaders(count, label, Permission::Load).await?;
            self.reserve(run, members.iter().map(|(name, _)| name.as_str()), stop)
                .await?;
            let mut parts = BTreeMap::new();
            for ((name, facts), plan) in members.into_iter().zip(&plans) {
                self.begin(run, &name, &facts, plan, writes_replicas)
                    .await?;
                parts.insert(name, (0, 0));
            }
            let names: Vec<String> = parts.keys().cloned().collect();
            match self.follow(run, parts, stop, on_progress).await {
                Ok(()) => Ok(()),
                Err(cause) => Err(self.end_all(run, names, cause).await),
            }
        })
    }

    /// Ends what these agents do for `run`, and waits for it: the caller's next command shall not meet their last rows.
    async fn end_all(&self, run: &str, mut names: Vec<String>, cause: AgentError) -> AgentError {
        self.stop(run).await;
        let until = Instant::now() + END_PATIENCE;
        while Instant::now() < until {
            let mut rest = Vec::new();
            for name in names {
                if matches!(
                    self.ask_progress(run, &name).await,
                    Ok(Answer::Preparing {
                        has_ended: false,
                        ..
                    })
                ) {
                    rest.push(name);
                }
            }
            if rest.is_empty() {
                return cause;
            }
            names = rest;
            tokio::time::sleep(PAUSE).await;
        }
        AgentError::StillPreparing {
            agents: names.join(", "),
            cause: Box::new(cause),
        }
    }

    /// Asks an agent how far its part of `run` is.
    async fn ask_progress(&self, run: &str, name: &str) -> Result<Answer, AgentError> {
        let order = Order::Preparing {
            run: run.to_owned(),
        };
        self.ask(name, "preparing", &order, PROMPT).await
    }

    async fn begin(
        &self,
        run: &str,
        name: &str,
        facts: &Facts,
        plan: &PreparePlan,
        writes_replicas: bool,
    ) -> Result<(), AgentError> {
        let order = Order::Prepare(Box::new(Assignment {
            run: run.to_owned(),
            version: self.version.clone(),
            plan: PrepareMessage::new(plan),
            writes_replicas,
            password: seal(&plan.endpoint.password, name, &facts.sealing_key)?,
            authority: AuthorityMessage::new(&plan.endpoint.tls),
        }));
        match self.ask(name, "prepare", &order, PROMPT).await? {
            Answer::Done => Ok(()),
            answer => Err(unexpected(name, &answer)),
        }
    }

    /// Asks all until the last one has ended.
    async fn follow(
        &self,
        run: &str,
        mut parts: BTreeMap<String, (u64, u64)>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), AgentError> {
        let mut under_way: Vec<String> = parts.keys().cloned().collect();
        while !under_way.is_empty() {
            if stop.load(Ordering::Relaxed) {
                let interrupted = LoadError::Interrupted("loading the tables");
                return Err(interrupted.into());
            }
            tokio::time::sleep(PAUSE).await;
            let mut rest = Vec::new();
            for name in under_way {
                match self.ask_progress(run, &name).await? {
                    Answer::Preparing {
                        failed: Some(why), ..
                    } => return Err(AgentError::Refused { agent: name, why }),
                    Answer::Preparing {
                        rows,
                        rows_total,
                        has_ended,
                        ..
                    } => {
                        parts.insert(name.clone(), (rows, rows_total));
                        if !has_ended {
                            rest.push(name);
                        }
                    }
                    answer => return Err(unexpected(&name, &answer)),
                }
            }
            under_way = rest;
            let sum = |of: fn(&(u64, u64)) -> u64| parts.values().map(of).sum();
            on_progress(sum(|part| part.0), sum(|part| part.1));
        }
        Ok(())
    }
}
