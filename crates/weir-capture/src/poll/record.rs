//! Records of a capture from statements that polls see, and the share that they are of all.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use weir_mysql::Connection;

use super::counters::{CountersAfter, DigestCount, DigestKey, digest_key, merged};
use super::event::{Event, EventEnd, Look};
use crate::head::CaptureTail;
use crate::import::{Entry, Sessions};
use crate::{CaptureError, CaptureWriter, CountedKind, ServerCounters};

/// Records wait so long for others that began before them, microseconds.
const BEHIND_US: i64 = 500_000;
/// Sessions whose accounts are asked for at a time.
const SESSIONS_AT_A_TIME: usize = 1_000;
/// A text that the server has cut ends with it.
const CUT: &[u8] = b"...";
/// A cut text may lack so many bytes of its length: a character that was cut goes.
const CUT_BYTES: usize = 8;
const PS_PER_US: u64 = 1_000_000;

/// Writes what polls see.
#[derive(Debug)]
pub(super) struct EventRecorder {
    sessions: Sessions,
    /// Accounts of sessions; `None` for a thread of the server itself.
    users: HashMap<u64, Option<String>>,
    /// Statements that ran at the last poll.
    running: HashMap<(u64, u64), Event>,
    seen: SeenStatements,
    /// Statements that end later are not compared with counters.
    count_until_ps: u64,
    written_until_us: i64,
    now_us: i64,
    text_bytes_max: usize,
}

/// Statements that were seen.
#[derive(Debug, Default)]
struct SeenStatements {
    /// By digest, for comparison with the digests' counters.
    digests: HashMap<DigestKey, SeenDigest>,
    /// Statements of clients, for comparison with their number.
    statements: u64,
    /// Statements of which neither end nor digest was seen.
    without_digest: u64,
    /// The end of a statement was seen.
    has_ends: bool,
}

#[derive(Debug, Default)]
struct SeenDigest {
    count: u64,
    took_ps: u64,
    /// One of its statements, whole.
    text: Option<Vec<u8>>,
}

/// A capture whose records are all written.
pub(super) struct RecordedCapture {
    writer: CaptureWriter,
    ended_us: u64,
    seen: SeenStatements,
}

impl EventRecorder {
    pub(super) fn new(sessions: Sessions, text_bytes_max: usize) -> Self {
        Self {
            sessions,
            users: HashMap::new(),
            running: HashMap::new(),
            seen: SeenStatements::default(),
            count_until_ps: u64::MAX,
            written_until_us: i64::MIN,
            now_us: 0,
            text_bytes_max,
        }
    }

    /// When the last poll was, microseconds since 1970.
    pub(super) fn now_us(&self) -> i64 {
        self.now_us
    }

    /// Statements that end later are not compared with counters.
    pub(super) fn count_until(&mut self, now_ps: u64) {
        self.count_until_ps = now_ps;
    }

    /// Learns the accounts of sessions that are new; `asks`: they are in `performance_schema`.
    pub(super) fn meet(
        &mut self,
        connection: &mut Connection,
        look: &Look,
        asks: bool,
    ) -> Result<(), CaptureError> {
        for (session, user) in &look.users {
            self.users.insert(*session, Some(user.clone()));
        }
        if !asks {
            return Ok(());
        }
        let events = look.running.iter().chain(&look.ended);
        let new: HashSet<u64> = events
            .map(|event| event.session)
            .filter(|session| !self.users.contains_key(session))
            .collect();
        let mut new: Vec<_> = new.into_iter().map(|session| session.to_string()).collect();
        new.sort_unstable();
        for part in new.chunks(SESSIONS_AT_A_TIME) {
            let query = format!(
                "SELECT THREAD_ID weir_poll, TYPE, PROCESSLIST_USER FROM performance_schema.threads WHERE THREAD_ID IN ({})",
                part.join(", ")
            );
            connection.each(
                &query,
                |(session, kind, user): (u64, String, Option<String>)| {
                    let user = (kind == "FOREGROUND").then(|| user.unwrap_or_default());
                    self.users.insert(session, user);
                },
            )?;
        }
        Ok(())
    }

    /// Takes what a poll saw.
    pub(super) fn take(&mut self, look: Look) -> Result<(), CaptureError> {
        self.now_us = self.now_us.max(look.now_us);
        let mut entries = Vec::new();
        let mut ended = HashSet::new();
        for event in look.ended {
            let key = (event.session, event.id);
            self.running.remove(&key);
            ended.insert(key);
            self.seen
                .add(&event, self.count_until_ps, self.text_bytes_max);
            entries.push(event);
        }
        let running = look
            .running
            .into_iter()
            .map(|event| ((event.session, event.id), event));
        let running: HashMap<_, _> = running
            .filter(|(key, event)| event.is_statement() && !ended.contains(key))
            .collect();
        let before = std::mem::take(&mut self.running);
        for (key, event) in before {
            // It has ended, and the server has forgotten its end.
            if !running.contains_key(&key) {
                self.seen
                    .add(&event, self.count_until_ps, self.text_bytes_max);
                entries.push(event);
            }
        }
        self.running = running;
        self.write(entries)?;
        self.sessions
            .close_absent(self.written_until_us, |session| {
                look.sessions.contains(&session)
            })?;
        self.users
            .retain(|session, _| look.sessions.contains(session));
        let oldest_us = self.running.values().map(|event| event.began_us).min();
        let until_us = self.now_us - BEHIND_US;
        self.written_until_us = oldest_us.map_or(until_us, |oldest_us| oldest_us.min(until_us));
        self.sessions.write_until(self.written_until_us)
    }

