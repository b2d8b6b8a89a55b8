//! The agents on whose hosts a server runs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// In place of an agent's name: the agent that finds the server on its host, or the only one that may start one.
pub const AGENT_AUTO: &str = "auto";

/// Names of agents: one, or several, of which each repetition of a study takes the next. All runs of a repetition are on
/// one host, so that runs that are compared are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "OneOrMore", into = "OneOrMore")]
pub struct ServerAgents(
    /// At least one, all different.
    Vec<String>,
);

/// As it is written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    untagged,
    expecting = "not the agents of a server's host; write a name such as `\"db1\"`, or a list of names"
)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl TryFrom<OneOrMore> for ServerAgents {
    type Error = String;

    fn try_from(written: OneOrMore) -> Result<Self, String> {
        match written {
            OneOrMore::One(name) => Ok(Self(vec![name])),
            OneOrMore::More(names) => names.try_into(),
        }
    }
}

impl TryFrom<Vec<String>> for ServerAgents {
    type Error = String;

    fn try_from(names: Vec<String>) -> Result<Self, String> {
        let is_double = |(index, name): (usize, &String)| names[..index].contains(name);
        if names.is_empty() {
            return Err("a list of agents is empty; name one".to_owned());
        }
        if names.iter().enumerate().any(is_double) {
            return Err("an agent is named twice; name each once".to_owned());
        }
        if names.len() > 1 && names.iter().any(|name| name == AGENT_AUTO) {
            return Err("`auto` is one agent; of several, name each".to_owned());
        }
        Ok(Self(names))
    }
}

impl From<ServerAgents> for OneOrMore {
    fn from(mut agents: ServerAgents) -> Self {
        match agents.0.as_mut_slice() {
            [one] => Self::One(std::mem::take(one)),
            _ => Self::More(agents.0),
        }
    }
}

impl ServerAgents {
    /// All, in the order in which repetitions take them.
    pub fn all(&self) -> &[String] {
        &self.0
    }

    /// The agent of `repetition`, which counts from 1.
    pub fn of_repetition(&self, repetition: u32) -> &str {
        &self.0[repetition.saturating_sub(1) as usize % self.0.len()]
    }
}

/// `db1, db2`.
impl fmt::Display for ServerAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_a_name_and_several_are_a_list() {
        for text in [r#""db1""#, r#"["db1","db2"]"#] {
            let agents: ServerAgents = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&agents).unwrap(), text);
        }
        let one: ServerAgents = serde_json::from_str(r#"["db1"]"#).unwrap();
        assert_eq!(one.all(), ["db1"]);
    }

    #[test]
    fn repetitions_take_them_in_turn() {
        let agents: ServerAgents = serde_json::from_str(r#"["a","b","c"]"#).unwrap();
        let taken: Vec<_> = (1..=5)
            .map(|repetition| agents.of_repetition(repetition))
            .collect();
        assert_eq!(taken, ["a", "b", "c", "a", "b"]);
    }

    #[test]
    fn a_list_that_makes_no_sense_is_refused_in_a_line() {
        for (text, why) in [
            ("[]", "is empty"),
            (r#"["a","b","a"]"#, "named twice"),
            (r#"["a","auto"]"#, "`auto` is one agent"),
            ("1", "write a name such as `\"db1\"`, or a list of names"),
        ] {
            let error = serde_json::from_str::<ServerAgents>(text).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
