//! Purpose of a write to a server's files.

use std::ops::Range;
use std::path::Path;

use weir_model::FileKind;

/// Returns the range of the doublewrite buffer of `MariaDB`: the second and third extent of the system tablespace,
/// which its bootstrap takes (`buf_dblwr_t::create`, buf0dblwr.cc). An extent is 1 MiB, and 64 of larger pages.
fn doublewrite_area(page_bytes: u64) -> Range<u64> {
    let extent = (1 << 20).max(64 * page_bytes);
    extent..3 * extent
}

/// Returns the purpose of a write to byte `offset` of the file at `path`, in a server with such
/// pages.
pub(crate) fn kind_of_write(path: &Path, offset: u64, page_bytes: u64) -> FileKind {
    let is_system = path.file_name().is_some_and(|name| name == "ibdata1");
    if is_system && doublewrite_area(page_bytes).contains(&offset) {
        return FileKind::Doublewrite;
    }
    FileKind::from_path(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doublewrite_buffer_is_known_on_both_servers() {
        let kind = |path: &str, offset| kind_of_write(Path::new(path), offset, 16_384);
        assert_eq!(kind("data/#ib_16384_0.dblwr", 0), FileKind::Doublewrite);
        assert_eq!(kind("data/ibdata1", 64 * 16_384), FileKind::Doublewrite);
        assert_eq!(kind("data/ibdata1", 191 * 16_384), FileKind::Doublewrite);
        for page in [0, 63, 192] {
            assert_eq!(
                kind("data/ibdata1", page * 16_384),
                FileKind::Data,
                "{page}"
            );
        }
        assert_eq!(kind("data/sbtest/crash1.ibd", 1 << 20), FileKind::Data);
        let of_small = |offset| kind_of_write(Path::new("data/ibdata1"), offset, 4096);
        let of_large = |offset| kind_of_write(Path::new("data/ibdata1"), offset, 65_536);
        assert_eq!(
            (of_small(1 << 20), of_large(1 << 20)),
            (FileKind::Doublewrite, FileKind::Data)
        );
        assert_eq!(
            (of_small(4 << 20), of_large(4 << 20)),
            (FileKind::Data, FileKind::Doublewrite)
        );
    }
}
