//! Connections of a script: opened in turn over the servers, and errors by the numbers of MySQL's client.

use std::collections::VecDeque;
use std::time::Duration;

use crate::lua::{Failure, Parameter, Refusal, Reply, Request, Rows};
use weir_load::OwnSocket;
use weir_model::Address;
use weir_mysql::{
    ClientError, Connector, Deadline, Exchange, ExchangeStep, ServerError, SessionError,
    StatementResult, Value,
};

use crate::world::World;

/// Longest wait for a login, as MySQL's client has it for connecting.
const LOGIN_LIMIT: Duration = Duration::from_mins(1);
/// No server at a socket, and at a port (`CR_CONNECTION_ERROR`, `CR_CONN_HOST_ERROR`).
const NO_SOCKET: u16 = 2002;
const NO_HOST: u16 = 2003;
/// A connection that ended before a request, and during one (`CR_SERVER_GONE_ERROR`, `CR_SERVER_LOST`).
const GONE: u16 = 2006;
const LOST: u16 = 2013;
/// Results were left (`CR_COMMANDS_OUT_OF_SYNC`).
const NO_MORE_RESULTS: u16 = 2014;
/// Error code for bytes that are not the protocol (`CR_MALFORMED_PACKET`).
const MALFORMED: u16 = 2027;

/// A connection of a script.
#[derive(Debug)]
pub(crate) struct Link {
    server: Connector,
    exchange: Option<Exchange>,
    /// The same connection, where an engine has it, for what has to be waited for in place.
    twin: Option<Exchange>,
    /// Results of the last statement that were not taken.
    results: VecDeque<StatementResult>,
    /// An engine watches its socket.
    is_watched: bool,
}

/// Progress of a request whose connection an engine watches.
pub(crate) enum RequestProgress {
    /// It is answered.
    Answer(Result<Reply, Failure>),
    /// Wait for its socket.
    Awaits(OwnSocket),
}

impl Link {
    /// Opens a connection to this server; `is_watched`: whose socket an engine is going to watch.
    pub(crate) fn open(server: &Connector, is_watched: bool) -> Result<Self, Refusal> {
        let exchange = Exchange::open(server, Deadline::after(LOGIN_LIMIT));
        let exchange = exchange.map_err(|error| not_connected(server.address(), &error))?;
        if is_watched {
            // A socket that waits in spite of this holds others up, and gives the same answers.
            let _ = exchange.never_wait();
        }
        Ok(Self {
            server: server.clone(),
            exchange: Some(exchange),
            twin: None,
            results: VecDeque::new(),
            is_watched,
        })
    }

    /// Returns true if an engine can have it: an encrypted or compressed one could not be asked beside the engine.
    pub(crate) fn is_plain(&self) -> bool {
        self.exchange.as_ref().is_some_and(Exchange::is_plain)
    }

    /// The connection itself, for an engine that drives it; its results are still told from here.
    pub(crate) fn take_exchange(&mut self) -> Option<Exchange> {
        self.exchange.take()
    }

    /// The same, and keeps a second way to the socket where there is one.
    pub(crate) fn share_exchange(&mut self) -> Option<Exchange> {
        self.twin = self.exchange.as_ref().and_then(Exchange::twin);
        self.exchange.take()
    }

    /// Returns true if it can be asked while an engine drives it.
    pub(crate) fn has_twin(&self) -> bool {
        self.twin.is_some()
    }

    /// The engine has another connection now.
    pub(crate) fn forget_twin(&mut self) {
        self.twin = None;
    }

    /// Takes the results that an engine has received.
    pub(crate) fn take_results(&mut self, results: Vec<StatementResult>) -> Result<Reply, Failure> {
        self.results = results.into();
        self.next_result()
    }

    /// Closes it.
    pub(crate) fn close(&mut self) {
        self.results.clear();
        self.twin = None;
        if let Some(exchange) = self.exchange.take() {
            exchange.quit();
        }
    }

    /// Opens it again.
    pub(crate) fn reopen(&mut self) -> Result<(), Refusal> {
        self.close();
        *self = Self::open(&self.server, self.is_watched)?;
        Ok(())
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&mut self, request: Request<'_>) -> Result<Reply, Failure> {
        if let Request::NextResult = request {
            return self.next_result();
        }
        let Some(exchange) = self.exchange.as_mut().or(self.twin.as_mut()) else {
            return Err(gone());
        };
        let results = match request {
            Request::Query(text) => exchange.query(text),
            Request::Execute {
                statement, values, ..
            } => {
                let values: Vec<_> = values.iter().map(value).collect();
                exchange.execute(statement, &values)
            }
            Request::Prepare(text) => match exchange.prepare(text) {
                Ok(Ok((statement, parameters))) => {
                    return Ok(Reply::Prepared {
                        statement,
                        parameters,
                    });
                }
                Ok(Err(error)) => return Err(Failure::Refused(refusal(error))),
                Err(error) => Err(error),
            },
            Request::Close(statement) => {
                exchange.close(statement);
                return Ok(Reply::Done {
                    affected_rows: 0,
                    has_more: false,
                });
            }
            Request::NextResult => Ok(Vec::new()),
        };
        match results {
            Ok(results) => {
                self.results = results.into();
                self.next_result()
            }
            Err(error) => {
                self.exchange = None;
                self.twin = None;
                Err(lost(&error))
            }
        }
    }

