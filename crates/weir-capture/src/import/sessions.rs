//! Entries of a log as records: sessions by the server's connection ids, and the order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;

use crate::head::{CaptureHead, CaptureTail};
use crate::sql::is_cut;
use crate::writer::Asked;
use crate::{CaptureError, CaptureWriter, Command, Ended};

/// Entries that wait for others that began before them.
const WINDOW: usize = 200_000;
/// Bytes of their texts.
const WINDOW_BYTES: usize = 128 << 20;

/// What one statement's entry says.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub(super) connection: u64,
    pub(super) user: String,
    /// The schema, if the entry tells it.
    pub(super) schema: Option<String>,
    /// When it began, microseconds since 1970.
    pub(super) began_us: i64,
    /// How long it took, if that is known.
    pub(super) took_us: Option<u64>,
    pub(super) text: Vec<u8>,
    /// The log lacks its end.
    pub(super) is_cut: bool,
    pub(super) rows: Option<u64>,
    pub(super) affected: Option<u64>,
    pub(super) error: Option<u16>,
}

#[derive(Debug)]
enum What {
    Opened {
        user: String,
        schema: String,
    },
    Asked {
        command: Command,
        text: Vec<u8>,
        is_truncated: bool,
    },
    Ended(Ended),
    Closed,
}

/// By time, then in the order in which they were read.
#[derive(Debug)]
struct Waiting {
    at_us: u64,
    number: u64,
    session: u32,
    what: What,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        (self.at_us, self.number) == (other.at_us, other.number)
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_us, self.number).cmp(&(other.at_us, other.number))
    }
}

#[derive(Debug)]
struct Live {
    session: u32,
    schema: String,
    /// Its last record.
    last_us: u64,
}

/// Writes entries as a capture.
#[derive(Debug)]
pub(super) struct Sessions {
    writer: CaptureWriter,
    began_unix_us: i64,
    live: HashMap<u64, Live>,
    next_session: u32,
    next_number: u64,
    waiting: BinaryHeap<Reverse<Waiting>>,
    waiting_bytes: usize,
    written_us: u64,
}

impl Sessions {
    pub(super) fn create(path: &Path, head: &CaptureHead) -> Result<Self, CaptureError> {
        Ok(Self {
            writer: CaptureWriter::create(path, head)?,
            began_unix_us: head.began_unix_us,
            live: HashMap::new(),
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

    /// A session is there.
    pub(super) fn open(
        &mut self,
        connection: u64,
        at_unix_us: i64,
        user: &str,
        schema: &str,
    ) -> Result<(), CaptureError> {
        self.close(connection, at_unix_us)?;
        let at_us = self.since_began(at_unix_us);
        let session = self.next_session;
        self.next_session += 1;
        let live = Live {
            session,
            schema: schema.to_owned(),
            last_us: at_us,
        };
        self.live.insert(connection, live);
        let opened = What::Opened {
            user: user.to_owned(),
            schema: schema.to_owned(),
        };
        self.put(at_us, session, opened)
    }

    /// A session has gone.
    pub(super) fn close(&mut self, connection: u64, at_unix_us: i64) -> Result<(), CaptureError> {
        let Some(live) = self.live.remove(&connection) else {
            return Ok(());
        };
        let at_us = self.since_began(at_unix_us).max(live.last_us);
        self.put(at_us, live.session, What::Closed)
    }

    /// The server was started: connections have ids from the beginning again.
    pub(super) fn close_all(&mut self) -> Result<(), CaptureError> {
        let live = self.live.iter();
        let mut connections: Vec<_> = live.map(|(id, live)| (live.session, *id)).collect();
        // The same log is the same capture each time.
        connections.sort_unstable();
        connections
            .into_iter()
            .try_for_each(|(_, connection)| self.close(connection, i64::MIN))
    }

    /// A session uses another schema.
    pub(super) fn use_schema(
        &mut self,
        connection: u64,
        schema: &str,
        at_us: u64,
    ) -> Result<(), CaptureError> {
        let Some(live) = self
            .live
            .get_mut(&connection)
            .filter(|live| live.schema != schema)
        else {
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
            },
        )?;
        self.put(at_us, session, What::Ended(Ended::default()))
    }

    /// A statement; its session is opened with it, if it was not there before.
    pub(super) fn statement(&mut self, entry: Entry) -> Result<(), CaptureError> {
        let schema = entry.schema.as_deref();
        if !self.live.contains_key(&entry.connection) {
            self.open(
                entry.connection,
                entry.began_us,
                &entry.user,
                schema.unwrap_or_default(),
            )?;
        }
        let began_us = self.since_began(entry.began_us);
        if let Some(schema) = schema {
            self.use_schema(entry.connection, schema, began_us)?;
        }
        let Some(live) = self.live.get_mut(&entry.connection) else {
            return Ok(());
        };
        // A session does one after the other, whatever the log's clock says.
        let began_us = began_us.max(live.last_us);
        let ended_us = began_us + entry.took_us.unwrap_or(0);
        live.last_us = ended_us;
        let session = live.session;
        let ended = Ended {
            rows: entry.rows,
            affected: entry.affected,
            error: entry.error,
            ..Ended::default()
        };
        let asked = What::Asked {
            command: Command::Query,
            is_truncated: entry.is_cut || is_cut(&entry.text),
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
        self.waiting.push(Reverse(Waiting {
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
        let Waiting {
            at_us,
            session,
            what,
            ..
        } = first;
        self.writer.losses.out_of_order += u64::from(at_us < self.written_us);
        self.written_us = self.written_us.max(at_us);
        match what {
            What::Opened { user, schema } => self.writer.opened(at_us, session, &user, &schema),
            What::Ended(ended) => self.writer.ended(at_us, session, ended),
            What::Closed => self.writer.closed(at_us, session),
            What::Asked {
                command,
                text,
                is_truncated,
            } => {
                self.waiting_bytes -= text.len();
                let asked = Asked {
                    command,
                    text: Some(&text),
                    handle: 0,
                    values: Vec::new(),
                    is_truncated,
                };
                self.writer.started(at_us, session, asked)
            }
        }
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
