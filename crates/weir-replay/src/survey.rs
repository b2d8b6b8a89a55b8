//! What a capture has, found by reading it once.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use weir_capture::{
    CaptureHead, CaptureReader, CaptureTail, Command, Ended, Happening, Started, Template,
    TransactionStep,
};

use crate::example::{Example, Examples};
use crate::window::{Selection, Window};
use crate::writers::{Writers, is_of_session};
use crate::{ReplayError, ReplayOptions};

/// Fingerprints that are counted apart; further ones are counted together.
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
    /// One statement of each that EXPLAIN takes. They have the values of the capture.
    pub examples: Vec<Example>,
    /// Whether a statement has a comment that the server executes.
    pub has_executed_comments: bool,
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
    session: u32,
    schema: String,
    window: Window,
    prepared: HashMap<u32, (usize, TransactionStep)>,
    /// Commands that have not ended: when they began and of which fingerprint they are.
    open: VecDeque<Open>,
}

/// A command that has not ended.
enum Open {
    /// A statement that is counted: when it began, and its fingerprint.
    Statement(u64, usize),
    Prepare(usize, TransactionStep),
    /// A change of the schema, to this one unless the server refuses.
    Schema(String),
    Nothing,
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
            examples: Vec::new(),
            has_executed_comments: false,
        };
        let selection = Selection {
            options: options.clone(),
            writers: Writers::read(path, options)?,
        };
        let mut examples = Examples::default();
        let mut live: HashMap<u32, Live> = HashMap::new();
        let mut has_begun = false;
        let mut fingerprints = Fingerprints::default();
        while let Some(record) = reader.next_record()? {
            survey.records += 1;
            survey.length_us = survey.length_us.max(record.at_us);
            if record.at_us >= options.from_us && !std::mem::replace(&mut has_begun, true) {
                survey.sessions = live.len() as u64;
                survey.sessions_at_a_time = live.len() as u32;
            }
            match record.happening {
                Happening::Opened { user, schema } => {
                    if options.is_past(record.at_us) || !options.takes(record.session, &user) {
                        continue;
                    }
                    let opened = Live {
                        session: record.session,
                        schema,
                        ..Live::default()
                    };
                    live.insert(record.session, opened);
                    if has_begun {
                        survey.sessions += 1;
                        survey.sessions_at_a_time =
                            survey.sessions_at_a_time.max(live.len() as u32);
                    }
                }
                Happening::Closed => {
                    live.remove(&record.session);
                    examples.closed(record.session);
                }
                happening => {
                    if let Some(session) = live.get_mut(&record.session) {
                        match &happening {
                            Happening::Started(started) => {
                                survey.look_for_comments(started);
                                examples.started(record.session, started);
                            }
                            Happening::Ended(ended) => examples.ended(record.session, ended),
                            Happening::Opened { .. } | Happening::Closed => {}
                        }
                        survey.take(
                            record.at_us,
                            happening,
                            session,
                            &mut fingerprints,
                            &selection,
                        );
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
        let of = |found: &SurveyedFingerprint| {
            let text = examples.of(&found.text)?;
            let fingerprint = found.text.clone();
            Some(Example { fingerprint, text })
        };
        survey.examples = survey.fingerprints.iter().filter_map(of).collect();
        Ok(survey)
    }

    fn look_for_comments(&mut self, started: &Started) {
        if !self.has_executed_comments
            && let Some(template) = &started.template
        {
            let text = template.text_with(&[]);
            self.has_executed_comments =
                text.windows(3).any(|part| part == b"/*!" || part == b"/*M");
        }
    }

    fn take(
        &mut self,
        at_us: u64,
        happening: Happening,
        session: &mut Live,
        fingerprints: &mut Fingerprints,
        selection: &Selection,
    ) {
        match happening {
            Happening::Started(started) => {
                if started.command != Command::Close {
                    let open = self.started(at_us, &started, session, fingerprints, selection);
                    session.open.push_back(open);
                }
            }
            Happening::Ended(ended) => match session.open.pop_front() {
                Some(Open::Prepare(number, step)) => {
                    if let Some(handle) = ended.handle {
                        session.prepared.insert(handle, (number, step));
                    }
                }
                Some(Open::Schema(schema)) if ended.error.unwrap_or(0) == 0 => {
                    session.schema = schema;
                }
                // A general log knows no ends.
                Some(Open::Statement(began_us, number)) if ended != Ended::default() => {
                    fingerprints.all[number].timed += 1;
                    fingerprints.all[number].total_us += at_us.saturating_sub(began_us);
                }
                _ => {}
            },
            Happening::Opened { .. } | Happening::Closed => {}
        }
    }

    fn started(
        &mut self,
        at_us: u64,
        started: &Started,
        session: &mut Live,
        fingerprints: &mut Fingerprints,
        selection: &Selection,
    ) -> Open {
        let template = started.template.as_ref();
        let class = template
            .map(|template| template.class())
            .unwrap_or_default();
        let (number, step) = match started.command {
            Command::Prepare => {
                return Open::Prepare(fingerprints.number(template), class.transaction);
            }
            Command::UseSchema => {
                return Open::Schema(String::from_utf8_lossy(&started.text()).into_owned());
            }
            Command::Query if class.uses_schema => {
                return Open::Schema(schema_of_use(&started.text()));
            }
            Command::Query => (None, class.transaction),
            Command::Execute => match session.prepared.get(&started.handle) {
                Some((number, step)) => (Some(*number), *step),
                None => (Some(fingerprints.number(None)), TransactionStep::None),
            },
            Command::Reset => {
                let step = TransactionStep::AutocommitOn;
                session
                    .window
                    .take(at_us, step, (session.session, true), selection);
                return Open::Nothing;
            }
            Command::Close | Command::Other => return Open::Nothing,
        };
        let is_query = started.command == Command::Query;
        let of_session = is_query && started.template.as_deref().is_some_and(is_of_session);
        let of = (session.session, of_session);
        if !session.window.take(at_us, step, of, selection) {
            return Open::Nothing;
        }
        let number = number.unwrap_or_else(|| fingerprints.number(template));
        self.statements += 1;
        self.unusable += u64::from(started.is_unusable);
        fingerprints.all[number].count += 1;
        *self.schemas.entry(session.schema.clone()).or_default() += 1;
        Open::Statement(at_us, number)
    }

    /// Sessions that the capture lacks, whole or from some point on.
    pub fn sessions_missing(&self) -> u64 {
        let losses = self.tail.as_ref().map(|tail| tail.losses);
        losses.map_or(0, |losses| losses.sessions_missing())
    }

    /// The schema that most statements are about.
    pub fn schema(&self) -> Option<&str> {
        let most = self.schemas.iter().max_by_key(|(_, count)| **count);
        most.map(|(schema, _)| schema.as_str())
    }
}

/// The schema of `USE name`.
pub(crate) fn schema_of_use(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let name = text.split_ascii_whitespace().nth(1).unwrap_or_default();
    name.trim_matches([';', '`']).to_owned()
}
