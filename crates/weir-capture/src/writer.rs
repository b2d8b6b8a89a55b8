//! Writes a capture: whole blocks, one after the other, never anything back.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use mysql_common::Value;

use crate::block::{BlockKind, MAGIC, write_block};
use crate::head::{CaptureCounts, CaptureHead, CaptureTail, Losses};
use crate::literals::Keeper;
use crate::record::{
    Command, CommandEnd, CommandStart, Happening, Login, Record, put_forget, put_record,
    put_statement,
};
use crate::{CaptureError, ServerCounters, StatementClass, Template};

/// A block is written when it has so many bytes, or
const BLOCK_BYTES: usize = 256 << 10;
/// when what is in it is this old, microseconds of the capture.
const BLOCK_US: u64 = 1_000_000;
/// Longest statement that is kept.
const STATEMENT_BYTES_MAX: usize = 16 << 20;
/// Texts that are remembered, so that each stands in the file once.
const TEXTS_BYTES_MAX: usize = 32 << 20;
/// Bytes that a remembered text takes beside its own, about.
const TEXT_BYTES_MORE: usize = 100;
/// Only the owner reads what people asked their server.
const MODE: u32 = 0o600;

/// Request of a client, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    pub(crate) command: Command,
    pub(crate) text: Option<&'a [u8]>,
    pub(crate) handle: u32,
    pub(crate) values: Vec<Value>,
    /// It was cut where it was written down.
    pub(crate) is_truncated: bool,
    /// It is a bulk execution whose parameters could not be read.
    pub(crate) is_unread_bulk: bool,
    /// It is an execution whose parameters are not known.
    pub(crate) lacks_values: bool,
    /// Of a change of user.
    pub(crate) login: Option<Login>,
}

impl Request<'_> {
    pub(crate) fn new(command: Command) -> Self {
        Self {
            command,
            text: None,
            handle: 0,
            values: Vec::new(),
            is_truncated: false,
            is_unread_bulk: false,
            lacks_values: false,
            login: None,
        }
    }
}

/// A capture that is being written.
#[derive(Debug)]
pub struct CaptureWriter {
    file: File,
    path: PathBuf,
    keeper: Keeper,
    block: Vec<u8>,
    /// When the block's first record was, and its last.
    block_began_us: Option<u64>,
    last_us: u64,
    texts: HashMap<Vec<u8>, u32>,
    texts_bytes: usize,
    written: CaptureCounts,
    /// Counts of the content in whole blocks of the file, whose bytes follow.
    flushed: CaptureCounts,
    flushed_bytes: u64,
    /// Sessions of the block's records, each as often as it has one.
    block_sessions: Vec<u32>,
    /// Commands that wait for their answer, by session; `None`: the source does not show answers.
    waiting: Option<HashMap<u32, u64>>,
    /// Losses so far.
    pub(crate) losses: Losses,
    /// Counters of the server, of a capture that holds a part of its statements.
    pub(crate) counters: Option<ServerCounters>,
}

