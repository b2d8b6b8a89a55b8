//! The thread that writes the file, and the way to it, which never waits.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::watch::ConnectionEvent;
use crate::writer::Request;
use crate::{CaptureError, CaptureTail, CaptureWriter, Losses};

/// Messages that may wait for the thread that writes.
const WAITING_MAX: usize = 65_536;
/// Bytes of statements that may wait for it.
const WAITING_BYTES_MAX: u64 = 256 << 20;
/// Longest time until what was seen is in the file.
const FLUSH: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum Message {
    Seen(u64, u32, Vec<ConnectionEvent>),
    Closed(SessionEnd),
}

/// End of a session.
#[derive(Debug, Clone, Copy)]
struct SessionEnd {
    at_us: u64,
    session: u32,
}

/// The way to the thread that writes.
#[derive(Debug)]
pub(super) struct Recorder {
    sender: SyncSender<Message>,
    shared: Arc<RecorderState>,
    /// Sessions whose login was seen, and what becomes of what they say.
    sessions: HashMap<u32, Fate>,
    /// Messages that were sent.
    sent: u64,
}

/// Treatment of a session's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Written,
    /// It is counted and not written.
    Counted,
}

/// State that both threads know. None of it goes through the queue, which may be full.
#[derive(Debug, Default)]
struct RecorderState {
    waiting_bytes: AtomicU64,
    lost_statements: AtomicU64,
    lost_bytes: AtomicU64,
    lost_sessions: Mutex<HashSet<u32>>,
    /// Ends of sessions for which the queue had no room, each with the number of messages that were sent before it.
    closed: Mutex<VecDeque<(u64, SessionEnd)>>,
    /// Why the file cannot be written any more.
    failure: OnceLock<String>,
}

impl RecorderState {
    fn closed(&self) -> MutexGuard<'_, VecDeque<(u64, SessionEnd)>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next of them whose messages are all received. The lock is not held while it is written.
    fn next_closed(&self, received: u64) -> Option<SessionEnd> {
        let next = self.closed().pop_front_if(|(after, _)| *after <= received);
        next.map(|(_, closed)| closed)
    }

    fn lose_session(&self, session: u32) {
        let lost = self.lost_sessions.lock();
        lost.unwrap_or_else(PoisonError::into_inner).insert(session);
    }

    fn lose_commands(&self, seen: &[ConnectionEvent]) {
        let commands = seen
            .iter()
            .filter(|one| matches!(one, ConnectionEvent::Asked(_)));
        for command in commands {
            self.lost_statements.fetch_add(1, Ordering::Relaxed);
            self.lost_bytes.fetch_add(bytes(command), Ordering::Relaxed);
        }
    }

    /// Adds what was lost to what the file says of itself.
    fn add_losses(&self, losses: &mut Losses) {
        let lost = self.lost_sessions.lock();
        losses.sessions += lost.unwrap_or_else(PoisonError::into_inner).len() as u64;
        losses.statements += self.lost_statements.load(Ordering::Relaxed);
        losses.statement_bytes += self.lost_bytes.load(Ordering::Relaxed);
    }
}

/// The thread that writes.
#[derive(Debug)]
pub(super) struct Recording {
    thread: JoinHandle<(CaptureWriter, Result<(), CaptureError>)>,
    shared: Arc<RecorderState>,
}

impl Recorder {
    pub(super) fn start(writer: CaptureWriter) -> Result<(Self, Recording), CaptureError> {
        Self::start_with(writer, WAITING_MAX, None)
    }

    /// The same with a queue of another length, whose messages are not taken before `begins` says so.
    fn start_with(
        mut writer: CaptureWriter,
        waiting_max: usize,
        begins: Option<Receiver<()>>,
    ) -> Result<(Self, Recording), CaptureError> {
        let (sender, receiver) = sync_channel(waiting_max);
        let shared = Arc::new(RecorderState::default());
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("weir-capture".to_owned());
        let thread = thread.spawn(move || {
            if let Some(begins) = begins {
                let _ = begins.recv();
            }
            let written = write(&mut writer, &receiver, &of_thread);
            if let Err(error) = &written {
                of_thread.failure.get_or_init(|| error.to_string());
                // What waits is lost with what comes after it.
                for session in writer.unwritten_sessions() {
                    of_thread.lose_session(session);
                }
                lose_waiting(&receiver, &of_thread);
            }
            (writer, written)
        });
        let thread =
            thread.map_err(|error| CaptureError::host("start a thread that writes", &error))?;
        let recorder = Self {
            sender,
            shared: Arc::clone(&shared),
            sessions: HashMap::new(),
            sent: 0,
        };
        Ok((recorder, Recording { thread, shared }))
    }

