//! The command line of a Lua script: the program's options are read here, all others are the script's.

use std::path::Path;

use weir_model::{DistributionName, DistributionOptions, LuaWorkload, WorkloadName, WorkloadSpec};
use weir_mysql::{ClientConfig, OptionFile};

use super::command_line::{Line, in_place, native};
use super::compat::Compat;
use super::invocation::{Command, Invocation, Settings};
use super::options;
use super::value::{UsageError, Value};

/// The program's options that work with a script, beside those for logins and random numbers. All others are the
/// script's own: if it has none of that name they are invalid, so that none is silently without effect.
const OF_PROGRAM: [&str; 31] = [
    "agent-label",
    "agents",
    "csv",
    "debug",
    "events",
    "forced-shutdown",
    "hdr-log",
    "histogram",
    "json",
    "max-requests",
    "max-time",
    "metrics",
    "num-threads",
    "percentile",
    "percentiles",
    "rate",
    "rate-arrivals",
    "rate-ramp",
    "reactor",
    "reactors",
    "report-checkpoints",
    "report-interval",
    "statement-latency",
    "thread-init-timeout",
    "thread-stack-size",
    "threads",
    "time",
    "tx-rate",
    "validate",
    "verbosity",
    "warmup-time",
];
/// Prefixes of the names of further options of the program, and the one that is a workload's all the same.
const OF_PROGRAM_STARTS: [&str; 3] = ["db-", "mysql-", "rand-"];
const OF_WORKLOADS: &str = "mysql-storage-engine";
/// Option that only scripts have.
const LUA_THREADS: &str = "lua-threads";
const LUAJIT: &str = "luajit-cmd";
const DRY_RUN: &str = "dry-run";

/// Options: names as typed, and values if they have one.
pub type Options = Vec<(String, Option<String>)>;

/// Driver of a script's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LuaThreads {
    /// As is best for the script.
    #[default]
    Auto,
    /// A thread of the system for each.
    Os,
    /// All in few threads.
    Reactor,
}

/// A script's command line, understood as far as that is possible without the script.
#[derive(Debug, Clone)]
pub struct ScriptLine {
    /// The script as it was named.
    pub script: String,
    /// Command of the script.
    pub command: Option<String>,
    /// All options, those of `--config-file` first.
    pub given: Options,
    /// Those among them that the program does not know.
    pub unknown: Options,
    /// Driver of its connections.
    pub lua_threads: LuaThreads,
    /// The setting of `LuaJIT`.
    pub luajit_command: Option<String>,
    /// Keys of the default distribution, and of all others.
    pub keys: (DistributionName, DistributionOptions),
    /// The program's part.
    pub invocation: Invocation,
}

/// Understands the words after the program's name, if they name a script: nothing for a native workload.
/// `is_script`: whether there is a file or module of this name.
///
/// # Errors
///
/// Options of the program that cannot be understood.
pub fn parse_script<S: AsRef<str>>(
    arguments: &[S],
    config: &ClientConfig,
    is_script: impl Fn(&str) -> bool,
) -> Result<Option<ScriptLine>, UsageError> {
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let line = Line::split(arguments.iter().copied())?;
    let Some(&script) = line.words.first() else {
        return Ok(None);
    };
    let asks_lua = line
        .options
        .iter()
        .any(|value| is_named(value, LUA_THREADS));
    let is_there = is_script(script);
    if line.command.is_some() || !is_of_lua(script, asks_lua, is_there) {
        return Ok(None);
    }
    script_line(&arguments, config).map(Some)
}

/// The same for words of which the first is the script, whatever its name; without one, the script comes from
/// standard input.
///
/// # Errors
///
/// Options of the program that cannot be understood.
pub fn script_line(arguments: &[&str], config: &ClientConfig) -> Result<ScriptLine, UsageError> {
    let line = Line::split(arguments.iter().copied())?;
    let (script, words) = match line.words.split_first() {
        Some((script, words)) => (*script, words),
        None => ("-", &[][..]),
    };
    let command = match words {
        [] => None,
        [command] => Some((*command).to_owned()),
        [_, word, ..] => return Err(UsageError::Argument((*word).to_owned())),
    };
    let mut settings = line.settings(config)?;
    let mut options = ScriptOptions::default();
    if let Some(path) = line.config_file {
        for setting in OptionFile::read_without_groups(path)?.settings {
            let value = Value {
                name: &setting.name,
                text: setting.value.as_deref(),
            };
            in_place(&setting, options.take(&mut settings, value))?;
        }
    }
    for value in &line.options {
        options.take(&mut settings, *value)?;
    }
    let keys = (settings.rand_type, settings.keys);
    let workload = WorkloadSpec::Lua(LuaWorkload {
        path: script.into(),
        ..LuaWorkload::default()
    });
    Ok(ScriptLine {
        script: script.to_owned(),
        command,
        given: options.given,
        unknown: options.unknown,
        lua_threads: options.lua_threads,
        luajit_command: options.luajit_command,
        keys,
        invocation: settings.resolve(workload, Command::Run)?,
    })
}

