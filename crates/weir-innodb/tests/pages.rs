//! Files that real servers wrote: every page of theirs is whole, and every damage is found.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_innodb::{
    Damage, DoublewriteBuffer, FileReport, Format, PageState, find_page, scan, scan_directory,
    tablespaces,
};
use weir_model::Flavor;
use weir_server::{PrivateServer, initialise};

const PATIENCE: Duration = Duration::from_mins(1);

/// A data directory with a table `t` of 2,000 rows, written by a server with `variables`.
fn written(flavor: Flavor, variables: &[(&str, &str)], table_options: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let binary = weir_testing::binary(flavor);
    let mut options = weir_testing::options(directory.path());
    let own = variables
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()));
    options.variables.extend(own);
    initialise(&binary, &options.data_dir, &options.variables).unwrap();
    let server = PrivateServer::start(&binary, &options).unwrap();
    let mut connection = weir_testing::connect(&server.endpoint());
    let create = format!("CREATE TABLE t (id INT PRIMARY KEY, text VARCHAR(200)) {table_options}");
    connection.run(create).unwrap();
    for block in 0..20 {
        let rows = (0..100).map(|row| format!("({}, REPEAT('row {row} ', 20))", block * 100 + row));
        let rows = rows.collect::<Vec<_>>().join(",");
        connection
            .run(format!("INSERT INTO t VALUES {rows}"))
            .unwrap();
    }
    drop(connection);
    server.stop(PATIENCE).unwrap();
    directory
}

fn reports(directory: &Path) -> Vec<FileReport> {
    let reports = scan_directory(&directory.join("data")).unwrap();
    assert!(reports.len() >= 3, "{reports:?}");
    for report in &reports {
        assert_eq!(report.damaged, [], "{}", report.path.display());
        assert_eq!(report.remainder, 0, "{}", report.path.display());
    }
    reports
}

fn table(reports: &[FileReport]) -> &FileReport {
    let table = reports
        .iter()
        .find(|report| report.path.ends_with("sbtest/t.ibd"));
    let table = table.unwrap_or_else(|| panic!("no table in {reports:?}"));
    assert!(table.pages > 6, "{table:?}");
    table
}

/// Overwrites bytes of a page the way a torn write does: its end stays that of an older version.
fn damage(path: &PathBuf, page_size: usize, number: u64, from: usize, bytes: &[u8]) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let offset = number * page_size as u64 + from as u64;
    file.write_all_at(bytes, offset).unwrap();
}

/// Every kind of damage in the page 4 (the table's root) of `table`, one at a time.
fn assert_damage_is_found(table: &FileReport, tears_show: bool) {
    let size = table.layout.page_size;
    let original = fs::read(&table.path).unwrap();
    let page = original[4 * size..5 * size].to_vec();
    let found = |damage| {
        let report = scan(&table.path).unwrap();
        let found: Vec<_> = report
            .damaged
            .iter()
            .map(|page| (page.number, page.damage))
            .collect();
        assert_eq!(found, [(4, damage)], "{}", table.path.display());
        fs::write(&table.path, &original).unwrap();
    };
    damage(&table.path, size, 4, 1000, &[page[1000] ^ 1]);
    found(Damage::Checksum);
    // The last sector is of a page with another LSN.
    let mut tail = page[size - 512..].to_vec();
    let low = 512
        - if table.layout.format == Format::FullCrc32 {
            8
        } else {
            4
        };
    tail[low + 3] ^= 0x55;
    damage(&table.path, size, 4, size - 512, &tail);
    found(if tears_show {
        Damage::Torn
    } else {
        Damage::Checksum
    });
    let other = &original[3 * size..4 * size];
    damage(&table.path, size, 4, 0, other);
    found(Damage::Misplaced);
}

/// The doublewrite buffer's copies of a page: whole, of no later time than the page, and one that is damaged
/// is told from the others. The buffer begins at page `first` of its file.
fn assert_copies_are_found(directory: &Path, reports: &[FileReport], first: u64) {
    let data = directory.join("data");
    let copies_of = |path, number| {
        let buffer = DoublewriteBuffer::read(&data).unwrap();
        buffer.copies(&data, path, number).unwrap()
    };
    // MariaDB writes no copies of pages that are new: redo alone makes them.
    let pages = reports
        .iter()
        .flat_map(|report| (0..report.pages.min(20)).map(|number| (&report.path, number)));
    let mut copied = pages.filter(|&(path, number)| !copies_of(path, number).is_empty());
    let (path, number) = copied.next().expect("the shutdown wrote pages");
    let page = find_page(path, number).unwrap().unwrap();
    assert_eq!(page.state, PageState::Whole);
    let copies = copies_of(path, number);
    for copy in &copies {
        assert!(copy.is_whole && copy.lsn <= page.lsn, "{copy:?}, {page:?}");
    }
    let size = reports[0].layout.page_size;
    let place = first + u64::from(copies[0].place);
    damage(&data.join(&copies[0].file), size, place, size / 2, b"torn");
    let found = copies_of(path, number);
    assert!(!found[0].is_whole, "{found:?}");
    assert_eq!(found[1..], copies[1..]);
    assert_eq!(find_page(path, 1 << 20).unwrap(), None);
}

