//! Differences between both servers that no statement shows: settings, reserved words, accounts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use weir_judge::is_setting;
use weir_model::variables::LOG_BIN;
use weir_process::WorkDirectory;
use weir_server::{
    PrivateServer, ServerBinary, Session, Snapshots, StartOptions, cache_directory, make_empty_data,
};

/// Beginnings of settings that are the server's own, or measure it.
const NOT_COMPARED: [&str; 11] = [
    "build_id",
    "have_",
    "innodb_version",
    "ssl_",
    "performance_schema",
    "version",
    "server_",
    "hostname",
    "report_",
    "license",
    "wsrep_patch_version",
];
/// Names in schemas of the server's own are not the user's.
const NAMES: &str = "SELECT DISTINCT name FROM (\
     SELECT schema_name AS name, schema_name FROM information_schema.schemata \
     UNION SELECT table_name, table_schema FROM information_schema.tables \
     UNION SELECT column_name, table_schema FROM information_schema.columns \
     UNION SELECT routine_name, routine_schema FROM information_schema.routines) AS names \
     WHERE schema_name NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')";

/// Differences between both servers.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// Settings of the user's that the new server refuses, with the reason.
    settings_lost: Vec<(String, String)>,
    /// Defaults that differ: name, before, after.
    defaults: Vec<[String; 3]>,
    /// Both servers have a binary log by default.
    logs: bool,
    /// Names in the data that are words of the new server's language and need quotes.
    reserved: Vec<String>,
    /// Accounts whose way to log in the new server does not have: account, way.
    accounts: Vec<(String, String)>,
}

impl Checks {
    /// Asks both servers, the old one on a copy of the data in the folder `work`.
    pub(super) fn make(
        (from, to): (&ServerBinary, &ServerBinary),
        (snapshot, work): (&str, &Path),
        settings_lost: Vec<(String, String)>,
    ) -> anyhow::Result<Self> {
        let snapshots = Snapshots::open(&cache_directory())?;
        let work = WorkDirectory::create(work, "upgrade")?;
        let data = work.path().join("data");
        let key = snapshots.named(snapshot)?.key;
        snapshots.restore(&key, &data)?;
        let old = PrivateServer::start(from, &StartOptions::new(&data, work.path().join("old")))?;
        let empty = work.path().join("empty");
        make_empty_data(to, &empty, &BTreeMap::new())?;
        let new = PrivateServer::start(to, &StartOptions::new(&empty, work.path().join("new")))?;
        let (mut old, mut new) = (old.session()?, new.session()?);
        let (before, after) = (old.variables()?, new.variables()?);
        let has_log = |of: &BTreeMap<String, String>| of.get(LOG_BIN).is_some_and(|on| on == "ON");
        Ok(Self {
            settings_lost,
            logs: has_log(&before) && has_log(&after),
            defaults: defaults(before, &after),
            reserved: reserved(&mut old, &mut new)?,
            accounts: accounts(&mut old, &mut new)?,
        })
    }

    /// Gives both servers the binary log that both have by default. Where one has it alone, a study has none, so that both
    /// are as durable, and the difference says so.
    pub(super) fn decide_binary_log(&mut self, settings: &mut BTreeMap<String, String>) {
        if self.logs {
            settings.insert(LOG_BIN.to_owned(), "ON".to_owned());
        }
        let log = self.defaults.iter_mut().find(|[name, ..]| name == LOG_BIN);
        if let Some([_, _, after]) = log {
            after.push_str(
                " (both ran without one; for its cost give both log_bin = ON by --option-file)",
            );
        }
    }

    /// The differences as text, a part for each kind; nothing for no difference.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let parts = [
            (
                "settings of the option file that the new server does not have",
                self.settings_lost
                    .iter()
                    .map(|(name, why)| format!("{name}: {why}"))
                    .collect(),
            ),
            (
                "names in the data that the new server reads as words of its language: put `` ` `` around them",
                self.reserved.clone(),
            ),
            (
                "accounts that could not log in: the new server does not have their plugin",
                self.accounts
                    .iter()
                    .map(|(name, way)| format!("{name} ({way})"))
                    .collect(),
            ),
            (
                "settings with another default",
                self.defaults
                    .iter()
                    .map(|[name, before, after]| {
                        format!("{name}: {} -> {}", shown(before), shown(after))
                    })
                    .collect::<Vec<_>>(),
            ),
        ];
        for (title, lines) in parts {
            if lines.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{title}: {}", lines.len());
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
        text
    }
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "(empty)" } else { value }
}

