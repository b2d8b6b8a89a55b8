//! The study of an upgrade, as a file that anyone can run again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use weir_server::ServerBinary;

use crate::cli::UpgradeArguments;
use crate::commands::study_file::quoted;

/// Everything that the study says.
pub(super) struct Study<'a> {
    pub(super) arguments: &'a UpgradeArguments,
    pub(super) from: &'a ServerBinary,
    pub(super) to: &'a ServerBinary,
    pub(super) snapshot: &'a str,
    pub(super) settings: &'a BTreeMap<String, String>,
}

impl Study<'_> {
    /// Text of the study file.
    pub(super) fn text(&self) -> anyhow::Result<String> {
        let (from, to) = (name(self.from), name(self.to));
        let capture = &self.arguments.capture;
        let capture = capture
            .canonicalize()
            .with_context(|| format!("cannot find the capture `{}`", capture.display()))?;
        let mut text = format!(
            "# Written by `weir upgrade`. `weir run` runs it again.\n\n[study]\ntitle = {}\nquestion = {}\n\n[server]\n\
             flavor = {}\n",
            quoted(&format!("{from} to {to}")),
            quoted(&format!(
                "Which statements get slower, or answer differently, on {to}?"
            )),
            quoted(&self.from.path.display().to_string()),
        );
        if !self.settings.is_empty() {
            text.push_str("\n[server.config]\n");
        }
        for (name, value) in self.settings {
            writeln!(text, "{name} = {}", quoted(value))?;
        }
        write!(
            text,
            "\n[data]\nsnapshot = {}\n\n[load]\nreplay = {}\nwarmup = {}\n\n[factors]\n# The first is what the second is \
             compared with.\nserver = [{}, {}]\n\n[repeat]\n{}\n",
            quoted(self.snapshot),
            quoted(&capture.display().to_string()),
            quoted(&self.arguments.warmup.to_string()),
            quoted(&level(&self.arguments.from, self.from)),
            quoted(&level(&self.arguments.to, self.to)),
            self.repeat(),
        )?;
        Ok(text)
    }

    fn repeat(&self) -> String {
        if self.arguments.until_decided {
            "until = \"equal +-5 %\"".to_owned()
        } else {
            format!("runs = {}", self.arguments.runs)
        }
    }
}

/// The server as a level: with its whole version, or the path that the user named.
fn level(written: &str, server: &ServerBinary) -> String {
    if written.contains('/') {
        return Path::new(written)
            .canonicalize()
            .map_or_else(|_| written.to_owned(), |path| path.display().to_string());
    }
    name(server)
}

fn name(server: &ServerBinary) -> String {
    format!("{} {}", server.flavor, server.version)
}
