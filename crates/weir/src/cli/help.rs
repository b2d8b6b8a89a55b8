//! The first screen, which has eight commands by job, and the list of all commands by group.

use std::fmt::Write as _;

use clap::{Args, Subcommand as _};

use super::{Command, EXIT_CODES};

#[derive(Debug, Args)]
pub(crate) struct HelpArguments {
    /// List all commands by group, and the exit codes
    #[arg(long, conflicts_with = "command")]
    pub(crate) all: bool,
    /// The command to explain, such as `server up` [default: eight commands to begin with]
    pub(crate) command: Vec<String>,
}

/// Commands under one heading.
type Group = (&'static str, &'static [&'static str]);

/// The jobs that Weir is for, most frequent first. `predict` is not among them: it needs a result of `run`.
const JOBS: [Group; 5] = [
    ("First, on a server of your own (reads only)", &["look"]),
    (
        "Which of my statements get slower: another version, index or setting?",
        &["capture", "upgrade"],
    ),
    (
        "Is it worth it: a drive, more memory, a setting?",
        &["run", "advise"],
    ),
    (
        "A load, and a gate that does not cry wolf",
        &["load", "compare"],
    ),
    ("After a mistake", &["flashback"]),
];

const GROUPS: [Group; 7] = [
    (
        "A server of your own",
        &["look", "advise", "ddl", "flashback"],
    ),
    ("Your load", &["capture", "workload", "load"]),
    (
        "Studies",
        &["init", "plan", "run", "upgrade", "predict", "claims"],
    ),
    ("Results", &["report", "compare", "serve", "explain"]),
    ("Servers and drives", &["server", "drive", "crash-test"]),
    ("Several hosts", &["agents", "agent", "bus"]),
    (
        "Weir itself",
        &["doctor", "clean", "facts", "completions", "manual", "help"],
    ),
];

const PURPOSE: &str = "\
Weir tells you, with evidence, which version, setting, memory or storage makes your MySQL or MariaDB
faster, safer or cheaper, before you pay for it.

Usage: weir COMMAND [OPTIONS]
";

const MORE: &str =
    "`weir help COMMAND` explains one. `weir help --all` lists all, with the exit codes.\n";

/// The eight commands to begin with, by job.
pub(crate) fn first_screen() -> String {
    format!("{PURPOSE}{}\n{MORE}", listed(&JOBS, false))
}

/// All commands by group, with the commands below them, and the exit codes.
pub(crate) fn all_commands() -> String {
    format!("{PURPOSE}{}\n{EXIT_CODES}\n", listed(&GROUPS, true))
}

fn listed(groups: &[Group], tells_below: bool) -> String {
    let weir = Command::augment_subcommands(clap::Command::new("weir"));
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (heading, names) in groups {
        let _ = writeln!(text, "\n{heading}");
        // A program may be built without a command.
        for command in names.iter().filter_map(|name| weir.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string);
            let (name, about) = (command.get_name(), about.unwrap_or_default());
            let _ = writeln!(text, "  {name:<11} {about}");
            let below: Vec<_> = command
                .get_subcommands()
                .map(clap::Command::get_name)
                .collect();
            if tells_below && !below.is_empty() {
                let _ = writeln!(text, "  {:<11} {}", "", below.join(", "));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Lines and columns of a terminal.
    const SCREEN: (usize, usize) = (24, 100);

    fn names(groups: &[Group]) -> Vec<&'static str> {
        groups
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect()
    }

    #[test]
    fn the_first_screen_has_eight_commands_and_fits_a_terminal() {
        assert_eq!(names(&JOBS).len(), 8);
        let text = first_screen();
        assert!(text.lines().count() <= SCREEN.0, "{text}");
        for line in text.lines().chain(all_commands().lines()) {
            assert!(line.len() <= SCREEN.1, "{line}");
        }
    }

    #[test]
    fn each_command_stands_in_one_group() {
        let weir = Command::augment_subcommands(clap::Command::new("weir"));
        let there: BTreeSet<_> = weir
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let grouped = names(&GROUPS);
        let once: BTreeSet<_> = grouped.iter().copied().collect();
        assert_eq!(once.len(), grouped.len(), "twice: {grouped:?}");
        let is_built = |name: &&str| cfg!(feature = "flashback") || *name != "flashback";
        assert_eq!(
            once.into_iter().filter(is_built).collect::<BTreeSet<_>>(),
            there
        );
    }
}
