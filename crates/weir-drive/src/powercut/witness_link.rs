//! The writer's connection to its witness.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::PowercutError;
use super::run_id::RunId;
use super::witness_message::{Answer, Event, Message};

/// A witness that does not answer within this is gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// Lines that may be on their way. More would be lost with the power, and the witness would know less.
const UNANSWERED_MAX: u64 = 64;

/// A connection that keeps the writer from getting far ahead of its witness.
#[derive(Debug)]
pub(super) struct WitnessLink {
    address: String,
    run: RunId,
    stream: Mutex<TcpStream>,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Debug, Default)]
struct State {
    sent: u64,
    kept: u64,
    /// Reason that no more is sent.
    broken: Option<String>,
}

impl WitnessLink {
    /// Connects to the witness at `address` (`HOST:PORT`).
    pub(super) fn connect(address: &str, run: RunId) -> Result<Self, PowercutError> {
        let failed = |why: String| PowercutError::Witness {
            address: address.to_owned(),
            why,
        };
        let found = address.to_socket_addrs();
        let found = found.map_err(|error| failed(format!("no such address ({error})")))?;
        let mut last = "no such address".to_owned();
        let mut connect = found.into_iter().map(|found| {
            let stream = TcpStream::connect_timeout(&found, PATIENCE)?;
            stream.set_nodelay(true)?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(stream)
        });
        let stream = connect.find_map(|tried: std::io::Result<_>| {
            tried.map_err(|error| last = error.to_string()).ok()
        });
        drop(connect);
        let stream = stream.ok_or_else(|| failed(last))?;
        let answers = stream
            .try_clone()
            .map_err(|error| failed(error.to_string()))?;
        let state = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let of_thread = Arc::clone(&state);
        let started = std::thread::Builder::new()
            .name("powercut-witness".to_owned())
            .spawn(move || hear(answers, &of_thread));
        started.map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            address: address.to_owned(),
            run,
            stream: Mutex::new(stream),
            state,
        })
    }

    /// Sends an event. Waits first while too many lines are not answered.
    pub(super) fn tell(&self, event: Event) -> Result<(), PowercutError> {
        self.wait(UNANSWERED_MAX - 1)?;
        let message = Message {
            run: self.run,
            event,
        };
        let mut line = serde_json::to_vec(&message).unwrap_or_default();
        line.push(b'\n');
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock().sent += 1;
        let sent = stream.write_all(&line);
        drop(stream);
        sent.map_err(|error| self.failed(format!("it is gone ({error})")))
    }

    /// Waits until the witness has kept all that was sent.
    pub(super) fn wait_for_all(&self) -> Result<(), PowercutError> {
        self.wait(0)
    }

    /// Waits until at most `unanswered` lines are.
    fn wait(&self, unanswered: u64) -> Result<(), PowercutError> {
        let mut state = self.lock();
        let (mut since, mut kept) = (Instant::now(), state.kept);
        loop {
            if let Some(why) = &state.broken {
                return Err(self.failed(why.clone()));
            }
            if state.sent - state.kept <= unanswered {
                return Ok(());
            }
            if state.kept != kept {
                (since, kept) = (Instant::now(), state.kept);
            }
            let Some(left) = PATIENCE.checked_sub(since.elapsed()) else {
                let silent = format!("no answer for {} s", PATIENCE.as_secs());
                return Err(self.failed(silent));
            };
            let waited = self.state.1.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn failed(&self, why: String) -> PowercutError {
        PowercutError::Witness {
            address: self.address.clone(),
            why,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WitnessLink {
    fn drop(&mut self) {
        // Ends the thread that hears the answers.
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Takes the answers until the connection ends.
fn hear(stream: TcpStream, state: &(Mutex<State>, Condvar)) {
    let mut broken = "it closed the connection".to_owned();
    for line in BufReader::new(stream).lines() {
        let answer = line.map_err(|error| error.to_string()).and_then(|line| {
            serde_json::from_str(&line).map_err(|error| format!("it is no witness ({error})"))
        });
        match answer {
            Ok(Answer::Kept(kept)) => {
                let mut state = state.0.lock().unwrap_or_else(PoisonError::into_inner);
                state.kept = kept.min(state.sent);
            }
            Ok(Answer::Refused(why)) => {
                broken = format!("it refuses ({why})");
                break;
            }
            Err(why) => {
                broken = why;
                break;
            }
        }
        state.1.notify_all();
    }
    let mut locked = state.0.lock().unwrap_or_else(PoisonError::into_inner);
    locked.broken = Some(broken);
    drop(locked);
    state.1.notify_all();
}
