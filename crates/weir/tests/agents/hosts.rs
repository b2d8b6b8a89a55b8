//! Hosts that a test makes: network namespaces, joined by a bridge in a namespace of the test's own.
//!
//! The test's thread and all that it starts live in that namespace. All of it goes with the last process.

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const WEIR: &str = env!("CARGO_BIN_EXE_weir");
/// The test's own address on the bridge; hosts follow.
pub(crate) const HOME: &str = "10.77.0.1";

/// Runs a command to success.
fn run(line: &str) {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {words}");
}

/// Moves this thread to a network of its own with a bridge; `None`, told as skipped, without the privilege.
#[allow(unsafe_code)] // rustix leaves to the caller what unshare(2) does to files; network namespaces do nothing.
pub(crate) fn network(test: &str) -> Option<()> {
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    // SAFETY: a network namespace shares no memory and no file table.
    if unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.is_err() {
        weir_testing::skipped(test, "no privilege to make network namespaces");
        return None;
    }
    run(&format!(
        "ip link set lo up && ip link add br0 type bridge && ip addr add {HOME}/24 dev br0 && ip link set br0 up"
    ));
    Some(())
}

/// A child that is killed at the end, with what it has printed.
pub(crate) struct Process {
    pub(crate) child: Child,
    /// Lines of output and of errors, as they came.
    lines: Arc<Mutex<Vec<String>>>,
    output: Arc<Mutex<Vec<String>>>,
    readers: Vec<JoinHandle<()>>,
}

/// Appends the lines of `pipe` to each of `lists` until its end.
fn read_lines(
    pipe: impl Read + Send + 'static,
    lists: Vec<Arc<Mutex<Vec<String>>>>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            for list in &lists {
                list.lock().unwrap().push(line.clone());
            }
        }
    })
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (lines, output) = (Arc::default(), Arc::default());
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let readers = vec![
            read_lines(out, vec![Arc::clone(&lines), Arc::clone(&output)]),
            read_lines(err, vec![Arc::clone(&lines)]),
        ];
        Self {
            child,
            lines,
            output,
            readers,
        }
    }

    /// Output and errors.
    pub(crate) fn text(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    /// Output alone.
    pub(crate) fn output(&self) -> String {
        self.output.lock().unwrap().join("\n")
    }

    /// The exit code, after the end.
    pub(crate) fn code(&mut self) -> Option<i32> {
        let status = self.child.wait().unwrap();
        self.read_to_the_end();
        status.code()
    }

    #[cfg(feature = "lua")]
    /// Returns true after its end, when all that it wrote is read.
    pub(crate) fn has_ended(&mut self) -> bool {
        let has_ended = self.child.try_wait().unwrap().is_some();
        if has_ended {
            self.read_to_the_end();
        }
        has_ended
    }

    /// Reads the last lines of a process that has ended. A child of its own may still hold the pipes.
    fn read_to_the_end(&self) {
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: &str) {
        signal_process(self.id(), signal);
    }

    /// Waits for its end; whether it was a good one.
    pub(crate) fn ends(&mut self, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.read_to_the_end();
                return status.success();
            }
            assert!(
                Instant::now() < deadline,
                "it does not end: {}",
                self.text()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- {}", self.text());
        }
    }
}

pub(crate) fn signal_process(id: u32, signal: &str) {
    run(&format!("kill -{signal} {id}"));
}

