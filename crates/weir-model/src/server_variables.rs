//! A server's variables by their meaning.
//!
//! Code that judges a server asks here, never for a spelling: `innodb_doublewrite` is off as `OFF`, `0`, `FALSE`
//! and `skip-innodb-doublewrite`, and servers print some of these as they were written (`MySQL` 9.7 says
//! `FALSE`).

mod meaning;
pub mod names;
mod option;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use meaning::{Doublewrite, FlushMethod, RedoFlush};
pub use option::{option_spelling, option_variable, set_options, switch};

use crate::{Bytes, Flavor};
use names::{
    BUFFER_POOL_SIZE, DATA_FILE_BUFFERING, DOUBLEWRITE, FLUSH_LOG_AT_COMMIT, FLUSH_METHOD, LOG_BIN,
    LOG_FILE_SIZE, LOG_FILES_IN_GROUP, PAGE_SIZE, PAGES_CACHED_BECAUSE, REDO_LOG_CAPACITY,
    SYNC_BINLOG,
};

/// InnoDB's default page size.
pub const PAGE_SIZE_DEFAULT: Bytes = Bytes(16 * 1024);

/// Variables of a server, as it shows them or as its options set them.
#[derive(Debug, Clone)]
pub struct ServerVariables<'a> {
    flavor: Flavor,
    values: Cow<'a, BTreeMap<String, String>>,
}

impl<'a> ServerVariables<'a> {
    /// Variables from the output of `SHOW GLOBAL VARIABLES`.
    pub fn said(flavor: Flavor, values: &'a BTreeMap<String, String>) -> Self {
        Self {
            flavor,
            values: Cow::Borrowed(values),
        }
    }

    /// Variables from the options of a study, a command line or an option file, in any spelling. Of two that set one
    /// variable the later one counts, as in an option file.
    pub fn written(flavor: Flavor, options: &BTreeMap<String, String>) -> Self {
        let options = options.iter();
        let values = options.map(|(name, value)| option::setting(name, value));
        Self {
            flavor,
            values: Cow::Owned(values.collect()),
        }
    }

    /// The same, with what a server would say of each of `others`.
    #[must_use]
    pub fn with(mut self, others: impl IntoIterator<Item = (String, String)>) -> Self {
        self.values.to_mut().extend(others);
        self
    }

