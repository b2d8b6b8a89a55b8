//! A private server: one process on one data directory, answering on a socket of its own.

mod settings;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::{Address, Endpoint, Secret};
use weir_mysql::Gate;
use weir_process::{
    Entry, EntryKind, FlushCalls, FlushObstacle, MemoryGroup, ProcessIdentity, Registration,
    Registry, Signal, WorkDirectory, create_private_directory, pin, spawn_standing, spawn_tied,
    write_private,
};

use crate::data_directory::{DATABASE, DataNote, USER, check_not_in_use};
use crate::find::Defaults;
use crate::session::Session;
use crate::{ServerBinary, ServerError, error_log, translate};
use weir_process::PathError;

pub(crate) use settings::SOCKET_PATH_BYTES_MAX;
pub use settings::{Life, StartOptions};
use settings::{canonical, free_socket, option_text, socket_path};

/// Bytes that are kept of an error log: a start, and some hundred warnings.
const LOG_TAIL_BYTES: u64 = 64 << 10;

/// Interval of looks at a server that starts: has it ended, is its socket there? Two calls of the kernel.
const LOOK_EVERY: Duration = Duration::from_millis(3);
/// Interval at which the caller is asked for a stop.
const WATCH_EVERY: Duration = Duration::from_millis(100);
/// Time limit for a server to greet while it starts.
const GREETING: Duration = Duration::from_secs(10);

/// A server that answers. Dropping it kills the process; [`PrivateServer::stop`] ends it cleanly.
#[derive(Debug)]
pub struct PrivateServer {
    child: Child,
    binary: ServerBinary,
    data_dir: PathBuf,
    socket: PathBuf,
    error_log: PathBuf,
    password: Secret,
    flush_obstacle: Option<FlushObstacle>,
    /// It goes on without this value.
    is_left: bool,
    _registration: Registration,
    _socket_dir: Option<WorkDirectory>,
    /// Limit of memory; after the server in the order of drops.
    _memory: Option<MemoryGroup>,
}

impl PrivateServer {
    /// Starts `binary` and waits until it answers.
    ///
    /// Call it from a thread that lives as long as the server is wanted: the kernel kills the
    /// server when that thread ends.
    ///
    /// # Errors
    ///
    /// A program or a data directory that cannot be used, or a server that ends or does not answer in time.
    pub fn start(binary: &ServerBinary, options: &StartOptions) -> Result<Self, ServerError> {
        Self::start_watched(binary, options, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`PrivateServer::start`]; `watch` is called some ten times a second with the time waited
    /// so far, to show progress, and ends the wait (and the server) with [`ControlFlow::Break`].
    ///
    /// # Errors
    ///
    /// As [`PrivateServer::start`], and [`ServerError::Interrupted`] if `watch` ends the wait.
    pub fn start_watched(
        binary: &ServerBinary,
        options: &StartOptions,
        watch: &mut dyn FnMut(Duration) -> ControlFlow<()>,
    ) -> Result<Self, ServerError> {
        let mut server = Self::launch(binary, options)?;
        server.wait_until_it_answers(options.timeout, watch)?;
        Ok(server)
    }

    /// Starts the process; [`PrivateServer::wait_until_it_answers`] makes it of use.
    ///
    /// # Errors
    ///
    /// A program or a data directory that cannot be used.
    pub fn launch(binary: &ServerBinary, options: &StartOptions) -> Result<Self, ServerError> {
        let note = DataNote::read_for(binary, &options.data_dir)?;
        check_not_in_use(&options.data_dir)?;
        let data_dir = canonical(&options.data_dir)?;
        create_private_directory(&options.run_dir)?;
        let run_dir = canonical(&options.run_dir)?;
        let (socket, socket_dir) = match &options.socket {
            Some(socket) => {
                free_socket(socket)?;
                (socket.clone(), None)
            }
            None => socket_path(&run_dir)?,
        };
        let error_log = run_dir.join("error.log");
        let option_path = run_dir.join("my.cnf");
        let variables = translate(binary.flavor, binary.version, &options.variables)?;
        let temporary = options.temporary_dir.clone();
        let temporary = temporary.unwrap_or_else(|| run_dir.join("tmp"));
        create_private_directory(&temporary)?;
        let temporary = canonical(&temporary)?;
        let text = option_text(binary, &data_dir, &run_dir, &temporary, &socket, &variables)?;
        write_private(&option_path, &text)?;

        // A new log for each start, so that its words are this start's. What the server prints
        // before it opens its log goes to the same file.
        let log = File::create(&error_log).map_err(PathError::on("create", &error_log))?;
        let mut command = binary.command(&Defaults::File(&option_path));
        command
            .current_dir(&run_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        if let Some(cpus) = &options.limits.cpus {
            pin(&mut command, cpus.numbers());
        }
        let memory = options.limits.memory;
        let memory = memory
            .map(|limit| MemoryGroup::create(limit.0))
            .transpose()?;
        let child = spawn(&mut command, options);
        let (mut child, flush_obstacle) = child.map_err(PathError::on("start", &binary.path))?;
        let process = ProcessIdentity::for_pid(child.id());
        if let Some(group) = &memory {
            // It has opened no more than its program by now.
            group.add(process.map_or(0, |process| process.pid))?;
        }
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
            flush_obstacle,
            is_left: false,
            _registration: registration,
            _socket_dir: socket_dir,
            _memory: memory,
        })
    }

