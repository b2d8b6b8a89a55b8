//! The next command: one of Weir's own that goes on from what a look found.

use std::borrow::Cow;

use super::finding::Weight;
use super::plans::MissingIndex;
use super::report::LookReport;

/// A look of this length finds stalls that come seldom, seconds.
const LONG_S: f64 = 600.0;

/// A command and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextCommand {
    /// The command, ready for a shell.
    pub command: String,
    /// Reason, in a few words.
    pub why: &'static str,
}

/// The next command for the server at `url`, which has no password in it.
pub fn next_command(report: &LookReport, url: &str) -> NextCommand {
    let url = shell_word(url);
    let mut missing = report.missing_indexes.iter();
    let is_long = report.seconds >= LONG_S;
    let (command, why) = if let Some(statement) = missing.find_map(MissingIndex::statement) {
        (
            format!("weir ddl advise {} {url}", shell_word(&statement)),
            "what the index costs to make; nothing is changed",
        )
    } else if !is_long && report.stalls.iter().any(|found| !found.stalls.is_empty()) {
        (
            format!("weir look {url} --watch 1h"),
            "whether the stalls come back, and what moves with them",
        )
    } else if report
        .checks
        .iter()
        .any(|check| check.weight == Weight::Problem)
    {
        (
            format!("weir advise {url}"),
            "which settings could matter, and how to try them on a copy",
        )
    } else if is_long || report.problems().next().is_some() || report.statements.is_none() {
        (
            format!("weir capture poll {url} --for 10m --output look.weircap"),
            "the statements themselves, to try other settings on a copy",
        )
    } else {
        (
            format!("weir look {url} --watch 1h"),
            "for a spike that comes seldom",
        )
    };
    NextCommand { command, why }
}

/// A word for a shell.
pub fn shell_word(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::super::digests::Statements;
    use super::super::finding::Finding;
    use super::super::report::StallReport;
    use super::super::stalls::Stall;
    use super::*;

    fn next(change: impl FnOnce(&mut LookReport)) -> Vec<String> {
        let mut report = LookReport {
            seconds: 60.0,
            statements: Some(Statements::default()),
            ..LookReport::default()
        };
        change(&mut report);
        let command = next_command(&report, "mysql:///shop?socket=/run/a&option-file=/b").command;
        shlex::split(&command).unwrap()
    }

    #[test]
    fn each_command_is_one_for_a_shell_and_goes_on_from_the_report() {
        let url = "mysql:///shop?socket=/run/a&option-file=/b";
        assert_eq!(next(|_| ()), ["weir", "look", url, "--watch", "1h"]);
        let capture = [
            "weir",
            "capture",
            "poll",
            url,
            "--for",
            "10m",
            "--output",
            "look.weircap",
        ];
        assert_eq!(next(|report| report.seconds = 3600.0), capture);
        assert_eq!(next(|report| report.statements = None), capture);
        let problem = Finding::new("buffer pool", Weight::Problem, "", Vec::new(), "");
        let redundant = Finding::new("redundant index", Weight::Problem, "", Vec::new(), "");
        assert_eq!(next(|report| report.indexes.push(redundant)), capture);
        assert_eq!(
            next(|report| report.checks.push(problem)),
            ["weir", "advise", url]
        );
        let stalls = StallReport {
            stalls: vec![Stall::default()],
            ..StallReport::default()
        };
        assert_eq!(
            next(|report| report.stalls.push(stalls)),
            ["weir", "look", url, "--watch", "1h"]
        );
        let missing = MissingIndex {
            schema: "shop".to_owned(),
            table: "it's".to_owned(),
            key_parts: vec!["`a`".to_owned(), "`b``c`(64)".to_owned()],
            ..MissingIndex::default()
        };
        let advise = [
            "weir",
            "ddl",
            "advise",
            "ALTER TABLE `shop`.`it's` ADD INDEX (`a`, `b``c`(64))",
            url,
        ];
        assert_eq!(next(|report| report.missing_indexes.push(missing)), advise);
    }
}
