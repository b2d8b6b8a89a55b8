//! Entries of a log as records: sessions by the server's connection ids, and the order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::path::Path;

use crate::head::{CaptureHead, CaptureTail};
use crate::sql::is_cut;
use crate::writer::Request;
use crate::{CaptureError, CaptureWriter, Command, CommandEnd, Login};

/// Entries that wait for others that began before them.
const WINDOW: usize = 200_000;
/// Bytes of their texts.
const WINDOW_BYTES: usize = 128 << 20;
/// The error of a login that is refused (`ER_ACCESS_DENIED_ERROR`).
const ACCESS_DENIED: u16 = 1045;

/// Content of one statement's entry.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Entry {
    pub(crate) connection: u64,
    pub(crate) user: String,
    /// The schema, if the entry tells it.
    pub(crate) schema: Option<String>,
    /// When it began, microseconds since 1970.
    pub(crate) began_us: i64,
    /// Duration, if it is known, microseconds.
    pub(crate) took_us: Option<u64>,
    /// True if the times are the server's, whatever time the session has set.
    pub(crate) is_of_server_clock: bool,
    pub(crate) text: Vec<u8>,
    /// The log lacks its end.
    pub(crate) is_cut: bool,
    /// It is a bulk execution, whose parameters the log lacks.
    pub(crate) is_bulk: bool,
    /// It is an execution of a prepared statement whose parameters are not known.
    pub(crate) lacks_values: bool,
    pub(crate) rows: Option<u64>,
    pub(crate) affected: Option<u64>,
    pub(crate) error: Option<u16>,
}

impl Entry {
    /// When it ended, microseconds since 1970.
    pub(crate) fn ended_us(&self) -> i64 {
        self.began_us
            .saturating_add_unsigned(self.took_us.unwrap_or(0))
    }

    /// Moves it to another end.
    pub(super) fn end_at(&mut self, ended_us: i64) {
        self.began_us = ended_us.saturating_sub_unsigned(self.took_us.unwrap_or(0));
    }
}

#[derive(Debug)]
enum What {
    Opened(Login),
    Asked {
        command: Command,
        text: Vec<u8>,
        is_truncated: bool,
        is_bulk: bool,
        lacks_values: bool,
    },
    /// The session goes on as another login.
    Changed(Login),
    Reset,
    Ended(CommandEnd),
    Closed,
}

/// By time, then in the order in which they were read.
#[derive(Debug)]
struct QueuedRecord {
    at_us: u64,
    number: u64,
    session: u32,
    what: What,
}

impl PartialEq for QueuedRecord {
    fn eq(&self, other: &Self) -> bool {
        (self.at_us, self.number) == (other.at_us, other.number)
    }
}

impl Eq for QueuedRecord {}

impl PartialOrd for QueuedRecord {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QueuedRecord {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_us, self.number).cmp(&(other.at_us, other.number))
    }
}

#[derive(Debug)]
struct Live {
    session: u32,
    user: String,
    schema: String,
    /// Time of the session's last record, microseconds.
    last_us: u64,
    /// It has asked nothing since its login.
    is_new: bool,
    /// A change of user whose end is not known, and the account and the schema before it.
    changing: Option<(String, String)>,
}

/// Writes entries as a capture.
#[derive(Debug)]
pub(crate) struct Sessions {
    writer: CaptureWriter,
    began_unix_us: i64,
    live: HashMap<u64, Live>,
    /// Sessions whose login was refused, which the log says after it.
    refused: HashSet<u32>,
    next_session: u32,
    next_number: u64,
    waiting: BinaryHeap<Reverse<QueuedRecord>>,
    waiting_bytes: usize,
    written_us: u64,
}

impl Sessions {
    pub(crate) fn create(path: &Path, head: &CaptureHead) -> Result<Self, CaptureError> {
        Ok(Self {
            writer: CaptureWriter::create(path, head)?,
            began_unix_us: head.began_unix_us,
            live: HashMap::new(),
            refused: HashSet::new(),
            next_session: 1,
            next_number: 0,
            waiting: BinaryHeap::new(),
            waiting_bytes: 0,
            written_us: 0,
        })
    }

    /// A line that belongs to no entry.
    pub(super) fn unread(&mut self) {
        self.writer.losses.unread_lines += 1;
    }

    /// A statement that one before it has run.
    pub(super) fn of_routine(&mut self) {
        self.writer.losses.of_routines += 1;
    }

    /// An entry whose time did not fit its neighbours.
    pub(super) fn out_of_place(&mut self) {
        self.writer.losses.out_of_place += 1;
    }

    /// A session is there.
    pub(super) fn open(
        &mut self,
        connection: u64,
        at_unix_us: i64,
        login: Login,
    ) -> Result<(), CaptureError> {
        self.close(connection, at_unix_us)?;
        let at_us = self.since_began(at_unix_us);
        let session = self.next_session;
        self.next_session += 1;
        let live = Live {
            session,
            user: login.user.clone(),
            schema: login.schema.clone(),
            last_us: at_us,
            is_new: true,
            changing: None,
        };
        self.live.insert(connection, live);
        self.put(at_us, session, What::Opened(login))
    }

