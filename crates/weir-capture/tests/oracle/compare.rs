//! A capture beside what was sent.

use weir_capture::{CaptureSource, ImportResult};
use weir_model::Flavor;

use crate::history::OLDER;
use crate::reading::CapturedStatement;
use crate::texts::{Text, Token};
use crate::truth::{Place, SentStatement, SessionTruth};

/// Errors of statements that are not read to their end: no schema, and a syntax error.
const UNREAD: [u16; 2] = [1046, 1064];

/// Content of a log, and its precision.
pub(crate) struct Knowledge {
    source: CaptureSource,
    flavor: Flavor,
    is_table: bool,
    /// The log is of another version than this machine's own server. It may have no changed rows.
    is_other_version: bool,
}

impl Knowledge {
    pub(crate) fn new(source: CaptureSource, flavor: Flavor, is_table: bool) -> Self {
        Self {
            source,
            flavor,
            is_table,
            is_other_version: std::env::var_os("WEIR_TEST_SERVER").is_some(),
        }
    }

    fn is_general(&self) -> bool {
        self.source == CaptureSource::GeneralLog
    }

    /// Place of a session, as far as the log has it.
    fn place(&self, place: &Place, is_older: bool) -> Place {
        let mut place = place.clone();
        let is_nowhere = place.schema.as_deref() == Some("");
        if self.is_general() {
            // It says how sessions begin.
            return if is_older { Place::default() } else { place };
        }
        // `MySQL`'s file has no name for a session without a schema, and tables have an empty one.
        if is_nowhere && (self.is_table || self.flavor == Flavor::Mysql) {
            place.schema = None;
        }
        place
    }

    /// Statements as the log has them: `MariaDB`'s general log has a text of several as one.
    fn logged(&self, sent: &[SentStatement]) -> Vec<SentStatement> {
        let mut logged: Vec<SentStatement> = Vec::new();
        for one in sent {
            match logged.last_mut().filter(|last| last.is_joined) {
                Some(last) if self.is_general() && self.flavor == Flavor::Mariadb => {
                    last.text.0.push(Token::Word(b";".to_vec()));
                    last.text.0.extend(one.text.0.clone());
                    last.is_joined = one.is_joined;
                }
                _ => logged.push(one.clone()),
            }
        }
        logged
    }

    /// `MySQL` logs nothing that it refuses when it reads it, but for the slow log of old versions. No slow log has a
    /// statement that took no microsecond: a `SET timestamp` begins to count again. The general log of `MariaDB` 10.2 lacks
    /// executions of prepared statements that failed.
    fn may_lack(&self, sent: &SentStatement) -> bool {
        let error = sent.reply.and_then(|(rows, _)| rows.err());
        let is_short = !self.is_general() && sent.text.has_word(b"timestamp");
        let is_refused = error.is_some_and(|code| UNREAD.contains(&code));
        let is_failed_execution = self.is_general()
            && self.flavor == Flavor::Mariadb
            && self.is_other_version
            && sent.is_prepared
            && error.is_some();
        is_short || is_failed_execution || (self.flavor == Flavor::Mysql && is_refused)
    }

    /// The tables of `MariaDB` hold no bytes that are no characters, and none of four bytes.
    fn garbles(&self, text: &Text) -> bool {
        let is_lost = |bytes: &[u8]| bytes.contains(&0xF0) || std::str::from_utf8(bytes).is_err();
        let is_any = is_lost(&text.sent()) || text.values().into_iter().any(is_lost);
        self.is_table && self.flavor == Flavor::Mariadb && is_any
    }

    fn slack_us(&self) -> i64 {
        match (self.flavor, self.is_table) {
            (Flavor::Mariadb, false) => 2_200_000,
            _ => 20_000,
        }
    }

    /// Parts of the answer that the log must have: rows, changed rows, error.
    fn answers(&self) -> (bool, bool, bool) {
        match self.source {
            CaptureSource::SlowLogExtra => (true, false, true),
            CaptureSource::SlowLog | CaptureSource::SlowLogTable => (true, false, false),
            CaptureSource::SlowLogMariadb => (true, true, false),
            _ => (false, false, false),
        }
    }
}