    fn write(&mut self, mut events: Vec<Event>) -> Result<(), CaptureError> {
        events.sort_by_key(|event| (event.began_us, event.session, event.id));
        for event in events.into_iter().filter(Event::is_statement) {
            let user = match self.users.get(&event.session) {
                Some(None) => continue,
                Some(Some(user)) => user.clone(),
                // It left before its account could be asked for.
                None => String::new(),
            };
            let text = event.text.as_deref().unwrap_or_default();
            let entry = Entry {
                connection: event.session,
                user,
                schema: Some(event.schema.clone()),
                began_us: event.began_us,
                took_us: event
                    .end
                    .map(|end| (end.took_ps + PS_PER_US / 2) / PS_PER_US),
                is_of_server_clock: true,
                is_cut: is_cut(text, self.text_bytes_max),
                lacks_values: event.lacks_values(),
                rows: event.end.map(|end| end.rows),
                affected: event.end.map(|end| end.affected),
                error: event.end.map(|end| end.error),
                text: text.to_vec(),
                ..Entry::default()
            };
            self.sessions.statement(entry)?;
        }
        Ok(())
    }

    /// Writes what still runs, of which no end is known.
    pub(super) fn finish(mut self, end_us: i64) -> Result<RecordedCapture, CaptureError> {
        let running = std::mem::take(&mut self.running).into_values().collect();
        self.write(running)?;
        let (writer, ended_us) = self.sessions.end_at(end_us)?;
        Ok(RecordedCapture {
            writer,
            ended_us,
            seen: self.seen,
        })
    }
}

/// Returns true if the server has cut a text.
fn is_cut(text: &[u8], bytes_max: usize) -> bool {
    text.ends_with(CUT) && text.len() + CUT_BYTES >= bytes_max
}

impl SeenStatements {
    fn add(&mut self, event: &Event, until_ps: u64, text_bytes_max: usize) {
        if event.end.is_some_and(|end| end.at_ps > until_ps) {
            return;
        }
        self.statements += u64::from(event.is_statement());
        self.without_digest += u64::from(event.end.is_none() && event.digest.is_none());
        self.has_ends |= event.end.is_some();
        if let Some(digest) = &event.digest {
            let seen = self
                .digests
                .entry(digest_key(&event.schema, digest))
                .or_default();
            seen.count += 1;
            seen.took_ps += event.end.map_or(0, |end: EventEnd| end.took_ps);
            let is_whole = |text: &&Vec<u8>| !is_cut(text, text_bytes_max);
            if seen.text.is_none() {
                seen.text = event.text.as_ref().filter(is_whole).cloned();
            }
        }
    }
}

impl RecordedCapture {
    /// Compares what was seen with the server's counters.
    pub(super) fn count(&mut self, after: CountersAfter, (polls, took): (u64, Duration)) {
        let mut counters = ServerCounters {
            polls,
            polling_us: took.as_micros() as u64,
            ..ServerCounters::default()
        };
        if let Some(digests) = &after.digests {
            let total = |part: fn(&DigestCount) -> u64| digests.iter().map(part).sum::<u64>();
            counters.statements = Some(total(|digest| digest.count));
            counters.time_us = Some(total(|digest| digest.took_ps) / PS_PER_US);
            let seen = self.seen.digests.values();
            counters.seen = seen.clone().map(|seen| seen.count).sum();
            counters.seen += self.seen.without_digest;
            let seen_us = seen.map(|seen| seen.took_ps).sum::<u64>() / PS_PER_US;
            counters.seen_us = self.seen.has_ends.then_some(seen_us);
        } else {
            counters.statements = Some(after.questions);
            counters.seen = self.seen.statements;
        }
        let kinds = after
            .digests
            .into_iter()
            .flatten()
            .map(|digest| self.kind(&digest));
        counters.set_kinds(merged(kinds.collect()));
        if after.are_emptied {
            counters.statements = None;
            counters.time_us = None;
        }
        self.writer.losses.unseen = counters.unseen();
        self.writer.counters = Some(counters);
    }

    fn kind(&self, digest: &DigestCount) -> CountedKind {
        let seen = self.seen.digests.get(&digest.key);
        CountedKind {
            text: self
                .writer
                .fingerprint(&digest.form(seen.and_then(|seen| seen.text.as_deref()))),
            schema: digest.key.0.clone(),
            count: digest.count,
            time_us: digest.took_ps / PS_PER_US,
            seen: seen.map_or(0, |seen| seen.count),
            sample: digest
                .sample
                .as_deref()
                .and_then(|text| self.writer.sample(text)),
        }
    }

    /// Ends the capture.
    pub(super) fn end(self) -> Result<CaptureTail, CaptureError> {
        self.writer.finish(self.ended_us)
    }

    /// Ends a capture whose server was lost.
    pub(super) fn end_early(self, why: &str) -> Result<CaptureTail, CaptureError> {
        self.writer.finish_early(self.ended_us, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_the_server_cut_is_told_from_one_that_ends_with_points() {
        let cut = [&vec![b'x'; 1021][..], CUT].concat();
        assert!(is_cut(&cut, 1024));
        assert!(!is_cut(b"SELECT 'and so on...", 1024));
        assert!(!is_cut(&[b'x'; 1024], 1024));
    }
}
