//! A connection that waits for its answers and keeps them whole: all results of a statement, their
//! values as text.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, RawFd};

use mysql_common::Value;
use rustix::event::{PollFd, PollFlags, poll};

use crate::blocking::Stream;
use crate::channel::Channel;
use crate::compression::{Codec, Wire};
use crate::{
    ClientError, Connector, Deadline, ExpectedReply, Reply, ReplyParser, Request, ServerError,
    SessionError, SessionPhase, StatementResult,
};

/// Bytes that are read at once.
const READ_BYTES: usize = 16 << 10;

/// Step that a request has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExchangeStep {
    /// It was answered.
    Reply(Reply),
    /// The socket has nothing to read.
    Reads,
    /// The socket has no room.
    Writes,
}

/// A connection of a script. It waits as long as the server needs.
#[derive(Debug)]
pub struct Exchange {
    channel: Channel<Stream>,
    packed: Option<Box<(Codec, Wire)>>,
    parser: ReplyParser,
    /// Bytes to be sent.
    out: Vec<u8>,
    /// Number of them that have been sent.
    sent: usize,
    /// Buffer for reads; of no length before the first answer.
    read: Box<[u8]>,
}

impl Exchange {
    /// Logs in to the connector's schema before the deadline.
    ///
    /// # Errors
    ///
    /// As [`Connector::login`].
    pub fn open(connector: &Connector, deadline: Deadline) -> Result<Self, ClientError> {
        let session = connector.login(true, deadline)?;
        let failed = |error: SessionError| connector.failed(error, deadline);
        let (channel, eof_deprecated) = session.into_parts().map_err(failed)?;
        let channel = channel
            .map(|blocking| {
                let stream = blocking.into_stream();
                stream.wait_without_limit()?;
                Ok(stream)
            })
            .map_err(|error| failed(SessionError::Stream(error)))?;
        let packed = connector.compression();
        Ok(Self {
            channel,
            packed: packed.map(|compression| Box::new((Codec::new(compression), Wire::default()))),
            parser: ReplyParser::new(eof_deprecated),
            out: Vec::new(),
            sent: 0,
            read: Box::default(),
        })
    }

    /// Runs a text; all its results.
    ///
    /// # Errors
    ///
    /// Here and below: a connection that is lost, and what is not the protocol.
    pub fn query(&mut self, text: &[u8]) -> Result<Vec<StatementResult>, SessionError> {
        self.begin_query(text);
        self.wait_for_reply()?;
        Ok(self.parser.take_results())
    }

    /// Prepares a text; the server's number of the statement and of its parameters, or its refusal.
    ///
    /// # Errors
    ///
    /// As [`Self::query`].
    pub fn prepare(
        &mut self,
        text: &[u8],
    ) -> Result<Result<(u32, u16), ServerError>, SessionError> {
        self.begin_prepare(text);
        match self.wait_for_reply()? {
            Reply::Prepared { id, parameters } => Ok(Ok((id, parameters))),
            Reply::Refused(error) => Ok(Err(error)),
            Reply::Done { .. } | Reply::Rows { .. } => Err(SessionError::Malformed(
                crate::MalformedPacket("the reply to a prepare is none"),
            )),
        }
    }

    /// Executes a prepared statement with these values; all its results.
    ///
    /// # Errors
    ///
    /// As [`Self::query`].
    pub fn execute(
        &mut self,
        statement: u32,
        values: &[Value],
    ) -> Result<Vec<StatementResult>, SessionError> {
        self.begin_execute(statement, values);
        self.wait_for_reply()?;
        Ok(self.parser.take_results())
    }

    /// Leaves a text to be run; [`Self::go_on`] sends it.
    pub fn begin_query(&mut self, text: &[u8]) {
        let mut request = Request::query(&mut self.out);
        request.sql().extend_from_slice(text);
        request.finish();
        self.begin(ExpectedReply::TextResults);
    }

    /// Leaves a text to be prepared, as [`Self::begin_query`].
    pub fn begin_prepare(&mut self, text: &[u8]) {
        let mut request = Request::prepare(&mut self.out);
        request.sql().extend_from_slice(text);
        request.finish();
        self.begin(ExpectedReply::Statement);
    }

    /// Leaves a prepared statement to be executed, as [`Self::begin_query`].
    pub fn begin_execute(&mut self, statement: u32, values: &[Value]) {
        Request::execute_with(&mut self.out, statement, values);
        self.begin(ExpectedReply::TypedResults);
    }

