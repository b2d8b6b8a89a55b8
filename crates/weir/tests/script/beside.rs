//! Both programs on one script.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use weir_model::{Address, Endpoint};

/// What a program printed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl From<std::process::Output> for Output {
    fn from(output: std::process::Output) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }
}

impl Output {
    /// The count behind a label of the report.
    pub(crate) fn number(&self, label: &str) -> u64 {
        let line = self.stdout.lines().find(|line| line.contains(label));
        let line = line.unwrap_or_else(|| panic!("no `{label}` in {}", self.stdout));
        let number = line.split(label).nth(1).unwrap().split_whitespace().next();
        number.unwrap().parse().unwrap()
    }

    /// Nothing was told of the script, but that a busy machine held the whole program up.
    pub(crate) fn is_quiet(&self) -> bool {
        let is_of_machine = self
            .stderr
            .starts_with("note: the script ran or waited for ");
        self.stderr.is_empty() || is_of_machine && self.stderr.lines().count() == 1
    }

    /// The counts of reads, writes, other statements and events.
    pub(crate) fn counts(&self) -> [u64; 4] {
        ["read:", "write:", "other:", "total number of events:"].map(|label| self.number(label))
    }
}

/// A folder with scripts, and the program under both names.
pub(crate) struct Bench {
    folder: TempDir,
    server: Vec<String>,
    /// Variables of the environment of both programs.
    variables: Vec<(String, String)>,
    /// Weir finds none of sysbench's modules.
    hides_installed: bool,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        symlink(env!("CARGO_BIN_EXE_weir"), folder.path().join("sysbench")).unwrap();
        Self {
            folder,
            server: Vec::new(),
            variables: Vec::new(),
            hides_installed: false,
        }
    }

    /// From here on, Weir finds none of sysbench's own modules.
    pub(crate) fn hide_installed_modules(&mut self) {
        self.hides_installed = true;
    }

    /// From here on, both programs have this variable in their environment.
    pub(crate) fn set(&mut self, variable: &str, value: &str) {
        self.variables.retain(|(name, _)| name != variable);
        let pair = (variable.to_owned(), value.to_owned());
        self.variables.push(pair);
    }

    /// With the options that say where a server is.
    pub(crate) fn on(endpoint: &Endpoint) -> Self {
        let Address::Socket(socket) = &endpoint.address else {
            panic!("a private server")
        };
        Self {
            server: vec![
                format!("--mysql-socket={}", socket.display()),
                format!("--mysql-user={}", endpoint.user),
                format!("--mysql-password={}", endpoint.password.reveal()),
                format!("--mysql-db={}", endpoint.database),
            ],
            ..Self::new()
        }
    }

    /// Writes a script.
    pub(crate) fn script(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Weir under the name `sysbench`.
    pub(crate) fn ours(&self, words: &str) -> Output {
        Output::from(self.command(words).output().unwrap())
    }

    /// The same, to be started.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(self.folder.path().join("sysbench"));
        if self.hides_installed {
            command.env("LUA_PATH", "./?.lua");
        }
        self.with_words(&mut command, words);
        command
    }

    /// `weir load` with these words.
    pub(crate) fn weir_load(&self, words: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.arg("load");
        self.with_words(&mut command, words);
        Output::from(command.output().unwrap())
    }

    /// sysbench itself; nothing where it is not installed.
    pub(crate) fn theirs(&self, words: &str) -> Option<Output> {
        let installed = Command::new("sysbench").arg("--version").output();
        if installed.is_err() {
            let how = "scripts/setup.sh --bench installs it";
            weir_testing::skipped("beside sysbench", how);
            return None;
        }
        let mut command = Command::new("sysbench");
        self.with_words(&mut command, words);
        Some(Output::from(command.output().unwrap()))
    }

    fn with_words(&self, command: &mut Command, words: &str) {
        command
            .args(words.split_whitespace())
            .args(&self.server)
            .envs(self.variables.iter().cloned())
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
    }

    /// Both programs say and return the same, however Weir drives the connections; what Weir does.
    pub(crate) fn same(&self, words: &str) -> Output {
        let theirs = self.theirs(words);
        let mut last = None;
        for driving in ["os", "reactor"] {
            let ours = self.ours(&format!("{words} --lua-threads={driving}"));
            if let Some(theirs) = &theirs {
                assert_eq!(masked(&ours), masked(theirs), "{words} {driving}\n{ours:?}");
            }
            last = Some(ours);
        }
        last.unwrap()
    }
}

/// Without the version of the interpreter, and with numbers masked that both measure: those with decimals.
pub(crate) fn masked(output: &Output) -> Output {
    let one = |text: &str| -> String {
        // How a script is driven is told by Weir alone.
        let lines = text.lines().filter(|line| !line.starts_with("note: "));
        let lines = lines.map(|line| {
            if line.starts_with("sysbench 1.0.20 (") {
                return "version".to_owned();
            }
            let label = "total number of events:";
            if let Some(count) = line.trim_start().strip_prefix(label)
                && count.trim().len() > 3
            {
                return label.to_owned();
            }
            // Lines of the programs' own Lua.
            if let Some((before, after)) = line.split_once(".lua\"]:") {
                let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
                return format!("{before}{after}");
            }
            let words = line.split_inclusive([' ', ',', '(', ')', '/', '\t', 's']);
            let words: String = words.map(masked_word).collect();
            words.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    Output {
        stdout: one(&output.stdout),
        stderr: one(&output.stderr),
        code: output.code,
    }
}

fn masked_word(word: &str) -> String {
    let end = word.trim_end_matches([' ', ',', '(', ')', '/', '\t', 's']);
    let is_measured = end.contains('.') && end.parse::<f64>().is_ok();
    if is_measured {
        return word.replacen(end, "N", 1);
    }
    word.to_owned()
}
