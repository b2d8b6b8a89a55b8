//! The command line and the files behind it: which option counts, in what order.
//!
//! Later wins: what option files say to all clients, then our own group of them, the environment's password,
//! sysbench's `--config-file`, and the command line.

use std::path::Path;

use weir_model::{WorkloadName, WorkloadSpec};
use weir_mysql::{
    ClientConfig, ClientSettings, FileChoice, OptionFile, OptionFileError, OptionFileSetting,
};
use weir_workload::read_spec;

use super::compat::Compat;
use super::invocation::{Command, Invocation, Settings};
use super::options;
use super::value::{UsageError, Value};

/// sysbench's tests of something else than a database.
const BUILT_IN: [&str; 5] = ["cpu", "fileio", "memory", "mutex", "threads"];
/// Directory in which sysbench's own scripts are installed.
const SCRIPTS: &str = "share/sysbench";

/// In sysbench's words.
const OF_TEST: &str = "the --test option is deprecated. You can pass a script name or path on the command line \
                       without any options.";

/// Understands the words after the program's name.
///
/// # Errors
/// If an option, a value or the command is wrong; all wrong options are named.
pub fn parse<S: AsRef<str>>(
    arguments: &[S],
    config: &ClientConfig,
) -> Result<Invocation, UsageError> {
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let line = Line::split(arguments.into_iter())?;
    if let Some(name) = line.words.first().filter(|name| BUILT_IN.contains(name)) {
        // Its options are not known here.
        return Err(UsageError::BuiltIn((*name).to_owned()));
    }
    let mut settings = line.settings(config)?;
    let compat = settings.compat;
    if let Some(path) = line.config_file {
        for setting in OptionFile::read_without_groups(path)?.settings {
            in_place(&setting, apply(&mut settings, &setting, &setting.name))?;
        }
    }
    apply_all(&mut settings, line.options)?;
    let (workload, command) = words_of(&line.words, line.command, compat)?;
    settings.resolve(workload, command)
}

/// A command line in its parts.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) words: Vec<&'a str>,
    /// The first word was written as `--test=NAME`.
    names_test: bool,
    /// Asked for by an option.
    pub(super) command: Option<Command>,
    pub(super) options: Vec<Value<'a>>,
    compat: Option<Value<'a>>,
    pub(super) config_file: Option<&'a Path>,
    defaults_file: Option<&'a Path>,
    defaults_extra_file: Option<&'a Path>,
    no_defaults: bool,
}

impl<'a> Line<'a> {
    pub(super) fn split(arguments: impl Iterator<Item = &'a str>) -> Result<Self, UsageError> {
        let mut line = Self::default();
        for argument in arguments {
            let Some(value) = Value::of_argument(argument) else {
                line.words.push(argument);
                continue;
            };
            let Value { name, text } = value;
            let path = || match text {
                Some(text) if !text.is_empty() => Ok(Some(Path::new(text))),
                _ => Err(value.wrong("needs the path of a file")),
            };
            match name.replace('_', "-").as_str() {
                "help" => line.command = Some(Command::Help),
                "version" => line.command = Some(Command::Version),
                "compat" => line.compat = Some(value),
                "config-file" => line.config_file = path()?,
                "defaults-file" => line.defaults_file = path()?,
                "defaults-extra-file" => line.defaults_extra_file = path()?,
                "no-defaults" => line.no_defaults = true,
                // Before workloads had names in front: sysbench 1.0.20 still takes it.
                "test" => {
                    line.words.insert(0, text.unwrap_or_default());
                    line.names_test = true;
                }
                _ => line.options.push(value),
            }
        }
        Ok(line)
    }

    /// Returns the settings before `--config-file` and the command line: defaults, option files, the password of the
    /// environment.
    pub(super) fn settings(&self, config: &ClientConfig) -> Result<Settings, UsageError> {
        // The flavour is not known before the server greets, so what either flavour's clients read counts.
        let ClientSettings { login, own } = config.read(self.files(), None)?;
        let mut settings = Settings::new(self.compat(&own)?);
        if self.names_test {
            settings.warnings.push(OF_TEST.to_owned());
        }
        settings.server.take(login);
        for setting in &own {
            apply_own(&mut settings, setting)?;
        }
        if let Some(password) = &config.password {
            settings.server.set_password(password.clone());
        }
        Ok(settings)
    }