    /// All of them, by name.
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// Returns the server's flavor.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// A variable's value, as it is written.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.trim().parse().ok()
    }

    /// A size.
    pub fn bytes(&self, name: &str) -> Option<Bytes> {
        self.get(name)?.parse().ok()
    }

    /// A switch.
    pub fn switch(&self, name: &str) -> Option<bool> {
        option::switch(self.get(name)?)
    }

    /// Returns the handling of torn pages.
    pub fn doublewrite(&self) -> Option<Doublewrite> {
        Doublewrite::parse(self.flavor, self.get(DOUBLEWRITE)?)
    }

    /// Returns the time at which commits are flushed.
    pub fn redo_flush(&self) -> Option<RedoFlush> {
        RedoFlush::parse(self.flavor, self.get(FLUSH_LOG_AT_COMMIT)?)
    }

    /// Returns the way in which files are written.
    pub fn flush_method(&self) -> Option<FlushMethod> {
        FlushMethod::parse(self.get(FLUSH_METHOD)?)
    }

    /// Pages go to the drive past the page cache, as far as the variables say, and the server's open files.
    pub fn writes_pages_directly(&self) -> Option<bool> {
        if self.get(PAGES_CACHED_BECAUSE).is_some() {
            return Some(false);
        }
        let buffered = self.switch(DATA_FILE_BUFFERING).map(|buffered| !buffered);
        buffered.or_else(|| self.flush_method().map(FlushMethod::is_direct))
    }

    /// Returns true if there is a binary log.
    pub fn binary_log(&self) -> Option<bool> {
        self.switch(LOG_BIN)
    }

    /// Commits after which the binary log is flushed; 0: never.
    pub fn sync_binlog(&self) -> Option<u64> {
        self.get(SYNC_BINLOG)?.trim().parse().ok()
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> Bytes {
        self.bytes(PAGE_SIZE).unwrap_or(PAGE_SIZE_DEFAULT)
    }

    /// Bytes of the buffer pool.
    pub fn buffer_pool_size(&self) -> Option<Bytes> {
        self.bytes(BUFFER_POOL_SIZE)
    }

    /// Capacity of the redo log, by whichever of its variables the server has.
    pub fn redo_log_capacity(&self) -> Option<Bytes> {
        // MariaDB has one file and no variable for their number.
        let of_files = || {
            let files = self.bytes(LOG_FILES_IN_GROUP).map_or(1, |files| files.0);
            Some(Bytes(self.bytes(LOG_FILE_SIZE)?.0 * files))
        };
        self.bytes(REDO_LOG_CAPACITY).or_else(of_files)
    }

    /// Returns true if both have a value for `name` and mean the same by it.
    pub fn agrees(&self, other: &ServerVariables<'_>, name: &str) -> bool {
        let [Some(own), Some(others)] = [self.meant(name), other.meant(name)] else {
            return false;
        };
        // `1` may be a number or a switch; the other side knows.
        let switches = [&own, &others].map(|value| option::switch(value));
        own == others || switches[0].is_some() && switches[0] == switches[1]
    }

    /// The value that the server `said` in place of this setting, where it clearly made something else of `name`: it rounds,
    /// caps, and switches off what it does not understand. `None`: it took it, says nothing of it, or says it in
    /// words that are not compared (paths, lists).
    pub fn substitute<'s>(&self, said: &'s ServerVariables<'_>, name: &str) -> Option<&'s str> {
        let (told, value) = (self.get(name)?.trim(), said.get(name)?);
        let numbers = [told, value].map(number_of);
        let differs = match numbers {
            _ if self.agrees(said, name) => false,
            [Some(told), Some(said)] => {
                (told - said).abs() > f64::EPSILON * told.abs().max(said.abs())
            }
            // A word has a number, too, which is not known here.
            [Some(_), None] => false,
            _ if told.is_empty() => false,
            [None, Some(_)] => true,
            [None, None] => {
                let is_word =
                    |text: &str| !text.is_empty() && !text.contains([',', '/', '=', ':', ' ']);
                is_word(told) && is_word(value) && !told.eq_ignore_ascii_case(value)
            }
        };
        differs.then_some(value)
    }

    /// A value in one spelling for all that mean the same, where its meaning is known.
    pub fn meant(&self, name: &str) -> Option<String> {
        let written = self.get(name)?;
        let known = match name {
            DOUBLEWRITE => self.doublewrite().map(|meaning| format!("{meaning:?}")),
            FLUSH_METHOD => self.flush_method().map(|meaning| format!("{meaning:?}")),
            FLUSH_LOG_AT_COMMIT => self.redo_flush().map(|meaning| format!("{meaning:?}")),
            _ => None,
        };
        let switched = || {
            let on = option::switch(written).filter(|_| written.trim().parse::<u64>().is_err())?;
            Some(if on { "ON" } else { "OFF" }.to_owned())
        };
        let sized = || Some(written.parse::<Bytes>().ok()?.0.to_string());
        let as_written = || written.trim().to_owned();
        Some(
            known
                .or_else(switched)
                .or_else(sized)
                .unwrap_or_else(as_written),
        )
    }
}

