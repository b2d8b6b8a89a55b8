//! Several requests at once, and then their answers: one round trip for many statements.

use std::io::{Read, Write};

use mysql_common::Row;
use mysql_common::proto::Text;

use super::{COM_QUERY, COM_STMT_PREPARE, PreparedStatement, Session, SessionError, SessionPhase};
use crate::packet::{HEADER_BYTES, put_header};
use crate::reply::ServerError;

/// Requests that are sent before the first answer is read: they fit into the buffers of both sides, so that
/// neither waits for the other.
const WINDOW_REQUESTS: usize = 64;
const WINDOW_BYTES: usize = 16 << 10;

impl<S: Read + Write> Session<S> {
    /// Prepares statements; each one's answer, in their order.
    ///
    /// # Errors
    ///
    /// A connection that is lost or silent, and bytes that are not the protocol.
    pub fn prepare_all(
        &mut self,
        statements: &[impl AsRef<str>],
    ) -> Result<Vec<Result<PreparedStatement, ServerError>>, SessionError> {
        self.pipeline(COM_STMT_PREPARE, statements, &mut |session, _| {
            session.prepared()
        })
    }

    /// Runs statements as text; each one's refusal, in their order. The rows of their results go to `on_row`
    /// with the statement's number.
    ///
    /// # Errors
    ///
    /// A connection that is lost or silent, and bytes that are not the protocol.
    pub fn query_all(
        &mut self,
        statements: &[impl AsRef<str>],
        on_row: &mut dyn FnMut(usize, Row),
    ) -> Result<Vec<Result<(), ServerError>>, SessionError> {
        self.pipeline(COM_QUERY, statements, &mut |session, number| {
            session.read_packet()?;
            session.result::<Text>(&mut |row| on_row(number, row))?;
            Ok(())
        })
    }

    fn pipeline<T>(
        &mut self,
        command: u8,
        statements: &[impl AsRef<str>],
        answer: &mut dyn FnMut(&mut Self, usize) -> Result<T, SessionError>,
    ) -> Result<Vec<Result<T, ServerError>>, SessionError> {
        self.waiting = SessionPhase::Answer;
        let mut answers = Vec::with_capacity(statements.len());
        let mut rest = statements;
        while !rest.is_empty() {
            let (requests, count) = self.window(command, rest);
            self.write(&requests)?;
            for _ in 0..count {
                answers.push(match answer(self, answers.len()) {
                    Ok(answer) => Ok(answer),
                    Err(SessionError::Refused(error)) => Err(error),
                    Err(error) => return Err(error),
                });
            }
            rest = &rest[count..];
        }
        Ok(answers)
    }

    /// As many requests as may go at once, and their number. Compressed packets are counted from request to
    /// answer, so those go one by one.
    fn window(&self, command: u8, statements: &[impl AsRef<str>]) -> (Vec<u8>, usize) {
        let most = if self.stream.is_compressed() {
            1
        } else {
            WINDOW_REQUESTS
        };
        let mut requests = Vec::new();
        let mut count = 0;
        for statement in statements.iter().take(most).map(AsRef::as_ref) {
            let length = HEADER_BYTES + 1 + statement.len();
            if count > 0 && requests.len() + length > WINDOW_BYTES {
                break;
            }
            let start = requests.len();
            requests.resize(start + HEADER_BYTES, 0);
            put_header(&mut requests[start..], 1 + statement.len(), 0);
            requests.push(command);
            requests.extend_from_slice(statement.as_bytes());
            count += 1;
        }
        (requests, count)
    }
}
