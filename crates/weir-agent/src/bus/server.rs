//! `nats-server` as a child of this process.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use weir_process::{PathError, Signal, spawn_tied};

use crate::bus::{BusError, Folder, find_program};

/// Longest time from the start to the first connection.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pause between two looks at whether it listens.
const LOOK: Duration = Duration::from_millis(20);

/// Options of a bus.
#[derive(Debug, Clone)]
pub struct BusOptions {
    /// Address at which it listens: host and port; port 0 is a free one.
    pub listen: String,
    /// Address for agents, if another one: host, or host and port.
    pub address: Option<String>,
    /// Names of the agents that get keys, beside those that have some.
    pub agents: Vec<String>,
}

/// A running `nats-server`; it ends with this value, and with the thread that started it.
#[derive(Debug)]
pub struct Bus {
    child: Child,
    listens_at: String,
    address: String,
}

impl Bus {
    /// Starts the server on `folder`, which gets all that is missing.
    ///
    /// # Errors
    ///
    /// No program, an address that is in use, a folder that cannot be written.
    pub fn up(folder: &Folder, options: &BusOptions) -> Result<Self, BusError> {
        let program = find_program()?;
        let (host, port) = split(&options.listen)?;
        let port = free_port(&host, port, &options.listen)?;
        let address = match &options.address {
            None => joined(&host, port),
            Some(given) => match split(given) {
                Ok(_) => given.clone(),
                Err(_) => joined(given, port),
            },
        };
        folder.fill(&address, &options.agents)?;
        folder.configure(&host, port)?;
        let log = folder.log();
        let file = File::create(&log).map_err(PathError::on("create", &log))?;
        let copy = file.try_clone().map_err(PathError::on("open", &log))?;
        let mut command = Command::new(&program);
        command
            .arg("--config")
            .arg(folder.configuration())
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(copy);
        let child = spawn_tied(&mut command, Signal::TERM);
        let child = child.map_err(PathError::on("start", &program))?;
        let mut bus = Self {
            child,
            listens_at: joined(&host, port),
            address,
        };
        bus.wait_until_it_listens(folder)?;
        Ok(bus)
    }

    /// Returns the address at which it listens, with the port that it has.
    pub fn listens_at(&self) -> &str {
        &self.listens_at
    }

    /// Returns the address for agents.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn wait_until_it_listens(&mut self, folder: &Folder) -> Result<(), BusError> {
        let deadline = Instant::now() + PATIENCE;
        let address = self.listens_at.clone();
        loop {
            let ended = self.has_ended();
            if !ended && reach(&address).is_some() {
                return Ok(());
            }
            if ended || Instant::now() > deadline {
                let words = fs::read_to_string(folder.log()).unwrap_or_default();
                let last = words.lines().rfind(|line| !line.trim().is_empty());
                return Err(BusError::NotStarted {
                    address,
                    why: last.unwrap_or("no answer within 20 s").to_owned(),
                    log: folder.log(),
                });
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        if self.has_ended() {
            return;
        }
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, Signal::TERM);
        let deadline = Instant::now() + Duration::from_secs(5);
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(LOOK);
        }
    }
}

fn reach(address: &str) -> Option<TcpStream> {
    let found = address.to_socket_addrs().ok()?.next()?;
    TcpStream::connect_timeout(&found, Duration::from_secs(1)).ok()
}

/// Host and port of `HOST:PORT`.
fn split(address: &str) -> Result<(String, u16), BusError> {
    let read = || {
        let (host, port) = address.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Some((host.to_owned(), port.parse().ok()?)).filter(|_| !host.is_empty())
    };
    read().ok_or_else(|| BusError::Address {
        address: address.to_owned(),
        why: "it has no host or no port".to_owned(),
    })
}

fn joined(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// The port, or a free one for 0; an error if it cannot be listened on.
fn free_port(host: &str, port: u16, given: &str) -> Result<u16, BusError> {
    let bound = TcpListener::bind((host, port)).and_then(|listener| listener.local_addr());
    bound
        .map(|address| address.port())
        .map_err(|error| BusError::Address {
            address: given.to_owned(),
            why: error.to_string().to_lowercase(),
        })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use rustix::io::{FdFlags, fcntl_setfd};

    use super::*;

    #[test]
    fn a_pipe_of_the_caller_ends_while_the_bus_is_up() {
        let directory = tempfile::tempdir().unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        fcntl_setfd(&writer, FdFlags::empty()).unwrap();
        let options = BusOptions {
            listen: "127.0.0.1:0".to_owned(),
            address: None,
            agents: Vec::new(),
        };
        let mut bus = Bus::up(&Folder::at(Some(directory.path())), &options).unwrap();
        drop(writer);
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        assert!(!bus.has_ended());
    }
}
