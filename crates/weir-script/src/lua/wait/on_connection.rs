//! One call on one connection of a script.

use std::rc::Rc;

use super::arguments::Arguments;
use super::request::{Ask, CallAnswer, CallFailure, First, Operation, Severity};
use crate::lua::host::{Counter, Failure, Level, Parameter, Refusal, Reply, Request};
use crate::lua::state_data::{Bulk, Connection, Core, Open};
use crate::lua::statement::{How, ParameterKind, ScriptStatement, with_values};

/// The server cannot prepare this text (`ER_UNSUPPORTED_PS`).
const UNSUPPORTED_AS_PREPARED: u16 = 1295;
/// Not all parameters were bound (`CR_PARAMS_NOT_BOUND`).
const PARAMETERS_NOT_BOUND: u16 = 2031;
/// Errors after which a connection is made again: `CR_SERVER_GONE_ERROR`, `CR_TCP_CONNECTION`,
/// `CR_SERVER_LOST`, `CR_SERVER_LOST_EXTENDED`.
const LOST_CONNECTION: [u16; 4] = [2006, 2011, 2013, 2055];
pub(super) const CLOSED: &str = "attempt to use an already closed connection";

/// Opens a connection; its number.
pub(crate) fn open(core: &Core) -> Result<u32, CallFailure> {
    let connected = core.host.borrow_mut().connect();
    match connected {
        Ok(number) => {
            let connection = Connection {
                is_open: true,
                ..Connection::default()
            };
            core.connections.borrow_mut().insert(number, connection);
            Ok(number)
        }
        Err(Failure::Stopped) => Err(CallFailure::misuse()),
        Err(Failure::Refused(refusal)) => {
            let mut host = core.host.borrow_mut();
            let place = &refusal.place;
            let line = format!("unable to connect to MySQL server {place}, aborting...");
            host.log(Level::Fatal, &line);
            let (code, message) = (refusal.code, &refusal.message);
            host.log(Level::Fatal, &format!("error {code}: {message}"));
            Err(CallFailure::misuse())
        }
    }
}

/// Begins a bulk insert; nothing is sent.
pub(crate) fn begin_bulk(core: &Core, connection: u32, head: &[u8]) -> bool {
    let mut connections = core.connections.borrow_mut();
    let connection = connections.entry(connection).or_default();
    if connection.is_open {
        connection.bulk = Some(Bulk::new(head));
    } else {
        core.host.borrow_mut().log(Level::Alert, CLOSED);
    }
    connection.is_open
}

/// One call on one connection.
pub(super) struct Call<'a> {
    pub(super) core: &'a Core,
    number: u32,
    pub(super) connection: &'a mut Connection,
}

