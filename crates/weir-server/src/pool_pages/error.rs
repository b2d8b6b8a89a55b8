//! Errors of this crate: each one line, with the remedy.

use crate::ServerError;
use thiserror::Error;
use weir_innodb::InnodbError;
use weir_process::PathError;

/// Reasons that the pages of a pool could not be read, or not be brought to another server.
#[derive(Debug, Error)]
pub enum PoolError {
    /// Error of the server, or a setting that could not be put back.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A tablespace that cannot be read.
    #[error(transparent)]
    Tablespace(#[from] InnodbError),
    /// Page numbers that mean something else on the other server.
    #[error(
        "mode same is refused: {share:.1} % of the leaf pages have the same number and keys on `{from}` and \
         `{to}` (at least {needed} % are needed); use --mode translate"
    )]
    Different {
        /// The server whose pool is shipped.
        from: String,
        /// The one that gets it.
        to: String,
        /// Share that they have in common, percent.
        share: f64,
        /// Share that they need to have in common, percent.
        needed: f64,
    },
    /// Nothing to ship.
    #[error(
        "the pool of `{from}` has no pages of tables that `{to}` has (of {pages} pages); load the tables first"
    )]
    NothingInCommon {
        /// The server whose pool is shipped.
        from: String,
        /// The one that gets it.
        to: String,
        /// Pages in its list.
        pages: usize,
    },
    /// A table that both have, under names that differ in case.
    #[error(
        "`{from}` has the table {table}, `{to}` has {other}: their lower_case_table_names differ, so pages cannot be \
         matched by table; give both servers the same value"
    )]
    NamesDiffer {
        /// The server whose pool is read.
        from: String,
        /// The other one.
        to: String,
        /// The table's name there, as InnoDB writes it: `schema/table`.
        table: String,
        /// The name on the other.
        other: String,
    },
    /// A list that the server did not write or load in time, or not at all.
    #[error("the buffer pool of `{name}` was not {what} ({told}); look at its error log")]
    Pool {
        /// The server.
        name: String,
        /// Dumped or loaded.
        what: &'static str,
        /// Words of the server.
        told: String,
    },
    /// The server was asked to stop loading.
    #[error("the load of pages was aborted; `{name}` keeps what it has read")]
    Aborted {
        /// The server.
        name: String,
    },
    /// The caller no longer wants it.
    #[error("interrupted; variables are as before, and `{name}` keeps the pages that it has read")]
    Interrupted {
        /// The server.
        name: String,
    },
}
