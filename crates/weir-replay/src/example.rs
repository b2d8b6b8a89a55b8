//! One statement of each kind as a text, for the server to say how it would find its rows.

use std::collections::{HashMap, VecDeque};

use weir_capture::{Command, CommandEnd, CommandStart, inlined};

/// Longest text that is kept.
const TEXT_MAX: usize = 1 << 16;
/// Verbs of statements that EXPLAIN takes.
const EXPLAINED: [&str; 6] = ["select", "update", "delete", "insert", "replace", "with"];

/// A statement of a kind, with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The kind.
    pub fingerprint: String,
    /// Text of the statement.
    pub text: String,
}

/// The kind and the text of a preparation.
fn preparation(started: &CommandStart) -> Option<(String, Vec<u8>)> {
    let template = started.template.as_ref()?;
    let is_one = started.command == Command::Prepare && !started.is_unusable;
    is_one.then(|| (template.fingerprint().to_owned(), started.text()))
}

/// Collects examples: the first of each kind that can be used.
#[derive(Debug, Default)]
pub(crate) struct Examples {
    found: HashMap<String, String>,
    sessions: HashMap<u32, OfSession>,
}

/// The kind of a statement that is prepared, and its text.
type Preparation = (String, Vec<u8>);

/// Facts about a session that is there.
#[derive(Debug, Default)]
struct OfSession {
    /// Statements that it has prepared, by the server's number.
    prepared: HashMap<u32, Preparation>,
    /// Commands that have not ended, with those that prepare: several may be under way.
    open: VecDeque<Option<Preparation>>,
}

impl Examples {
    pub(crate) fn started(&mut self, session: u32, started: &CommandStart) {
        let preparation = preparation(started).filter(|(kind, _)| self.wants(kind));
        let of_session = self.sessions.entry(session).or_default();
        match started.command {
            // It has no end.
            Command::Close => drop(of_session.prepared.remove(&started.handle)),
            Command::Reset | Command::ChangeUser => {
                of_session.prepared.clear();
                of_session.open.push_back(None);
            }
            _ => of_session.open.push_back(preparation),
        }
        if started.is_unusable {
            return;
        }
        match started.command {
            Command::Query => {
                let template = started.template.as_ref();
                if let Some(kind) = template.map(|template| template.fingerprint())
                    && self.wants(kind)
                {
                    self.add(kind.to_owned(), started.text());
                }
            }
            Command::Execute => {
                let prepared = self.sessions[&session].prepared.get(&started.handle);
                if let Some((kind, text)) = prepared
                    && self.wants(kind)
                    && let Some(text) = inlined(text, &started.values)
                {
                    self.add(kind.clone(), text);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn ended(&mut self, session: u32, ended: &CommandEnd) {
        let Some(of_session) = self.sessions.get_mut(&session) else {
            return;
        };
        let open = of_session.open.pop_front();
        if let (Some(handle), Some(Some(prepared))) = (ended.handle, open) {
            of_session.prepared.insert(handle, prepared);
        }
    }

    pub(crate) fn closed(&mut self, session: u32) {
        self.sessions.remove(&session);
    }

    fn wants(&self, kind: &str) -> bool {
        let verb = kind.split_ascii_whitespace().next().unwrap_or_default();
        let is_explained = EXPLAINED.contains(&verb.trim_start_matches('('));
        is_explained && !self.found.contains_key(kind)
    }

    fn add(&mut self, kind: String, text: Vec<u8>) {
        if text.len() <= TEXT_MAX
            && let Ok(text) = String::from_utf8(text)
        {
            self.found.insert(kind, text);
        }
    }

    /// The example of a kind.
    pub(crate) fn for_kind(&self, kind: &str) -> Option<String> {
        self.found.get(kind).cloned()
    }
}
