//! Check that generated text is like a book to a drive that compresses.
//!
//! The book is Isaac Newton's "Opticks" (4th edition, 1730), 1,200 of its lines as Project Gutenberg
//! has typed them. Pages of rows are compared, not those of the index on `data1`, where equal lines
//! stand side by side: how many there are is a matter of the table's size and the book's, not of text.

use std::collections::BTreeMap;
use std::path::PathBuf;

use weir_load::{PreparePlan, TableOptions};
use weir_model::{Flavor, SysbenchWorkload, WorkloadName};

use super::{Bench, make};

/// Unit of a drive's compression, bytes.
const BLOCK_BYTES: usize = 4096;
const PAGE_BYTES: usize = 16384;
/// `FIL_PAGE_INDEX`, 17855.
const INDEX_PAGE: [u8; 2] = [0x45, 0xBF];
/// A block with more zero bytes is not full of rows.
const ZEROS_MAX: usize = 3000;
/// `miniz_oxide`'s level 2 stores what zlib's level 1 does, within 1.2 % on pages of InnoDB
/// (docs/decisions/0006-drive-model-and-compression.md).
const LEVEL: u8 = 2;

weir_testing::on_both_flavors! {
    generated_text_compresses_as_a_book_does
}

fn generated_text_compresses_as_a_book_does(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let book = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/opticks.txt");
    let [of_book, generated] = [Some(book), None].map(|text_file| {
        let workload = SysbenchWorkload {
            text_file,
            ..WorkloadName::OltpTextReadWrite.into()
        };
        let tables = PreparePlan {
            workload: workload.into(),
            tables: TableOptions {
                tables: 1,
                rows: 10_000,
                ..bench.tables().tables
            },
            ..bench.tables()
        };
        bench.oracle().run("DROP TABLE IF EXISTS sbtest1").unwrap();
        make(&tables).unwrap();
        ratio(&bench)
    });
    let difference = generated / of_book - 1.0;
    assert!(
        difference.abs() < 0.05,
        "a book's pages compress {of_book:.3} times, generated ones {generated:.3} times"
    );
}

/// Bytes of the table's full blocks by those that they compress to.
fn ratio(bench: &Bench) -> f64 {
    let mut oracle = bench.oracle();
    // All of the table is in its file as long as the connection lasts.
    oracle.run("FLUSH TABLES sbtest1 FOR EXPORT").unwrap();
    let file = bench.directory.path().join("data/sbtest/sbtest1.ibd");
    let bytes = std::fs::read(file).unwrap();
    let zeros = |block: &[u8]| block.split(|byte| *byte == 0).count() - 1;
    let is_full = |block: &&[u8]| zeros(block) <= ZEROS_MAX;
    let pages = pages_of_rows(&bytes);
    let blocks = pages.iter().flat_map(|page| page.chunks(BLOCK_BYTES));
    let blocks: Vec<_> = blocks.filter(is_full).collect();
    assert!(blocks.len() > 500, "{} blocks of rows", blocks.len());
    let stored: usize = blocks
        .iter()
        .map(|block| miniz_oxide::deflate::compress_to_vec_zlib(block, LEVEL).len())
        .sum();
    (blocks.len() * BLOCK_BYTES) as f64 / stored as f64
}

/// Leaf pages of the index that has most of them, which is the one with the rows. Type, level and
/// index of a page stand at fixed places (`fil0types.h`, `page0types.h`).
fn pages_of_rows(file: &[u8]) -> Vec<&[u8]> {
    let mut indexes: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
    for page in file.chunks_exact(PAGE_BYTES) {
        let (kind, level, index) = (&page[24..26], &page[64..66], &page[66..74]);
        if kind == INDEX_PAGE && level == [0, 0] {
            indexes.entry(index).or_default().push(page);
        }
    }
    let largest = indexes.into_values().max_by_key(Vec::len);
    largest.unwrap_or_default()
}
