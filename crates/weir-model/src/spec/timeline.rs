//! Events of the server at given times while a run is measured.

mod keys;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Warm;
use crate::{Bytes, Duration};

/// Something that happens once in a run, on a connection of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineEvent {
    /// Name in the study.
    pub name: String,
    /// Begin of the event, from the beginning of the measurement.
    pub at: Duration,
    /// Kind of the event.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Kind of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// Nothing: a place on the axis of time.
    Mark,
    /// A statement that returns when it is done.
    Statement(EventStatement),
    /// An `ALTER TABLE`, with the algorithm and the lock that are asked for.
    Ddl(EventStatement),
    /// A transaction that read a row of a table and is idle.
    Hold {
        /// The table.
        table: String,
        /// Time for which the transaction stays open.
        #[serde(rename = "for")]
        length: Duration,
    },
    /// A global variable has another value until the run is over.
    Set {
        /// The variable.
        variable: String,
        /// Value of the variable.
        value: String,
    },
    /// The server's process ends at once (`SIGKILL`) and starts again.
    Kill {
        /// Time for which the server stays down.
        #[serde(default, rename = "for")]
        down: Duration,
    },
    /// The server's process ends at once, a replica becomes the primary, and the load goes there.
    Failover {
        /// Means of keeping the replica warm until then.
        #[serde(default)]
        warm: Warm,
    },
    /// The server shuts down and starts again.
    Restart {
        /// Time for which the server stays down.
        #[serde(default, rename = "for")]
        down: Duration,
    },
    /// The rate of an open loop changes.
    Rate {
        /// Transactions per second from then on.
        rate: f64,
    },
    /// The emulated drive has a fault.
    Drive {
        /// Keys of `weir drive set` and their values.
        settings: BTreeMap<String, String>,
        /// Duration; `None`: until the load is over.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        length: Option<Duration>,
    },
    /// Something is done to the buffer pool.
    Pool {
        /// Action on the pool.
        action: PoolAction,
        /// The pool's size from then on, for [`PoolAction::Resize`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<Bytes>,
    },
}

/// Action of an event on the buffer pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PoolAction {
    /// The server writes down which pages are in the pool.
    Dump,
    /// The server reads the pages that were written down.
    Load,
    /// The pool gets another size.
    Resize,
}

impl PoolAction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Dump, Self::Load, Self::Resize];

    /// Returns the word in a study file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dump => "dump",
            Self::Load => "load",
            Self::Resize => "resize",
        }
    }
}

impl std::str::FromStr for PoolAction {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|action| action.name() == word);
        found.ok_or_else(|| "must be dump, load or resize".to_owned())
    }
}

/// A statement of an event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventStatement {
    /// Text of the statement.
    pub statement: String,
    /// `ALGORITHM=` of an `ALTER TABLE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// `LOCK=` of an `ALTER TABLE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// Variables of its session.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub session: BTreeMap<String, String>,
    /// Number of retries after it waited too long for a lock.
    #[serde(default)]
    pub retries: u32,
    /// The table is copied in chunks and swapped, in place of the server's own ALTER.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyWay>,
    /// The command line of a tool that makes the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// Way in which changes of the load reach the copy of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CopyWay {
    /// Three triggers, within the transactions of the load.
    Triggers,
    /// Rows events of the binary log: their keys are read again from the table.
    Log,
}

impl CopyWay {
    /// Returns the word in a study file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triggers => "triggers",
            Self::Log => "log",
        }
    }
}

impl std::str::FromStr for CopyWay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ways = [Self::Triggers, Self::Log];
        let found = ways.into_iter().find(|way| way.name() == text);
        found.ok_or_else(|| "must be `triggers` or `log`".to_owned())
    }
}

