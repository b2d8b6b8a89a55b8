//! Command lines of sysbench 0.4 and 0.5, answered with the whole command as it is written today.
//!
//! Their options are those of the manuals of both versions. Where one is not given, its default there is written
//! if it differs from today's.

use std::fmt;

use weir_model::WorkloadName;

use super::options;
use super::shell_word::shell_word;
use super::value::Value;

/// Options that no later sysbench has.
const ONLY_OLD: &[&str] = &[
    "init-rng",
    "myisam-max-rows",
    "mysql-create-options",
    "mysql-engine-trx",
    "mysql-table-engine",
    "mysql-table-options",
    "oltp",
    "rand-init",
    "tx-jitter",
];
/// How all other options of the old tests begin.
const PREFIX: &str = "oltp-";

/// Old options that have another name.
const RENAMED: &[(&str, &str)] = &[
    ("max-requests", "events"),
    ("max-time", "time"),
    ("mysql-create-options", "create_table_options"),
    ("mysql-table-engine", "mysql_storage_engine"),
    ("mysql-table-options", "create_table_options"),
    ("num-threads", "threads"),
    ("oltp-dist-iter", "rand-spec-iter"),
    ("oltp-dist-pct", "rand-spec-pct"),
    ("oltp-dist-res", "rand-spec-res"),
    ("oltp-dist-type", "rand-type"),
    ("oltp-tables-count", "tables"),
    ("tx-rate", "rate"),
];
/// Old options that say which test it is.
const OF_TEST: &[&str] = &[
    "oltp-nontrx-mode",
    "oltp-read-only",
    "oltp-test-mode",
    "oltp-write-only",
    "test",
];
/// Old options that are not needed: what they asked for is always so, or never.
const NEEDLESS: &[(&str, &str)] = &[
    ("init-rng", "the seed is --rand-seed"),
    ("myisam-max-rows", "tables have no such limit"),
    ("mysql-engine-trx", "the engine is asked"),
    ("oltp-table-name", "tables are called sbtest1, sbtest2, ..."),
    ("rand-init", "values are always random"),
];

/// Old scripts and tests, and the workloads that they have become.
const TESTS: &[(&str, &str)] = &[
    ("bulk_insert", "bulk_insert"),
    ("delete", "oltp_delete"),
    ("insert", "oltp_insert"),
    ("oltp", "oltp_read_write"),
    ("oltp_simple", "oltp_point_select"),
    ("parallel_prepare", "oltp_read_write"),
    ("select", "oltp_point_select"),
    ("select_random_points", "select_random_points"),
    ("select_random_ranges", "select_random_ranges"),
    ("update_index", "oltp_update_index"),
    ("update_non_index", "oltp_update_non_index"),
];
/// Where sysbench 0.5 had its scripts.
const SCRIPTS: &str = "tests/db/";

/// What to write in place of a command line of sysbench 0.4 or 0.5; `None` if it is none.
pub(super) fn todays(arguments: &[&str]) -> Option<String> {
    let old = Old::read(arguments);
    old.is_old().then(|| old.answer())
}

/// A command line in its parts.
#[derive(Default)]
struct Old<'a> {
    words: Vec<&'a str>,
    /// Names have dashes.
    options: Vec<(String, Option<&'a str>)>,
}

impl<'a> Old<'a> {
    fn read(arguments: &[&'a str]) -> Self {
        let mut old = Self::default();
        for argument in arguments {
            match Value::of_argument(argument) {
                None => old.words.push(argument),
                Some(Value { name, text }) => old.options.push((name.replace('_', "-"), text)),
            }
        }
        old
    }

    fn is_old(&self) -> bool {
        let is_only_old =
            |name: &String| name.starts_with(PREFIX) || ONLY_OLD.contains(&name.as_str());
        let has_old_options = self.options.iter().any(|(name, _)| is_only_old(name));
        let by_option = self.value("test").and_then(test_of);
        let is_old_script = |word: &&&str| word.contains(SCRIPTS) && test_of(word).is_some();
        let by_word = self.words.iter().find(is_old_script);
        let is_todays = |test: &str| test.parse::<WorkloadName>().is_ok();
        has_old_options || by_option.is_some_and(|test| !is_todays(test)) || by_word.is_some()
    }

    /// The last value of an option; empty if it has none.
    fn value(&self, wanted: &str) -> Option<&'a str> {
        let mut found = self.options.iter().rev();
        let (_, value) = found.find(|(name, _)| name == wanted)?;
        Some(value.unwrap_or_default())
    }