impl CaptureWriter {
    /// Makes the file, which must not be there.
    ///
    /// # Errors
    ///
    /// Here and below: a file that cannot be written.
    pub fn create(path: &Path, head: &CaptureHead) -> Result<Self, CaptureError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(MODE)
            .open(path);
        let mut file = file.map_err(|error| CaptureError::file("cannot create", path, &error))?;
        let content = serde_json::to_vec(head).unwrap_or_default();
        let written = file
            .write_all(&MAGIC)
            .and_then(|()| write_block(&mut file, BlockKind::Head, &content));
        let head_bytes =
            written.map_err(|error| CaptureError::file("cannot write", path, &error))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            keeper: Keeper::new(head.literals),
            block: Vec::new(),
            block_began_us: None,
            last_us: 0,
            texts: HashMap::new(),
            texts_bytes: 0,
            written: CaptureCounts::default(),
            flushed: CaptureCounts::default(),
            flushed_bytes: (MAGIC.len() + head_bytes) as u64,
            block_sessions: Vec::new(),
            waiting: head.source.knows_answers().then(HashMap::new),
            losses: Losses::default(),
            counters: None,
        })
    }

    /// Returns the counts of what was written so far.
    pub fn written(&self) -> CaptureCounts {
        self.written
    }

    /// A session is there.
    pub(crate) fn opened(
        &mut self,
        at_us: u64,
        session: u32,
        login: Login,
    ) -> Result<(), CaptureError> {
        self.written.sessions += 1;
        self.put(at_us, session, Happening::Opened(login), None)
    }

    /// A session has gone.
    pub(crate) fn closed(&mut self, at_us: u64, session: u32) -> Result<(), CaptureError> {
        if let Some(commands) = self.waiting.as_mut().and_then(|all| all.remove(&session)) {
            self.lose_answers(commands);
        }
        self.put(at_us, session, Happening::Closed, None)
    }

    /// A session has gone, and so many of its commands have no answer.
    fn lose_answers(&mut self, commands: u64) {
        self.losses.unanswered += commands;
        self.losses.sessions_unanswered += u64::from(commands > 0);
    }

    /// A command began.
    pub(crate) fn started(
        &mut self,
        at_us: u64,
        session: u32,
        asked: Request<'_>,
    ) -> Result<(), CaptureError> {
        self.written.events += 1;
        if let Some(all) = self
            .waiting
            .as_mut()
            .filter(|_| asked.command != Command::Close)
        {
            *all.entry(session).or_default() += 1;
        }
        let mut started = CommandStart::new(asked.command);
        started.handle = asked.handle;
        started.login = asked.login;
        started.is_truncated = asked.is_truncated;
        started.is_unusable = asked.is_truncated
            || asked.lacks_values
            || self.keeper.drops() && !asked.values.is_empty();
        started.values = self.keeper.values(asked.values);
        let is_bulk = asked.is_unread_bulk;
        self.losses.bulk_executions += u64::from(is_bulk);
        self.losses.without_values += u64::from(asked.lacks_values);
        self.losses.truncated += u64::from(asked.is_truncated && !is_bulk);
        let mut statement = None;
        if let Some(text) = asked.text {
            let is_schema = asked.command == Command::UseSchema;
            let (text, literals, is_unusable) = self.kept(text, is_schema);
            started.literals = literals;
            started.is_unusable |= is_unusable;
            statement = Some(self.number(text));
        }
        self.put(at_us, session, Happening::Started(started), statement)
    }

    /// A text as it is kept.
    fn kept(&mut self, text: &[u8], is_schema: bool) -> (Vec<u8>, Vec<Vec<u8>>, bool) {
        if is_schema {
            return (text.to_vec(), Vec::new(), false);
        }
        if text.len() > STATEMENT_BYTES_MAX {
            self.losses.too_long += 1;
            let verb = text.split(|byte| !byte.is_ascii_alphabetic()).next();
            return (verb.unwrap_or_default().to_vec(), Vec::new(), true);
        }
        self.losses.secret += u64::from(StatementClass::from_sql(text).is_secret);
        let kept = self.keeper.statement(text);
        (kept.text, kept.literals, kept.is_unusable)
    }

    /// A session's command ended.
    pub(crate) fn ended(
        &mut self,
        at_us: u64,
        session: u32,
        ended: CommandEnd,
    ) -> Result<(), CaptureError> {
        let waiting = self.waiting.as_mut().and_then(|all| all.get_mut(&session));
        if let Some(commands) = waiting {
            *commands = commands.saturating_sub(1);
        }
        self.put(at_us, session, Happening::Ended(ended), None)
    }

    /// The number of a text, which is written when it is new.
    fn number(&mut self, text: Vec<u8>) -> u32 {
        if let Some(number) = self.texts.get(&text) {
            return *number;
        }
        self.texts_bytes += text.len() + TEXT_BYTES_MORE;
        if self.texts_bytes > TEXTS_BYTES_MAX {
            self.texts.clear();
            self.texts_bytes = text.len();
            put_forget(&mut self.block);
        }
        put_statement(&mut self.block, &text);
        let number = self.texts.len() as u32;
        self.texts.insert(text, number);
        number
    }

    fn put(
        &mut self,
        at_us: u64,
        session: u32,
        happening: Happening,
        statement: Option<u32>,
    ) -> Result<(), CaptureError> {
        let record = Record {
            at_us,
            session,
            happening,
        };
        put_record(&mut self.block, &record, self.last_us, statement);
        self.block_sessions.push(session);
        self.last_us = at_us;
        let began_us = *self.block_began_us.get_or_insert(at_us);
        if self.block.len() >= BLOCK_BYTES || at_us.saturating_sub(began_us) >= BLOCK_US {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is there, so that a reader sees it.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn flush(&mut self) -> Result<(), CaptureError> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.block_began_us = None;
        let written = write_block(&mut self.file, BlockKind::Records, &self.block);
        match written {
            Ok(bytes) => {
                self.flushed = self.written;
                self.flushed_bytes += bytes as u64;
                self.block.clear();
                self.block_sessions.clear();
                Ok(())
            }
            Err(error) => {
                self.losses.statements += self.written.events - self.flushed.events;
                self.losses.statement_bytes += self.block.len() as u64;
                self.written = self.flushed;
                self.block.clear();
                Err(CaptureError::file("cannot write", &self.path, &error))
            }
        }
    }

    /// Sessions with records that could not be written.
    pub(crate) fn unwritten_sessions(&mut self) -> impl Iterator<Item = u32> {
        std::mem::take(&mut self.block_sessions).into_iter()
    }

    /// Ends the capture; what it has and what it lacks.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn finish(mut self, ended_us: u64) -> Result<CaptureTail, CaptureError> {
        self.flush()?;
        self.write_tail(ended_us, None)
    }

    /// Ends a capture whose source ended before its time.
    pub(crate) fn finish_early(
        mut self,
        ended_us: u64,
        why: &str,
    ) -> Result<CaptureTail, CaptureError> {
        self.flush()?;
        self.write_tail(ended_us, Some(why.to_owned()))
    }

    /// Returns the fingerprint of a statement, as far as this capture may hold it.
    pub(crate) fn fingerprint(&self, sql: &[u8]) -> String {
        let kept = self.keeper.statement(sql);
        Template::new(kept.text).fingerprint().to_owned()
    }

    /// A statement's text as this capture may hold it; `None` if something of it would be missing.
    pub(crate) fn sample(&self, sql: &[u8]) -> Option<String> {
        let kept = self.keeper.statement(sql);
        let text =
            (!kept.is_unusable).then(|| Template::new(kept.text).text_with(&kept.literals))?;
        String::from_utf8(text).ok()
    }

    /// Ends a capture that could not be written to its end. The part of a block that was written makes room for what the
    /// file says of its losses; without room for that too, it has no end.
    pub(crate) fn finish_failed(
        mut self,
        ended_us: u64,
        why: &str,
    ) -> Result<CaptureTail, CaptureError> {
        let cut = self.file.set_len(self.flushed_bytes);
        let sought = cut.and_then(|()| self.file.seek(SeekFrom::Start(self.flushed_bytes)));
        sought.map_err(|error| CaptureError::file("cannot write", &self.path, &error))?;
        self.write_tail(ended_us, Some(why.to_owned()))
    }

    fn write_tail(
        &mut self,
        ended_us: u64,
        failure: Option<String>,
    ) -> Result<CaptureTail, CaptureError> {
        for commands in self.waiting.take().unwrap_or_default().into_values() {
            self.lose_answers(commands);
        }
        let tail = CaptureTail {
            ended_us: ended_us.max(self.last_us),
            written: self.written,
            losses: self.losses,
            counters: self.counters.take(),
            failure,
        };
        let content = serde_json::to_vec(&tail).unwrap_or_default();
        let written = write_block(&mut self.file, BlockKind::Tail, &content);
        written.map_err(|error| CaptureError::file("cannot write", &self.path, &error))?;
        Ok(tail)
    }
}