    /// Why the file cannot be written any more; from then on, nothing is.
    pub(super) fn failure(&self) -> Option<&str> {
        self.shared.failure.get().map(String::as_str)
    }

    /// Records the events of a session.
    pub(super) fn seen(&mut self, at_us: u64, session: u32, seen: Vec<ConnectionEvent>) {
        if matches!(seen.first(), Some(ConnectionEvent::Opened(_))) {
            self.sessions.insert(session, Fate::Written);
        }
        match self.sessions.get(&session) {
            None => return,
            Some(Fate::Counted) => return self.shared.lose_commands(&seen),
            Some(Fate::Written) => {}
        }
        let bytes = seen.iter().map(bytes).sum();
        let waiting = &self.shared.waiting_bytes;
        let waits = waiting.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let refused = if waits > WAITING_BYTES_MAX {
            Some(seen)
        } else {
            match self.sender.try_send(Message::Seen(at_us, session, seen)) {
                Err(
                    TrySendError::Full(Message::Seen(_, _, seen))
                    | TrySendError::Disconnected(Message::Seen(_, _, seen)),
                ) => Some(seen),
                _ => None,
            }
        };
        match refused {
            None => self.sent += 1,
            Some(seen) => {
                waiting.fetch_sub(bytes, Ordering::Relaxed);
                self.shared.lose_commands(&seen);
                self.lose(at_us, session);
            }
        }
    }

    /// Records that a session is not understood any more; one whose login was refused never was in.
    pub(super) fn blind(&mut self, at_us: u64, session: u32) {
        if self.sessions.get(&session) == Some(&Fate::Written) {
            self.lose(at_us, session);
        }
    }

    /// A session has gone.
    pub(super) fn closed(&mut self, at_us: u64, session: u32) {
        if self.sessions.remove(&session) == Some(Fate::Written) {
            self.close(SessionEnd { at_us, session });
        }
    }

    fn lose(&mut self, at_us: u64, session: u32) {
        self.sessions.insert(session, Fate::Counted);
        self.shared.lose_session(session);
        self.close(SessionEnd { at_us, session });
    }

