//! What a capture has, found by reading it once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use weir_capture::{CaptureHead, CaptureReader, CaptureTail, Command, Ended, Happening, Template};

use crate::{ReplayError, ReplayOptions};

/// Fingerprints that are told apart; further ones are counted together.
const FINGERPRINTS_MAX: usize = 2_000;
/// What those are called.
pub(crate) const OTHERS: &str = "(other statements)";

/// What a capture has.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// What it says of itself.
    pub head: CaptureHead,
    /// How it ended; none after a kill.
    pub tail: Option<CaptureTail>,
    /// Bytes at its end that are no whole block.
    pub cut_bytes: u64,
    /// Records that were read; a capture that is still written has more by now.
    pub records: u64,
    /// Sessions.
    pub sessions: u64,
    /// The most of them at a time.
    pub sessions_at_a_time: u32,
    /// Statements: texts and executions.
    pub statements: u64,
    /// Statements that can never be sent again.
    pub unusable: u64,
    /// From its beginning to its last record, microseconds.
    pub length_us: u64,
    /// Statements by their session's schema.
    pub schemas: BTreeMap<String, u64>,
    /// Fingerprints by the time that they took, the longest first.
    pub fingerprints: Vec<SurveyedFingerprint>,
}

/// A fingerprint in a capture.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SurveyedFingerprint {
    /// The text.
    pub text: String,
    /// How often it was executed.
    pub count: u64,
    /// How often it is known how long that took.
    pub timed: u64,
    /// How long that took, microseconds.
    pub total_us: u64,
}

#[derive(Default)]
struct Live {
    schema: String,
    prepared: HashMap<u32, usize>,
    /// Commands that have not ended: when they began and of which fingerprint they are.
    open: std::collections::VecDeque<(u64, Option<usize>, bool)>,
}

#[derive(Default)]
struct Fingerprints {
    numbers: HashMap<String, usize>,
    all: Vec<SurveyedFingerprint>,
}

impl Fingerprints {
    fn number(&mut self, template: Option<&Arc<Template>>) -> usize {
        let text = template.map_or(OTHERS, |template| template.fingerprint());
        let text = if self.all.len() >= FINGERPRINTS_MAX && !self.numbers.contains_key(text) {
            OTHERS
        } else {
            text
        };
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.all.len();
        self.numbers.insert(text.to_owned(), number);
        self.all.push(SurveyedFingerprint {
            text: text.to_owned(),
            ..SurveyedFingerprint::default()
        });
        number
    }
}

impl Survey {
    /// Reads a capture, as far as `options` take its sessions.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn read(path: &Path, options: &ReplayOptions) -> Result<Self, ReplayError> {
        let mut reader = CaptureReader::open(path)?;
        let mut survey = Self {
            head: reader.head().clone(),
            tail: None,
            cut_bytes: 0,
            records: 0,
            sessions: 0,
            sessions_at_a_time: 0,
            statements: 0,
            unusable: 0,
            length_us: 0,
            schemas: BTreeMap::new(),
            fingerprints: Vec::new(),
        };
        let mut live: HashMap<u32, Live> = HashMap::new();
        let mut fingerprints = Fingerprints::default();
        while let Some(record) = reader.next_record()? {
            survey.records += 1;
            survey.length_us = survey.length_us.max(record.at_us);
            match record.happening {
                Happening::Opened { user, schema } if options.takes(record.session, &user) => {
                    survey.sessions += 1;
                    let opened = Live {
                        schema,
                        ..Live::default()
                    };
                    live.insert(record.session, opened);
                    survey.sessions_at_a_time = survey.sessions_at_a_time.max(live.len() as u32);
                }
                Happening::Closed => drop(live.remove(&record.session)),
                happening => {
                    if let Some(session) = live.get_mut(&record.session) {
                        survey.take(record.at_us, happening, session, &mut fingerprints);
                    }
                }
            }
        }
        survey.tail = reader.tail().cloned();
        survey.cut_bytes = reader.cut_bytes();
        survey.fingerprints = fingerprints.all;
        survey
            .fingerprints
            .sort_by_key(|found| std::cmp::Reverse((found.total_us, found.count)));
        Ok(survey)
    }

    fn take(
        &mut self,
        at_us: u64,
        happening: Happening,
        session: &mut Live,
        fingerprints: &mut Fingerprints,
    ) {
        match happening {
            Happening::Started(started) => {
                let fingerprint = match started.command {
                    Command::Query => Some(fingerprints.number(started.template.as_ref())),
                    Command::Execute => {
                        let known = session.prepared.get(&started.handle).copied();
                        Some(known.unwrap_or_else(|| fingerprints.number(None)))
                    }
                    Command::UseSchema => {
                        session.schema = String::from_utf8_lossy(&started.text()).into_owned();
                        None
                    }
                    Command::Prepare => {
                        let number = fingerprints.number(started.template.as_ref());
                        session.open.push_back((at_us, Some(number), true));
                        return;
                    }
                    Command::Close => return,
                    Command::Reset | Command::Other => None,
                };
                if let Some(number) = fingerprint {
                    self.statements += 1;
                    self.unusable += u64::from(started.is_unusable);
                    fingerprints.all[number].count += 1;
                    *self.schemas.entry(session.schema.clone()).or_default() += 1;
                }
                session.open.push_back((at_us, fingerprint, false));
            }
            Happening::Ended(ended) => {
                let Some((began_us, fingerprint, is_prepare)) = session.open.pop_front() else {
                    return;
                };
                if let (Some(number), Some(handle)) = (fingerprint, ended.handle) {
                    session.prepared.insert(handle, number);
                }
                // A general log knows no ends.
                let is_known = !is_prepare && ended != Ended::default();
                if let Some(number) = fingerprint.filter(|_| is_known) {
                    fingerprints.all[number].timed += 1;
                    fingerprints.all[number].total_us += at_us.saturating_sub(began_us);
                }
            }
            Happening::Opened { .. } | Happening::Closed => {}
        }
    }

    /// The schema that most statements are about.
    pub fn schema(&self) -> Option<&str> {
        let most = self.schemas.iter().max_by_key(|(_, count)| **count);
        most.map(|(schema, _)| schema.as_str())
    }

    /// Whether it has sessions of more than one schema.
    pub fn other_schemas(&self, schema: &str) -> HashSet<&str> {
        let schemas = self.schemas.keys().map(String::as_str);
        schemas.filter(|other| *other != schema).collect()
    }
}
