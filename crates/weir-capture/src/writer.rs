//! Writes a capture: whole blocks, one after the other, never anything back.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use mysql_common::Value;

use crate::block::{BlockKind, MAGIC, write_block};
use crate::head::{CaptureHead, CaptureTail, Losses, Written};
use crate::literals::Keeper;
use crate::record::{
    Command, Ended, Happening, Record, Started, put_forget, put_record, put_statement,
};
use crate::{CaptureError, StatementClass, sql};

/// A block is written when it has so many bytes, or
const BLOCK_BYTES: usize = 256 << 10;
/// when what is in it is this old, microseconds of the capture.
const BLOCK_US: u64 = 1_000_000;
/// Longest statement that is kept.
const STATEMENT_BYTES_MAX: usize = 16 << 20;
/// Texts that are remembered, so that each stands in the file once.
const TEXTS_BYTES_MAX: usize = 32 << 20;
/// What remembering one takes beside its bytes, about.
const TEXT_BYTES_MORE: usize = 100;
/// Only the owner reads what people asked their server.
const MODE: u32 = 0o600;

/// What a client asked for, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) command: Command,
    pub(crate) text: Option<&'a [u8]>,
    pub(crate) handle: u32,
    pub(crate) values: Vec<Value>,
    /// It was cut where it was written down.
    pub(crate) is_truncated: bool,
}

#[cfg(test)]
impl Asked<'_> {
    pub(crate) fn new(command: Command) -> Self {
        Self {
            command,
            text: None,
            handle: 0,
            values: Vec::new(),
            is_truncated: false,
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
    written: Written,
    /// What is lost so far.
    pub(crate) losses: Losses,
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
            written: Written::default(),
            losses: Losses::default(),
        })
    }

    /// What was written so far.
    pub fn written(&self) -> Written {
        self.written
    }

    /// A session is there.
    pub(crate) fn opened(
        &mut self,
        at_us: u64,
        session: u32,
        user: &str,
        schema: &str,
    ) -> Result<(), CaptureError> {
        self.written.sessions += 1;
        let happening = Happening::Opened {
            user: user.to_owned(),
            schema: schema.to_owned(),
        };
        self.put(at_us, session, happening, None)
    }

    /// A session has gone.
    pub(crate) fn closed(&mut self, at_us: u64, session: u32) -> Result<(), CaptureError> {
        self.put(at_us, session, Happening::Closed, None)
    }

    /// A command began.
    pub(crate) fn started(
        &mut self,
        at_us: u64,
        session: u32,
        asked: Asked<'_>,
    ) -> Result<(), CaptureError> {
        self.written.events += 1;
        let mut started = Started::new(asked.command);
        started.handle = asked.handle;
        started.is_truncated = asked.is_truncated;
        started.is_unusable = asked.is_truncated || self.keeper.drops() && !asked.values.is_empty();
        started.values = self.keeper.values(asked.values);
        self.losses.truncated += u64::from(asked.is_truncated);
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
        self.losses.secret += u64::from(StatementClass::of(text).is_secret);
        let kept = self.keeper.statement(text);
        (
            kept.text,
            kept.literals,
            kept.is_unusable || sql::is_cut(text),
        )
    }

    /// A session's command ended.
    pub(crate) fn ended(
        &mut self,
        at_us: u64,
        session: u32,
        ended: Ended,
    ) -> Result<(), CaptureError> {
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
        self.block.clear();
        written.map_err(|error| CaptureError::file("cannot write", &self.path, &error))?;
        Ok(())
    }

    /// Ends the capture; what it has and what it lacks.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn finish(mut self, ended_us: u64) -> Result<CaptureTail, CaptureError> {
        self.flush()?;
        let tail = CaptureTail {
            ended_us: ended_us.max(self.last_us),
            written: self.written,
            losses: self.losses,
        };
        let content = serde_json::to_vec(&tail).unwrap_or_default();
        let written = write_block(&mut self.file, BlockKind::Tail, &content);
        written.map_err(|error| CaptureError::file("cannot write", &self.path, &error))?;
        Ok(tail)
    }
}
