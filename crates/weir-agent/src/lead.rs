//! Leading agents: they are taken before the first order, and given back at the end.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use weir_process::monotonic_ns;

use crate::conductor::until_stopped;
use crate::crew::{Crew, PROMPT, unexpected};
use crate::error::AgentError;
use crate::messages::{Answer, Call, Order, json};

/// Time between two signs of life of a conductor.
const BEAT: Duration = Duration::from_secs(1);
/// Longest wait for agents that another conductor has, or that still end an earlier run.
const BUSY_PATIENCE: Duration = Duration::from_secs(15);
/// Pause between two questions to an agent that is busy.
const PAUSE: Duration = Duration::from_millis(300);
/// Longest wait for the bus to take the last word.
const LAST_WORD: Duration = Duration::from_secs(5);

/// The name of a new run of this process.
fn new_run() -> String {
    format!("{}-{:x}", of_this_process(), monotonic_ns())
}

/// Whether this process leads `run`, or led it.
pub(crate) fn is_own(run: &str) -> bool {
    run.split('-').next() == Some(of_this_process())
}

/// The beginning of the names of this process's runs. The moment of the first one tells processes apart.
fn of_this_process() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| format!("{:x}", monotonic_ns() ^ u64::from(std::process::id()) << 40))
}

impl Crew {
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
