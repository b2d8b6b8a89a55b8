//! `weir completions` and `weir manual`: files that shells and man(1) read, made of the command line itself.

use std::fs;
use std::io;

use anyhow::Context;
use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArguments, ManualArguments};
use crate::{Outcome, output};

const PROGRAM: &str = "weir";

pub(crate) fn completions(arguments: &CompletionsArguments) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), PROGRAM, &mut script);
    output::text(String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

pub(crate) fn manual(arguments: &ManualArguments) -> anyhow::Result<Outcome> {
    let dir = &arguments.dir;
    let failed = || format!("cannot write manual pages to `{}`", dir.display());
    fs::create_dir_all(dir).with_context(failed)?;
    write_pages(dir).with_context(failed)?;
    Ok(Outcome::Done)
}

/// A page for each command, `weir-run.1`.
fn write_pages(dir: &std::path::Path) -> io::Result<()> {
    clap_mangen::generate_to(Cli::command(), dir)
}