/// A number or a size.
fn number_of(text: &str) -> Option<f64> {
    let number = text.trim().parse().ok();
    number.or_else(|| Some(text.parse::<Bytes>().ok()?.0 as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_makes_of_a_value_is_seen() {
        let made = |name: &str, told: &str, said: &str| {
            let said = BTreeMap::from([(name.to_owned(), said.to_owned())]);
            let said = ServerVariables::said(Flavor::Mysql, &said);
            let told = written(Flavor::Mysql, &[(name, told)]);
            told.substitute(&said, name).map(str::to_owned)
        };
        for (name, told, said) in [
            (BUFFER_POOL_SIZE, "200M", "268435456"),
            ("innodb_io_capacity", "1", "100"),
            ("general_log", "maybe", "OFF"),
            ("innodb_max_dirty_pages_pct", "120", "99.999000"),
            ("innodb_default_row_format", "compressed", "dynamic"),
        ] {
            assert_eq!(
                made(name, told, said).as_deref(),
                Some(said),
                "{name} {told}"
            );
        }
        for (name, told, said) in [
            (BUFFER_POOL_SIZE, "256M", "268435456"),
            ("innodb_max_dirty_pages_pct", "75", "75.000000"),
            ("innodb_doublewrite", "0", "FALSE"),
            ("general_log", "1", "ON"),
            (FLUSH_METHOD, "4", "O_DIRECT"),
            ("binlog_row_image", "0", "MINIMAL"),
            ("innodb_default_row_format", "DYNAMIC", "dynamic"),
            (
                "optimizer_switch",
                "index_merge=off",
                "index_merge=off,mrr=on",
            ),
            ("plugin_dir", "/a", "/a/"),
            (LOG_BIN, "shop", "ON"),
        ] {
            assert_eq!(made(name, told, said), None, "{name} {told}");
        }
    }

    fn written(flavor: Flavor, options: &[(&str, &str)]) -> ServerVariables<'static> {
        let options = options.iter();
        let options = options.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ServerVariables::written(flavor, &options.collect())
    }

    #[test]
    fn a_judge_sees_through_spellings() {
        let sees = |options: &[(&str, &str)]| written(Flavor::Mysql, options).doublewrite();
        for off in [
            ("innodb_doublewrite", "0"),
            ("innodb-doublewrite", "off"),
            ("skip-innodb-doublewrite", ""),
            ("loose_innodb_doublewrite", "FALSE"),
        ] {
            assert_eq!(sees(&[off]), Some(Doublewrite::Off), "{off:?}");
        }
        assert_eq!(
            sees(&[("skip_innodb_doublewrite", "0")]),
            Some(Doublewrite::Repairs)
        );
        assert_eq!(sees(&[]), None);
    }

    #[test]
    fn a_binary_log_that_is_switched_off_is_none() {
        let log = |option| written(Flavor::Mysql, &[option]).binary_log();
        assert_eq!(log(("log_bin", "OFF")), Some(false));
        assert_eq!(log(("log-bin", "0")), Some(false));
        assert_eq!(log(("log_bin", "binlog")), Some(true));
        assert_eq!(log(("log_bin", "")), Some(true));
        assert_eq!(log(("skip-log-bin", "")), Some(false));
        assert_eq!(log(("skip_log_bin", "0")), Some(true));
        let said = BTreeMap::from([(LOG_BIN.to_owned(), "OFF".to_owned())]);
        let said = ServerVariables::said(Flavor::Mysql, &said);
        assert_eq!(said.binary_log(), Some(false));
    }

    #[test]
    fn two_spellings_of_one_value_mean_the_same() {
        let meant = |name: &str, value| written(Flavor::Mysql, &[(name, value)]).meant(name);
        assert_eq!(meant(DOUBLEWRITE, "0"), meant(DOUBLEWRITE, "FALSE"));
        assert_ne!(meant(DOUBLEWRITE, "0"), meant(DOUBLEWRITE, "2"));
        assert_eq!(meant(FLUSH_METHOD, "4"), meant(FLUSH_METHOD, "O_DIRECT"));
        assert_eq!(meant(PAGE_SIZE, "8k"), meant(PAGE_SIZE, "8192"));
        assert_eq!(meant("innodb_flush_sync", "true"), Some("ON".to_owned()));
        let agree = |one, other| {
            let [one, other] =
                [one, other].map(|value| written(Flavor::Mysql, &[("innodb_flush_sync", value)]));
            one.agrees(&other, "innodb_flush_sync")
        };
        assert!(agree("1", "TRUE") && agree("OFF", "0") && !agree("1", "OFF") && !agree("2", "1"));
    }

    #[test]
    fn the_redo_log_has_a_size_in_every_version() {
        let size = |options: &[(&str, &str)]| written(Flavor::Mysql, options).redo_log_capacity();
        assert_eq!(size(&[(REDO_LOG_CAPACITY, "2G")]), Some(Bytes(2 << 30)));
        let files = [(LOG_FILE_SIZE, "1G"), (LOG_FILES_IN_GROUP, "3")];
        assert_eq!(size(&files), Some(Bytes(3 << 30)));
        assert_eq!(size(&[]), None);
    }
}