/// Differences, a line each; the first words are their kind.
pub(crate) fn differences(
    knowledge: &Knowledge,
    truth: &[SessionTruth],
    captured: &[Vec<CapturedStatement>],
    imported: &ImportResult,
) -> Vec<String> {
    let mut found = Vec::new();
    let (mut broken, mut offset_us) = (0, None);
    for session in truth.iter().filter(|session| !session.sent.is_empty()) {
        let first = &session.sent[0].text;
        let its: Vec<_> = captured
            .iter()
            .filter(|statements| statements.first().is_some_and(|one| first.is(&one.text)))
            .collect();
        let [its] = its[..] else {
            found.push(format!(
                "session: {} is there {} times",
                session.number,
                its.len()
            ));
            continue;
        };
        let mut its = its.iter().peekable();
        for sent in &knowledge.logged(&session.sent) {
            if knowledge.may_lack(sent) && !its.peek().is_some_and(|one| sent.text.is(&one.text)) {
                continue;
            }
            let Some(one) = its.next() else {
                found.push(format!(
                    "lost: {} has {} of {}",
                    session.number,
                    its.len(),
                    session.sent.len()
                ));
                break;
            };
            broken += u64::from(sent.is_broken);
            let is_older = session.number < OLDER;
            let place = knowledge.place(&sent.place, is_older);
            let what = statement(knowledge, (sent, &place), one, &mut offset_us);
            if let Some(what) = what {
                let text = String::from_utf8_lossy(&one.text);
                found.push(format!(
                    "{what}; session {}, sent {sent:?}, captured {one:?} {text:?}",
                    session.number
                ));
                break;
            }
        }
        if let Some(more) = its.next() {
            let text = String::from_utf8_lossy(&more.text);
            found.push(format!("more: {} has {text:?}", session.number));
        }
    }
    let losses = imported.tail.losses;
    for (what, count, expected) in [
        ("cut", losses.truncated, broken),
        ("unread", losses.unread_lines, 0),
        ("out of order", losses.out_of_order, 0),
    ] {
        if count != expected {
            found.push(format!("{what}: {count} and not {expected}"));
        }
    }
    found.extend(length(knowledge, truth, imported));
    found
}

/// The difference between a statement that was sent and one that was captured.
fn statement(
    knowledge: &Knowledge,
    (sent, place): (&SentStatement, &Place),
    one: &CapturedStatement,
    offset_us: &mut Option<(i64, i64)>,
) -> Option<String> {
    if !sent.is_broken && !knowledge.garbles(&sent.text) && !sent.text.is(&one.text) {
        return Some("text".to_owned());
    }
    if sent.is_broken != one.is_unusable {
        return Some("unusable".to_owned());
    }
    for (what, expected, found) in [
        ("user", &place.user, &one.place.user),
        ("schema", &place.schema, &one.place.schema),
    ] {
        if expected.is_some() && expected != found {
            return Some(what.to_owned());
        }
    }
    // The log's clock may be in another time zone. The first statement shows it, and began within bounds itself.
    let (first_us, last_us) = sent.began_us;
    let (least_us, most_us) =
        *offset_us.get_or_insert((one.began_us - last_us, one.began_us - first_us));
    let slack_us = knowledge.slack_us();
    let is_early = one.began_us - least_us < first_us - slack_us;
    if is_early || one.began_us - most_us > last_us + slack_us {
        let off_us = one.began_us - least_us - first_us;
        return Some(format!("time, off by {off_us} us"));
    }
    answer(knowledge, sent, one)
}

fn answer(knowledge: &Knowledge, sent: &SentStatement, one: &CapturedStatement) -> Option<String> {
    let (reply, affected) = sent.reply?;
    let (has_rows, has_affected, has_error) = knowledge.answers();
    if has_rows && reply.is_ok() && one.ended.rows != reply.ok().map(|rows| rows as u64) {
        return Some("rows".to_owned());
    }
    // Of a statement that returns rows the log says nothing else.
    let is_other = |known: u64| known != affected;
    let is_wrong = one
        .ended
        .affected
        .map_or(!knowledge.is_other_version, is_other);
    if has_affected && reply == Ok(0) && is_wrong {
        return Some("affected".to_owned());
    }
    if has_error && one.ended.error != Some(reply.err().unwrap_or(0)) {
        return Some("error".to_owned());
    }
    None
}

/// A log of seconds is no capture of years.
fn length(
    knowledge: &Knowledge,
    truth: &[SessionTruth],
    imported: &ImportResult,
) -> Option<String> {
    let sent = || truth.iter().flat_map(|session| &session.sent);
    let first_us = sent().map(|sent| sent.began_us.0).min()?;
    let last_us = sent().map(|sent| sent.began_us.1).max()?;
    let most_us = last_us - first_us + 2 * knowledge.slack_us() + 2_000_000;
    let length_us = imported.tail.ended_us.cast_signed();
    (length_us > most_us).then(|| format!("length: {length_us} us of {}", last_us - first_us))
}
