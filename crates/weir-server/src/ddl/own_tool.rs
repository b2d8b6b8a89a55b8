//! A schema change by the user's own tool, such as pt-online-schema-change, as a process of its own.

mod traces;

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, kill_process};
use weir_model::{Address, Endpoint};
use weir_mysql::{Gate, write_client_options};
use weir_process::{PathError, Signal, WorkDirectory, inherit_nothing, spawn_tied};

use self::traces::Traces;
use crate::ddl::{AlterStatement, DdlError, Leftover};

/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Time limit for a tool to remove its objects.
const TIDYING: Duration = Duration::from_secs(5);
/// Largest part of its last words that is reported, bytes.
const WORDS: usize = 300;

/// Arguments of pt-online-schema-change, besides those of the user. It asks no other host for versions.
const PERCONA: [&str; 6] = [
    "--execute",
    "--no-version-check",
    "--recursion-method=none",
    "--alter",
    "{alter}",
    "D={schema},t={table},F={option_file}",
];

/// End of a tool, and the objects that it left.
#[derive(Debug)]
pub struct ToolRun {
    /// A tool that failed, with its last words, or that was ended.
    pub ended: Result<(), DdlError>,
    /// Triggers and tables that are there since it began and are named after the altered table; `None`: the server could
    /// not be asked.
    pub left: Option<Vec<Leftover>>,
    /// They were removed: the tool was ended before it could do that.
    pub is_removed: bool,
}

/// A tool, as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTool {
    words: Vec<String>,
}

impl OwnTool {
    /// Reads a command line: a path and options, with `{alter}`, `{schema}`, `{table}`, `{option_file}`, `{socket}`,
    /// `{host}` and `{port}` in them. pt-online-schema-change needs none.
    ///
    /// # Errors
    ///
    /// A line with a quote that does not close, a program that is not there, or a line that says nothing of the table.
    pub fn read(line: &str) -> Result<Self, DdlError> {
        let refused = |why: &str, remedy| DdlError::Tool {
            line: line.to_owned(),
            why: why.to_owned(),
            remedy,
        };
        let words = shlex::split(line).unwrap_or_default();
        let Some(program) = words.first() else {
            return Err(refused(
                "it is no command line",
                "write the path of a program",
            ));
        };
        if !Path::new(program).is_file() {
            return Err(refused(
                "there is no such file",
                "write the path of a program",
            ));
        }
        let mut tool = Self { words };
        if tool.is_named("pt-online-schema-change") {
            tool.words.extend(PERCONA.map(str::to_owned));
        } else if !tool.words.iter().any(|word| word.contains("{alter}")) {
            return Err(refused(
                "it is not told what to change",
                "write {alter}, {schema}, {table} and {option_file} where the tool wants them",
            ));
        }
        Ok(tool)
    }

    fn program(&self) -> &Path {
        Path::new(&self.words[0])
    }

    fn is_named(&self, name: &str) -> bool {
        self.program()
            .file_name()
            .is_some_and(|found| found == name)
    }

    /// The first line that it prints for `--version`.
    ///
    /// # Errors
    ///
    /// A program that does not start.
    pub fn version(&self) -> Result<String, DdlError> {
        let mut command = Command::new(self.program());
        let output = inherit_nothing(command.arg("--version").stdin(Stdio::null())).output();
        let output = output.map_err(PathError::on("start", self.program()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// Runs it to its end; `is_over` ends it. The result names what it leaves. That is removed if the tool was ended: most
    /// tools then leave what they made, so that a person may go on with it.
    ///
    /// # Errors
    ///
    /// A program that does not start, or a server that cannot be asked before.
    pub fn run(
        &self,
        (endpoint, gate): (&Endpoint, &Gate),
        alter: &AlterStatement,
        is_over: &dyn Fn() -> bool,
    ) -> Result<ToolRun, DdlError> {
        let traces = Traces::before((endpoint, gate), alter)?;
        let ended = self.run_program(endpoint, alter, is_over);
        let is_removed = ended.is_err() && is_over();
        let left = if is_removed {
            traces.remove()
        } else {
            traces.left()
        };
        Ok(ToolRun {
            ended,
            left: left.ok(),
            is_removed,
        })
    }

    fn run_program(
        &self,
        endpoint: &Endpoint,
        alter: &AlterStatement,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), DdlError> {
        let directory = WorkDirectory::create(&std::env::temp_dir(), "tool")?;
        let options = directory.path().join("client.cnf");
        write_client_options(&options, endpoint).map_err(PathError::on("write", &options))?;
        let printed = directory.path().join("printed");
        let output = File::create(&printed).map_err(PathError::on("create", &printed))?;
        let errors = output
            .try_clone()
            .map_err(PathError::on("open", &printed))?;
        let mut command = Command::new(self.program());
        let words = self.words[1..].iter();
        command
            .args(words.map(|word| filled(word, endpoint, alter, &options)))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors);
        let mut child = spawn_tied(&mut command, Signal::TERM)
            .map_err(PathError::on("start", self.program()))?;
        let status = loop {
            let status = child
                .try_wait()
                .map_err(PathError::on("wait for", self.program()))?;
            if let Some(status) = status {
                break status;
            }
            if is_over() {
                end(&mut child);
                return Err(DdlError::Stopped);
            }
            thread::sleep(LOOK);
        };
        if status.success() {
            return Ok(());
        }
        let words = std::fs::read(&printed).unwrap_or_default();
        Err(DdlError::Tool {
            line: self.words[0].clone(),
            why: format!("{status}: {}", last(&String::from_utf8_lossy(&words))),
            remedy: "look what its manual says of that",
        })
    }
}

/// Lets it remove what it made; it may be gone already.
fn end(child: &mut Child) {
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process(pid, Signal::TERM);
    }
    for _ in 0..TIDYING.as_millis() / LOOK.as_millis() {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
        thread::sleep(LOOK);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The last words of a text, in one line.
fn last(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = line.len().saturating_sub(WORDS);
    let from = (from..=line.len()).find(|at| line.is_char_boundary(*at));
    line[from.unwrap_or(0)..].to_owned()
}

fn filled(word: &str, endpoint: &Endpoint, alter: &AlterStatement, option_file: &Path) -> String {
    let (host, port, socket) = match &endpoint.address {
        Address::Tcp(host, port) => (host.clone(), port.to_string(), String::new()),
        Address::Socket(path) => (String::new(), String::new(), path.display().to_string()),
    };
    // The statement last: what it holds is its own.
    [
        ("{schema}", &*alter.schema),
        ("{table}", &*alter.table),
        ("{option_file}", &*option_file.display().to_string()),
        ("{host}", &*host),
        ("{port}", &*port),
        ("{socket}", &*socket),
        ("{alter}", &*alter.changes()),
    ]
    .into_iter()
    .fold(word.to_owned(), |word, (mark, value)| {
        word.replace(mark, value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_a_program_that_is_told_what_to_change() {
        let error = |line: &str| OwnTool::read(line).unwrap_err().to_string();
        assert!(error("").contains("no command line"));
        assert!(error("/nonexistent/gh-ost {alter}").contains("no such file"));
        assert!(error("/bin/true --execute").contains("not told"));
        assert!(OwnTool::read("/bin/true '--alter={alter}'").is_ok());
    }

    #[test]
    fn last_words_are_one_line() {
        assert_eq!(last("a\nb\n"), "a b");
        assert!(last(&"ü".repeat(400)).len() <= WORDS + 1);
    }
}