    /// The end of a session is no reason to wait either: without room in the queue it goes beside it.
    fn close(&mut self, closed: SessionEnd) {
        match self.sender.try_send(Message::Closed(closed)) {
            Ok(()) => self.sent += 1,
            Err(TrySendError::Full(_)) => self.shared.closed().push_back((self.sent, closed)),
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

/// Bytes that a message takes, about.
fn bytes(seen: &ConnectionEvent) -> u64 {
    match seen {
        ConnectionEvent::Asked(asked) => {
            100 + asked.text.as_ref().map_or(0, Vec::len) as u64 + 32 * asked.values.len() as u64
        }
        _ => 100,
    }
}

impl Recording {
    /// Ends the file, when the other end has gone.
    pub(super) fn finish(self, origin: Instant) -> Result<CaptureTail, CaptureError> {
        let written = self.thread.join();
        let (mut writer, written) =
            written.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let ended_us = u64::try_from(origin.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.shared.add_losses(&mut writer.losses);
        let Err(error) = written else {
            return writer.finish(ended_us);
        };
        let losses = writer.losses;
        let why = error.to_string();
        // Without room for its end either, the file has none, which its readers say.
        let _ = writer.finish_failed(ended_us, &why);
        Err(CaptureError::Ended {
            why,
            sessions: losses.sessions,
            statements: losses.statements,
            bytes: losses.statement_bytes,
        })
    }
}

fn write(
    writer: &mut CaptureWriter,
    receiver: &Receiver<Message>,
    shared: &RecorderState,
) -> Result<(), CaptureError> {
    let mut flushed = Instant::now();
    let mut received = 0;
    loop {
        match receiver.recv_timeout(FLUSH) {
            Ok(message) => {
                received += 1;
                put(writer, message, shared)?;
                if flushed.elapsed() < FLUSH {
                    continue;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return put_closed(writer, shared, received),
        }
        put_closed(writer, shared, received)?;
        writer.flush()?;
        flushed = Instant::now();
    }
}

/// Writes the ends of sessions that had no room in the queue and whose other messages are written.
fn put_closed(
    writer: &mut CaptureWriter,
    shared: &RecorderState,
    received: u64,
) -> Result<(), CaptureError> {
    while let Some(closed) = shared.next_closed(received) {
        writer.closed(closed.at_us, closed.session)?;
    }
    Ok(())
}

fn put(
    writer: &mut CaptureWriter,
    message: Message,
    shared: &RecorderState,
) -> Result<(), CaptureError> {
    match message {
        Message::Seen(at_us, session, all) => {
            let bytes: u64 = all.iter().map(bytes).sum();
            shared.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            all.into_iter()
                .try_for_each(|seen| write_seen(writer, at_us, session, seen))
        }
        Message::Closed(closed) => writer.closed(closed.at_us, closed.session),
    }
}

/// Counts what waits when the file cannot be written any more.
fn lose_waiting(receiver: &Receiver<Message>, shared: &RecorderState) {
    while let Ok(message) = receiver.try_recv() {
        if let Message::Seen(_, session, seen) = message {
            shared.lose_session(session);
            shared.lose_commands(&seen);
        }
    }
}

/// Writes what a session said.
pub(crate) fn write_seen(
    writer: &mut CaptureWriter,
    at_us: u64,
    session: u32,
    seen: ConnectionEvent,
) -> Result<(), CaptureError> {
    match seen {
        ConnectionEvent::Opened(login) => writer.opened(at_us, session, login),
        ConnectionEvent::Ended(ended) => writer.ended(at_us, session, ended),
        ConnectionEvent::Asked(asked) => writer.started(
            at_us,
            session,
            Request {
                command: asked.command,
                text: asked.text.as_deref(),
                handle: asked.handle,
                values: asked.values,
                is_truncated: asked.is_incomplete,
                is_unread_bulk: asked.is_unread_bulk,
                lacks_values: false,
                login: asked.login,
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::proxy::watch::OwnedRequest;
    use crate::{
        CaptureHead, CaptureReader, CaptureSource, Command, CommandEnd, Happening, Literals, Login,
    };

    fn asked(text: &str) -> Vec<ConnectionEvent> {
        let asked = OwnedRequest {
            text: Some(text.as_bytes().to_vec()),
            ..OwnedRequest::new(Command::Query)
        };
        vec![
            ConnectionEvent::Asked(asked),
            ConnectionEvent::Ended(CommandEnd::default()),
        ]
    }

    /// The file is too slow: nothing of it is written until the sessions end.
    #[test]
    fn an_overrun_queue_is_counted_in_the_file() {
        const SESSIONS: u32 = 6;
        const STATEMENTS: u64 = 20;
        const WAITING: usize = 50;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.weircap");
        let head = CaptureHead::new(CaptureSource::Proxy, Literals::Keep, 0);
        let writer = CaptureWriter::create(&path, &head).unwrap();
        let (begin, begins) = std::sync::mpsc::channel();
        let (mut recorder, recording) =
            Recorder::start_with(writer, WAITING, Some(begins)).unwrap();
        for session in 1..=SESSIONS {
            let opened = vec![ConnectionEvent::Opened(Login::new("app", "shop"))];
            recorder.seen(0, session, opened);
        }
        for number in 1..=STATEMENTS {
            for session in 1..=SESSIONS {
                recorder.seen(number, session, asked("SELECT 1"));
            }
        }
        for session in 1..=SESSIONS {
            recorder.closed(STATEMENTS + 1, session);
        }
        drop(recorder);
        begin.send(()).unwrap();
        let tail = recording.finish(Instant::now()).unwrap();
        let written = WAITING as u64 - u64::from(SESSIONS);
        assert_eq!(tail.losses.sessions, u64::from(SESSIONS), "{tail:?}");
        assert_eq!(
            (tail.written.events, tail.losses.statements),
            (written, u64::from(SESSIONS) * STATEMENTS - written),
            "{tail:?}"
        );
        assert_eq!(tail.losses.statement_bytes, 108 * tail.losses.statements);
        // Each session ends where it was lost, behind all that is written of it.
        let mut last = BTreeMap::new();
        for record in CaptureReader::open(&path).unwrap() {
            let record = record.unwrap();
            last.insert(record.session, record.happening);
        }
        assert_eq!(last.len(), SESSIONS as usize);
        assert!(
            last.values().all(|last| *last == Happening::Closed),
            "{last:?}"
        );
    }
}
