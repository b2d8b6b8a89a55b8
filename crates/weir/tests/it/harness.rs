//! Running the `weir` program and looking at what it left.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output as RawOutput, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// One call of the program, in a world of its own: its registry and sockets are not those of the
/// user or of another test.
pub(crate) struct Weir {
    command: Command,
}

/// What a call printed.
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Weir {
    pub(crate) fn new() -> Self {
        Self {
            command: Command::new(env!("CARGO_BIN_EXE_weir")),
        }
    }

    /// Started by this line of a shell, whose `"$@"` is the program with its arguments.
    pub(crate) fn by_shell(mut self, line: &str) -> Self {
        let program = self.command.get_program().to_owned();
        self.command = Command::new("sh");
        self.command.args(["-c", line, "sh"]).arg(program);
        self
    }

    /// Where the kernel refuses these system calls, as in a container.
    pub(crate) fn refusing(mut self, calls: &[libc::c_long]) -> Self {
        weir_testing::refuse_calls(&mut self.command, calls);
        self
    }

    /// With sockets and records in `world`.
    pub(crate) fn in_world(world: &World) -> Self {
        let mut weir = Self::new();
        weir.command.env("XDG_RUNTIME_DIR", world.runtime.path());
        weir
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// From this folder, as a user who types names of files there.
    pub(crate) fn at(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn output(mut self) -> Output {
        self.command.stdin(Stdio::null());
        Output::from(self.command.output().unwrap())
    }

    /// Runs to success.
    pub(crate) fn succeeds(self) -> Output {
        let output = self.output();
        assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
        output
    }

    /// Runs to the end of a study. On a busy machine the drive may be late, or other tests take the cores, which makes
    /// its verdict invalid and nothing else.
    pub(crate) fn completes(self) -> Output {
        let output = self.output();
        let is_of_machine = [
            "drive was off its modelled times",
            "other processes used",
            "the hypervisor took",
        ]
        .iter()
        .any(|words| output.stdout.contains(words));
        assert!(
            output.code == Some(0) || output.code == Some(3) && is_of_machine,
            "{}{}",
            output.stdout,
            output.stderr
        );
        output
    }

    /// Runs to failure with exit code 1 and exactly one line of error, which is returned.
    pub(crate) fn fails(self) -> String {
        self.output().only_error().to_owned()
    }

    /// Starts without waiting.
    pub(crate) fn spawn(mut self) -> Child {
        self.command.stdin(Stdio::null());
        self.spawn_as_is()
    }

    /// Starts without waiting, to be given input.
    pub(crate) fn spawn_with_input(mut self) -> Child {
        self.command.stdin(Stdio::piped());
        self.spawn_as_is()
    }

    fn spawn_as_is(mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.spawn().unwrap()
    }
}

impl Output {
    /// The error of a command that failed with exit code 1 and exactly one line.
    pub(crate) fn only_error(&self) -> &str {
        assert_eq!(self.code, Some(1), "{}{}", self.stdout, self.stderr);
        let lines = self.stderr.lines();
        let errors: Vec<_> = lines.filter(|line| line.starts_with("weir: ")).collect();
        assert_eq!(errors.len(), 1, "{}", self.stderr);
        errors[0]
    }
}

impl From<RawOutput> for Output {
    fn from(raw: RawOutput) -> Self {
        Self {
            stdout: String::from_utf8(raw.stdout).unwrap(),
            stderr: String::from_utf8(raw.stderr).unwrap(),
            code: raw.status.code(),
        }
    }
}

/// Directories of one test: sockets and records, work, results. All that a call leaves is in here.
pub(crate) struct World {
    pub(crate) runtime: TempDir,
    pub(crate) home: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        // Sockets need short paths, so not below a long temporary directory.
        Self {
            runtime: tempfile::Builder::new()
                .prefix("wt")
                .tempdir_in("/tmp")
                .unwrap(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    /// A path in the test's home.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The records of what runs for this test.
    pub(crate) fn records(&self) -> Vec<serde_json::Value> {
        let listing = fs::read_dir(self.runtime.path().join("weir/registry"));
        let files = listing.into_iter().flatten().filter_map(Result::ok);
        let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
        texts
            .filter_map(|text| serde_json::from_str(&text).ok())
            .collect()
    }

    /// Process ids of live servers and drives of this test.
    pub(crate) fn live_pids(&self, kind: &str) -> Vec<u32> {
        let records = self.records();
        let of_kind = records.iter().filter(|record| record["kind"] == kind);
        let pids = of_kind.filter_map(|record| record["process"]["pid"].as_u64());
        pids.map(|pid| pid as u32)
            .filter(|pid| is_alive(*pid))
            .collect()
    }

    /// Runs of the study in `out` that are stored, as the study itself tells: a report would take the processors that
    /// the study needs.
    pub(crate) fn runs_stored(&self) -> u64 {
        let text = fs::read_to_string(self.path("out/progress.json")).unwrap_or_default();
        let progress: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        progress["runs_done"].as_u64().unwrap_or(0)
    }

    /// Mounts below the test's home.
    pub(crate) fn mounts(&self) -> Vec<String> {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let home = self.home.path().display().to_string();
        let points = table.lines().filter_map(|line| line.split(' ').nth(4));
        points
            .filter(|point| point.starts_with(&home))
            .map(str::to_owned)
            .collect()
    }

    /// Asserts that no server, drive, mount or working directory is left.
    pub(crate) fn assert_nothing_left(&self) {
        wait_until("servers, drives and mounts are gone", || {
            self.live_pids("server").is_empty()
                && self.live_pids("drive").is_empty()
                && self.mounts().is_empty()
        });
        let work = self.path("work");
        let left: Vec<_> = fs::read_dir(&work).into_iter().flatten().collect();
        assert!(left.is_empty(), "left in {}: {left:?}", work.display());
    }
}

/// A process that runs (a zombie does not).
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// Waits up to two minutes for `condition`.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The text of a study that takes seconds: small data, small pool, short runs.
pub(crate) fn small_study(flavor: &str) -> String {
    format!(
        r#"
        [study]
        title = "Small"
        question = "Does the pipeline work?"
        [server]
        flavor = "{flavor}"
        [server.config]
        innodb_buffer_pool_size = "8M"
        innodb_flush_method = "O_DIRECT"
        [data]
        workload = "oltp_write_only"
        tables = 2
        rows = 40_000
        scale = {{ drive = "1/25" }}
        [load]
        threads = 8
        warmup = "1s"
        measure = "2s"
        [factors]
        drive = ["intel-p4610"]
        innodb_doublewrite = ["ON", "OFF"]
        [repeat]
        runs = 3
        seed = 1
        "#
    )
}

/// Whether SIGINT is in one of a process's masks: `SigCgt`, the signals with a handler, or `ShdPnd`, those that wait to
/// be delivered (proc(5)).
pub(crate) fn has_interrupt(pid: u32, mask: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mut lines = status.lines().filter_map(|line| line.split_once(":\t"));
    let bits = lines.find_map(|(name, bits)| (name == mask).then_some(bits));
    bits.is_some_and(|bits| u64::from_str_radix(bits, 16).unwrap() & 2 != 0)
}

/// Sends `signal` (a name as kill(1) has it) to `pid`.
pub(crate) fn signal(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .args(["-s", signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}
