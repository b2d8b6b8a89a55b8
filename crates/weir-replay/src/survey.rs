//! Content of a capture, found by reading it once.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use weir_capture::{
    CaptureHead, CaptureReader, CaptureTail, Command, CommandEnd, CommandStart, Happening, Login,
    Record, Template, TransactionStep,
};

use crate::example::{Example, Examples};
use crate::session_schema::SessionSchema;
use crate::window::{Selection, Window};
use crate::writers::{Writers, is_of_session};
use crate::{ReplayError, ReplayOptions};

/// Fingerprints that are counted apart; further ones are counted together.
const FINGERPRINTS_MAX: usize = 2_000;
/// Common name of the further ones.
pub(crate) const OTHERS: &str = "(other statements)";

/// Content of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Head of the capture.
    pub head: CaptureHead,
    /// End of the capture; none after a kill.
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
    /// True if a statement has a comment that the server executes.
    pub has_executed_comments: bool,
    /// True if the capture knows the collations of logins.
    pub has_collations: bool,
}

/// A fingerprint in a capture.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SurveyedFingerprint {
    /// The text.
    pub text: String,
    /// Number of executions.
    pub count: u64,
    /// Number of executions whose time is known.
    pub timed: u64,
    /// Total time of these, microseconds.
    pub total_us: u64,
}

#[derive(Default)]
struct Live {
    session: u32,
    /// Statements of its account are counted.
    is_taken: bool,
    schema: SessionSchema,
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
    /// A move to another schema or account.
    Move,
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

/// A survey in the making.
struct Surveyor {
    survey: Survey,
    selection: Selection,
    examples: Examples,
    /// Sessions that are there, and how many of them are taken.
    live: HashMap<u32, Live>,
    taken: u32,
    fingerprints: Fingerprints,
    /// The replay's part of the capture has begun.
    has_begun: bool,
}

impl Surveyor {
    fn take(&mut self, record: Record) {
        let Record {
            at_us,
            session,
            happening,
        } = record;
        self.survey.records += 1;
        self.survey.length_us = self.survey.length_us.max(at_us);
        self.begin(at_us);
        match happening {
            Happening::Opened(login) => self.opened(at_us, session, login),
            Happening::Closed => {
                let live = self.live.remove(&session);
                self.taken -= u32::from(live.is_some_and(|live| live.is_taken));
                self.examples.closed(session);
            }
            Happening::Started(started) => {
                if let Some(live) = self.live.get_mut(&session) {
                    self.survey.look_for_comments(&started);
                    self.examples.started(session, &started);
                    // A close has no end.
                    if started.command != Command::Close {
                        let (fingerprints, selection) = (&mut self.fingerprints, &self.selection);
                        let survey = &mut self.survey;
                        let open = survey.started(at_us, &started, live, fingerprints, selection);
                        live.open.push_back(open);
                    }
                }
            }
            Happening::Ended(ended) => {
                if let Some(live) = self.live.get_mut(&session) {
                    self.examples.ended(session, &ended);
                    if let Some(login) = live.ended(at_us, &ended, &mut self.fingerprints) {
                        self.changed(session, &login);
                    }
                }
            }
        }
    }

    /// Once the replay's part begins, the sessions that are there count.
    fn begin(&mut self, at_us: u64) {
        let begins = at_us >= self.selection.options.from_us;
        if begins && !std::mem::replace(&mut self.has_begun, true) {
            self.survey.sessions = u64::from(self.taken);
            self.survey.sessions_at_a_time = self.taken;
        }
    }

    fn opened(&mut self, at_us: u64, session: u32, login: Login) {
        let options = &self.selection.options;
        if options.is_past(at_us) || !options.takes(session) {
            return;
        }
        self.survey.has_collations |= login.collation.is_some();
        let is_taken = options.takes_user(&login.user);
        let opened = Live {
            session,
            is_taken,
            schema: SessionSchema::new(login.schema),
            ..Live::default()
        };
        self.live.insert(session, opened);
        if is_taken {
            self.joined();
        }
    }

    /// A session's statements are taken from now on.
    fn joined(&mut self) {
        self.taken += 1;
        if self.has_begun {
            let survey = &mut self.survey;
            survey.sessions += 1;
            survey.sessions_at_a_time = survey.sessions_at_a_time.max(self.taken);
        }
    }