    /// Sends and receives what the socket allows: all of it, if it waits.
    ///
    /// # Errors
    ///
    /// As [`Self::query`].
    pub fn go_on(&mut self) -> Result<ExchangeStep, SessionError> {
        if !self.out.is_empty() {
            match self.send() {
                Ok(true) => {}
                Ok(false) => return Ok(ExchangeStep::Writes),
                Err(error) => {
                    self.out.clear();
                    return Err(failed(error));
                }
            }
        }
        if self.read.is_empty() {
            self.read = vec![0; READ_BYTES].into_boxed_slice();
        }
        loop {
            let length = match self.channel.read(&mut self.read) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(ExchangeStep::Reads);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                length => length.map_err(failed)?,
            };
            if length == 0 {
                return Err(failed(io::ErrorKind::UnexpectedEof.into()));
            }
            let bytes = &self.read[..length];
            let reply = match &mut self.packed {
                None => self.parser.feed(bytes),
                Some(packed) => packed.0.feed(&mut packed.1, &mut self.parser, bytes),
            };
            if let Some(reply) = reply? {
                return Ok(ExchangeStep::Reply(reply));
            }
        }
    }

    /// All results of the last reply, but for a prepare.
    pub fn take_results(&mut self) -> Vec<StatementResult> {
        self.parser.take_results()
    }

    /// From now on the socket does not wait: [`Self::go_on`] tells what for. The other calls wait as before.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn never_wait(&self) -> io::Result<()> {
        match self.channel.below() {
            Stream::Unix(stream) => stream.set_nonblocking(true),
            Stream::Tcp(stream) => stream.set_nonblocking(true),
        }
    }

    /// The socket, for a caller that watches it.
    pub fn descriptor(&self) -> RawFd {
        self.socket().as_raw_fd()
    }

    /// Returns true if its bytes are those of the protocol: neither encrypted nor compressed.
    pub fn is_plain(&self) -> bool {
        !self.channel.is_encrypted() && self.packed.is_none()
    }

    /// Lets the server forget a prepared statement, with the next request.
    pub fn close(&mut self, statement: u32) {
        Request::close(&mut self.out, statement);
    }

    /// A second way to the same socket, for a caller that gives this one to an engine and must ask beside it while
    /// the engine asks nothing. `None`: what was encrypted or compressed before has to be known, or there are
    /// no more file descriptors.
    pub fn twin(&self) -> Option<Self> {
        if !self.is_plain() {
            return None;
        }
        let stream = match self.channel.below() {
            Stream::Unix(stream) => Stream::Unix(stream.try_clone().ok()?),
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone().ok()?),
        };
        Some(Self {
            channel: Channel::plain(stream),
            packed: None,
            parser: ReplyParser::new(self.parser.is_eof_deprecated()),
            out: Vec::new(),
            sent: 0,
            read: Box::default(),
        })
    }

    /// The stream and whether `CLIENT_DEPRECATE_EOF` was agreed, for a caller that drives it without waiting.
    /// Statements that were to be forgotten are not.
    pub fn into_parts(self) -> (Channel<Stream>, bool) {
        (self.channel, self.parser.is_eof_deprecated())
    }

    /// Says goodbye, so that the server does not log an aborted connection.
    pub fn quit(mut self) {
        Request::quit(&mut self.out);
        self.pack();
        // A server that is gone needs no goodbye.
        while let Ok(false) = self.send() {
            if self.wait(PollFlags::OUT).is_err() {
                return;
            }
        }
    }

    fn begin(&mut self, expected: ExpectedReply) {
        self.parser.expect(expected);
        self.pack();
    }

    fn pack(&mut self) {
        self.sent = 0;
        if let Some(packed) = &mut self.packed {
            packed.0.pack(&mut packed.1, &mut self.out);
        }
    }

    fn wait_for_reply(&mut self) -> Result<Reply, SessionError> {
        loop {
            let what = match self.go_on()? {
                ExchangeStep::Reply(reply) => return Ok(reply),
                ExchangeStep::Reads => PollFlags::IN,
                ExchangeStep::Writes => PollFlags::OUT,
            };
            self.wait(what).map_err(failed)?;
        }
    }

    /// Sends what is left; whether all has been sent.
    fn send(&mut self) -> io::Result<bool> {
        while self.sent < self.out.len() {
            match self.channel.write(&self.out[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => self.sent += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(true)
    }

    fn wait(&self, what: PollFlags) -> io::Result<()> {
        match poll(&mut [PollFd::new(&self.socket(), what)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn socket(&self) -> BorrowedFd<'_> {
        match self.channel.below() {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }
}

fn failed(error: io::Error) -> SessionError {
    SessionError::stream(error, SessionPhase::Answer)
}
