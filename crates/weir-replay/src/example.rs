//! One statement of each kind as a text, for the server to say how it would find its rows.

use std::collections::{HashMap, VecDeque};

use weir_capture::{Command, Ended, Started, inlined};

/// Longest text that is kept.
const TEXT_MAX: usize = 1 << 16;
/// Verbs of statements that EXPLAIN takes.
const EXPLAINED: [&str; 6] = ["select", "update", "delete", "insert", "replace", "with"];

/// A statement of a kind, with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The kind.
    pub fingerprint: String,
    /// Its text.
    pub text: String,
}

/// The kind and the text of a preparation.
fn preparation(started: &Started) -> Option<(String, Vec<u8>)> {
    let template = started.template.as_ref()?;
    let is_one = started.command == Command::Prepare && !started.is_unusable;
    is_one.then(|| (template.fingerprint().to_owned(), started.text()))
}

/// Collects examples: the first of each kind that can be used.
#[derive(Debug, Default)]
pub(crate) struct Examples {
    found: HashMap<String, String>,
    /// Texts of prepared statements, by session and number.
    prepared: HashMap<(u32, u32), (String, Vec<u8>)>,
    /// Commands of sessions that have not ended, with the text of those that prepare: several may be under way.
    open: HashMap<u32, VecDeque<Option<Preparation>>>,
}

/// The text of a statement that is prepared, and what stands beside it.
type Preparation = (String, Vec<u8>);

impl Examples {
    pub(crate) fn started(&mut self, session: u32, started: &Started) {
        if started.command != Command::Close {
            let open = self.open.entry(session).or_default();
            open.push_back(preparation(started));
        }
        if started.is_unusable {
            return;
        }
        match started.command {
            Command::Query => {
                let kind = started
                    .template
                    .as_ref()
                    .map(|template| template.fingerprint());
                if let Some(kind) = kind.filter(|kind| self.wants(kind)) {
                    let kind = kind.to_owned();
                    self.add(kind, started.text());
                }
            }
            Command::Execute => {
                let prepared = self.prepared.get(&(session, started.handle));
                let wanted = prepared.filter(|(kind, _)| self.wants(kind));
                if let Some((kind, text)) = wanted.cloned()
                    && let Some(text) = inlined(&text, &started.values)
                {
                    self.add(kind, text);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn ended(&mut self, session: u32, ended: &Ended) {
        let open = self.open.get_mut(&session).and_then(VecDeque::pop_front);
        if let (Some(handle), Some(Some(prepared))) = (ended.handle, open) {
            self.prepared.insert((session, handle), prepared);
        }
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
    pub(crate) fn of(&self, kind: &str) -> Option<String> {
        self.found.get(kind).cloned()
    }
}