    fn is_on(&self, name: &str) -> bool {
        self.value(name)
            .is_some_and(|value| !matches!(value, "off" | "0" | "false"))
    }

    /// The test as it is named.
    fn test(&self) -> Option<&'a str> {
        self.value("test").or_else(|| {
            let mut words = self.words.iter();
            words.find(|word| test_of(word).is_some()).copied()
        })
    }

    fn workload(&self) -> &'a str {
        let test = self.test().unwrap_or("oltp");
        let Some(test) = test_of(test) else {
            return test;
        };
        let today = TESTS.iter().find(|(old, _)| *old == test);
        let workload = today.map_or(test, |(_, workload)| *workload);
        if workload != "oltp_read_write" {
            return workload;
        }
        match self.value("oltp-test-mode") {
            Some("simple") => "oltp_point_select",
            Some("nontrx") => match self.value("oltp-nontrx-mode") {
                Some("update_key") => "oltp_update_index",
                Some("update_nokey") => "oltp_update_non_index",
                Some("insert") => "oltp_insert",
                Some("delete") => "oltp_delete",
                _ => "oltp_point_select",
            },
            _ if self.is_on("oltp-read-only") => "oltp_read_only",
            _ if self.is_on("oltp-write-only") => "oltp_write_only",
            _ => "oltp_read_write",
        }
    }

    /// The words after the test's name: what to do.
    fn commands(&self) -> Vec<&'a str> {
        let is_loading = self.test().and_then(test_of) == Some("parallel_prepare");
        let commands = self.words.iter().filter(|word| test_of(word).is_none());
        commands
            .map(|word| if is_loading { "prepare" } else { word })
            .collect()
    }

    fn answer(&self) -> String {
        let mut today = Today::default();
        for (name, value) in &self.options {
            today.take(name, *value);
        }
        let commands = self.commands();
        if commands.contains(&"run") {
            // Both were limits of their own, with these defaults.
            for (old, new) in [("max-requests", "events=10000"), ("max-time", "time=0")] {
                let new_name = new.split('=').next().unwrap_or_default();
                if self.value(old).is_none() && self.value(new_name).is_none() {
                    today.options.push(format!("--{new}"));
                }
            }
        }
        let mut words = vec![
            "weir".to_owned(),
            "load".to_owned(),
            shell_word(self.workload()),
        ];
        words.append(&mut today.options);
        words.extend(commands.into_iter().map(shell_word));
        let command = words.join(" ");
        format!("these are options of sysbench 0.4 or 0.5; {today}write: {command}")
    }
}

/// The options as they are written today, and what has none.
#[derive(Default)]
struct Today {
    options: Vec<String>,
    left_out: Vec<String>,
}

impl Today {
    fn take(&mut self, name: &str, value: Option<&str>) {
        if OF_TEST.contains(&name) {
            return;
        }
        if let Some((_, why)) = NEEDLESS.iter().find(|(needless, _)| *needless == name) {
            return self.left_out.push(format!("--{name} is left out ({why})"));
        }
        match (name, value) {
            ("oltp-reconnect-mode", Some("session")) => {}
            ("oltp-reconnect-mode", Some("transaction")) => self.put("reconnect", Some("1")),
            // The reader of the answer may not be the one who knows it.
            ("mysql-password", Some(password)) if !password.is_empty() => {
                self.put(name, Some("-"));
            }
            _ => match todays_name(name) {
                Some(today) => self.put(today, value),
                None => self
                    .left_out
                    .push(format!("--{name} is left out (nothing does that today)")),
            },
        }
    }

    fn put(&mut self, name: &str, value: Option<&str>) {
        let option = match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        };
        self.options.push(shell_word(&option));
    }
}