    /// Returns the choice of option files.
    fn files(&self) -> FileChoice<'a> {
        match self.defaults_file {
            Some(path) => FileChoice::Only(path),
            None if self.no_defaults => match self.defaults_extra_file {
                Some(path) => FileChoice::Only(path),
                None => FileChoice::None,
            },
            None => FileChoice::Usual(self.defaults_extra_file),
        }
    }

    /// Returns the sysbench whose defaults hold; those of files must be known before the files are
    /// applied.
    fn compat(&self, own: &[OptionFileSetting]) -> Result<Compat, UsageError> {
        let is_compat = |setting: &&OptionFileSetting| setting.name == "compat";
        let in_file = own.iter().rev().find(is_compat).map(|setting| Value {
            name: "compat",
            text: setting.value.as_deref(),
        });
        let Some(value) = self.compat.or(in_file) else {
            return Ok(Compat::default());
        };
        value
            .text()?
            .parse()
            .map_err(|expected| value.wrong(expected))
    }
}

/// Takes the options of the command line; one error names all that are wrong.
fn apply_all(settings: &mut Settings, options: Vec<Value<'_>>) -> Result<(), UsageError> {
    let results = options
        .into_iter()
        .map(|value| options::apply(settings, value));
    let mut wrong: Vec<_> = results.filter_map(Result::err).collect();
    match wrong.len() {
        0 => Ok(()),
        1 => Err(wrong.remove(0)),
        _ => {
            let all: Vec<_> = wrong.iter().map(ToString::to_string).collect();
            Err(UsageError::Several(all.join("; ")))
        }
    }
}

/// Takes a line of our own group, where options may have the names of MySQL's programs, too.
fn apply_own(settings: &mut Settings, setting: &OptionFileSetting) -> Result<(), UsageError> {
    if setting.name == "compat" {
        return Ok(());
    }
    let name = options::of_mysql(&setting.name).unwrap_or(&setting.name);
    in_place(setting, apply(settings, setting, name))
}

fn apply(
    settings: &mut Settings,
    setting: &OptionFileSetting,
    name: &str,
) -> Result<(), UsageError> {
    let text = setting.value.as_deref();
    options::apply(settings, Value { name, text })
}

/// Adds the place to an error that comes from a file.
pub(super) fn in_place(
    setting: &OptionFileSetting,
    result: Result<(), UsageError>,
) -> Result<(), UsageError> {
    result.map_err(|error| {
        OptionFileError {
            place: setting.place.clone(),
            why: error.to_string(),
        }
        .into()
    })
}

fn words_of(
    words: &[&str],
    asked: Option<Command>,
    compat: Compat,
) -> Result<(WorkloadSpec, Command), UsageError> {
    if let Some(command) = asked {
        return Ok((WorkloadName::OltpReadWrite.into(), command));
    }
    if matches!(words, [] | ["help" | "-h"]) {
        return Ok((WorkloadName::OltpReadWrite.into(), Command::Help));
    }
    let (name, rest) = words.split_first().ok_or(UsageError::Missing("workload"))?;
    let workload = read_spec(native(name)?).map_err(UsageError::Workload)?;
    let (command, rest) = rest.split_first().ok_or(UsageError::Missing("command"))?;
    let command = match *command {
        "prepare" => Command::Prepare,
        "prewarm" => Command::Prewarm,
        "warmup" if compat == Compat::Development => Command::Prewarm,
        "run" => Command::Run,
        "cleanup" => Command::Cleanup,
        // Of the others, nothing is known that must hold.
        "check" if matches!(workload, WorkloadSpec::OrderEntry(_)) => Command::Check,
        "help" => Command::Help,
        other => return Err(UsageError::Command(other.to_owned())),
    };
    match rest.first() {
        Some(word) => Err(UsageError::Argument((*word).to_owned())),
        None => Ok((workload, command)),
    }
}

/// A workload's name, also where one of sysbench's own scripts is named by its path.
pub(super) fn native(name: &str) -> Result<&str, UsageError> {
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "lua") {
        return Ok(name);
    }
    let is_sysbenchs = path
        .parent()
        .is_some_and(|parent| parent.ends_with(SCRIPTS));
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.filter(|stem| is_sysbenchs && stem.parse::<WorkloadName>().is_ok())
        .ok_or_else(|| UsageError::Script(name.to_owned()))
}

#[cfg(test)]
mod tests;
