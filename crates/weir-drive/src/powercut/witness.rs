//! The witness: it keeps each acknowledged flush of a writer on another host, in a log that survives the cut.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::PowercutError;
use super::run_id::RunId;
use super::witness_log::WitnessLog;
use super::witness_message::{Answer, Event, FORMAT, LINE_BYTES_MAX, Message};

/// Interval at which it looks for its end.
const POLL: Duration = Duration::from_millis(50);
/// A writer says something each second; one that is silent for so long has lost its power or its network.
const SILENCE: Duration = Duration::from_secs(15);
/// Writers at once at most.
const CONNECTIONS_MAX: usize = 64;

/// A witness that listens.
#[derive(Debug)]
pub struct Witness {
    listener: TcpListener,
    kept: Mutex<Log>,
    connections: AtomicUsize,
}

#[derive(Debug)]
struct Log {
    log: WitnessLog,
    /// Runs that have begun, here or in an earlier life: none may begin twice.
    begun: BTreeSet<RunId>,
}

impl Witness {
    /// Listens on `address` (`HOST:PORT`; port 0: any free one) and opens or makes the log at `log`.
    ///
    /// # Errors
    ///
    /// An address that is in use or not of this host, or a log that cannot be written or has another witness.
    pub fn bind(address: &str, log: &Path) -> Result<Self, PowercutError> {
        let listen = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = listen().map_err(|source: io::Error| PowercutError::Listen {
            address: address.to_owned(),
            source,
        })?;
        let (log, runs) = WitnessLog::open(log)?;
        Ok(Self {
            listener,
            kept: Mutex::new(Log {
                log,
                begun: runs.runs.into_keys().collect(),
            }),
            connections: AtomicUsize::new(0),
        })
    }

    /// Address on which it listens.
    ///
    /// # Errors
    ///
    /// The system does not say it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Keeps what writers say until `stop` is set; `notice` hears of each begin and end in words.
    pub fn serve(&self, stop: &AtomicBool, notice: &(dyn Fn(&str) + Sync)) {
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let Ok((stream, peer)) = self.listener.accept() else {
                    std::thread::sleep(POLL);
                    continue;
                };
                if self.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                    self.connections.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let started = std::thread::Builder::new().spawn_scoped(scope, move || {
                    let mut connection = Connection::new(stream);
                    let ended = connection.serve(self, stop, notice);
                    connection.end(&ended, &format!("{peer}"), notice);
                    self.connections.fetch_sub(1, Ordering::Relaxed);
                });
                if started.is_err() {
                    self.connections.fetch_sub(1, Ordering::Relaxed);
                }
            }
        });
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason that a connection ends.
enum End {
    /// The writer has said so.
    Ended,
    /// It closed the connection without that, as a killed one does.
    Closed,
    /// Nothing came for [`SILENCE`].
    Silent,
    /// The witness itself ends.
    Stopped,
    /// A line that is none of this protocol.
    Refused(String),
}

/// A writer's connection.
struct Connection {
    stream: TcpStream,
    /// Bytes of a line that is not whole yet.
    partial: Vec<u8>,
    run: Option<RunId>,
    lines: u64,
    /// The writer has said that it ends.
    has_ended: bool,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            partial: Vec::new(),
            run: None,
            lines: 0,
            has_ended: false,
        }
    }

    fn serve(&mut self, witness: &Witness, stop: &AtomicBool, notice: &dyn Fn(&str)) -> End {
        let set_up = self.stream.set_nonblocking(false);
        let set_up = set_up.and(self.stream.set_read_timeout(Some(POLL)));
        let set_up = set_up.and(self.stream.set_write_timeout(Some(SILENCE)));
        if set_up.and(self.stream.set_nodelay(true)).is_err() {
            return End::Closed;
        }
        let mut buffer = vec![0; LINE_BYTES_MAX];
        let mut heard = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            match self.stream.read(&mut buffer) {
                Ok(0) => {
                    return if self.has_ended {
                        End::Ended
                    } else {
                        End::Closed
                    };
                }
                Ok(bytes) => {
                    heard = Instant::now();
                    self.partial.extend_from_slice(&buffer[..bytes]);
                    if let Err(why) = self.take_lines(witness, notice) {
                        return End::Refused(why);
                    }
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    if heard.elapsed() > SILENCE {
                        return End::Silent;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return End::Closed,
            }
        }
        End::Stopped
    }

    /// Keeps the whole lines that have come and answers them.
    fn take_lines(&mut self, witness: &Witness, notice: &dyn Fn(&str)) -> Result<(), String> {
        let Some(end) = self.partial.iter().rposition(|byte| *byte == b'\n') else {
            let is_too_long = self.partial.len() > LINE_BYTES_MAX;
            return if is_too_long {
                Err("the line is too long".to_owned())
            } else {
                Ok(())
            };
        };
        let rest = self.partial.split_off(end + 1);
        let lines = std::mem::replace(&mut self.partial, rest);
        let mut log = witness.log();
        let mut to_keep = Vec::with_capacity(lines.len());
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let message: Message = serde_json::from_slice(line)
                .map_err(|error| format!("no such message ({error})"))?;
            self.admit(&message, &mut log.begun, notice)?;
            self.lines += 1;
            if message.event != Event::Alive {
                to_keep.extend_from_slice(line);
            }
        }
        if !to_keep.is_empty() {
            let kept = log.log.append(&to_keep);
            kept.map_err(|error| format!("the witness cannot write its log ({error})"))?;
        }
        drop(log);
        self.answer(&Answer::Kept(self.lines));
        Ok(())
    }

    /// Refuses lines of another run than the one that began on this connection.
    fn admit(
        &mut self,
        message: &Message,
        begun: &mut BTreeSet<RunId>,
        notice: &dyn Fn(&str),
    ) -> Result<(), String> {
        let run = message.run;
        match (&message.event, self.run) {
            (Event::Begin(start), None) if start.format == FORMAT => {
                if !begun.insert(run) {
                    return Err(format!("run {run} is in the log already"));
                }
                self.run = Some(run);
                notice(&format!(
                    "run {run} in {} begins",
                    start.directory.display()
                ));
            }
            (Event::Begin(start), None) => {
                return Err(format!("format {} is not {FORMAT}", start.format));
            }
            (Event::Begin(_), Some(_)) => return Err("a run has begun here already".to_owned()),
            (_, own) if own != Some(run) => {
                return Err(format!("run {run} has not begun on this connection"));
            }
            (Event::Ended, _) => self.has_ended = true,
            (Event::Failed { why }, _) => notice(&format!("run {run}: {why}")),
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, answer: &Answer) {
        let mut line = serde_json::to_vec(answer).unwrap_or_default();
        line.push(b'\n');
        // A writer that is gone is met at the next read.
        let _ = self.stream.write_all(&line);
    }

    fn end(&mut self, end: &End, peer: &str, notice: &dyn Fn(&str)) {
        let of = self
            .run
            .map_or_else(|| peer.to_owned(), |run| format!("run {run}"));
        match end {
            End::Ended => notice(&format!("{of} was stopped before any cut")),
            End::Closed => notice(&format!("{of}: the writer closed its connection")),
            End::Silent => notice(&format!(
                "{of}: silent for {} s, so its power or its network is cut",
                SILENCE.as_secs()
            )),
            End::Stopped => {}
            End::Refused(why) => {
                notice(&format!("{of} is refused: {why}"));
                self.answer(&Answer::Refused(why.clone()));
            }
        }
    }
}
