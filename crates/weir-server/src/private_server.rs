//! A private server: one process on one data directory, answering on a socket of its own.

mod settings;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use weir_model::{Address, Endpoint, Secret};
use weir_process::{
    Entry, EntryKind, ProcessIdentity, Registration, Registry, Signal, WorkDirectory, spawn_tied,
};

use crate::data_directory::{
    DATABASE, DataNote, USER, check_not_in_use, create_private_directory, write_private,
};
use crate::{ServerBinary, ServerError, error_log, translate};
use weir_process::PathError;

pub use settings::StartOptions;
use settings::{canonical, option_text, socket_path};

/// A server that answers. Dropping it kills the process; [`PrivateServer::stop`] ends it cleanly.
#[derive(Debug)]
pub struct PrivateServer {
    child: Child,
    binary: ServerBinary,
    data_dir: PathBuf,
    socket: PathBuf,
    error_log: PathBuf,
    password: Secret,
    _registration: Registration,
    _socket_dir: Option<WorkDirectory>,
}

impl PrivateServer {
    /// Starts `binary` and waits until it answers.
    ///
    /// Call it from a thread that lives as long as the server is wanted: the kernel kills the
    /// server when that thread ends.
    pub fn start(binary: &ServerBinary, options: &StartOptions) -> Result<Self, ServerError> {
        Self::start_watched(binary, options, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`PrivateServer::start`]; `watch` is called some ten times a second with the time waited
    /// so far, to show progress, and ends the wait (and the server) with [`ControlFlow::Break`].
    pub fn start_watched(
        binary: &ServerBinary,
        options: &StartOptions,
        watch: &mut dyn FnMut(Duration) -> ControlFlow<()>,
    ) -> Result<Self, ServerError> {
        let mut server = Self::launch(binary, options)?;
        server.wait_until_it_answers(options.timeout, watch)?;
        Ok(server)
    }

    /// Starts the process.
    fn launch(binary: &ServerBinary, options: &StartOptions) -> Result<Self, ServerError> {
        let note = DataNote::read_for(binary, &options.data_dir)?;
        check_not_in_use(&options.data_dir)?;
        let data_dir = canonical(&options.data_dir)?;
        create_private_directory(&options.run_dir)?;
        let run_dir = canonical(&options.run_dir)?;
        let (socket, socket_dir) = socket_path(&run_dir)?;
        let error_log = run_dir.join("error.log");
        let option_path = run_dir.join("my.cnf");
        let variables = translate(binary.flavor, binary.version, &options.variables)?;
        let text = option_text(binary, &data_dir, &run_dir, &socket, &variables)?;
        write_private(&option_path, &text)?;

        // A new log for each start, so that its words are this start's. What the server prints
        // before it opens its log goes to the same file.
        let log = File::create(&error_log).map_err(PathError::on("create", &error_log))?;
        let mut command = Command::new(&binary.path);
        command
            .arg(format!("--defaults-file={}", option_path.display()))
            .current_dir(&run_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let child =
            spawn_tied(&mut command, Signal::KILL).map_err(PathError::on("start", &binary.path))?;
        let process = ProcessIdentity::of(child.id());
        let mut child = KillOnError(Some(child));
        let registration = Registry::open()?.record(&Entry {
            process,
            ..Entry::new(EntryKind::Server)
        })?;
        Ok(Self {
            child: child.keep(),
            binary: binary.clone(),
            data_dir,
            socket,
            error_log,
            password: note.password,
            _registration: registration,
            _socket_dir: socket_dir,
        })
    }

    fn wait_until_it_answers(
        &mut self,
        timeout: Duration,
        watch: &mut dyn FnMut(Duration) -> ControlFlow<()>,
    ) -> Result<(), ServerError> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(10);
        loop {
            if let Some(words) = self.has_exited() {
                return Err(ServerError::Start {
                    flavor: self.binary.flavor,
                    words,
                });
            }
            // The socket appears late in the start; before that a connection is not worth a try.
            let answer = self.socket.exists().then(|| self.connect());
            if let Some(Ok(_)) = answer {
                return Ok(());
            }
            if started.elapsed() >= timeout {
                return Err(ServerError::StartTimeout {
                    flavor: self.binary.flavor,
                    seconds: timeout.as_secs(),
                    words: match answer {
                        Some(Err(error)) => error.to_string(),
                        _ => error_log::cause(&self.error_log),
                    },
                });
            }
            if watch(started.elapsed()).is_break() {
                return Err(ServerError::Interrupted);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }

    /// Where it listens, as the account `weir` on the schema [`DATABASE`].
    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            address: Address::Socket(self.socket.clone()),
            user: USER.to_owned(),
            password: self.password.clone(),
            database: DATABASE.to_owned(),
            tls: weir_model::Tls::default(),
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What was started.
    pub fn binary(&self) -> &ServerBinary {
        &self.binary
    }

    /// Its data.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Its error log.
    pub fn error_log(&self) -> &Path {
        &self.error_log
    }

    /// `SHOW GLOBAL VARIABLES`.
    pub fn variables(&self) -> Result<BTreeMap<String, String>, ServerError> {
        self.show("read the server's variables", "SHOW GLOBAL VARIABLES")
    }

    /// `SHOW GLOBAL STATUS`.
    pub fn status(&self) -> Result<BTreeMap<String, String>, ServerError> {
        self.show("read the server's status", "SHOW GLOBAL STATUS")
    }

    fn show(
        &self,
        action: &'static str,
        statement: &str,
    ) -> Result<BTreeMap<String, String>, ServerError> {
        let mut connection = self.connect().map_err(ServerError::query(action))?;
        let rows: Vec<(String, Option<String>)> = connection
            .query(statement)
            .map_err(ServerError::query(action))?;
        Ok(rows
            .into_iter()
            .map(|(name, value)| (name, value.unwrap_or_default()))
            .collect())
    }

    /// A connection; ten seconds for the server to greet, since a stalled one never would.
    fn connect(&self) -> Result<Conn, mysql::Error> {
        let patience = Some(Duration::from_secs(10));
        Conn::new(
            OptsBuilder::new()
                .socket(self.socket.to_str())
                .user(Some(USER))
                .pass(Some(self.password.reveal()))
                .read_timeout(patience)
                .write_timeout(patience),
        )
    }

    /// Why the server no longer runs, in its own words; `None` while it runs.
    pub fn has_exited(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(last_words(status, &self.error_log)),
            Err(error) => Some(format!("its process cannot be watched ({error})")),
        }
    }

    /// Shuts the server down cleanly; after `patience` it is killed, which is an error.
    pub fn stop(mut self, patience: Duration) -> Result<(), ServerError> {
        let pid = self.pid();
        if let Some(identity) = ProcessIdentity::of(pid) {
            identity.signal(Signal::TERM)?;
        }
        let deadline = Instant::now() + patience;
        while self.has_exited().is_none() {
            if Instant::now() >= deadline {
                return Err(ServerError::StopTimeout {
                    pid,
                    seconds: patience.as_secs(),
                });
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Ends the server at once, as `kill -9` does: its data need crash recovery then.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Both fail only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(self.socket.with_extension("sock.lock"));
    }
}

/// A child that must not survive an early return.
struct KillOnError(Option<Child>);

impl KillOnError {
    fn keep(&mut self) -> Child {
        self.0.take().expect("invariant: a child is kept once")
    }
}

impl Drop for KillOnError {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn last_words(status: ExitStatus, log: &Path) -> String {
    let cause = error_log::cause(log);
    match status.signal() {
        // The server ends itself with other signals: this one came from outside.
        Some(9) => format!("it was ended by signal 9 (out of memory, or somebody's kill); {cause}"),
        Some(signal) => format!("it was ended by signal {signal}; {cause}"),
        None => cause,
    }
}