impl fmt::Display for Today {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.left_out
            .iter()
            .try_for_each(|left_out| write!(f, "{left_out}; "))
    }
}

/// What an option is called today, if it is still there.
fn todays_name(name: &str) -> Option<&str> {
    if let Some((_, today)) = RENAMED.iter().find(|(old, _)| *old == name) {
        return Some(today);
    }
    let short = name.strip_prefix(PREFIX).unwrap_or(name);
    options::is_known(short).then_some(short)
}

/// The test that a word names, if it was one of sysbench's: by name or by the path of its script.
fn test_of(word: &str) -> Option<&str> {
    let file = word.rsplit('/').next().unwrap_or(word);
    let stem = file.strip_suffix(".lua").unwrap_or(file);
    TESTS.iter().any(|(old, _)| *old == stem).then_some(stem)
}

#[cfg(test)]
mod tests {
    use weir_mysql::ClientConfig;

    use super::*;

    fn answer(line: &str) -> Option<String> {
        todays(&line.split(' ').collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let told = answer(line).unwrap_or_else(|| panic!("not old: {line}"));
        let (_, command) = told.split_once("write: ").unwrap();
        assert_eq!(command, expected, "{told}");
        // It is a command.
        let words: Vec<_> = command.split(' ').skip(2).collect();
        if let Err(error) = crate::parse(&words, &ClientConfig::default()) {
            panic!("{command}: {error}");
        }
    }

    #[test]
    fn commands_of_0_5_are_told_as_they_are_written_today() {
        check(
            "--test=/usr/share/doc/sysbench/tests/db/oltp.lua --oltp-tables-count=8 \
             --oltp-table-size=1000000 --num-threads=8 --max-requests=0 --max-time=60 \
             --report-interval=10 --rand-init=on --rand-type=pareto --mysql-table-engine=innodb \
             --oltp-auto-inc=off --mysql-user=bench run",
            "weir load oltp_read_write --tables=8 --table-size=1000000 --threads=8 --events=0 --time=60 \
             --report-interval=10 --rand-type=pareto --mysql_storage_engine=innodb --auto-inc=off \
             --mysql-user=bench run",
        );
        check(
            "--test=oltp.lua --oltp_read_only=on --oltp_point_selects=5 --mysql-password=se$cret run",
            "weir load oltp_read_only --point-selects=5 --mysql-password=- --events=10000 --time=0 run",
        );
        check(
            "--test=tests/db/parallel_prepare.lua --oltp_tables_count=64 --num-threads=8 run",
            "weir load oltp_read_write --tables=64 --threads=8 prepare",
        );
        check(
            "/usr/share/sysbench/tests/db/update_index.lua --num-threads=8 prepare",
            "weir load oltp_update_index --threads=8 prepare",
        );
    }

    #[test]
    fn commands_of_0_4_are_told_as_they_are_written_today() {
        check(
            "--test=oltp --oltp-test-mode=nontrx --oltp-nontrx-mode=update_key --oltp-table-size=10000 \
             --oltp-dist-type=uniform --init-rng=on --max-time=60 run",
            "weir load oltp_update_index --table-size=10000 --rand-type=uniform --time=60 --events=10000 run",
        );
        check(
            "--test=oltp --oltp-test-mode=simple --oltp-reconnect-mode=transaction cleanup",
            "weir load oltp_point_select --reconnect=1 cleanup",
        );
        let told = answer("--test=oltp --oltp-user-delay-min=10 --init-rng run").unwrap();
        for left_out in [
            "--oltp-user-delay-min is left out",
            "--init-rng is left out",
        ] {
            assert!(told.contains(left_out), "{told}");
        }
        assert_eq!(told.lines().count(), 1);
    }

    #[test]
    fn todays_commands_are_none_of_the_old() {
        for line in [
            "oltp_read_write --tables=8 run",
            "--test=oltp_read_write --max-time=60 --num-threads=8 run",
            "--test=/usr/share/sysbench/select_random_points.lua run",
            "/home/me/insert.lua --threads=8 run",
            "help",
        ] {
            assert_eq!(answer(line), None, "{line}");
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(shell_word("--a=b"), "--a=b");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
