//! One thread for the bytes of all connections (epoll(7), edge-triggered).

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token, Waker};
use weir_mysql::Stream;

use super::encryption::Encryption;
use super::link::{Link, LinkStep, Side};
use super::recorder::Recorder;
use super::socket::End;
use crate::CaptureError;

/// A new client, and the server that was reached for it.
pub(super) type ClientAndServer = (TcpStream, Stream);

/// Token that wakes the thread for new connections.
const WAKE: Token = Token(usize::MAX);
/// Longest time for which a wish to stop may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(100);
const BUFFER_BYTES: usize = 64 << 10;

/// Carries all connections.
#[derive(Debug)]
pub(super) struct Carrier {
    poll: Poll,
    arriving: Receiver<ClientAndServer>,
    links: Vec<Option<(u32, Link)>>,
    free: Vec<usize>,
    /// Links that have more to do although their sockets say nothing new.
    again: VecDeque<usize>,
    next_session: u32,
    recorder: Recorder,
    encryption: Option<Arc<Encryption>>,
    origin: Instant,
    buffer: Box<[u8]>,
}

impl Carrier {
    pub(super) fn new(
        arriving: Receiver<ClientAndServer>,
        recorder: Recorder,
        encryption: Option<Arc<Encryption>>,
        origin: Instant,
    ) -> Result<Self, CaptureError> {
        let poll =
            Poll::new().map_err(|error| CaptureError::host("make an epoll instance", &error))?;
        Ok(Self {
            poll,
            arriving,
            links: Vec::new(),
            free: Vec::new(),
            again: VecDeque::new(),
            next_session: 1,
            recorder,
            encryption,
            origin,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
        })
    }

    pub(super) fn waker(&self) -> Result<Waker, CaptureError> {
        let waker = Waker::new(self.poll.registry(), WAKE);
        waker.map_err(|error| CaptureError::host("make a waker", &error))
    }

    /// Carries until it is to stop; `on_end` hears why the file ends before.
    pub(super) fn run(
        &mut self,
        stop: &AtomicBool,
        on_end: &mut dyn FnMut(&str),
    ) -> Result<(), CaptureError> {
        let mut events = Events::with_capacity(1_024);
        let mut is_told = false;
        while !stop.load(Ordering::Relaxed) {
            if let Some(why) = self.recorder.failure()
                && !std::mem::replace(&mut is_told, true)
            {
                on_end(why);
            }
            let patience = if self.again.is_empty() {
                PATIENCE
            } else {
                Duration::ZERO
            };
            match self.poll.poll(&mut events, Some(patience)) {
                Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                    return Err(CaptureError::host("wait for connections", &error));
                }
                _ => {}
            }
            self.take_new();
            for _ in 0..self.again.len() {
                if let Some(index) = self.again.pop_front() {
                    self.carry(index);
                }
            }
            for event in &events {
                if event.token() != WAKE {
                    self.carry(event.token().0 / 2);
                }
            }
        }
        for index in 0..self.links.len() {
            self.close(index);
        }
        Ok(())
    }

    fn take_new(&mut self) {
        while let Ok((client, server)) = self.arriving.try_recv() {
            let ends =
                End::new(Stream::Tcp(client)).and_then(|client| Ok((client, End::new(server)?)));
            // A client that has gone meanwhile needs nothing.
            let Ok((client, server)) = ends else { continue };
            let mut link = Link::new(client, server, self.encryption.clone());
            let index = self.free.pop().unwrap_or_else(|| {
                self.links.push(None);
                self.links.len() - 1
            });
            let registry = self.poll.registry();
            let registered = link.ends().into_iter().try_for_each(|(end, side)| {
                let token = Token(index * 2 + usize::from(side == Side::Server));
                end.register(registry, token)
            });
            if registered.is_err() {
                self.free.push(index);
                continue;
            }
            self.links[index] = Some((self.next_session, link));
            self.next_session += 1;
            self.carry(index);
        }
    }

    fn carry(&mut self, index: usize) {
        let Some(Some((session, link))) = self.links.get_mut(index) else {
            return;
        };
        let (session, origin, recorder) = (*session, self.origin, &mut self.recorder);
        let now_us = || u64::try_from(origin.elapsed().as_micros()).unwrap_or(u64::MAX);
        let was_blind = link.is_blind();
        let goes = link.carry(&mut self.buffer, &now_us, &mut |at_us, seen| {
            recorder.seen(at_us, session, seen);
        });
        if link.is_blind() && !was_blind {
            recorder.blind(now_us(), session);
        }
        match goes {
            Ok(LinkStep::On) => {}
            Ok(LinkStep::Again) => self.again.push_back(index),
            Ok(LinkStep::Over) | Err(_) => self.close(index),
        }
    }

    fn close(&mut self, index: usize) {
        if let Some((session, _)) = self.links[index].take() {
            let now_us = u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.recorder.closed(now_us, session);
            self.free.push(index);
        }
    }
}