    /// Waits; `watch` as in [`PrivateServer::start_watched`].
    ///
    /// # Errors
    ///
    /// A server that ends or does not answer in time; `watch` that ends the wait.
    pub fn wait_until_it_answers(
        &mut self,
        timeout: Duration,
        watch: &mut dyn FnMut(Duration) -> ControlFlow<()>,
    ) -> Result<(), ServerError> {
        let started = Instant::now();
        let mut asks_at = started;
        loop {
            if let Some(words) = self.has_exited() {
                return Err(ServerError::Start {
                    flavor: self.binary.flavor,
                    words,
                });
            }
            // The socket appears late in the start; before that a connection is not worth a try.
            let answers = self.socket.exists();
            let answer =
                answers.then(|| Session::try_open(&self.endpoint(), &Gate::own(), GREETING));
            if let Some(Ok(_)) = answer {
                return Ok(());
            }
            if started.elapsed() >= timeout {
                return Err(ServerError::StartTimeout {
                    flavor: self.binary.flavor,
                    seconds: timeout.as_secs(),
                    words: match answer {
                        Some(Err(error)) => error.words(),
                        _ => error_log::cause(&self.error_log),
                    },
                });
            }
            if Instant::now() >= asks_at {
                asks_at = Instant::now() + WATCH_EVERY;
                if watch(started.elapsed()).is_break() {
                    return Err(ServerError::Interrupted);
                }
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Returns the endpoint of the account `weir` on the schema [`DATABASE`].
    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            address: Address::Socket(self.socket.clone()),
            user: USER.to_owned(),
            password: self.password.clone(),
            database: DATABASE.to_owned(),
            tls: weir_model::Tls::default(),
        }
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the program that was started.
    pub fn binary(&self) -> &ServerBinary {
        &self.binary
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Returns the reason that its flushes hold up its writes against [`StartOptions::flushes_beside_writes`], if they
    /// do.
    pub fn flush_obstacle(&self) -> Option<&FlushObstacle> {
        self.flush_obstacle.as_ref()
    }

    /// Returns the path of the error log.
    pub fn error_log(&self) -> &Path {
        &self.error_log
    }

    /// The end of its error log, at most 64 KiB, without the account's password.
    pub fn log_tail(&self) -> String {
        let log = error_log::tail(&self.error_log, LOG_TAIL_BYTES);
        log.replace(self.password.reveal(), "***")
    }

    /// A control connection.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn session(&self) -> Result<Session, ServerError> {
        Session::open(&self.endpoint(), &Gate::own())
    }

    /// `SHOW GLOBAL VARIABLES`.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn variables(&self) -> Result<BTreeMap<String, String>, ServerError> {
        self.session()?.variables()
    }

    /// `SHOW GLOBAL STATUS`.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn status(&self) -> Result<BTreeMap<String, String>, ServerError> {
        self.session()?.status()
    }

    /// Returns the reason that the server no longer runs, in its own words; `None` while it runs.
    pub fn has_exited(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(last_words(status, &self.error_log)),
            Err(error) => Some(format!("its process cannot be watched ({error})")),
        }
    }

    /// Shuts the server down cleanly; after `patience` it is killed, which is an error.
    ///
    /// # Errors
    ///
    /// A server that had to be killed.
    pub fn stop(mut self, patience: Duration) -> Result<(), ServerError> {
        let pid = self.pid();
        if let Some(identity) = ProcessIdentity::for_pid(pid) {
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

    /// Lets a server of [`Life::Standing`] go on without this process, on record as its own owner.
    ///
    /// # Errors
    ///
    /// A record that cannot be written.
    pub fn leave(mut self) -> Result<(), ServerError> {
        let Some(identity) = ProcessIdentity::for_pid(self.pid()) else {
            return Err(ServerError::Start {
                flavor: self.binary.flavor,
                words: error_log::cause(&self.error_log),
            });
        };
        let entry = Entry {
            owner: identity,
            process: Some(identity),
            ..Entry::new(EntryKind::Server)
        };
        Registry::open()?.record(&entry)?.leave();
        self.is_left = true;
        Ok(())
    }

    /// Ends the server at once, as `kill -9` does: its data need crash recovery then.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        if self.is_left {
            return;
        }
        // Both fail only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(self.socket.with_extension("sock.lock"));
    }
}

/// The child, and why its flushes are not made beside its writes although they should be.
fn spawn(
    command: &mut Command,
    options: &StartOptions,
) -> io::Result<(KillOnError, Option<FlushObstacle>)> {
    let (flush_calls, obstacle) = match options.flushes_beside_writes.then(FlushCalls::check) {
        None => (None, None),
        Some(Ok(())) => (Some(FlushCalls::intercept(command)?), None),
        Some(Err(obstacle)) => (None, Some(obstacle)),
    };
    let child = match options.life {
        Life::Tied => spawn_tied(command, Signal::KILL),
        Life::Standing => spawn_standing(command),
    };
    let child = KillOnError(Some(child?));
    let found = flush_calls.map(|calls| calls.serve(child.id()));
    Ok((child, found.transpose()?.flatten().or(obstacle)))
}

/// A child that must not survive an early return.
struct KillOnError(Option<Child>);

impl KillOnError {
    /// Returns the process id.
    fn id(&self) -> u32 {
        self.0.as_ref().map_or(0, Child::id)
    }

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
        Some(9) => {
            format!("it was ended by signal 9 (out of memory, or a kill from outside); {cause}")
        }
        Some(signal) => format!("it was ended by signal {signal}; {cause}"),
        None => cause,
    }
}