    /// A session goes on as another login.
    pub(super) fn change(
        &mut self,
        connection: u64,
        at_unix_us: i64,
        login: Login,
    ) -> Result<(), CaptureError> {
        let at_us = self.since_began(at_unix_us);
        self.settle(connection)?;
        let Some(live) = self.live.get_mut(&connection) else {
            return self.open(connection, at_unix_us, login);
        };
        live.last_us = at_us.max(live.last_us);
        let before = (
            std::mem::replace(&mut live.user, login.user.clone()),
            std::mem::replace(&mut live.schema, login.schema.clone()),
        );
        live.changing = Some(before);
        let (at_us, session) = (live.last_us, live.session);
        self.put(at_us, session, What::Changed(login))
    }

    /// The server refused the last login: a session that has just begun never was one, and a change of user has changed
    /// nothing.
    pub(super) fn refuse(&mut self, connection: u64) -> Result<(), CaptureError> {
        let Some(live) = self.live.get_mut(&connection) else {
            return Ok(());
        };
        if let Some((user, schema)) = live.changing.take() {
            (live.user, live.schema) = (user, schema);
            let (at_us, session) = (live.last_us, live.session);
            let ended = CommandEnd {
                error: Some(ACCESS_DENIED),
                ..CommandEnd::default()
            };
            return self.put(at_us, session, What::Ended(ended));
        }
        if live.is_new {
            self.refused.insert(live.session);
            self.live.remove(&connection);
        }
        Ok(())
    }

    /// The session says something else: its change of user was not refused.
    fn settle(&mut self, connection: u64) -> Result<(), CaptureError> {
        let Some(live) = self.live.get_mut(&connection) else {
            return Ok(());
        };
        live.is_new = false;
        if live.changing.take().is_none() {
            return Ok(());
        }
        let (at_us, session) = (live.last_us, live.session);
        self.put(at_us, session, What::Ended(CommandEnd::default()))
    }

    /// A session is as it was at its login.
    pub(super) fn reset(&mut self, connection: u64, at_unix_us: i64) -> Result<(), CaptureError> {
        let at_us = self.since_began(at_unix_us);
        self.settle(connection)?;
        let Some(live) = self.live.get_mut(&connection) else {
            return Ok(());
        };
        live.last_us = at_us.max(live.last_us);
        let (at_us, session) = (live.last_us, live.session);
        self.put(at_us, session, What::Reset)?;
        self.put(at_us, session, What::Ended(CommandEnd::default()))
    }

    /// A session has gone.
    pub(super) fn close(&mut self, connection: u64, at_unix_us: i64) -> Result<(), CaptureError> {
        self.settle(connection)?;
        let Some(live) = self.live.remove(&connection) else {
            return Ok(());
        };
        let at_us = self.since_began(at_unix_us).max(live.last_us);
        self.put(at_us, live.session, What::Closed)
    }

    /// The log has ended.
    fn close_all(&mut self) -> Result<(), CaptureError> {
        let live = self.live.iter();
        let mut connections: Vec<_> = live.map(|(id, live)| (live.session, *id)).collect();
        // The same log is the same capture each time.
        connections.sort_unstable();
        connections
            .into_iter()
            .try_for_each(|(_, connection)| self.close(connection, i64::MIN))
    }

    /// A session uses another schema, which its entries name.
    fn use_schema(
        &mut self,
        connection: u64,
        schema: &str,
        at_us: u64,
    ) -> Result<(), CaptureError> {
        let live = self.live.get(&connection);
        if live.is_none_or(|live| live.schema == schema) {
            return Ok(());
        }
        self.move_to(connection, schema, at_us)
    }

    /// A session asks for a schema. It may have left the one that is known, by a statement.
    pub(super) fn move_to(
        &mut self,
        connection: u64,
        schema: &str,
        at_us: u64,
    ) -> Result<(), CaptureError> {
        self.settle(connection)?;
        let Some(live) = self.live.get_mut(&connection) else {
            return Ok(());
        };
        schema.clone_into(&mut live.schema);
        let at_us = at_us.max(live.last_us);
        live.last_us = at_us;
        let session = live.session;
        self.put(
            at_us,
            session,
            What::Asked {
                command: Command::UseSchema,
                text: schema.as_bytes().to_vec(),
                is_truncated: false,
                is_bulk: false,
                lacks_values: false,
            },
        )?;
        self.put(at_us, session, What::Ended(CommandEnd::default()))
    }