impl EventStatement {
    /// The statement as it is sent.
    pub fn text(&self) -> String {
        let mut text = self.statement.trim().trim_end_matches(';').to_owned();
        for (word, value) in [("ALGORITHM", &self.algorithm), ("LOCK", &self.lock)] {
            if let Some(value) = value {
                text.extend([", ", word, "=", value]);
            }
        }
        text
    }

    /// The table of an `ALTER TABLE`, without a schema; `None` for other statements.
    pub fn altered_table(&self) -> Option<&str> {
        let mut words = self.statement.split_whitespace();
        let is = |word: Option<&str>, wanted: &str| {
            word.is_some_and(|word| word.eq_ignore_ascii_case(wanted))
        };
        if !is(words.next(), "ALTER") || !is(words.next(), "TABLE") {
            return None;
        }
        let name = words.next()?;
        let name = name.rsplit_once('.').map_or(name, |(_, table)| table);
        Some(name.trim_matches('`'))
    }
}

impl EventKind {
    /// Returns the word in a study file.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Statement(_) => "statement",
            Self::Ddl(_) => "ddl",
            Self::Hold { .. } => "hold",
            Self::Set { .. } => "set",
            Self::Kill { .. } => "kill",
            Self::Failover { .. } => "failover",
            Self::Restart { .. } => "restart",
            Self::Rate { .. } => "rate",
            Self::Drive { .. } => "drive",
            Self::Pool { .. } => "pool",
        }
    }

    /// Returns true if it may leave tables other than they were.
    pub const fn changes_tables(&self) -> bool {
        matches!(self, Self::Statement(_) | Self::Ddl(_))
    }

    /// Returns true if the server ends, and with it all connections.
    pub const fn ends_server(&self) -> bool {
        matches!(
            self,
            Self::Kill { .. } | Self::Restart { .. } | Self::Failover { .. }
        )
    }

    /// Returns true if it needs a server that Weir starts.
    pub const fn needs_own_server(&self) -> bool {
        self.changes_tables()
            || self.ends_server()
            || matches!(self, Self::Drive { .. } | Self::Pool { .. })
    }

    /// The table that it is about, where that can be known.
    pub fn table(&self) -> Option<&str> {
        match self {
            Self::Ddl(ddl) => ddl.altered_table(),
            Self::Hold { table, .. } => Some(table),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ddl() -> TimelineEvent {
        TimelineEvent {
            name: "add index".to_owned(),
            at: Duration::from_secs(20),
            kind: EventKind::Ddl(EventStatement {
                statement: "alter table `shop`.`t` ADD INDEX k_c (c);".to_owned(),
                algorithm: Some("INPLACE".to_owned()),
                lock: Some("NONE".to_owned()),
                ..EventStatement::default()
            }),
        }
    }

    #[test]
    fn a_ddl_says_its_algorithm_its_lock_and_its_table() {
        let EventKind::Ddl(statement) = ddl().kind else {
            panic!("no ddl");
        };
        let text = "alter table `shop`.`t` ADD INDEX k_c (c), ALGORITHM=INPLACE, LOCK=NONE";
        assert_eq!(statement.text(), text);
        assert_eq!(statement.altered_table(), Some("t"));
    }

    #[test]
    fn each_key_can_be_set_and_what_is_none_is_a_variable_of_the_session() {
        let mut event = ddl();
        for (key, value) in [("at", "5s"), ("innodb_ddl_threads", "8"), ("retries", "2")] {
            assert_eq!(event.set(key, value), Ok(true), "{key}");
            assert!(event.keys().contains(&(key.to_owned(), value.to_owned())));
        }
        assert_eq!(event.set("for", "1s"), Ok(false));
        assert!(event.set("retries", "some").is_err());
    }

    #[test]
    fn an_event_is_read_as_it_was_written() {
        let text = serde_json::to_string(&ddl()).unwrap();
        assert!(text.contains(r#""kind":"ddl""#), "{text}");
        assert_eq!(serde_json::from_str::<TimelineEvent>(&text).unwrap(), ddl());
    }
}
