//! `weir completions` and `weir manual`: files that shells and man(1) read, made of the command line itself.

use std::fs;
use std::io;

use anyhow::anyhow;
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
    let failed = |error| {
        let dir = dir.display();
        anyhow!(
            "cannot write manual pages to `{dir}` ({error}); name a folder that you may write to"
        )
    };
    fs::create_dir_all(dir).map_err(failed)?;
    write_pages(dir).map_err(failed)?;
    Ok(Outcome::Done)
}

/// A page for each command, `weir-run.1`.
fn write_pages(dir: &std::path::Path) -> io::Result<()> {
    clap_mangen::generate_to(Cli::command(), dir)
}