    /// A statement; its session is opened with it, if it was not there before.
    pub(crate) fn statement(&mut self, entry: Entry) -> Result<(), CaptureError> {
        let schema = entry.schema.as_deref();
        self.settle(entry.connection)?;
        let login = Login::new(&entry.user, schema.unwrap_or_default());
        match self.live.get(&entry.connection) {
            None => self.open(entry.connection, entry.began_us, login)?,
            // A slow log need not say how it became another one.
            Some(live) if entry.took_us.is_some() && live.user != entry.user => {
                let schema = schema.unwrap_or(&live.schema).to_owned();
                self.change(entry.connection, entry.began_us, Login { schema, ..login })?;
            }
            Some(_) => {}
        }
        self.settle(entry.connection)?;
        let began_us = self.since_began(entry.began_us);
        let ended_us = self.since_began(entry.ended_us());
        if let Some(schema) = schema {
            self.use_schema(entry.connection, schema, began_us)?;
        }
        let Some(live) = self.live.get_mut(&entry.connection) else {
            return Ok(());
        };
        // A session does one after the other, whatever the log's clock says.
        let is_older = entry.began_us < self.began_unix_us;
        let began_us = began_us.max(live.last_us);
        let ended_us = if is_older {
            began_us.max(ended_us)
        } else {
            began_us + entry.took_us.unwrap_or(0)
        };
        live.last_us = ended_us;
        let session = live.session;
        let ended = CommandEnd {
            rows: entry.rows,
            affected: entry.affected,
            error: entry.error,
            ..CommandEnd::default()
        };
        let asked = What::Asked {
            command: Command::Query,
            is_truncated: entry.is_cut || entry.is_bulk || is_cut(&entry.text),
            is_bulk: entry.is_bulk,
            lacks_values: entry.lacks_values,
            text: entry.text,
        };
        self.put(began_us, session, asked)?;
        self.put(ended_us, session, What::Ended(ended))
    }

    fn since_began(&self, at_unix_us: i64) -> u64 {
        u64::try_from(at_unix_us.saturating_sub(self.began_unix_us)).unwrap_or(0)
    }

    fn put(&mut self, at_us: u64, session: u32, what: What) -> Result<(), CaptureError> {
        if let What::Asked { text, .. } = &what {
            self.waiting_bytes += text.len();
        }
        self.waiting.push(Reverse(QueuedRecord {
            at_us,
            number: self.next_number,
            session,
            what,
        }));
        self.next_number += 1;
        while self.waiting.len() > WINDOW || self.waiting_bytes > WINDOW_BYTES {
            self.write()?;
        }
        Ok(())
    }

    /// Writes the entry that is first in time.
    fn write(&mut self) -> Result<(), CaptureError> {
        let Some(Reverse(first)) = self.waiting.pop() else {
            return Ok(());
        };
        let QueuedRecord {
            at_us,
            session,
            what,
            ..
        } = first;
        // A session that says nothing more is closed at any time.
        let at_us = match what {
            What::Closed => at_us.max(self.written_us),
            _ => at_us,
        };
        self.writer.losses.out_of_order += u64::from(at_us < self.written_us);
        self.written_us = self.written_us.max(at_us);
        if self.refused.contains(&session) {
            return Ok(());
        }
        match what {
            What::Opened(login) => self.writer.opened(at_us, session, login),
            What::Changed(login) => {
                let asked = Request {
                    login: Some(login),
                    ..Request::new(Command::ChangeUser)
                };
                self.writer.started(at_us, session, asked)
            }
            What::Reset => self
                .writer
                .started(at_us, session, Request::new(Command::Reset)),
            What::Ended(ended) => self.writer.ended(at_us, session, ended),
            What::Closed => self.writer.closed(at_us, session),
            What::Asked {
                command,
                text,
                is_truncated,
                is_bulk,
                lacks_values,
            } => {
                self.waiting_bytes -= text.len();
                let asked = Request {
                    text: Some(&text),
                    is_truncated,
                    is_unread_bulk: is_bulk,
                    lacks_values,
                    ..Request::new(command)
                };
                self.writer.started(at_us, session, asked)
            }
        }
    }

    /// Closes the sessions that are gone; it is not known when they left.
    pub(crate) fn close_absent(
        &mut self,
        at_unix_us: i64,
        is_there: impl Fn(u64) -> bool,
    ) -> Result<(), CaptureError> {
        let live = self.live.iter().filter(|(id, _)| !is_there(**id));
        let mut gone: Vec<_> = live.map(|(id, live)| (live.session, *id)).collect();
        gone.sort_unstable();
        gone.into_iter()
            .try_for_each(|(_, connection)| self.close(connection, at_unix_us))
    }

    /// Writes what was before this time, so that a reader sees it: nothing earlier comes.
    pub(crate) fn write_until(&mut self, unix_us: i64) -> Result<(), CaptureError> {
        let until_us = self.since_began(unix_us);
        while self
            .waiting
            .peek()
            .is_some_and(|Reverse(first)| first.at_us < until_us)
        {
            self.write()?;
        }
        self.writer.flush()
    }

    /// Writes the rest of a source that ended then; the writer is to be finished.
    pub(crate) fn end_at(mut self, unix_us: i64) -> Result<(CaptureWriter, u64), CaptureError> {
        self.close_absent(unix_us, |_| false)?;
        while !self.waiting.is_empty() {
            self.write()?;
        }
        let ended_us = self.written_us.max(self.since_began(unix_us));
        Ok((self.writer, ended_us))
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> Result<CaptureTail, CaptureError> {
        self.close_all()?;
        while !self.waiting.is_empty() {
            self.write()?;
        }
        let ended_us = self.written_us;
        self.writer.finish(ended_us)
    }
}
