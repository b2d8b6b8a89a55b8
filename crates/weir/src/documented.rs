//! Every command that the documents show is one that Weir understands; none of them is run.

mod ci;
mod claims;
mod commands;
mod drives;
mod kubernetes;
mod markdown;
mod reader_tasks;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::error::ErrorKind;
use weir_mysql::ClientConfig;

use crate::cli::{Cli, Command};
use crate::commands::load::{null_server, replay};
use markdown::Page;

/// Stands for what an example leaves out.
const LEFT_OUT: &str = "...";
/// A workload where an example leaves it out or says `WORKLOAD`.
const WORKLOAD: &str = "oltp_read_write";
/// The program in a build folder.
const BUILT: &str = "target/release/weir";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README and what it links to, with the folders below `docs`.
fn pages() -> Vec<Page> {
    let mut paths = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ]
    .map(|name| root().join(name))
    .to_vec();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                paths.push(path);
            }
        }
    }
    paths.into_iter().map(Page::read).collect()
}

/// The words of a command line up to the first operator of the shell; `None` if it calls something else, or a command that
/// this program was built without.
fn words(line: &str) -> Option<Vec<String>> {
    // `NAME=value weir ...` sets a variable for this command.
    let is_set = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            name.bytes()
                .all(|sign| sign.is_ascii_uppercase() || sign == b'_')
        })
    };
    let words = shlex::split(line)?.into_iter().skip_while(is_set);
    let is_operator = |word: &String| word.starts_with(['>', '|', '&', '<', ';']);
    let words: Vec<_> = words.take_while(|word| !is_operator(word)).collect();
    let is_weir = ["weir", BUILT].contains(&words.first()?.as_str());
    let is_built =
        cfg!(feature = "flashback") || words.get(1).is_none_or(|word| word != "flashback");
    (is_weir && is_built).then_some(words)
}

/// Checks that a whole command is understood.
fn check(words: &[String]) -> Result<(), String> {
    let parsed = match Cli::try_parse_from(words) {
        Ok(parsed) => parsed,
        Err(error) if !error.use_stderr() => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    match parsed.command {
        Command::Load(load) => check_load(&load.arguments),
        _ => Ok(()),
    }
}

fn check_load(arguments: &[String]) -> Result<(), String> {
    if let Some((first, rest)) = arguments.split_first()
        && first == "null-server"
    {
        return null_server::check(rest).map_err(|error| error.to_string());
    }
    if let Some(words) = replay::capture_first(arguments) {
        return replay::check(&words).map_err(|error| error.to_string());
    }
    // A workload's file is named as seen from the repository; one of the reader's own is like the shop's.
    let file = |word: &String| match root().join(word) {
        path if path.exists() => path,
        _ => root().join("workloads/shop.toml"),
    };
    let arguments: Vec<_> = arguments
        .iter()
        .map(|word| match word.strip_suffix(".toml") {
            Some(_) => file(word).display().to_string(),
            None => word.clone(),
        })
        .collect();
    // A script's own options are known when it runs.
    let is_script = |name: &str| {
        Path::new(name)
            .extension()
            .is_some_and(|suffix| suffix == "lua")
    };
    let config = ClientConfig::default();
    let understood = match weir_sysbench::parse_script(&arguments, &config, is_script) {
        Ok(None) => weir_sysbench::parse(&arguments, &config).map(drop),
        script => script.map(drop),
    };
    understood.map_err(|error| error.to_string())
}

/// Checks that a mention in running text is understood as far as it goes: its options and commands exist.
fn check_mention(text: &str) -> Result<(), String> {
    let Some(words) = words(text) else {
        return Ok(());
    };
    let is_load = words.get(1).is_some_and(|word| word == "load");
    let mut given: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_workload = is_load && at == 2;
        match word.trim_end_matches(LEFT_OUT) {
            "" | "WORKLOAD" if is_workload => given.push(WORKLOAD.to_owned()),
            "" => {}
            // One of several: `status|on|off`.
            some => given.push(some.split('|').next().unwrap_or_default().to_owned()),
        }
    }
    if is_load && given.len() > 2 {
        return check_load(&given[2..]);
    }
    match Cli::try_parse_from(&given) {
        Err(error) if error.use_stderr() && !is_incomplete(error.kind()) => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// Returns true if only something is missing, or stands as `N`.
fn is_incomplete(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::InvalidValue
            | ErrorKind::ValueValidation
    )
}

#[test]
fn every_command_of_an_example_is_understood() {
    let mut wrong = Vec::new();
    let mut found = 0;
    for page in pages() {
        for line in page.example_lines() {
            let Some(words) = words(&line) else { continue };
            found += 1;
            if let Err(why) = check(&words) {
                wrong.push(format!("{}: {line}\n{why}", page.name()));
            }
        }
    }
    assert!(found > 60, "only {found} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_in_running_text_exists() {
    let mut wrong = Vec::new();
    for page in pages() {
        for text in page.code_in_text() {
            if let Err(why) = check_mention(&text) {
                wrong.push(format!("{}: {text}\n{why}", page.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_target_of_make_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    for page in pages() {
        for text in page.example_lines().into_iter().chain(page.code_in_text()) {
            let words = shlex::split(&text).unwrap_or_default();
            let [program, target, ..] = words.as_slice() else {
                continue;
            };
            if program != "make" {
                continue;
            }
            // `make bench-*` is any of them.
            let name = target.trim_end_matches('*');
            let ending = if name.len() < target.len() { "" } else { ":" };
            let rule = format!("\n{name}{ending}");
            assert!(makefile.contains(&rule), "{}: {text}", page.name());
        }
    }
}

/// Files of the repository that running text names, such as `crates/weir-model/src/lib.rs`.
#[test]
fn every_file_that_is_named_exists() {
    let folders = [
        "crates/", "docs/", "lab/", "scripts/", "studies/", "web/src/",
    ];
    let is_plain = |text: &str| !text.contains([' ', '*', '<', '{', ':', '$']);
    let mut named = 0;
    for page in pages() {
        let files = page.code_in_text().into_iter();
        for file in files
            .filter(|file| folders.iter().any(|folder| file.starts_with(folder)) && is_plain(file))
        {
            named += 1;
            assert!(
                root().join(&file).exists(),
                "{}: no file `{file}`",
                page.name()
            );
        }
    }
    assert!(named > 20, "{named} files");
}

#[test]
fn every_link_leads_to_a_page_and_its_heading() {
    let mut wrong = Vec::new();
    for page in pages() {
        for link in page.links() {
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = page.beside(path);
            if !target.exists() {
                wrong.push(format!("{}: {link}", page.name()));
            } else if !heading.is_empty() && !Page::read(target).has_heading(heading) {
                wrong.push(format!("{}: {link} has no such heading", page.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
