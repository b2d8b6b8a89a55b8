//! Written data: a part of the recording's data file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::DriveError;

/// The file that holds what was written.
#[derive(Debug)]
pub(super) struct DataFile {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

/// The data of a write, or a part of them; a handle, read when they are asked for.
#[derive(Debug, Clone)]
pub struct Data {
    pub(super) source: Arc<DataFile>,
    /// Offset in the data file at which they begin.
    pub(super) at: u64,
    /// Number of bytes that lie there; all after them are zeroes.
    pub(super) stored_bytes: u64,
    pub(super) bytes: u64,
}

impl Data {
    /// Returns the number of written bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `bytes` bytes from byte `from` on: a sector of a page. Bytes beyond the end are left out.
    #[must_use]
    pub fn part(&self, from: u64, bytes: u64) -> Self {
        let from = from.min(self.bytes);
        let bytes = bytes.min(self.bytes - from);
        Self {
            source: Arc::clone(&self.source),
            at: self.at + from.min(self.stored_bytes),
            stored_bytes: self.stored_bytes.saturating_sub(from).min(bytes),
            bytes,
        }
    }

    /// The bytes.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that is too short.
    pub fn read(&self) -> Result<Vec<u8>, DriveError> {
        let mut bytes = Vec::new();
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    /// Replaces the contents of `buffer` with the bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn read_into(&self, buffer: &mut Vec<u8>) -> Result<(), DriveError> {
        buffer.clear();
        buffer.resize(self.bytes as usize, 0);
        let stored = &mut buffer[..self.stored_bytes as usize];
        let read = self.source.file.read_exact_at(stored, self.at);
        read.map_err(DriveError::path("read", &self.source.path))
    }
}

/// `data` without the zeroes at its end, in steps of a sector: new files are full of them.
pub(super) fn without_zeroes_at_the_end(data: &[u8]) -> &[u8] {
    const ZEROES: [u8; 512] = [0; 512];
    // Comparing slices is memcmp(3), which ends at the first byte of a page with a trailer.
    let zeroes: usize = data
        .rchunks(ZEROES.len())
        .take_while(|sector| **sector == ZEROES[..sector.len()])
        .map(<[u8]>::len)
        .sum();
    &data[..data.len() - zeroes]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(contents: &[u8]) -> Data {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, b"before").unwrap();
        let stored = without_zeroes_at_the_end(contents);
        std::io::Write::write_all(&mut file, stored).unwrap();
        let path = PathBuf::from("data");
        Data {
            source: Arc::new(DataFile { file, path }),
            at: 6,
            stored_bytes: stored.len() as u64,
            bytes: contents.len() as u64,
        }
    }

    #[test]
    fn parts_of_a_write_are_what_was_written_there() {
        let mut contents = vec![0; 4096];
        contents[..1000].fill(7);
        let data = data(&contents);
        assert_eq!(data.stored_bytes, 1024);
        assert_eq!(data.read().unwrap(), contents);
        for (from, bytes) in [(0, 512), (512, 512), (900, 300), (2048, 2048), (4000, 900)] {
            let part = data.part(from, bytes).read().unwrap();
            let end = (from + bytes).min(4096) as usize;
            assert_eq!(part, contents[from as usize..end], "{from} {bytes}");
            let half = data.part(from, bytes).part(10, 20).read().unwrap();
            assert_eq!(half, contents[from as usize + 10..from as usize + 30]);
        }
        assert_eq!(data.part(9000, 1).bytes(), 0);
    }

    #[test]
    fn zeroes_at_the_end_are_not_stored() {
        assert!(without_zeroes_at_the_end(&[0; 16_384]).is_empty());
        assert!(without_zeroes_at_the_end(&[0; 100]).is_empty());
        assert!(without_zeroes_at_the_end(&[]).is_empty());
        let mut page = [0; 1000];
        page[999] = 1;
        assert_eq!(without_zeroes_at_the_end(&page).len(), 1000);
        page[999] = 0;
        page[0] = 1;
        assert_eq!(without_zeroes_at_the_end(&page).len(), 488);
    }
}
