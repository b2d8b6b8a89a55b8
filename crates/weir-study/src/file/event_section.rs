//! `[[events]]` as the user wrote it: the keys of all kinds, of which each kind takes its own.

use std::collections::BTreeMap;

use serde::Deserialize;
use weir_model::{
    Bytes, CopyWay, Duration, EventKind, EventStatement, Faults, PoolAction, TimelineEvent, Warm,
    nearest,
};

use crate::setting::Setting;

/// The kinds of events.
const KINDS: [&str; 11] = [
    "failover",
    "mark",
    "statement",
    "ddl",
    "hold",
    "set",
    "kill",
    "restart",
    "rate",
    "drive",
    "pool",
];

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventSection {
    pub(crate) name: String,
    at: Duration,
    kind: String,
    statement: Option<String>,
    algorithm: Option<String>,
    lock: Option<String>,
    session: Option<BTreeMap<String, Setting>>,
    retries: Option<u32>,
    copy: Option<CopyWay>,
    tool: Option<String>,
    table: Option<String>,
    #[serde(rename = "for")]
    length: Option<Duration>,
    variable: Option<String>,
    value: Option<Setting>,
    rate: Option<f64>,
    settings: Option<BTreeMap<String, Setting>>,
    action: Option<String>,
    size: Option<Bytes>,
    warm: Option<String>,
}

