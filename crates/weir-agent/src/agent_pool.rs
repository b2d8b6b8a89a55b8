//! The agents of a bus, as a conductor sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bus::{CONDUCTOR, Folder, JoinFile, Subjects};
use async_nats::{Client, Request};
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use tokio::runtime::Runtime;
use tokio::time::Instant;
use weir_model::AGENT_AUTO;
use weir_process::monotonic_ns;

use crate::allowance::Permission;
use crate::clock::{Exchange, Offset};
use crate::error::AgentError;
use crate::messages::{Answer, Beat, Facts, Order, json};
use crate::run_name::is_own;

/// For so long signs of life are collected; agents give two a second.
const PRESENCE: Duration = Duration::from_millis(1_300);
/// Longest wait for an answer that needs no work.
pub(crate) const PROMPT: Duration = Duration::from_secs(3);
/// Questions for a clock, and the time over which they are spread.
const CLOCK_QUESTIONS: u32 = 64;
const CLOCK_PAUSE: Duration = Duration::from_millis(10);

/// A conductor's place on a bus.
#[derive(Debug)]
pub struct AgentPool {
    pub(crate) runtime: Runtime,
    pub(crate) client: Client,
    pub(crate) subjects: Subjects,
    /// Version and commit of this program.
    pub(crate) version: String,
}

/// An agent that is there.
#[derive(Debug, Clone)]
pub struct Member {
    /// Name of the agent.
    pub name: String,
    /// Facts of the agent's host.
    pub facts: Facts,
    /// The run that it is busy with.
    pub run: Option<String>,
    /// Time of a round trip, the least of 64, microseconds.
    pub round_trip_us: f64,
    /// Lead of its monotonic clock over this host's, seconds.
    pub clock_ahead_s: f64,
    /// At most this much is wrong with that, microseconds.
    pub clock_error_us: f64,
}

impl AgentPool {
    /// The join file of the conductor: `$WEIR_BUS`, else that of the user's own `weir bus up`.
    pub fn usual_file() -> PathBuf {
        let set = std::env::var_os("WEIR_BUS").filter(|value| !value.is_empty());
        set.map_or_else(|| Folder::at(None).join_file(CONDUCTOR), PathBuf::from)
    }

    /// Joins the bus of a join file; `version`: this program's, with its commit.
    ///
    /// # Errors
    ///
    /// No such file, or no such bus.
    pub fn join(file: &Path, version: &str) -> Result<Self, AgentError> {
        let join = JoinFile::read(file)?;
        let runtime = crate::runtime()?;
        let client = runtime.block_on(crate::bus::connect(&join))?;
        Ok(Self {
            runtime,
            client,
            subjects: join.subjects(),
            version: version.to_owned(),
        })
    }

    /// The agents that are there, by name, each with its clock compared.
    ///
    /// # Errors
    ///
    /// A bus that fails, an agent that does not answer, two processes under one name.
    pub fn members(&self) -> Result<Vec<Member>, AgentError> {
        self.runtime.block_on(async {
            let present = self.present().await?;
            let all = present.into_iter().map(|one| self.member(one));
            let (members, errors): (Vec<_>, Vec<_>) =
                join_all(all).await.into_iter().partition(Result::is_ok);
            for error in errors.into_iter().filter_map(Result::err) {
                let AgentError::Silent { agent, .. } = &error else {
                    return Err(error);
                };
                // One that left after its last sign of life is no longer there.
                if self.present().await?.contains_key(agent) {
                    return Err(error);
                }
            }
            Ok(members.into_iter().flatten().collect())
        })
    }

    /// Asks an agent for its facts, and measures the difference of its clock.
    async fn member(&self, (name, beat): (String, Beat)) -> Result<Member, AgentError> {
        let facts = self.facts(&name).await?;
        let offset = self.compare_clock(&name).await?;
        Ok(Member {
            facts,
            run: beat.run,
            round_trip_us: offset.round_trip_ns() as f64 / 1e3,
            clock_ahead_s: offset.ahead_ns as f64 / 1e9,
            clock_error_us: offset.error_ns as f64 / 1e3,
            name,
        })
    }

    /// Ends these agents.
    ///
    /// # Errors
    ///
    /// An agent that does not answer.
    pub fn send_home(&self, names: &[String]) -> Result<(), AgentError> {
        self.runtime.block_on(async {
            for name in names {
                self.ask(name, "down", &Order::Down, PROMPT).await?;
            }
            Ok(())
        })
    }

    /// Names of the agents that give signs of life, with the last one of each.
    pub(crate) async fn present(&self) -> Result<BTreeMap<String, Beat>, AgentError> {
        let mut beats = self.listen(self.subjects.beat("*")).await?;
        let until = Instant::now() + PRESENCE;
        let mut found = BTreeMap::new();
        let mut processes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        while let Ok(Some(message)) = tokio::time::timeout_at(until, beats.next()).await {
            let (Some(name), Ok(beat)) = (
                message.subject.rsplit('.').next(),
                serde_json::from_slice::<Beat>(&message.payload),
            ) else {
                continue;
            };
            let processes = processes.entry(name.to_owned()).or_default();
            processes.insert(beat.process.clone());
            found.insert(name.to_owned(), beat);
        }
        let twice = processes.iter().find(|(_, processes)| processes.len() > 1);
        if let Some((name, _)) = twice {
            return Err(AgentError::Refused {
                agent: name.clone(),
                why: "two processes have joined with its file; end one of them, and give it a file of its own"
                    .to_owned(),
            });
        }
        Ok(found)
    }

