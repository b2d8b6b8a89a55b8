//! Reads a capture, block by block: memory is that of one block and of the texts that the writer remembers.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::block::{BlockKind, MAGIC, NextBlock, VERSIONS, read_block};
use crate::bytes::Cursor;
use crate::head::{CaptureHead, CaptureTail};
use crate::record::{Piece, Record, happening, piece};
use crate::{CaptureError, Template};

/// A capture that is read from its beginning.
#[derive(Debug)]
pub struct CaptureReader {
    file: BufReader<File>,
    path: PathBuf,
    head: CaptureHead,
    tail: Option<CaptureTail>,
    /// Bytes of the file that were read in whole blocks.
    good_bytes: u64,
    cut_bytes: u64,
    /// Where the block begins, bytes.
    block_from: u64,
    block: Vec<u8>,
    at: usize,
    last_us: u64,
    texts: Vec<Arc<Template>>,
}

impl CaptureReader {
    /// Opens a capture, which may still be written.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is no capture.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let failed = |error: std::io::Error| CaptureError::file("cannot read", path, &error);
        let no_capture = |why: String| CaptureError::NotACapture {
            path: path.display().to_string(),
            why,
        };
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        let mut magic = [0; MAGIC.len()];
        if file.read_exact(&mut magic).is_err() || magic[..7] != MAGIC[..7] {
            return Err(no_capture("it does not begin as one".to_owned()));
        }
        if !VERSIONS.contains(&magic[7]) {
            let version = magic[7].escape_ascii();
            return Err(no_capture(format!(
                "its format has version {version}, not 1 or 2"
            )));
        }
        let NextBlock::Block(BlockKind::Head, content, length) =
            read_block(&mut file).map_err(failed)?
        else {
            return Err(no_capture("its beginning is damaged".to_owned()));
        };
        let head = serde_json::from_slice(&content);
        let head = head.map_err(|error| no_capture(error.to_string()))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            head,
            tail: None,
            good_bytes: MAGIC.len() as u64 + length,
            cut_bytes: 0,
            block_from: 0,
            block: Vec::new(),
            at: 0,
            last_us: 0,
            texts: Vec::new(),
        })
    }

    /// Returns the head of the capture.
    pub fn head(&self) -> &CaptureHead {
        &self.head
    }

    /// Returns the end of the capture, once that was read; a capture whose writer was killed has no end.
    pub fn tail(&self) -> Option<&CaptureTail> {
        self.tail.as_ref()
    }

    /// Bytes of the file after the last block before one that is cut or damaged, when the last record was read.
    pub fn cut_bytes(&self) -> u64 {
        self.cut_bytes
    }

    /// The next record; `None` at the end, after which more may come of a capture that is still written.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or a whole block that no writer writes.
    pub fn next_record(&mut self) -> Result<Option<Record>, CaptureError> {
        loop {
            while self.at < self.block.len() {
                if let Some(record) = self.next_piece()? {
                    return Ok(Some(record));
                }
            }
            if !self.next_block()? {
                return Ok(None);
            }
        }
    }

    fn next_piece(&mut self) -> Result<Option<Record>, CaptureError> {
        let mut cursor = Cursor(&self.block[self.at..]);
        let read = match piece(&mut cursor) {
            Ok(Piece::Statement(text)) => {
                self.texts.push(Arc::new(Template::new(text)));
                Ok(None)
            }
            Ok(Piece::Forget) => {
                self.texts.clear();
                Ok(None)
            }
            Ok(Piece::Record(tag, later_us, session)) => {
                let at_us = self.last_us.wrapping_add(later_us as u64);
                self.last_us = at_us;
                happening(tag, &mut cursor, &self.texts).map(|happening| {
                    Some(Record {
                        at_us,
                        session,
                        happening,
                    })
                })
            }
            Err(why) => Err(why),
        };
        self.at = self.block.len() - cursor.0.len();
        read.map_err(|why| CaptureError::Block {
            path: self.path.display().to_string(),
            offset: self.block_from,
            why,
        })
    }

    /// Reads the next block of records; false at the end.
    fn next_block(&mut self) -> Result<bool, CaptureError> {
        let path = self.path.clone();
        let failed = |error: std::io::Error| CaptureError::file("cannot read", &path, &error);
        loop {
            match read_block(&mut self.file).map_err(failed)? {
                NextBlock::Block(kind, content, length) => {
                    self.block_from = self.good_bytes;
                    self.good_bytes += length;
                    self.cut_bytes = 0;
                    match kind {
                        BlockKind::Records => {
                            self.block = content;
                            self.at = 0;
                            return Ok(true);
                        }
                        BlockKind::Tail => self.tail = serde_json::from_slice(&content).ok(),
                        BlockKind::Head => {}
                    }
                }
                NextBlock::End => return Ok(false),
                NextBlock::Cut => {
                    // A block may be damaged in the middle of the file.
                    let length = self.file.get_ref().metadata().map_err(failed)?.len();
                    self.cut_bytes = length.saturating_sub(self.good_bytes);
                    // What is still being written is whole the next time.
                    let back = self.file.seek(SeekFrom::Start(self.good_bytes));
                    back.map_err(failed)?;
                    return Ok(false);
                }
            }
        }
    }
}

impl Iterator for CaptureReader {
    type Item = Result<Record, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}