/// A key, its value, and why that cannot be.
pub(crate) type Wrong = (&'static str, String, String);

impl EventSection {
    /// The event.
    ///
    /// # Errors
    ///
    /// Unknown kind, unknown key, missing key.
    pub(crate) fn resolve(&self) -> Result<TimelineEvent, Wrong> {
        let keys: &[&str] = match self.kind.as_str() {
            "mark" => &[],
            "statement" => &["statement", "session", "retries"],
            "ddl" => &[
                "statement",
                "algorithm",
                "lock",
                "session",
                "retries",
                "copy",
                "tool",
            ],
            "hold" => &["table", "for"],
            "set" => &["variable", "value"],
            "kill" | "restart" => &["for"],
            "failover" => &["warm"],
            "rate" => &["rate"],
            "drive" => &["settings", "for"],
            "pool" => &["action", "size"],
            other => return Err(("kind", format!("`{other}`"), no_such_kind(other))),
        };
        if let Some(key) = self.given().into_iter().find(|key| !keys.contains(key)) {
            let why = format!("is no key of an event of the kind `{}`", self.kind);
            return Err((key, "given".to_owned(), why));
        }
        Ok(TimelineEvent {
            name: self.name.clone(),
            at: self.at,
            kind: self.kind()?,
        })
    }

    /// The keys that stand there, without those that all kinds have.
    fn given(&self) -> Vec<&'static str> {
        let keys = [
            ("statement", self.statement.is_some()),
            ("algorithm", self.algorithm.is_some()),
            ("lock", self.lock.is_some()),
            ("session", self.session.is_some()),
            ("retries", self.retries.is_some()),
            ("copy", self.copy.is_some()),
            ("tool", self.tool.is_some()),
            ("table", self.table.is_some()),
            ("for", self.length.is_some()),
            ("variable", self.variable.is_some()),
            ("value", self.value.is_some()),
            ("rate", self.rate.is_some()),
            ("settings", self.settings.is_some()),
            ("action", self.action.is_some()),
            ("size", self.size.is_some()),
            ("warm", self.warm.is_some()),
        ];
        let given = keys.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(key, _)| key).collect()
    }

    fn kind(&self) -> Result<EventKind, Wrong> {
        let needed = |key| {
            let why = format!("an event of the kind `{}` needs it", self.kind);
            (key, "nothing".to_owned(), why)
        };
        Ok(match self.kind.as_str() {
            "statement" => EventKind::Statement(self.event_statement()?),
            "ddl" => {
                let ddl = self.event_statement()?;
                if ddl.altered_table().is_none() {
                    let why = "must be an ALTER TABLE; use the kind `statement` for others";
                    return Err(("statement", format!("`{}`", ddl.statement), why.to_owned()));
                }
                self.check_copy()?;
                EventKind::Ddl(ddl)
            }
            "hold" => EventKind::Hold {
                table: self.table.clone().ok_or_else(|| needed("table"))?,
                length: self.length.ok_or_else(|| needed("for"))?,
            },
            "set" => EventKind::Set {
                variable: self.variable.clone().ok_or_else(|| needed("variable"))?,
                value: self.value.as_ref().ok_or_else(|| needed("value"))?.text(),
            },
            "kill" => EventKind::Kill {
                down: self.length.unwrap_or_default(),
            },
            "restart" => EventKind::Restart {
                down: self.length.unwrap_or_default(),
            },
            "failover" => EventKind::Failover { warm: self.warm()? },
            "rate" => EventKind::Rate {
                rate: self.rate.ok_or_else(|| needed("rate"))?,
            },
            "drive" => self.drive(self.settings.as_ref().ok_or_else(|| needed("settings"))?)?,
            "pool" => self.pool(self.action.as_deref().ok_or_else(|| needed("action"))?)?,
            _ => EventKind::Mark,
        })
    }

    fn warm(&self) -> Result<Warm, Wrong> {
        let Some(warm) = &self.warm else {
            return Ok(Warm::None);
        };
        let parsed = warm.parse();
        parsed.map_err(|why| ("warm", format!("`{warm}`"), why))
    }

    fn drive(&self, settings: &BTreeMap<String, Setting>) -> Result<EventKind, Wrong> {
        let mut faults = Faults::default();
        for (key, value) in settings {
            let with = faults.with(key, &value.text());
            faults = with.map_err(|error| {
                let setting = format!("{key} = {}", value.text());
                ("settings", setting, error.to_string())
            })?;
        }
        let settings = settings.iter();
        Ok(EventKind::Drive {
            settings: settings
                .map(|(key, value)| (key.clone(), value.text()))
                .collect(),
            length: self.length,
        })
    }

    fn pool(&self, action: &str) -> Result<EventKind, Wrong> {
        let parsed = action.parse::<PoolAction>();
        let action = parsed.map_err(|why: String| ("action", format!("`{action}`"), why))?;
        match (action, self.size) {
            (PoolAction::Resize, None) => {
                let why = "the action `resize` needs it".to_owned();
                Err(("size", "nothing".to_owned(), why))
            }
            (PoolAction::Dump | PoolAction::Load, Some(size)) => {
                let why = "only the action `resize` takes it".to_owned();
                Err(("size", size.to_string(), why))
            }
            (action, size) => Ok(EventKind::Pool { action, size }),
        }
    }

    /// A copy is made in one way, and has no algorithm of the server's.
    fn check_copy(&self) -> Result<(), Wrong> {
        let key = match (&self.copy, &self.tool) {
            (None, None) => return Ok(()),
            (Some(_), Some(_)) => {
                let why = "stands beside `copy`; leave one of them out";
                return Err(("tool", "given".to_owned(), why.to_owned()));
            }
            (Some(_), None) => "copy",
            (None, Some(_)) => "tool",
        };
        if self.algorithm.is_some() || self.lock.is_some() || self.retries.is_some() {
            let why = "goes with neither `algorithm`, `lock` nor `retries`: the server alters an empty table";
            return Err((key, "given".to_owned(), why.to_owned()));
        }
        if self.tool.is_some() && self.session.is_some() {
            let why = "does not reach the tool's own connections; write the tool's option for that, such as \
                       --set-vars, in `tool`";
            return Err(("session", "given".to_owned(), why.to_owned()));
        }
        Ok(())
    }

    fn event_statement(&self) -> Result<EventStatement, Wrong> {
        let statement = self.statement.clone().ok_or_else(|| {
            let why = format!("an event of the kind `{}` needs it", self.kind);
            ("statement", "nothing".to_owned(), why)
        })?;
        let session = self.session.iter().flatten();
        Ok(EventStatement {
            statement,
            algorithm: self.algorithm.clone(),
            lock: self.lock.clone(),
            session: session
                .map(|(name, value)| (name.clone(), value.text()))
                .collect(),
            retries: self.retries.unwrap_or(0),
            copy: self.copy,
            tool: self.tool.clone(),
        })
    }
}

fn no_such_kind(kind: &str) -> String {
    let kinds = KINDS.join(", ");
    match nearest(kind, KINDS) {
        Some(near) => format!("no such kind; did you mean `{near}`?"),
        None => format!("no such kind; there are {kinds}"),
    }
}