/// Settings that differ without being set. Paths follow from where a server lies.
fn defaults(
    before: BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<[String; 3]> {
    let is_own = |name: &str| NOT_COMPARED.iter().any(|own| name.starts_with(own));
    let is_path = |value: &str| value.contains('/');
    let both = before.into_iter().filter_map(|(name, before)| {
        let after = after.get(&name)?.clone();
        let differs = !are_equal(&before, &after) && !is_path(&before) && !is_path(&after);
        let is_compared = differs && is_setting(&name) && !is_own(&name);
        is_compared.then(|| {
            let [before, after] = without_common(&before, &after);
            [name, before, after]
        })
    });
    both.collect()
}

/// Servers differ in how they write a number.
fn are_equal(before: &str, after: &str) -> bool {
    let numbers = [before, after].map(|value| value.parse::<f64>().ok());
    before == after || numbers[0].is_some() && numbers[0] == numbers[1]
}

/// Two lists without the items that both have; what are no lists stay whole.
fn without_common(before: &str, after: &str) -> [String; 2] {
    if !before.contains(',') || !after.contains(',') {
        return [before.to_owned(), after.to_owned()];
    }
    let [first, second] = [before, after].map(|list| list.split(',').collect::<Vec<_>>());
    let only = |list: &[&str], other: &[&str]| {
        let items = list.iter().filter(|item| !other.contains(item));
        items.copied().collect::<Vec<_>>().join(",")
    };
    [only(&first, &second), only(&second, &first)]
}

/// Names that the old server takes without quotes and the new one does not.
fn reserved(old: &mut Session, new: &mut Session) -> anyhow::Result<Vec<String>> {
    let names: BTreeSet<String> = old
        .rows("read the names in the data", NAMES)?
        .into_iter()
        .collect();
    let needs_no_quotes = |name: &&String| {
        let mut letters = name.chars();
        letters
            .next()
            .is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let takes = |session: &mut Session, name: &str| {
        session
            .run("try a name", &format!("SELECT 1 AS {name}"))
            .is_ok()
    };
    let names = names.iter().filter(needs_no_quotes);
    Ok(names
        .filter(|name| takes(old, name) && !takes(new, name))
        .cloned()
        .collect())
}

/// Accounts of users whose plugin the new server does not have.
fn accounts(old: &mut Session, new: &mut Session) -> anyhow::Result<Vec<(String, String)>> {
    let plugins: Vec<String> = new.rows(
        "read the plugins",
        "SELECT plugin_name FROM information_schema.plugins \
         WHERE plugin_type = 'AUTHENTICATION' AND plugin_status = 'ACTIVE'",
    )?;
    let all: Vec<(String, String, String)> = old.rows(
        "read the accounts",
        "SELECT user, host, plugin FROM mysql.user WHERE user NOT IN ('weir', 'root') AND user NOT LIKE 'mysql.%' \
         AND user NOT LIKE 'mariadb.%'",
    )?;
    let is_there = |plugin: &String| plugin.is_empty() || plugins.contains(plugin);
    Ok(all
        .into_iter()
        .filter(|(_, _, plugin)| !is_there(plugin))
        .map(|(user, host, plugin)| (format!("'{user}'@'{host}'"), plugin))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_lists_what_differs_is_told() {
        assert_eq!(
            without_common("a=on,b=on", "a=on,b=off,c=on"),
            ["b=on", "b=off,c=on"]
        );
        assert_eq!(without_common("128", "256"), ["128", "256"]);
    }

    #[test]
    fn settings_of_paths_and_of_the_server_itself_are_not_compared() {
        let list = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let pairs = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            pairs.collect()
        };
        let before = list(&[
            ("datadir", "/a"),
            ("version", "1"),
            ("log_bin", "OFF"),
            ("gone", "1"),
            ("expire_logs_days", "0"),
        ]);
        let after = list(&[
            ("datadir", "/b"),
            ("version", "2"),
            ("log_bin", "ON"),
            ("new", "1"),
            ("expire_logs_days", "0.000000"),
        ]);
        let found = defaults(before, &after);
        assert_eq!(found, [["log_bin", "OFF", "ON"].map(str::to_owned)]);
    }
}
