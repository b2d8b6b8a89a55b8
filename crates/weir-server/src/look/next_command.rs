//! The next command: one of Weir's own that goes on from what a look found.

use weir_mysql::identifier;

use super::report::LookReport;

/// A command and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextCommand {
    /// The command, ready for a shell.
    pub command: String,
    /// Reason, in a few words.
    pub why: String,
}

/// Problems of settings that a study of commits measures.
const OF_COMMITS: [&str; 2] = ["redo log", "log buffer"];
/// Problems that a larger pool may mend.
const OF_POOL: [&str; 2] = ["buffer pool", "free pages"];

/// The next command for the server at `url`, which has no password in it.
pub fn next_command(report: &LookReport, url: &str) -> NextCommand {
    let url = shlex::try_quote(url).map_or_else(|_| url.to_owned(), std::borrow::Cow::into_owned);
    let has = |names: &[&str]| {
        report
            .problems()
            .any(|finding| names.contains(&finding.name.as_str()))
    };
    let next = |command: String, why: &str| NextCommand {
        command,
        why: why.to_owned(),
    };
    let with_columns = report
        .missing_indexes
        .iter()
        .find(|missing| !missing.columns.is_empty());
    if let Some(missing) = with_columns {
        let columns: Vec<_> = missing
            .columns
            .iter()
            .map(|name| identifier(name))
            .collect();
        let statement = format!(
            "ALTER TABLE {}.{} ADD INDEX ({})",
            identifier(&missing.schema),
            identifier(&missing.table),
            columns.join(", ")
        );
        // Single quotes: a shell would run what stands in backquotes.
        let statement = statement.replace('\'', "'\\''");
        return next(
            format!("weir ddl advise '{statement}' {url}"),
            "what the index costs to make; nothing is changed",
        );
    }
    if has(&OF_POOL) {
        return next(
            format!("weir init pool.toml --question pool --server {url}"),
            "a study of larger buffer pools",
        );
    }
    if has(&OF_COMMITS) {
        return next(
            format!("weir init flush.toml --question flush --server {url}"),
            "a study of what commits wait for",
        );
    }
    if report.stalls.iter().any(|found| !found.stalls.is_empty()) && report.seconds < 600.0 {
        return next(
            format!("weir look {url} --watch 1h"),
            "whether the stalls come back, and what moves with them",
        );
    }
    if report.problems().next().is_some() || report.statements.is_none() || report.seconds >= 600.0
    {
        return next(
            format!("weir capture poll {url} --for 10m --output look.weircap"),
            "the statements themselves, to try changes on a copy",
        );
    }
    next(
        format!("weir look {url} --watch 1h"),
        "a spike that comes seldom",
    )
}
