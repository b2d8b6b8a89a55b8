//! Leading agents: they are taken before the first order, and given back at the end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::agent_pool::{AgentPool, PROMPT, unexpected};
use crate::error::AgentError;
use crate::messages::{Answer, Call, Order, json};
use crate::run_name::new_run;

/// Time between two signs of life of a conductor.
const BEAT: Duration = Duration::from_secs(1);
/// Longest wait for agents that another conductor has, or that still end an earlier run.
const BUSY_PATIENCE: Duration = Duration::from_secs(15);
/// Pause between two questions to an agent that is busy.
const PAUSE: Duration = Duration::from_millis(300);
/// Longest wait for the bus to take the last word.
const LAST_WORD: Duration = Duration::from_secs(5);

impl AgentPool {
    /// Does `work` under the name of a new run, with signs of life meanwhile. After it, its agents are free.
    pub(crate) fn lead<T>(
        &self,
        work: impl AsyncFnOnce(&str) -> Result<T, AgentError>,
    ) -> Result<T, AgentError> {
        self.runtime.block_on(async {
            let run = new_run();
            let beats = tokio::spawn(beats(self.client.clone(), self.subjects.all(), run.clone()));
            let done = work(&run).await;
            beats.abort();
            self.stop(&run).await;
            done
        })
    }

    /// Takes these agents for a run, one after the other in their order, so that two conductors never wait for each other.
    pub(crate) async fn reserve<'a>(
        &self,
        run: &str,
        agents: impl Iterator<Item = &'a str>,
        stop: &AtomicBool,
    ) -> Result<(), AgentError> {
        let until = Instant::now() + BUSY_PATIENCE;
        for agent in agents {
            let order = Order::Reserve {
                run: run.to_owned(),
            };
            loop {
                let asked = self.ask(agent, "reserve", &order, PROMPT);
                match until_stopped(asked, stop).await?? {
                    Answer::Done => break,
                    Answer::Busy if Instant::now() < until => tokio::time::sleep(PAUSE).await,
                    answer => return Err(unexpected(agent, &answer)),
                }
            }
        }
        Ok(())
    }

    /// Ends a run everywhere.
    pub(crate) async fn stop(&self, run: &str) {
        let call = Call::Stop {
            run: run.to_owned(),
        };
        let _ = self
            .client
            .publish(self.subjects.all(), json(&call).into())
            .await;
        let _ = tokio::time::timeout(LAST_WORD, self.client.flush()).await;
    }
}

/// Signs of life of a conductor, until the task is aborted.
async fn beats(client: async_nats::Client, subject: String, run: String) {
    loop {
        let call = Call::Beat { run: run.clone() };
        let _ = client.publish(subject.clone(), json(&call).into()).await;
        tokio::time::sleep(BEAT).await;
    }
}

/// The work's result, unless the caller stops before.
pub(crate) async fn until_stopped<T>(
    work: impl Future<Output = T>,
    stop: &AtomicBool,
) -> Result<T, AgentError> {
    let mut work = std::pin::pin!(work);
    loop {
        match tokio::time::timeout(Duration::from_millis(100), &mut work).await {
            Ok(done) => return Ok(done),
            Err(_) if stop.load(Ordering::Relaxed) => return Err(AgentError::Interrupted),
            Err(_) => {}
        }
    }
}
