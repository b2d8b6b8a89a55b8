//! A logical dump loaded into a server: SQL as mysqldump and mariadb-dump write it, perhaps packed by gzip or zstd.
//!
//! Left out, and told: statements about replication, and everything in the server's own schema `mysql`, whose accounts
//! would replace those that Weir logs in with.

mod statements;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use weir_mysql::{Connection, StatementText};
use weir_process::PathError;

use crate::ServerError;
use statements::Statements;

/// First bytes of a file of gzip and of zstd.
const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// Statements that are not for a copy.
const OF_REPLICATION: [&str; 4] = ["CHANGE", "PURGE", "RESET", "STOP"];

/// A statement that sets a replica's position is shorter.
const SETTING_BYTES: usize = 10_000;

/// Summary of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadSummary {
    /// Statements that were sent.
    pub statements: u64,
    /// Statements about replication and the server's own accounts that were not.
    pub left_out: u64,
}

/// Returns true if the path's name is that of a dump.
pub fn is_dump(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    path.is_file()
        || [".sql", ".sql.gz", ".sql.zst"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Sends a dump's statements to the server, in the connection's schema until the dump chooses another.
///
/// # Errors
///
/// A file that cannot be read or is not UTF-8, and a statement that the server refuses, with its line.
pub fn load_dump(path: &Path, connection: &mut Connection) -> Result<LoadSummary, ServerError> {
    let mut statements = Statements::new(open(path)?);
    let refused = |line: u64, why: String, remedy: &'static str| ServerError::Dump {
        path: path.to_owned(),
        line,
        why,
        remedy,
    };
    let mut loaded = LoadSummary::default();
    let mut is_in_own_schema = false;
    loop {
        let statement = statements.next().map_err(|why| {
            refused(
                statements.line(),
                why,
                "dump with --hex-blob and UTF-8, and check that the file is whole",
            )
        })?;
        let Some((line, sql)) = statement else {
            return Ok(loaded);
        };
        let words = StatementText::read(&sql).first_words();
        let first = words.first().map_or("", String::as_str);
        if first == "USE" {
            is_in_own_schema =
                sql.contains("`mysql`") || words.get(1).is_some_and(|name| name == "MYSQL");
        }
        if is_in_own_schema || is_of_replication(&sql, &words) {
            loaded.left_out += 1;
            continue;
        }
        connection.run(&sql).map_err(|error| {
            refused(
                line,
                error.to_string(),
                "load it by hand, or dump from a server of the same flavour",
            )
        })?;
        loaded.statements += 1;
    }
}

fn is_of_replication(sql: &str, words: &[String]) -> bool {
    let first = words.first().map_or("", String::as_str);
    let starts_replica = first == "START" && words.get(1).is_some_and(|word| word != "TRANSACTION");
    OF_REPLICATION.contains(&first)
        || starts_replica
        // Rows may have these words.
        || sql.len() < SETTING_BYTES
            && (sql.to_ascii_uppercase().contains("GTID_PURGED") || sql.contains("gtid_slave_pos"))
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, ServerError> {
    let failed = |error: std::io::Error| PathError::on("read", path)(error);
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let head = file.fill_buf().map_err(failed)?;
    Ok(if head.starts_with(&GZIP) {
        Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(file)))
    } else if head.starts_with(&ZSTD) {
        let decoder = zstd::stream::read::Decoder::with_buffer(file).map_err(failed)?;
        Box::new(BufReader::new(decoder))
    } else {
        Box::new(file)
    })
}