    /// Leaves a request, for [`Self::go_on`].
    pub(crate) fn begin(&mut self, request: &Request<'_>) {
        let Some(exchange) = &mut self.exchange else {
            return;
        };
        match request {
            Request::Query(text) => exchange.begin_query(text),
            Request::Prepare(text) => exchange.begin_prepare(text),
            Request::Execute {
                statement, values, ..
            } => {
                let values: Vec<_> = values.iter().map(value).collect();
                exchange.begin_execute(*statement, &values);
            }
            Request::Close(_) | Request::NextResult => {}
        }
    }

    /// Sends and receives what can be without waiting.
    pub(crate) fn go_on(&mut self) -> RequestProgress {
        let Some(exchange) = &mut self.exchange else {
            return RequestProgress::Answer(Err(gone()));
        };
        let descriptor = exchange.descriptor();
        let awaits = |writes| RequestProgress::Awaits(OwnSocket { descriptor, writes });
        RequestProgress::Answer(match exchange.go_on() {
            Ok(ExchangeStep::Reads) => return awaits(false),
            Ok(ExchangeStep::Writes) => return awaits(true),
            Ok(ExchangeStep::Reply(weir_mysql::Reply::Prepared { id, parameters })) => {
                Ok(Reply::Prepared {
                    statement: id,
                    parameters,
                })
            }
            Ok(ExchangeStep::Reply(weir_mysql::Reply::Refused(error))) => {
                exchange.take_results();
                Err(Failure::Refused(refusal(error)))
            }
            Ok(ExchangeStep::Reply(_)) => {
                let results = exchange.take_results();
                self.take_results(results)
            }
            Err(error) => {
                self.exchange = None;
                Err(lost(&error))
            }
        })
    }

    /// The next result of the last statement.
    pub(crate) fn next_result(&mut self) -> Result<Reply, Failure> {
        let Some(result) = self.results.pop_front() else {
            return Err(refused(
                NO_MORE_RESULTS,
                "Commands out of sync; you can't run this command now",
            ));
        };
        let has_more = !self.results.is_empty();
        match result {
            StatementResult::Done { affected_rows } => Ok(Reply::Done {
                affected_rows,
                has_more,
            }),
            StatementResult::Rows(rows) => Ok(Reply::Rows(Rows {
                fields: rows.fields,
                bytes: rows.bytes,
                cells: rows.cells,
                has_more,
            })),
            StatementResult::Refused(error) => Err(Failure::Refused(refusal(error))),
        }
    }
}

pub(crate) fn value(parameter: &Parameter) -> Value {
    match parameter {
        Parameter::Null => Value::NULL,
        Parameter::Integer(number) => Value::Int(*number),
        Parameter::Real(number) => Value::Double(*number),
        Parameter::Text(bytes) => Value::Bytes(bytes.clone()),
    }
}

pub(crate) fn refusal(error: ServerError) -> Refusal {
    Refusal {
        code: error.code,
        state: error.state,
        message: error.message,
        place: String::new(),
    }
}

fn refused(code: u16, message: &str) -> Failure {
    Failure::Refused(Refusal {
        code,
        state: "HY000".to_owned(),
        message: message.to_owned(),
        place: String::new(),
    })
}

/// There is no such connection any more.
pub(crate) fn gone() -> Failure {
    refused(GONE, "MySQL server has gone away")
}

/// A connection was lost during a statement.
pub(crate) fn lost_during_query() -> Failure {
    refused(LOST, "Lost connection to MySQL server during query")
}

fn lost(error: &SessionError) -> Failure {
    match error {
        SessionError::Stream(error) if error.kind() == std::io::ErrorKind::BrokenPipe => gone(),
        SessionError::Malformed(malformed) => refused(MALFORMED, malformed.0),
        _ => lost_during_query(),
    }
}

/// Returns the reason that there is no connection, in the words of MySQL's client.
fn not_connected(address: &Address, error: &ClientError) -> Refusal {
    let words = error.words();
    // The system's number, as `(os error 2)` has it.
    let number = words
        .rsplit_once("(os error ")
        .map_or("110", |(_, rest)| rest.trim_end_matches(')'));
    let (code, message) = match (error.code(), address) {
        (Some(code), _) => {
            let text = words.strip_prefix(&format!("error {code}: "));
            (code, text.unwrap_or(&words).to_owned())
        }
        (None, _)
            if !matches!(
                error,
                ClientError::Connect { .. } | ClientError::Timeout { .. }
            ) =>
        {
            (NO_HOST, words)
        }
        (None, Address::Socket(path)) => (
            NO_SOCKET,
            format!(
                "Can't connect to local MySQL server through socket '{}' ({number})",
                path.display()
            ),
        ),
        (None, Address::Tcp(host, port)) => (
            NO_HOST,
            format!("Can't connect to MySQL server on '{host}:{port}' ({number})"),
        ),
    };
    Refusal {
        code,
        state: "HY000".to_owned(),
        message,
        place: World::place(address),
    }
}