impl Call<'_> {
    /// Does `work` of one call on the connection `number`.
    pub(super) fn on<T>(core: &Core, number: u32, work: impl FnOnce(&mut Call<'_>) -> T) -> T {
        let mut connections = core.connections.borrow_mut();
        let connection = connections.entry(number).or_default();
        work(&mut Call {
            core,
            number,
            connection,
        })
    }

    pub(super) fn log(&self, level: Level, line: &str) {
        self.core.host.borrow_mut().log(level, line);
    }

    /// Returns the request, if one is needed.
    pub(super) fn begin(
        &mut self,
        operation: Operation,
        arguments: &mut Arguments,
    ) -> Result<First, CallFailure> {
        if !self.connection.is_open
            && !matches!(operation, Operation::Reconnect | Operation::Disconnect)
        {
            self.log(Level::Alert, CLOSED);
            return Err(CallFailure::misuse());
        }
        match operation {
            Operation::Reconnect => self.reconnect()?,
            Operation::Disconnect => self.disconnect(),
            Operation::CloseStatement => self.close_statement(arguments.number().unwrap_or(0)),
            Operation::Query => {
                let text = arguments.text().unwrap_or_default();
                return Ok(First::Ask(Ask::Query(text)));
            }
            Operation::Prepare => {
                let text = arguments.text().unwrap_or_default();
                if self.core.sends_text {
                    return Ok(First::Now(self.keep(ScriptStatement::of_text(&text))));
                }
                return Ok(First::Ask(Ask::Prepare(text)));
            }
            Operation::Execute => return self.execute(arguments).map(First::Ask),
            Operation::NextResult => {
                return Ok(self.connection.has_more.then_some(Ask::NextResult).into());
            }
            Operation::BulkNext => {
                let row = arguments.text().unwrap_or_default();
                return self.bulk_next(row).map(First::from);
            }
            Operation::BulkDone => return Ok(self.bulk_done().into()),
            Operation::Connect | Operation::MoreEvents => {}
        }
        Ok(First::Now(CallAnswer::Nothing))
    }

    /// Takes the results that the script left, before something else is asked.
    pub(super) fn drain(&mut self, operation: Operation) {
        self.connection.result = None;
        if operation == Operation::NextResult {
            return;
        }
        while std::mem::take(&mut self.connection.has_more) {
            let mut host = self.core.host.borrow_mut();
            // An error of a result that the script does not take is not reported.
            if let Ok(reply) = host.request(self.number, Request::NextResult) {
                self.connection.has_more = reply.has_more();
            }
        }
    }

    /// Handles a reply.
    pub(super) fn finish(
        &mut self,
        ask: Ask,
        reply: Result<Reply, Failure>,
    ) -> Result<CallAnswer, CallFailure> {
        match (ask, reply) {
            (Ask::Prepare(text), reply) => self.prepared(&text, reply),
            (Ask::Bulk { row, .. }, Ok(reply)) => {
                self.take(reply);
                match row {
                    Some(row) => self.push_row(&row).map(|()| CallAnswer::Nothing),
                    None => Ok(CallAnswer::Nothing),
                }
            }
            (_, Ok(reply)) => Ok(self.take(reply)),
            (Ask::Query(text) | Ask::Bulk { sql: text, .. }, Err(failure)) => {
                Err(self.failed(failure, "mysql_drv_query()", &text))
            }
            (Ask::Execute { text, .. } | Ask::Text { text, .. }, Err(failure)) => {
                Err(self.failed(failure, "mysql_stmt_execute()", &text))
            }
            (Ask::NextResult, Err(failure)) => {
                Err(self.failed(failure, "mysql_drv_next_result()", b""))
            }
        }
    }

    /// Counts a reply and keeps its rows.
    fn take(&mut self, reply: Reply) -> CallAnswer {
        let counter = match &reply {
            Reply::Rows(_) => Counter::Read,
            Reply::Done { affected_rows, .. } if *affected_rows > 0 => Counter::Write,
            _ => Counter::Other,
        };
        self.core.host.borrow_mut().count(counter);
        let Reply::Rows(rows) = reply else {
            return CallAnswer::Nothing;
        };
        let number = self.core.number();
        let told = CallAnswer::Set(number, rows.len(), rows.fields);
        self.connection.result = Some(Open {
            number,
            rows,
            next: 0,
        });
        told
    }

    fn prepared(
        &mut self,
        text: &[u8],
        reply: Result<Reply, Failure>,
    ) -> Result<CallAnswer, CallFailure> {
        let prepared = match reply {
            Ok(Reply::Prepared {
                statement,
                parameters,
            }) => ScriptStatement::of_server(text, statement, parameters.into()),
            Err(Failure::Refused(refusal)) if refusal.code != UNSUPPORTED_AS_PREPARED => {
                return Err(self.not_prepared(&refusal));
            }
            Err(Failure::Stopped) => return Err(CallFailure::misuse()),
            _ => ScriptStatement::of_text(text),
        };
        Ok(self.keep(prepared))
    }

    pub(super) fn keep(&mut self, prepared: ScriptStatement) -> CallAnswer {
        let (number, parameters) = (self.core.number(), prepared.parameters);
        self.connection.statements.insert(number, prepared);
        CallAnswer::Prepared(number, parameters)
    }

    fn not_prepared(&self, refusal: &Refusal) -> CallFailure {
        self.log(Level::Fatal, "mysql_stmt_prepare() failed");
        let (code, message) = (refusal.code, &refusal.message);
        self.log(Level::Fatal, &format!("MySQL error: {code} \"{message}\""));
        CallFailure::misuse()
    }

    fn execute(&mut self, arguments: &mut Arguments) -> Result<Ask, CallFailure> {
        let number = arguments.number().unwrap_or(0);
        self.execute_with(number, |kinds| arguments.parameters(kinds))
    }

    /// Executes a statement with these values, which have the kinds that were bound.
    pub(super) fn execute_with(
        &mut self,
        number: u32,
        values: impl FnOnce(&[ParameterKind]) -> Vec<Parameter>,
    ) -> Result<Ask, CallFailure> {
        let Some(prepared) = self.connection.statements.get(&number) else {
            return Err(CallFailure::misuse());
        };
        let text = Rc::clone(&prepared.text);
        if prepared.kinds.len() != prepared.parameters {
            let refusal = Refusal {
                code: PARAMETERS_NOT_BOUND,
                state: "HY000".to_owned(),
                message: "No data supplied for parameters in prepared statement".to_owned(),
                place: String::new(),
            };
            let refused = Failure::Refused(refusal);
            return Err(self.failed(refused, "mysql_stmt_execute()", &text));
        }
        let values = values(&prepared.kinds);
        Ok(match &prepared.how {
            How::Server(statement) => Ask::Execute {
                statement: *statement,
                values,
                text,
            },
            How::Text(pieces) => Ask::Text {
                sql: with_values(pieces, &values),
                text,
            },
        })
    }

    pub(super) fn close_statement(&mut self, number: u32) {
        let Some(prepared) = self.connection.statements.remove(&number) else {
            return;
        };
        if let How::Server(statement) = prepared.how {
            // The server does not answer; a lost connection shows at the next call.
            let mut host = self.core.host.borrow_mut();
            let _ = host.request(self.number, Request::Close(statement));
        }
    }

    /// Logs and counts an error, and makes a lost connection again where its error is ignored.
    fn failed(&mut self, failure: Failure, function: &str, text: &[u8]) -> CallFailure {
        let Failure::Refused(refusal) = failure else {
            return CallFailure::misuse();
        };
        if !self.core.errors.ignores(refusal.code) {
            let (code, message) = (refusal.code, &refusal.message);
            let text = String::from_utf8_lossy(text);
            self.log(
                Level::Fatal,
                &format!("{function} returned error {code} ({message}) for query '{text}'"),
            );
            self.core.host.borrow_mut().count(Counter::Error);
            return CallFailure {
                severity: Severity::Fatal,
                refusal: Some(refusal),
            };
        }
        if LOST_CONNECTION.contains(&refusal.code) {
            if let Err(failed) = self.reconnect() {
                return failed;
            }
        } else {
            self.core.host.borrow_mut().count(Counter::Error);
        }
        CallFailure {
            severity: Severity::Ignorable,
            refusal: Some(refusal),
        }
    }

    pub(super) fn reconnect(&mut self) -> Result<(), CallFailure> {
        *self.connection = Connection::default();
        let made = self.core.host.borrow_mut().reconnect(self.number);
        if made.is_err() {
            return Err(CallFailure::misuse());
        }
        self.connection.is_open = true;
        self.core.host.borrow_mut().count(Counter::Reconnect);
        Ok(())
    }

    pub(super) fn disconnect(&mut self) {
        if !self.connection.is_open {
            self.log(
                Level::Alert,
                "attempt to close an already closed connection",
            );
            return;
        }
        *self.connection = Connection::default();
        self.core.host.borrow_mut().disconnect(self.number);
    }

    pub(super) fn bulk_next(&mut self, row: Vec<u8>) -> Result<Option<Ask>, CallFailure> {
        let Some(bulk) = &mut self.connection.bulk else {
            self.log(
                Level::Alert,
                "attempt to call bulk_insert_next() before bulk_insert_init()",
            );
            return Err(CallFailure::misuse());
        };
        if bulk.has_room(&row) || bulk.rows == 0 {
            return self.push_row(&row).map(|()| None);
        }
        let sql = bulk.take();
        let row = Some(row);
        Ok(Some(Ask::Bulk { sql, row }))
    }

    fn push_row(&mut self, row: &[u8]) -> Result<(), CallFailure> {
        let bulk = self.connection.bulk.as_mut();
        if let Some(bulk) = bulk.filter(|bulk| bulk.has_room(row)) {
            bulk.push(row);
            return Ok(());
        }
        self.log(
            Level::Fatal,
            "a row of a bulk insert is larger than its buffer",
        );
        Err(CallFailure::misuse())
    }

    pub(super) fn bulk_done(&mut self) -> Option<Ask> {
        let bulk = self.connection.bulk.take();
        bulk.filter(|bulk| bulk.rows > 0).map(|bulk| Ask::Bulk {
            sql: bulk.text,
            row: None,
        })
    }
}