    /// So many agents that take shares of a load and may do `task`: those that no other conductor has, then those with the
    /// first names; with this label, unless it is empty. They are in the order of their names.
    pub(crate) async fn loaders(
        &self,
        wanted: u32,
        label: &str,
        task: Permission,
    ) -> Result<Vec<(String, Facts)>, AgentError> {
        let mut loaders = Vec::new();
        let mut present = self.present().await?;
        for (name, facts) in self.all_facts(present.keys()).await {
            let facts = facts?;
            let has_label = label.is_empty() || facts.labels.iter().any(|own| own == label);
            let mut needed = [Permission::Load, task].into_iter();
            if has_label && needed.all(|one| facts.allows.contains(&one)) {
                loaders.push((name, facts));
            }
        }
        loaders.sort_by_key(|(name, _)| {
            let run = present.remove(name).and_then(|beat| beat.run);
            run.is_some_and(|run| !is_own(&run))
        });
        loaders.truncate(wanted as usize);
        loaders.sort_by(|(one, _), (other, _)| one.cmp(other));
        if loaders.len() < wanted as usize {
            return Err(AgentError::TooFew {
                wanted,
                found: loaders.len() as u32,
                task,
            });
        }
        for (name, facts) in &loaders {
            if facts.version != self.version {
                return Err(AgentError::Version {
                    agent: name.clone(),
                    theirs: facts.version.clone(),
                    ours: self.version.clone(),
                });
            }
        }
        Ok(loaders)
    }

    pub(crate) async fn listen(
        &self,
        subject: String,
    ) -> Result<async_nats::Subscriber, AgentError> {
        let subscribed = self.client.subscribe(subject).await;
        subscribed.map_err(|error| AgentError::Host {
            what: "listen to the bus",
            why: error.to_string(),
        })
    }

    /// The agents that `wanted` means: a name, a host, a label, or `auto` for all.
    pub(crate) async fn meant(&self, wanted: &str) -> Result<Vec<(String, Facts)>, AgentError> {
        let mut meant = Vec::new();
        let present = self.present().await?;
        for (name, facts) in self.all_facts(present.keys()).await {
            let facts = facts?;
            if wanted == AGENT_AUTO || facts.is_called(&name, wanted) {
                meant.push((name, facts));
            }
        }
        Ok(meant)
    }

    /// The facts of these agents, in their order: all are asked at the same time.
    async fn all_facts<'a>(
        &self,
        names: impl Iterator<Item = &'a String>,
    ) -> Vec<(String, Result<Facts, AgentError>)> {
        let asked = names.map(async |name| (name.clone(), self.facts(name).await));
        join_all(asked).await
    }

    /// Asks an agent for its facts.
    async fn facts(&self, name: &str) -> Result<Facts, AgentError> {
        match self.ask(name, "probe", &Order::Probe, PROMPT).await? {
            Answer::Facts(facts) => Ok(facts),
            answer => Err(unexpected(name, &answer)),
        }
    }

    /// The agent's answer to an order.
    pub(crate) async fn ask(
        &self,
        name: &str,
        what: &'static str,
        order: &Order,
        patience: Duration,
    ) -> Result<Answer, AgentError> {
        let request = Request::new()
            .payload(json(order).into())
            .timeout(Some(patience));
        let answer = self
            .client
            .send_request(self.subjects.orders(name), request);
        let answer = answer.await.map_err(|error| AgentError::Silent {
            agent: name.to_owned(),
            order: what,
            why: error.to_string(),
        })?;
        serde_json::from_slice(&answer.payload).map_err(|error| AgentError::Message {
            agent: name.to_owned(),
            why: error.to_string(),
        })
    }

    /// Compares an agent's clock with this host's.
    pub(crate) async fn compare_clock(&self, name: &str) -> Result<Offset, AgentError> {
        let mut exchanges = Vec::new();
        for _ in 0..CLOCK_QUESTIONS {
            exchanges.extend(self.exchange(name).await);
            tokio::time::sleep(CLOCK_PAUSE).await;
        }
        Offset::estimate(&exchanges).ok_or_else(|| AgentError::Silent {
            agent: name.to_owned(),
            order: "clock",
            why: "no answer to 64 questions".to_owned(),
        })
    }

    /// One question for an agent's clock.
    async fn exchange(&self, name: &str) -> Option<Exchange> {
        let request = Request::new().timeout(Some(PROMPT));
        let asked_ns = monotonic_ns();
        let answer = self.client.send_request(self.subjects.clock(name), request);
        let answer = answer.await.ok()?;
        let back_ns = monotonic_ns();
        let number = |at: usize| {
            let bytes = answer.payload.get(at..at + 8)?;
            Some(u64::from_be_bytes(bytes.try_into().ok()?))
        };
        Some(Exchange {
            asked_ns,
            received_ns: number(0)?,
            answered_ns: number(8)?,
            back_ns,
        })
    }
}

/// An answer that says no, or that was not asked for.
pub(crate) fn unexpected(name: &str, answer: &Answer) -> AgentError {
    let agent = name.to_owned();
    match answer {
        Answer::Refused { why } => AgentError::Refused {
            agent,
            why: why.clone(),
        },
        Answer::Busy => AgentError::Refused {
            agent,
            why: "it is busy with another run; wait until that is over".to_owned(),
        },
        _ => AgentError::Message {
            agent,
            why: "an answer to another order".to_owned(),
        },
    }
}
