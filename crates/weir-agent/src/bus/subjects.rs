//! Names of what travels on a bus.

/// Version of the messages; another one is another bus.
pub const PROTOCOL: u32 = 1;

/// The subjects of one crew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subjects {
    prefix: String,
    stream: String,
}

impl Subjects {
    /// Those of a crew.
    pub fn new(crew: &str) -> Self {
        Self {
            prefix: format!("weir.{PROTOCOL}.{crew}"),
            stream: format!("WEIR_{}_RESULT", crew.to_uppercase()),
        }
    }

    /// Signs of life of an agent.
    pub fn beat(&self, agent: &str) -> String {
        format!("{}.beat.{agent}", self.prefix)
    }

    /// Orders to an agent, which it answers.
    pub fn orders(&self, agent: &str) -> String {
        format!("{}.do.{agent}", self.prefix)
    }

    /// Questions for an agent's clock.
    pub fn clock(&self, agent: &str) -> String {
        format!("{}.clock.{agent}", self.prefix)
    }

    /// Returns the subject of a conductor's messages to itself, which show that the bus passes on.
    pub fn echo(&self) -> String {
        format!("{}.echo", self.prefix)
    }

    /// Returns the broadcast subject.
    pub fn all(&self) -> String {
        format!("{}.all", self.prefix)
    }

    /// Returns the subject of an agent's counts in a run; both may be `*`.
    pub fn result(&self, run: &str, agent: &str) -> String {
        format!("{}.result.{run}.{agent}", self.prefix)
    }

    /// All subjects of the crew.
    pub fn everything(&self) -> String {
        format!("{}.>", self.prefix)
    }

    /// The stream that keeps results until they are merged.
    pub fn result_stream(&self) -> &str {
        &self.stream
    }
}

/// Returns the subject of answers to `name`: of each its own, so that no key reads another's.
pub(crate) fn inbox_of(name: &str) -> String {
    format!("_INBOX_{name}")
}