    /// A session goes on with another login.
    fn changed(&mut self, session: u32, login: &Login) {
        self.survey.has_collations |= login.collation.is_some();
        let is_taken = self.selection.options.takes_user(&login.user);
        let Some(live) = self.live.get_mut(&session) else {
            return;
        };
        match (std::mem::replace(&mut live.is_taken, is_taken), is_taken) {
            (false, true) => self.joined(),
            (true, false) => self.taken -= 1,
            _ => {}
        }
    }

    /// The survey, but for what the reader knows of the capture's end.
    fn finish(self) -> Survey {
        let mut survey = self.survey;
        survey.fingerprints = self.fingerprints.all;
        survey
            .fingerprints
            .sort_by_key(|found| std::cmp::Reverse((found.total_us, found.count)));
        let example = |found: &SurveyedFingerprint| {
            let text = self.examples.for_kind(&found.text)?;
            let fingerprint = found.text.clone();
            Some(Example { fingerprint, text })
        };
        survey.examples = survey.fingerprints.iter().filter_map(example).collect();
        survey
    }
}

impl Live {
    /// The oldest command ended; the login that the session has become, if it is another one.
    fn ended(
        &mut self,
        at_us: u64,
        ended: &CommandEnd,
        fingerprints: &mut Fingerprints,
    ) -> Option<Login> {
        match self.open.pop_front() {
            Some(Open::Prepare(number, step)) => {
                if let Some(handle) = ended.handle {
                    self.prepared.insert(handle, (number, step));
                }
            }
            // A general log knows no ends.
            Some(Open::Statement(began_us, number)) if *ended != CommandEnd::default() => {
                fingerprints.all[number].timed += 1;
                fingerprints.all[number].total_us += at_us.saturating_sub(began_us);
            }
            Some(Open::Move) => return self.schema.ended(ended),
            _ => {}
        }
        None
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
        let mut surveyor = Surveyor {
            survey: Self::empty(reader.head().clone()),
            selection: Selection {
                options: options.clone(),
                writers: Writers::read(path, options)?,
            },
            examples: Examples::default(),
            live: HashMap::new(),
            taken: 0,
            fingerprints: Fingerprints::default(),
            has_begun: false,
        };
        while let Some(record) = reader.next_record()? {
            surveyor.take(record);
        }
        let mut survey = surveyor.finish();
        survey.tail = reader.tail().cloned();
        survey.cut_bytes = reader.cut_bytes();
        Ok(survey)
    }

    /// Before the first record.
    fn empty(head: CaptureHead) -> Self {
        Self {
            head,
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
            has_collations: false,
        }
    }

    fn look_for_comments(&mut self, started: &CommandStart) {
        if !self.has_executed_comments
            && let Some(template) = &started.template
        {
            let text = template.text_with(&[]);
            self.has_executed_comments =
                text.windows(3).any(|part| part == b"/*!" || part == b"/*M");
        }
    }

    fn started(
        &mut self,
        at_us: u64,
        started: &CommandStart,
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
                let schema = String::from_utf8_lossy(&started.text()).into_owned();
                session.schema.ask(schema);
                return Open::Move;
            }
            Command::Query if class.uses_schema => {
                session.schema.ask(schema_of_use(&started.text()));
                return Open::Move;
            }
            Command::Query => (None, class.transaction),
            Command::Execute => match session.prepared.get(&started.handle) {
                Some((number, step)) => (Some(*number), *step),
                None => (Some(fingerprints.number(None)), TransactionStep::None),
            },
            Command::Reset | Command::ChangeUser => {
                let step = TransactionStep::AutocommitOn;
                session
                    .window
                    .take(at_us, step, (session.session, true), selection);
                session.prepared.clear();
                if started.command == Command::Reset {
                    return Open::Nothing;
                }
                session
                    .schema
                    .ask_login(started.login.clone().unwrap_or_default());
                return Open::Move;
            }
            Command::Close | Command::Other => return Open::Nothing,
        };
        let is_query = started.command == Command::Query;
        let of_session = is_query && started.template.as_deref().is_some_and(is_of_session);
        let of = (session.session, of_session);
        if !session.window.take(at_us, step, of, selection) || !session.is_taken {
            return Open::Nothing;
        }
        let number = number.unwrap_or_else(|| fingerprints.number(template));
        self.statements += 1;
        self.unusable += u64::from(started.is_unusable);
        fingerprints.all[number].count += 1;
        *self
            .schemas
            .entry(session.schema.name().to_owned())
            .or_default() += 1;
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
