//! Settings of the tested server, and their meaning.

use std::collections::BTreeMap;

use weir_model::variables::{
    BUFFER_POOL_SIZE as POOL, FLUSH_METHOD, LOG_FILE_SIZE, REDO_LOG_CAPACITY,
};
pub(crate) use weir_model::variables::{DOUBLEWRITE, FLUSH_LOG_AT_COMMIT as FLUSH_LOG, PAGE_SIZE};
use weir_model::{Bytes, Doublewrite, Flavor, ServerVariables, option_spelling, set_options};
use weir_server::{ServerBinary, ServerError, check_variables, known_variables, translate};

/// The default pool of the recorded server.
const POOL_DEFAULT: &str = "32M";
const MIB: u64 = 1 << 20;
/// The least and the largest pool of a judged server.
const POOL_MIN: Bytes = Bytes(32 * MIB);
pub(crate) const POOL_MAX: Bytes = Bytes(512 * MIB);

/// Variables of a server.
pub(crate) type Variables = BTreeMap<String, String>;

pub(crate) fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Small pool and redo log: pages are flushed and the log wraps all the time.
pub(crate) fn of_the_test(flavor: Flavor) -> Variables {
    let mut all = variables(&[
        (POOL, POOL_DEFAULT),
        (REDO_LOG_CAPACITY, "10M"),
        (FLUSH_METHOD, "O_DIRECT"),
        ("innodb_max_undo_log_size", "10M"),
        ("innodb_purge_rseg_truncate_frequency", "1"),
        ("innodb_buffer_pool_load_at_startup", "OFF"),
        ("innodb_buffer_pool_dump_at_shutdown", "OFF"),
    ]);
    all.extend(variables(match flavor {
        // Without the performance schema a state is recovered in two thirds of the time.
        Flavor::Mysql => &[("skip_log_bin", "1"), ("performance_schema", "OFF")],
        Flavor::Mariadb => &[
            ("innodb_undo_tablespaces", "3"),
            ("innodb_undo_log_truncate", "ON"),
        ],
    }));
    all
}

/// The lab's `own` settings without those that `server` does not have, under this name or another one.
pub(crate) fn known_to(server: &ServerBinary, own: Variables) -> Result<Variables, ServerError> {
    let known = known_variables(server)?;
    let is_known = |name: &String, value: &String| {
        let one = Variables::from([(name.clone(), value.clone())]);
        translate(server.flavor, server.version, &one).is_ok_and(|native| {
            let names: Vec<_> = native.keys().map(String::as_str).collect();
            check_variables(&known, &names).is_ok()
        })
    };
    let own = own.into_iter();
    Ok(own.filter(|(name, value)| is_known(name, value)).collect())
}

/// Small logs, since every state is a copy of them, and undo tablespaces that can be truncated.
pub(crate) fn of_the_loading(flavor: Flavor) -> Variables {
    let mut all = variables(&[(POOL, "512M"), (REDO_LOG_CAPACITY, "32M"), (FLUSH_LOG, "0")]);
    all.extend(variables(match flavor {
        Flavor::Mysql => &[("skip_log_bin", "1")],
        // In 10.11 undo logs lie in the system tablespace unless they are told not to.
        Flavor::Mariadb => &[("innodb_undo_tablespaces", "3")],
    }));
    all
}

/// Settings that make a start cheaper and have no part in recovery: the threads that spin for new redo, and memory that a
/// start clears.
pub(crate) fn cheap_start(flavor: Flavor) -> Variables {
    variables(match flavor {
        Flavor::Mysql => &[
            ("innodb_log_writer_threads", "OFF"),
            ("innodb_log_buffer_size", "1M"),
            ("key_buffer_size", "8"),
            ("tls_version", ""),
        ],
        Flavor::Mariadb => &[("key_buffer_size", "8")],
    })
}

