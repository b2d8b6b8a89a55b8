//! `weir init`: a study file of one's own, from three answers.

mod starter;

use std::fs::OpenOptions;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use weir_study::Overrides;

use crate::cli::{InitArguments, Question};
use crate::commands::study_file;
use crate::{Outcome, output};

use starter::{HOST, Starter};

/// Drives that a question about drives starts with.
const TWO_DRIVES: &str = "intel-p3700-400gb,aws-gp3";

pub(crate) fn execute(arguments: &InitArguments) -> anyhow::Result<Outcome> {
    write(arguments)?;
    let name = arguments.study.display();
    output::line(format_args!("wrote {name}\nnext: weir plan {name}"))?;
    Ok(Outcome::Done)
}

/// Offers to make a study where none was named; the file that was made, or `None` if the user declined.
pub(crate) fn offer() -> anyhow::Result<Option<PathBuf>> {
    let arguments = InitArguments {
        study: PathBuf::from("study.toml"),
        server: None,
        question: None,
        storage: Vec::new(),
    };
    if !is_asked() || arguments.study.exists() {
        return Ok(None);
    }
    let wanted = ask("No study was named. Make one now?", &["yes", "no"])?;
    if wanted != "yes" {
        return Ok(None);
    }
    write(&arguments)?;
    Ok(Some(arguments.study))
}

fn write(arguments: &InitArguments) -> anyhow::Result<()> {
    let path = &arguments.study;
    let text = starter(arguments)?.text(&path.display().to_string())?;
    check(path, &text)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .with_context(|| format!("cannot write study `{}`", path.display()))?;
    file.write_all(text.as_bytes())
        .with_context(|| format!("cannot write study `{}`", path.display()))
}

/// Refuses a server or a drive with which the study could not run.
fn check(path: &Path, text: &str) -> anyhow::Result<()> {
    let plan = study_file::resolve(path, text, &Overrides::default())?;
    Ok(weir_study::check_drives(&plan)?)
}

/// The answers that are options, and those that have to be asked for.
fn starter(arguments: &InitArguments) -> anyhow::Result<Starter> {
    refuse_existing(&arguments.study)?;
    let server = match &arguments.server {
        Some(server) => server.clone(),
        None => answer(
            "server",
            "Which server? (or a program's path, or mysql://USER@HOST/SCHEMA for one of yours)",
            &["mysql", "mariadb"],
        )?,
    };
    let question = match arguments.question {
        Some(question) => question,
        None => ask_question()?,
    };
    if question == Question::Upgrade {
        bail!(
            "--question upgrade: that study has your own statements and data, so that `weir upgrade` writes it; use weir \
             upgrade \"mysql 8.0\" \"mysql 8.4\" --capture FILE --data DATA --plan"
        );
    }
    let storage = if arguments.storage.is_empty() {
        let known: &[&str] = match question {
            Question::Drives => &[TWO_DRIVES],
            _ if server.contains("://") => &[HOST],
            _ => &["intel-p3700-400gb", "consumer-tlc", HOST],
        };
        let text =
            "Which storage? (host: the folder of `weir run --work`; others are emulated drives)";
        answer("storage", text, known)?
    } else {
        arguments.storage.join(",")
    };
    let drives = storage.split(',').map(str::trim);
    let drives = drives.filter(|drive| !drive.is_empty() && *drive != HOST);
    Ok(Starter {
        server,
        question,
        drives: drives.map(str::to_owned).collect(),
    })
}

fn refuse_existing(path: &Path) -> anyhow::Result<()> {
    if path.exists() {
        bail!(
            "cannot write study `{}` (it exists); name another file",
            path.display()
        );
    }
    Ok(())
}

fn names() -> Vec<String> {
    let values = Question::value_variants().iter();
    let values = values.filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

fn ask_question() -> anyhow::Result<Question> {
    let names = names();
    let known: Vec<_> = names.iter().map(String::as_str).collect();
    let name = answer("question", "What do you want to find out?", &known)?;
    Question::from_str(&name, true)
        .map_err(|_| anyhow::anyhow!("--question: `{name}`; use one of {}", names.join(", ")))
}

/// Returns true if a user is there to answer.
fn is_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks, or says which option has to be given.
fn answer(option: &str, text: &str, known: &[&str]) -> anyhow::Result<String> {
    if !is_asked() {
        bail!(
            "--{option} is missing, and standard input is no terminal; use one of {}",
            known.join(", ")
        );
    }
    ask(text, known)
}

/// Prints a question with numbered answers; a number, an answer of one's own, or Enter for the first.
fn ask(text: &str, known: &[&str]) -> anyhow::Result<String> {
    let mut terminal = io::stderr().lock();
    writeln!(terminal, "{text}")?;
    for (index, name) in known.iter().enumerate() {
        writeln!(terminal, "  {} {name}", index + 1)?;
    }
    write!(terminal, "[1] ")?;
    terminal.flush()?;
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        bail!("no answer: standard input ended");
    }
    let line = line.trim();
    let numbered = line.parse::<usize>().ok();
    let numbered = numbered.and_then(|number| known.get(number.checked_sub(1)?));
    Ok(match (line, numbered) {
        ("", _) => known[0].to_owned(),
        (_, Some(name)) => (*name).to_owned(),
        (own, None) => own.to_owned(),
    })
}
