//! The binary log of MySQL and `MariaDB`, read over the network as a replica reads it, never from files:
//! encryption, storage and purging are the server's business then.
//!
//! [`LogReader`] takes packets from a [`Packets`] source, checks length and checksum, opens compressed events and
//! gives plain ones. [`TableMap`] and [`RowsEvent`] take rows apart by the lengths of their values, which stay
//! bytes; [`decode`] reads one for printing. [`EventWriter`] makes row events that a server takes in `BINLOG`
//! statements.
//!
//! Method: MySQL's "Binary Log Event Structure" and `MariaDB`'s "Replication Protocol" pages; observed behaviour of
//! MySQL 9.7 and MariaDB 10.11.

mod bytes;
mod column_format;
mod compressed;
mod decimal;
mod error;
mod format;
mod gtid;
mod header;
mod query;
mod reader;
mod rows;
mod table_map;
mod value;
mod value_length;
mod writer;

pub use column_format::ColumnFormat;
pub use error::{BinlogError, MalformedEvent, Place};
pub use format::{Dialect, Format};
pub use gtid::{Gtid, TransactionStart};
pub use header::{EventHeader, HEADER_BYTES, kind};
pub use query::{QueryEvent, statement_text};
pub use reader::{Event, LogReader, Packets};
pub use rows::{Field, RowChange, RowImage, RowsEvent, RowsKind};
pub use table_map::TableMap;
pub use value::{LogValue, decode};
pub use writer::EventWriter;

#[cfg(test)]
mod tests;
