//! Where in the log a snapshot lies, exactly: what tables without a key need, whose rows are only counted.
//!
//! `MariaDB` says it. MySQL says which transactions are committed before the snapshot is opened: these are in it. If none
//! of the others in the log changed the tables, the snapshot shows them as those left them; if one did, another snapshot
//! is taken.

use std::collections::HashMap;

use weir_model::Flavor;
use weir_mysql::Connection;
use weir_mysql::binlog::Gtid;

use crate::FlashbackError;

/// Where a snapshot lies.
#[derive(Debug, Clone)]
pub(crate) enum SnapshotPlace {
    /// Right at the end of this part of the log.
    At(String, u64),
    /// These transactions are in it, of others one cannot know.
    Has(GtidSet),
}

impl SnapshotPlace {
    /// Asked for before the snapshot is opened; `MariaDB` is asked after it.
    pub(crate) fn before(
        snapshot: &mut Connection,
        flavor: Flavor,
    ) -> Result<Option<Self>, FlashbackError> {
        if flavor == Flavor::Mariadb {
            return Ok(None);
        }
        let found: Option<(String, String)> =
            snapshot.first("SELECT @@GLOBAL.gtid_mode, @@GLOBAL.gtid_executed")?;
        match found {
            Some((mode, executed)) if mode == "ON" => Ok(Some(Self::Has(GtidSet::read(&executed)))),
            _ => Err(FlashbackError::refused(
                "a table has neither a primary key nor a unique key without NULL, and gtid_mode is not ON",
                "give it a key, or the server GTIDs",
            )),
        }
    }

    /// Asked for in the snapshot's transaction.
    pub(crate) fn within(snapshot: &mut Connection) -> Result<Self, FlashbackError> {
        let status: Vec<(String, String)> =
            snapshot.rows("SHOW STATUS LIKE 'binlog\\_snapshot\\_%'")?;
        let value = |name: &str| {
            let found = status
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let position = value("Binlog_snapshot_position").parse();
        match (value("Binlog_snapshot_file"), position) {
            (file, Ok(position)) if !file.is_empty() => Ok(Self::At(file, position)),
            _ => Err(FlashbackError::refused(
                "the server does not say where in its log the snapshot lies (Binlog_snapshot_position)",
                "give the table a primary key",
            )),
        }
    }

    /// Returns true if a transaction of the log that is read is surely in the snapshot.
    pub(crate) fn has(&self, gtid: Option<&Gtid>) -> bool {
        match self {
            Self::At(..) => true,
            Self::Has(set) => gtid.is_some_and(|gtid| set.has(gtid)),
        }
    }
}

/// Names of transactions of MySQL: by server and tag, first and last numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct GtidSet(HashMap<(Server, String), Vec<(u64, u64)>>);

/// A server's UUID.
type Server = [u8; 16];

impl GtidSet {
    /// Reads `UUID:1-5:7:TAG:1-3, UUID:...`.
    fn read(text: &str) -> Self {
        let mut set = Self::default();
        for of_server in text.split(',') {
            let mut parts = of_server.trim().split(':');
            let server = parts.next().unwrap_or_default();
            let Ok(Gtid::Mysql { source, .. }) = format!("{server}:1").parse() else {
                continue;
            };
            let mut tag = String::new();
            for part in parts {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                match (first.parse(), last.parse()) {
                    (Ok(first), Ok(last)) => {
                        let key = (source, tag.clone());
                        set.0.entry(key).or_default().push((first, last));
                    }
                    _ => tag = part.to_ascii_lowercase(),
                }
            }
        }
        set
    }

    fn has(&self, gtid: &Gtid) -> bool {
        let Gtid::Mysql {
            source,
            tag,
            number,
        } = gtid
        else {
            return false;
        };
        let ranges = self.0.get(&(*source, tag.clone()));
        ranges.is_some_and(|ranges| {
            let mut ranges = ranges.iter();
            ranges.any(|(first, last)| (first..=last).contains(&number))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_server_tag_and_number() {
        let (one, two) = (
            "07070707-0707-0707-0707-070707070707",
            "08080808-0808-0808-0808-080808080808",
        );
        let set = GtidSet::read(&format!("{one}:1-5:7:night:2-3,\n{two}:9"));
        for (name, is_there) in [
            (format!("{one}:5"), true),
            (format!("{one}:6"), false),
            (format!("{one}:7"), true),
            (format!("{one}:night:3"), true),
            (format!("{one}:night:4"), false),
            (format!("{two}:9"), true),
            (format!("{two}:1"), false),
            ("0-1-2".to_owned(), false),
        ] {
            assert_eq!(set.has(&name.parse().unwrap()), is_there, "{name}");
        }
    }
}
