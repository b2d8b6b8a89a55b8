//! A connection that waits for its answers and keeps them whole: all results of a statement, their
//! values as text.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, BorrowedFd};

use mysql_common::Value;
use rustix::event::{PollFd, PollFlags, poll};

use crate::blocking::Stream;
use crate::channel::Channel;
use crate::compression::{Codec, Wire};
use crate::{
    ClientError, Connector, Deadline, Expected, Reply, ReplyParser, Request, ServerError,
    SessionError, StatementResult, Waiting,
};

/// Bytes that are read at once.
const READ_BYTES: usize = 16 << 10;

/// A connection of a script. It waits as long as the server needs.
#[derive(Debug)]
pub struct Exchange {
    channel: Channel<Stream>,
    packed: Option<Box<(Codec, Wire)>>,
    parser: ReplyParser,
    /// What is to be sent.
    out: Vec<u8>,
    /// What was read; of no length before the first answer.
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
            read: Box::default(),
        })
    }

    /// Runs a text; all its results.
    ///
    /// # Errors
    ///
    /// Here and below: a connection that is lost, and what is not the protocol.
    pub fn query(&mut self, text: &[u8]) -> Result<Vec<StatementResult>, SessionError> {
        let mut request = Request::query(&mut self.out);
        request.sql().extend_from_slice(text);
        request.finish();
        self.ask(Expected::TextResults)?;
        Ok(self.parser.take_results())
    }

    /// Prepares a text; the server's number of the statement and of its parameters, or its refusal.
    pub fn prepare(
        &mut self,
        text: &[u8],
    ) -> Result<Result<(u32, u16), ServerError>, SessionError> {
        let mut request = Request::prepare(&mut self.out);
        request.sql().extend_from_slice(text);
        request.finish();
        match self.ask(Expected::Statement)? {
            Reply::Prepared { id, parameters } => Ok(Ok((id, parameters))),
            Reply::Refused(error) => Ok(Err(error)),
            Reply::Done { .. } | Reply::Rows { .. } => Err(SessionError::Malformed(
                crate::Malformed("the reply to a prepare is none"),
            )),
        }
    }

    /// Executes a prepared statement with these values; all its results.
    pub fn execute(
        &mut self,
        statement: u32,
        values: &[Value],
    ) -> Result<Vec<StatementResult>, SessionError> {
        Request::execute_with(&mut self.out, statement, values);
        self.ask(Expected::TypedResults)?;
        Ok(self.parser.take_results())
    }

    /// Lets the server forget a prepared statement, with the next request.
    pub fn close(&mut self, statement: u32) {
        Request::close(&mut self.out, statement);
    }

    /// A second way to the same socket, for a caller that gives this one to an engine and must ask beside it while
    /// the engine asks nothing. `None`: what was encrypted or compressed before has to be known, or there are
    /// no more file descriptors.
    pub fn twin(&self) -> Option<Self> {
        if self.channel.is_encrypted() || self.packed.is_some() {
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
        // Whoever is gone needs no goodbye.
        let _ = self.send();
    }

    fn ask(&mut self, expected: Expected) -> Result<Reply, SessionError> {
        self.parser.expect(expected);
        let failed = |error: io::Error| SessionError::stream(error, Waiting::Answer);
        self.send().map_err(failed)?;
        if self.read.is_empty() {
            self.read = vec![0; READ_BYTES].into_boxed_slice();
        }
        loop {
            let length = match self.channel.read(&mut self.read) {
                // An engine does not want its socket to wait.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(PollFlags::IN).map_err(failed)?;
                    continue;
                }
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
                return Ok(reply);
            }
        }
    }

    fn send(&mut self) -> io::Result<()> {
        if let Some(packed) = &mut self.packed {
            packed.0.pack(&mut packed.1, &mut self.out);
        }
        let sent = self.write_all();
        self.out.clear();
        sent
    }

    fn write_all(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.out.len() {
            match self.channel.write(&self.out[sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => sent += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(PollFlags::OUT)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wait(&self, what: PollFlags) -> io::Result<()> {
        let socket: BorrowedFd<'_> = match self.channel.below() {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        };
        match poll(&mut [PollFd::new(&socket, what)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
