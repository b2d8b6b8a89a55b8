//! The thread that writes the file, and the way to it, which never waits.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::watch::{OwnedAsked, Seen};
use crate::writer::Asked;
use crate::{CaptureError, CaptureTail, CaptureWriter};

/// Messages that may wait for the thread that writes.
const WAITING_MAX: usize = 65_536;
/// Bytes of statements that may wait for it.
const WAITING_BYTES_MAX: u64 = 256 << 20;
/// What was seen is in the file after this time at the latest.
const FLUSH: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum Message {
    Seen(u64, u32, Vec<Seen>),
    Closed(u64, u32),
    Lost,
}

/// The way to the thread that writes.
#[derive(Debug)]
pub(super) struct Recorder {
    sender: SyncSender<Message>,
    shared: Arc<Shared>,
    /// Sessions whose login was seen, and which are written.
    followed: HashSet<u32>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting_bytes: AtomicU64,
    /// Why the file cannot be written any more.
    failure: OnceLock<String>,
}

/// The thread that writes.
#[derive(Debug)]
pub(super) struct Recording {
    thread: JoinHandle<Result<CaptureWriter, CaptureError>>,
}

impl Recorder {
    pub(super) fn start(writer: CaptureWriter) -> Result<(Self, Recording), CaptureError> {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("weir-capture".to_owned());
        let thread = thread.spawn(move || {
            let written = write(writer, &receiver, &of_thread);
            if let Err(error) = &written {
                of_thread.failure.get_or_init(|| error.to_string());
            }
            written
        });
        let thread =
            thread.map_err(|error| CaptureError::host("start a thread that writes", &error))?;
        let recorder = Self {
            sender,
            shared,
            followed: HashSet::new(),
        };
        Ok((recorder, Recording { thread }))
    }

    /// Why the file cannot be written any more; from then on, nothing is.
    pub(super) fn failure(&self) -> Option<&str> {
        self.shared.failure.get().map(String::as_str)
    }

    /// What a session said.
    pub(super) fn seen(&mut self, at_us: u64, session: u32, seen: Vec<Seen>) {
        if matches!(seen.first(), Some(Seen::Opened { .. })) {
            self.followed.insert(session);
        }
        if !self.followed.contains(&session) {
            return;
        }
        let bytes = seen.iter().map(bytes).sum();
        let waiting = self
            .shared
            .waiting_bytes
            .fetch_add(bytes, Ordering::Relaxed);
        let message = Message::Seen(at_us, session, seen);
        if waiting + bytes > WAITING_BYTES_MAX || self.sender.try_send(message).is_err() {
            self.shared
                .waiting_bytes
                .fetch_sub(bytes, Ordering::Relaxed);
            self.lose(at_us, session);
        }
    }

    /// What a session says is not understood any more; one whose login was refused never was in.
    pub(super) fn blind(&mut self, at_us: u64, session: u32) {
        if self.followed.contains(&session) {
            self.lose(at_us, session);
        }
    }

    /// A session has gone.
    pub(super) fn closed(&mut self, at_us: u64, session: u32) {
        if self.followed.remove(&session) {
            // The end of a session is no reason to wait either; its file is good without.
            let _ = self.sender.try_send(Message::Closed(at_us, session));
        }
    }

    fn lose(&mut self, at_us: u64, session: u32) {
        self.followed.remove(&session);
        let _ = self.sender.try_send(Message::Closed(at_us, session));
        let _ = self.sender.try_send(Message::Lost);
    }
}

/// Bytes that a message takes, about.
fn bytes(seen: &Seen) -> u64 {
    match seen {
        Seen::Asked(asked) => {
            100 + asked.text.as_ref().map_or(0, Vec::len) as u64 + 32 * asked.values.len() as u64
        }
        _ => 100,
    }
}

impl Recording {
    /// Ends the file, when the other end has gone.
    pub(super) fn finish(self, origin: Instant) -> Result<CaptureTail, CaptureError> {
        let written = self.thread.join();
        let writer = written.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let ended_us = u64::try_from(origin.elapsed().as_micros()).unwrap_or(u64::MAX);
        writer.finish(ended_us)
    }
}

fn write(
    mut writer: CaptureWriter,
    receiver: &Receiver<Message>,
    shared: &Shared,
) -> Result<CaptureWriter, CaptureError> {
    let mut flushed = Instant::now();
    loop {
        match receiver.recv_timeout(FLUSH) {
            Ok(message) => {
                put(&mut writer, message, shared)?;
                if flushed.elapsed() < FLUSH {
                    continue;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(writer),
        }
        writer.flush()?;
        flushed = Instant::now();
    }
}

fn put(writer: &mut CaptureWriter, message: Message, shared: &Shared) -> Result<(), CaptureError> {
    match message {
        Message::Seen(at_us, session, all) => {
            let bytes: u64 = all.iter().map(bytes).sum();
            shared.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            for seen in all {
                match seen {
                    Seen::Opened { user, schema } => {
                        writer.opened(at_us, session, &user, &schema)?;
                    }
                    Seen::Asked(asked) => writer.started(at_us, session, as_asked(&asked))?,
                    Seen::Ended(ended) => writer.ended(at_us, session, ended)?,
                }
            }
        }
        Message::Closed(at_us, session) => writer.closed(at_us, session)?,
        Message::Lost => writer.losses.sessions += 1,
    }
    Ok(())
}

/// A command, to be written.
pub(crate) fn as_asked(asked: &OwnedAsked) -> Asked<'_> {
    Asked {
        command: asked.command,
        text: asked.text.as_deref(),
        handle: asked.handle,
        values: asked.values.clone(),
        is_truncated: asked.is_incomplete,
    }
}
