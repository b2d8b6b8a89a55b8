//! The study that answers the questions, as a file that anyone can run again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use weir_model::{Bytes, Duration};
use weir_server::ServerBinary;
use weir_server::look::{LookReport, Question, Questions};

use crate::commands::study_file::quoted;

/// Everything that the study says.
pub(super) struct Study<'a> {
    pub(super) report: &'a LookReport,
    pub(super) program: &'a ServerBinary,
    /// Settings of the server that all runs have.
    pub(super) settings: BTreeMap<String, String>,
    pub(super) snapshot: &'a str,
    pub(super) capture: &'a Path,
    pub(super) warmup: Duration,
}

impl Study<'_> {
    /// Text of the study file.
    pub(super) fn text(&self) -> anyhow::Result<String> {
        let capture = self.capture.canonicalize();
        let capture = capture
            .with_context(|| format!("cannot find the capture `{}`", self.capture.display()))?;
        let Questions { asked, indexes, .. } = &self.report.questions;
        let mut text = format!(
            "# Written by `weir advise`. `weir run` runs it again.\n\n[study]\ntitle = {}\nquestion = {}\n\n[server]\n\
             flavor = {}\n\n[server.config]\n",
            quoted(&format!("Settings and indexes of {}", self.report.server)),
            quoted(&format!(
                "Which of {} changes are worth making for this load?",
                self.report.questions.count()
            )),
            quoted(&self.program.path.display().to_string()),
        );
        for (name, value) in &self.settings {
            writeln!(text, "{name} = {}", quoted(value))?;
        }
        write!(text, "\n[data]\nsnapshot = {}\n", quoted(self.snapshot))?;
        for index in indexes {
            let [name, statement] = [&index.name, &index.statement].map(|text| quoted(text));
            write!(
                text,
                "\n[[data.before]]\nname = {name}\nstatement = {statement}\n"
            )?;
        }
        write!(
            text,
            "\n[load]\nreplay = {}\npace = \"fast\"\nwarmup = {}\n\n[design]\nkind = \"screen\"\n\n[factors]\n",
            quoted(&capture.display().to_string()),
            quoted(&self.warmup.to_string()),
        )?;
        for question in asked {
            text.push_str(&factor(question));
        }
        for index in indexes {
            let name = quoted(&format!("before.{}", index.name));
            writeln!(text, "{name} = [\"without\", \"with\"]")?;
        }
        Ok(text)
    }
}

/// A factor: the setting by its name, or several that move together by the question's.
fn factor(question: &Question) -> String {
    if let [(name, present, candidate)] = question.settings.as_slice() {
        let levels = [present, candidate].map(|value| quoted(&level(name, value)));
        return format!("{name} = [{}]\n", levels.join(", "));
    }
    let together = |label: &str, of: fn(&(String, String, String)) -> &str| {
        let settings = question.settings.iter().map(|setting| {
            let value = level(&setting.0, of(setting));
            format!("{} = {}", setting.0, quoted(&value))
        });
        let settings: Vec<_> = settings.collect();
        format!("{{ name = {}, {} }}", quoted(label), settings.join(", "))
    };
    let present = together("present", |setting| &setting.1);
    let candidate = together("candidate", |setting| &setting.2);
    format!(
        "{} = [\n    {present},\n    {candidate},\n]\n",
        question.name
    )
}

/// A value as one writes it: sizes with their unit.
pub(super) fn level(name: &str, value: &str) -> String {
    let is_size = ["_size", "_capacity"].iter().any(|end| name.ends_with(end));
    match value.parse::<u64>() {
        Ok(bytes) if is_size && bytes >= 1024 && bytes % 1024 == 0 => {
            let text = Bytes(bytes).to_string();
            let is_exact = text.parse::<Bytes>().is_ok_and(|parsed| parsed.0 == bytes);
            if is_exact { text } else { value.to_owned() }
        }
        _ => value.to_owned(),
    }
}