/// Returns the settings by which a state is recovered: the recorded server's `variables`, with a pool that holds all
/// of the `data`. The tables are read twice; a pool that is too small reads each page anew, and entries of an index
/// that look for their rows read many pages more than once.
///
/// No pool is smaller than the lab's own. `MySQL` 9.7 can wait for ever for a free page when it recovers in one of
/// 6 MiB ("Difficult to find free blocks in the buffer pool"), which says nothing about the drive.
///
/// `own`: [`cheap_start`], as far as the server has it.
pub(crate) fn of_the_judgement(own: Variables, variables: &Variables, data: Bytes) -> Variables {
    let mut all = own;
    set_options(&mut all, variables.clone());
    let asked = all.get(POOL).and_then(|asked| asked.parse::<Bytes>().ok());
    let wanted = data.0 + data.0 / 4;
    let wanted = wanted.clamp(POOL_MIN.0, POOL_MAX.0).next_multiple_of(MIB);
    if asked.is_none_or(|asked| asked.0 < wanted) {
        all.insert(POOL.to_owned(), wanted.to_string());
    }
    all
}

/// `own` with what the user asks for, which takes the place of every spelling of the same variable, and of every
/// way to say the redo log's size.
pub(crate) fn with_asked(mut own: Variables, asked: &Variables) -> Variables {
    const REDO: [&str; 2] = [REDO_LOG_CAPACITY, LOG_FILE_SIZE];
    let asked = asked.iter();
    let asked = asked.map(|(name, value)| (option_spelling(name), value.clone()));
    let asked: Variables = asked.collect();
    if REDO.iter().any(|name| asked.contains_key(*name)) {
        own.retain(|name, _| !REDO.contains(&name.as_str()));
    }
    set_options(&mut own, asked);
    own
}

/// Bytes of a page of a server with these variables.
pub(crate) fn page_bytes(flavor: Flavor, variables: &Variables) -> u64 {
    ServerVariables::written(flavor, variables).page_size().0
}

/// Returns the handling of torn pages, as far as the variables show it.
pub(crate) fn doublewrite(flavor: Flavor, variables: &Variables) -> Option<Doublewrite> {
    ServerVariables::written(flavor, variables).doublewrite()
}

/// Returns true if the server's value `found` of the variable `name` means the setting `wanted`.
pub(crate) fn means_the_same(
    flavor: Flavor,
    name: &str,
    wanted: &Variables,
    found: &Variables,
) -> bool {
    let wanted = ServerVariables::written(flavor, wanted);
    let found = ServerVariables::said(flavor, found);
    found.get(name).is_none() || wanted.agrees(&found, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settings_mean() {
        let pool = |asked, data| {
            let asked = variables(&[(POOL, asked), ("innodb_log_buffer_size", "4M")]);
            let judged = of_the_judgement(cheap_start(Flavor::Mysql), &asked, Bytes(data * MIB));
            assert_eq!(judged["innodb_log_buffer_size"], "4M");
            judged[POOL].parse::<Bytes>().unwrap().0 / MIB
        };
        assert_eq!([pool("6M", 1), pool("6M", 200)], [32, 250]);
        assert_eq!([pool("1G", 200), pool("6M", 4_000)], [1024, 512]);
        let off = variables(&[("skip-innodb-doublewrite", "1")]);
        assert_eq!(doublewrite(Flavor::Mysql, &off), Some(Doublewrite::Off));
        for (asked, bytes) in [("8K", 8192), ("4096", 4096), ("64k", 65_536)] {
            let asked = variables(&[(PAGE_SIZE, asked)]);
            assert_eq!(page_bytes(Flavor::Mysql, &asked), bytes);
        }
        assert_eq!(page_bytes(Flavor::Mysql, &off), 16_384);
    }

    #[test]
    fn a_servers_word_for_what_it_was_told_is_the_same() {
        let same = |wanted, found| {
            let [wanted, found] = [wanted, found].map(|value| variables(&[(DOUBLEWRITE, value)]));
            means_the_same(Flavor::Mysql, DOUBLEWRITE, &wanted, &found)
        };
        assert!(same("0", "FALSE") && same("detect_only", "DETECT_ONLY"));
        assert!(!same("OFF", "ON"));
    }

    #[test]
    fn what_is_asked_for_takes_the_place_of_the_labs_own() {
        let own = of_the_test(Flavor::Mysql);
        let asked = with_asked(own, &variables(&[("log-bin", "binlog")]));
        assert_eq!(asked["log_bin"], "binlog");
        assert!(!asked.contains_key("skip_log_bin"), "{asked:?}");
        let own = of_the_test(Flavor::Mariadb);
        let asked = with_asked(own, &variables(&[(LOG_FILE_SIZE, "96M")]));
        assert!(!asked.contains_key(REDO_LOG_CAPACITY), "{asked:?}");
    }
}