/// Waits until `condition` holds.
pub(crate) fn wait_until(what: &str, within: Duration, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + within;
    while !condition() {
        assert!(Instant::now() < deadline, "not within {within:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A network namespace with an address on the bridge; it lasts as long as a process sleeps in it.
pub(crate) struct Host {
    sleeper: Child,
    link: String,
    pub(crate) address: String,
}

impl Host {
    /// Number `number`, from 2.
    pub(crate) fn new(number: u32) -> Self {
        let sleeper = Command::new("unshare")
            .args(["--net", "sleep", "7200"])
            .spawn()
            .unwrap();
        let (id, link) = (sleeper.id(), format!("h{number}"));
        wait_until("a namespace of its own", Duration::from_secs(20), || {
            let theirs = std::fs::read_link(format!("/proc/{id}/ns/net"));
            theirs.is_ok_and(|theirs| {
                theirs != std::fs::read_link("/proc/thread-self/ns/net").unwrap()
            })
        });
        let address = format!("10.77.0.{number}");
        run(&format!(
            "ip link add {link} type veth peer name eth0 netns {id} && ip link set {link} master br0 up && \
             nsenter -t {id} -n sh -c 'ip link set lo up && ip addr add {address}/24 dev eth0 && ip link set eth0 up'"
        ));
        Self {
            sleeper,
            link,
            address,
        }
    }

    /// Cuts it off, or joins it again.
    pub(crate) fn link(&self, state: &str) {
        run(&format!("ip link set {} {state}", self.link));
    }

    /// A command on this host, its monotonic clock so many seconds ahead.
    pub(crate) fn command(&self, ahead_s: i32, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.sleeper.id().to_string(), "-n", "--"]);
        if ahead_s != 0 {
            command.args([
                "unshare",
                "--time",
                "--monotonic",
                &ahead_s.to_string(),
                "--kill-child",
                "--",
            ]);
        }
        command.arg(program).args(args);
        command
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.sleeper.kill();
        let _ = self.sleeper.wait();
    }
}

/// A bus, and a folder for all that the test writes.
pub(crate) struct World {
    pub(crate) bus: Process,
    directory: TempDir,
}

impl World {
    /// On the bridge.
    pub(crate) fn new(agents: u32) -> Self {
        Self::at(HOME, agents)
    }

    /// Without a network of the test's own.
    pub(crate) fn on_loopback(agents: u32) -> Self {
        Self::at("127.0.0.1", agents)
    }

    fn at(address: &str, agents: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("bus");
        let listen = format!("{address}:0");
        let mut command = Self::weir(directory.path());
        command.args([
            "bus",
            "up",
            "--listen",
            &listen,
            "--agents",
            &agents.to_string(),
            "--dir",
        ]);
        let bus = Process::start(command.arg(&folder));
        let world = Self { bus, directory };
        wait_until("a bus", Duration::from_mins(1), || {
            world.bus.text().contains("on a load host")
        });
        world
    }

    fn weir(directory: &Path) -> Command {
        let mut command = Command::new(WEIR);
        command
            .env("XDG_RUNTIME_DIR", directory)
            .env("XDG_STATE_HOME", directory);
        command.env("WEIR_BUS", directory.join("bus/conductor.join"));
        command
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn join_file(&self, number: u32) -> String {
        self.path(&format!("bus/agent-{number}.join"))
            .display()
            .to_string()
    }

    /// A call of the program as a conductor.
    pub(crate) fn conductor(&self, args: &[&str]) -> Command {
        let mut command = Self::weir(self.directory.path());
        command.args(args);
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.conductor(args).output().unwrap()
    }

    /// Agent `number` on a host, its clock ahead.
    pub(crate) fn agent(&self, number: u32, host: &Host, ahead_s: i32) -> Process {
        let file = self.join_file(number);
        let mut command = host.command(ahead_s, WEIR, &["agent", "--join", &file]);
        command.env("XDG_RUNTIME_DIR", self.directory.path());
        command.env("XDG_STATE_HOME", self.directory.path());
        Process::start(&mut command)
    }

    /// Agent `number` on this host, with these options.
    pub(crate) fn agent_here(&self, number: u32, options: &[&str]) -> Process {
        let mut command = Command::new(WEIR);
        command.args(["agent", "--join", &self.join_file(number)]);
        command.args(options);
        Process::start(command.env("XDG_STATE_HOME", self.path("state")))
    }

    /// The agents that are there.
    pub(crate) fn list(&self) -> Vec<serde_json::Value> {
        let output = self.output(&["agents", "list", "--json"]);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(crate) fn wait_for_agents(&self, count: usize) {
        wait_until("all agents", Duration::from_mins(1), || {
            self.list().len() == count
        });
    }

    /// The id of nats-server.
    pub(crate) fn server_id(&self) -> u32 {
        let parent = self.bus.id();
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        children
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .parse()
            .unwrap()
    }
}