/// Returns true if a name is that of a script: sysbench's own tests run natively unless Lua is
/// asked for.
fn is_of_lua(name: &str, asks_lua: bool, is_there: bool) -> bool {
    let is_file_of_lua = Path::new(name).extension().is_some_and(|end| end == "lua");
    let is_native = match native(name) {
        Ok(name) => weir_workload::read_spec(name).is_ok(),
        Err(_) => false,
    };
    if is_native {
        return asks_lua;
    }
    asks_lua || is_file_of_lua || is_there
}

fn is_named(value: &Value<'_>, name: &str) -> bool {
    value.name.replace('_', "-") == name
}

/// Returns true if an option, written with `-`, is the program's also with a script.
fn is_of_program(name: &str) -> bool {
    let begins = OF_PROGRAM_STARTS
        .iter()
        .any(|start| name.starts_with(start));
    OF_PROGRAM.contains(&name) || begins && name != OF_WORKLOADS
}

/// Options as they are read.
#[derive(Default)]
struct ScriptOptions {
    given: Options,
    unknown: Options,
    lua_threads: LuaThreads,
    luajit_command: Option<String>,
}

impl ScriptOptions {
    fn take(&mut self, settings: &mut Settings, value: Value<'_>) -> Result<(), UsageError> {
        let pair = (value.name.to_owned(), value.text.map(str::to_owned));
        if is_named(&value, LUA_THREADS) {
            self.lua_threads = match value.text {
                Some("auto") => LuaThreads::Auto,
                Some("os") => LuaThreads::Os,
                Some("reactor") => LuaThreads::Reactor,
                _ => return Err(value.wrong("must be auto, os or reactor")),
            };
            return Ok(());
        }
        if is_named(&value, LUAJIT) {
            self.luajit_command = value
                .text
                .map(str::to_owned)
                .filter(|text| !text.is_empty());
            return Ok(());
        }
        if is_named(&value, DRY_RUN) && value.switch() == Ok(true) {
            return Err(UsageError::UnsupportedOption {
                name: DRY_RUN.to_owned(),
                why: "a script shows what it sends only by running",
            });
        }
        self.given.push(pair.clone());
        let name = value.name.replace('_', "-");
        if !is_of_program(&name) {
            self.unknown.push(pair);
            return Ok(());
        }
        match options::apply(settings, value) {
            Err(UsageError::UnknownOption { .. }) => {
                self.unknown.push(pair);
                Ok(())
            }
            other => other,
        }
    }
}

/// The module of sysbench's that a native workload stands for; `None`: sysbench has no such test.
pub fn module_of(workload: &str) -> Option<&str> {
    let name = native(workload).ok()?;
    let is_own = |name: &&str| !name.starts_with("oltp_text");
    name.parse::<WorkloadName>().ok()?;
    Some(name).filter(is_own)
}

/// Returns the lines before all output of a script's command. `luajit`: its version.
pub fn script_version(compat: Compat, luajit: &str) -> String {
    let version = compat.version();
    format!("sysbench {version} (using bundled LuaJIT {luajit})\n\n")
}

/// Returns the version that a script sees.
pub fn script_sees(compat: Compat) -> &'static str {
    compat.version()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Origin, SUPPORTED};

    fn parse(line: &str) -> Option<ScriptLine> {
        let words: Vec<_> = line.split_whitespace().collect();
        let is_there = |name: &str| name == "orders";
        parse_script(&words, &ClientConfig::default(), is_there).unwrap()
    }

    #[test]
    fn options_of_workloads_are_the_scripts() {
        for name in ["tables", "mysql-storage-engine", "pgsql-variant", "rtt"] {
            assert!(!is_of_program(name), "{name}");
        }
        for option in SUPPORTED
            .iter()
            .filter(|option| option.origin == Origin::Both)
        {
            let name = option.name.replace('_', "-");
            // sysbench's own scripts write theirs with `_`, or in one word.
            let is_general = option.name.contains('-') && name != OF_WORKLOADS;
            assert!(!is_general || is_of_program(&name), "{name}");
        }
        let line = parse("x.lua --tables=3 --threads=4 --own=5 --flag run").unwrap();
        assert_eq!(line.command.as_deref(), Some("run"));
        assert_eq!(line.invocation.plan.load.connections, 4);
        let names = |options: &Options| -> Vec<String> {
            options.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&line.unknown), ["tables", "own", "flag"]);
        assert_eq!(names(&line.given), ["tables", "threads", "own", "flag"]);
    }

    #[test]
    fn a_script_may_be_named_by_an_option() {
        let line = parse("--test=tests/db/oltp.lua --oltp-table-size=1000 run").unwrap();
        assert_eq!(line.script, "tests/db/oltp.lua");
        let unknown = ("oltp-table-size".to_owned(), Some("1000".to_owned()));
        assert_eq!(line.unknown, [unknown]);
        assert!(line.invocation.warnings[0].starts_with("the --test option is deprecated"));
    }

    #[test]
    fn sysbenchs_own_tests_are_native_unless_lua_is_asked_for() {
        assert!(parse("oltp_read_write run").is_none());
        assert!(parse("/usr/share/sysbench/oltp_read_write.lua run").is_none());
        assert!(parse("/usr/share/sysbench/oltp_read_write.lua --lua-threads=os run").is_some());
        assert!(parse("orders run").is_some());
        assert!(parse("nothing run").is_none());
        assert!(parse("order_entry run").is_none());
        assert!(parse("--help").is_none());
    }
}
