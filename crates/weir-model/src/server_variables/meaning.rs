//! Meanings of values, in any spelling.

use super::option::switch;
use crate::Flavor;

/// Handling of a torn page by `innodb_doublewrite`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doublewrite {
    /// It is repaired from a copy.
    Repairs,
    /// It is found at the next start, and cannot be repaired.
    DetectsOnly,
    /// It stays.
    Off,
}

impl Doublewrite {
    /// `MySQL` from 8.0.30 on has OFF, ON, `DETECT_ONLY`, `DETECT_AND_RECOVER`, FALSE and TRUE, by word or by
    /// their number from 0; `MariaDB` from 11.0.6 on OFF, ON and FAST. `None`: no server takes the value.
    pub fn parse(flavor: Flavor, value: &str) -> Option<Self> {
        let word = value.trim().to_ascii_uppercase();
        match (flavor, word.as_str()) {
            (Flavor::Mysql, "DETECT_ONLY" | "2") => Some(Self::DetectsOnly),
            (Flavor::Mysql, "DETECT_AND_RECOVER" | "3" | "5") | (Flavor::Mariadb, "FAST" | "2") => {
                Some(Self::Repairs)
            }
            (Flavor::Mysql, "4") => Some(Self::Off),
            _ => switch(&word).map(|on| if on { Self::Repairs } else { Self::Off }),
        }
    }
}

/// Time at which a commit is on the media: `innodb_flush_log_at_trx_commit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedoFlush {
    /// The redo log is flushed before the commit is acknowledged.
    EachCommit,
    /// It is handed to the kernel, and flushed about once a second.
    Written,
    /// Once a second.
    EachSecond,
}

impl RedoFlush {
    /// Servers cap what is too large: `MySQL` at 2, `MariaDB` at 3, which flushes as 1 does, and the binary
    /// log as servers before 10.0 did.
    pub fn parse(flavor: Flavor, value: &str) -> Option<Self> {
        match (value.trim().parse::<u64>().ok()?, flavor) {
            (0, _) => Some(Self::EachSecond),
            (1, _) | (3.., Flavor::Mariadb) => Some(Self::EachCommit),
            (2.., _) => Some(Self::Written),
        }
    }
}

/// Way in which files are opened and flushed: `innodb_flush_method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushMethod {
    /// Through the page cache, flushed.
    Fsync,
    /// The redo log is opened with `O_SYNC`, data files are flushed.
    ODsync,
    /// Through the page cache; data files are not flushed after each batch.
    Littlesync,
    /// Through the page cache; nothing is flushed.
    Nosync,
    /// Data files past the page cache, flushed.
    ODirect,
    /// Data files past the page cache, not flushed after writes.
    ODirectNoFsync,
    /// Data files and redo log past the page cache (Percona Server, `MariaDB` before 10.5).
    AllODirect,
}

impl FlushMethod {
    const ALL: [(&str, Self); 7] = [
        ("FSYNC", Self::Fsync),
        ("O_DSYNC", Self::ODsync),
        ("LITTLESYNC", Self::Littlesync),
        ("NOSYNC", Self::Nosync),
        ("O_DIRECT", Self::ODirect),
        ("O_DIRECT_NO_FSYNC", Self::ODirectNoFsync),
        ("ALL_O_DIRECT", Self::AllODirect),
    ];

    /// By word or by number from 0 (on Unix).
    pub fn parse(value: &str) -> Option<Self> {
        let word = value.trim().to_ascii_uppercase();
        let by_number = word.parse::<usize>().ok().and_then(|n| Self::ALL.get(n));
        let by_word = || Self::ALL.iter().find(|(name, _)| *name == word);
        // `MySQL` 5.7 has `fdatasync` as a word for the default.
        let old = || (word == "FDATASYNC").then_some(&Self::ALL[0]);
        let found = by_number.or_else(by_word).or_else(old);
        found.map(|(_, method)| *method)
    }

    /// Returns true if writes to data files go past the page cache, which would cut a page as it
    /// likes.
    pub fn is_direct(self) -> bool {
        matches!(
            self,
            Self::ODirect | Self::ODirectNoFsync | Self::AllODirect
        )
    }

    /// Returns true if data files are left unflushed: a volatile cache may lose its part of them.
    pub fn skips_data_flush(self) -> bool {
        matches!(self, Self::Littlesync | Self::Nosync | Self::ODirectNoFsync)
    }

    /// Returns true if the redo log is left unflushed, so that no commit is ever known to be on the media. `MySQL`
    /// 9.7.4 leaves it so, `MariaDB` 10.11.19 does not (strace).
    pub fn skips_redo_flush(self, flavor: Flavor) -> bool {
        flavor == Flavor::Mysql && self == Self::Nosync
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Flavor::{Mariadb, Mysql};

    #[test]
    fn doublewrite_has_many_spellings_and_three_meanings() {
        use Doublewrite::{DetectsOnly, Off, Repairs};
        for (flavor, value, meant) in [
            (Mysql, "0", Some(Off)),
            (Mysql, " off ", Some(Off)),
            (Mysql, "FALSE", Some(Off)),
            (Mysql, "4", Some(Off)),
            (Mysql, "detect_only", Some(DetectsOnly)),
            (Mysql, "2", Some(DetectsOnly)),
            (Mysql, "Detect_And_Recover", Some(Repairs)),
            (Mysql, "TRUE", Some(Repairs)),
            (Mysql, "bogus", None),
            (Mariadb, "2", Some(Repairs)),
            (Mariadb, "fast", Some(Repairs)),
            (Mariadb, "FALSE", Some(Off)),
            (Mariadb, "DETECT_ONLY", None),
        ] {
            assert_eq!(Doublewrite::parse(flavor, value), meant, "{flavor} {value}");
        }
    }

    #[test]
    fn three_flushes_at_each_commit_on_mariadb_only() {
        use RedoFlush::{EachCommit, EachSecond, Written};
        let of = |flavor, value| RedoFlush::parse(flavor, value);
        assert_eq!(of(Mysql, "1"), Some(EachCommit));
        assert_eq!(of(Mysql, "7"), Some(Written));
        assert_eq!(of(Mariadb, "3"), Some(EachCommit));
        assert_eq!(of(Mariadb, "0"), Some(EachSecond));
        assert_eq!(of(Mysql, "ON"), None);
    }

    #[test]
    fn flush_methods_have_numbers() {
        assert_eq!(FlushMethod::parse("4"), Some(FlushMethod::ODirect));
        assert_eq!(FlushMethod::parse("o_direct"), Some(FlushMethod::ODirect));
        assert_eq!(FlushMethod::parse("3"), Some(FlushMethod::Nosync));
        assert_eq!(FlushMethod::parse("async_unbuffered"), None);
    }
}