/// The last page of a new tablespace was never used, its third one is.
fn assert_free_pages_do_not_matter(reports: &[FileReport], name: &str) {
    let file = reports.iter().find(|report| report.path.ends_with(name));
    let file = file.unwrap_or_else(|| panic!("no {name}"));
    let size = file.layout.page_size;
    let damaged = || scan(&file.path).unwrap().damaged.len();
    let before = damaged();
    damage(&file.path, size, u64::from(file.pages) - 1, 0, &[7; 4096]);
    assert_eq!(damaged(), before);
    damage(&file.path, size, 3, 1000, &[7; 1000]);
    assert_eq!(damaged(), before + 1);
}

#[test]
fn mysql_crc32() {
    let directory = written(Flavor::Mysql, &[], "");
    let reports = reports(directory.path());
    let table = table(&reports);
    assert_eq!(
        (table.layout.page_size, table.layout.format),
        (16384, Format::Classic)
    );
    assert_copies_are_found(directory.path(), &reports, 0);
    assert_damage_is_found(table, true);
    assert_free_pages_do_not_matter(&reports, "undo_001");
}

#[test]
fn mysql_innodb_checksum_and_small_pages() {
    let variables = [
        ("innodb_checksum_algorithm", "strict_innodb"),
        ("innodb_page_size", "4096"),
    ];
    let directory = written(Flavor::Mysql, &variables, "");
    let reports = reports(directory.path());
    let table = table(&reports);
    assert_eq!(
        (table.layout.page_size, table.layout.format),
        (4096, Format::Classic)
    );
    assert_damage_is_found(table, true);
}

#[test]
fn compressed_rows_on_both() {
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        let options = "ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 4";
        let directory = written(flavor, &[], options);
        let reports = reports(directory.path());
        let table = table(&reports);
        assert_eq!(
            (table.layout.page_size, table.layout.format),
            (4096, Format::Zip)
        );
        assert_damage_is_found(table, false);
    }
}

#[test]
fn mariadb_full_crc32_and_its_doublewrite_area() {
    let directory = written(Flavor::Mariadb, &[], "");
    let reports = reports(directory.path());
    let table = table(&reports);
    assert_eq!(
        (table.layout.page_size, table.layout.format),
        (16384, Format::FullCrc32)
    );
    assert_copies_are_found(directory.path(), &reports, 64);
    assert_damage_is_found(table, true);
    // What stands in the doublewrite area is no page of the file.
    let system = reports
        .iter()
        .find(|report| report.path.ends_with("ibdata1"))
        .unwrap();
    damage(&system.path, 16384, 70, 0, &[7; 16384]);
    assert_eq!(scan(&system.path).unwrap().damaged, []);
    damage(&system.path, 16384, 300, 0, &[7; 16384]);
    assert_eq!(scan(&system.path).unwrap().damaged.len(), 1);
    assert_free_pages_do_not_matter(&reports, "ibdata1");
}

#[test]
fn mariadb_crc32_large_pages_and_page_compression() {
    let variables = [
        ("innodb_checksum_algorithm", "strict_crc32"),
        ("innodb_page_size", "65536"),
    ];
    let directory = written(Flavor::Mariadb, &variables, "");
    let reports_of_crc32 = reports(directory.path());
    let classic = table(&reports_of_crc32);
    assert_eq!(
        (classic.layout.page_size, classic.layout.format),
        (65536, Format::Classic)
    );

    let directory = written(Flavor::Mariadb, &[], "PAGE_COMPRESSED = 1");
    let reports = reports(directory.path());
    let compressed = table(&reports);
    assert_eq!(compressed.layout.format, Format::FullCrc32);
    assert_eq!(compressed.opaque, 0);
}

#[test]
fn a_file_that_is_no_tablespace_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let short = directory.path().join("short.ibd");
    fs::write(&short, [0; 20]).unwrap();
    assert!(scan(&short).unwrap_err().to_string().contains("short.ibd"));
    let created = directory.path().join("created.ibd");
    fs::write(&created, []).unwrap();
    assert_eq!(tablespaces(directory.path()).unwrap(), [short]);
    let rubbish = directory.path().join("rubbish.ibd");
    fs::write(&rubbish, vec![0xff; 20_000]).unwrap();
    let message = scan(&rubbish).unwrap_err().to_string();
    assert!(
        message.contains("0xffffffff") && message.contains("rubbish.ibd"),
        "{message}"
    );
    assert!(scan(&directory.path().join("absent.ibd")).is_err());
}
