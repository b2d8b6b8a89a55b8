//! The calls of a script that wait, all through one function.
//!
//! Each is: make the request, hand it to the host, turn the reply into values. The prelude calls
//! [`call`] as `core.wait(operation, connection, ...)` and nothing else that waits, so that a host which
//! must not wait in place has this one function to replace by one of the C interface that yields.

use std::rc::Rc;

use mlua::{IntoLuaMulti as _, Lua, MultiValue, Value};

use crate::core::{Bulk, Connection, Core, Open};
use crate::host::{Counter, Failure, Level, Parameter, Refusal, Reply, Request};
use crate::statement::{How, ParameterKind, Prepared, with_values};

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Connect,
    Reconnect,
    Disconnect,
    Query,
    Prepare,
    Execute,
    CloseStatement,
    NextResult,
    BulkNext,
    BulkDone,
    MoreEvents,
}

/// Each with its name for the prelude, in the order of the prelude's numbers.
const OPERATIONS: [(&str, Operation); 11] = [
    ("CONNECT", Operation::Connect),
    ("RECONNECT", Operation::Reconnect),
    ("DISCONNECT", Operation::Disconnect),
    ("QUERY", Operation::Query),
    ("PREPARE", Operation::Prepare),
    ("EXECUTE", Operation::Execute),
    ("CLOSE_STATEMENT", Operation::CloseStatement),
    ("NEXT_RESULT", Operation::NextResult),
    ("BULK_NEXT", Operation::BulkNext),
    ("BULK_DONE", Operation::BulkDone),
    ("MORE_EVENTS", Operation::MoreEvents),
];

/// The names of the prelude's operations, in the order of their numbers.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    OPERATIONS.iter().map(|(name, _)| *name)
}

/// The server cannot prepare this text (`ER_UNSUPPORTED_PS`).
const UNSUPPORTED_AS_PREPARED: u16 = 1295;
/// Not all parameters were bound (`CR_PARAMS_NOT_BOUND`).
const PARAMETERS_NOT_BOUND: u16 = 2031;
/// Errors after which a connection is made again: `CR_SERVER_GONE_ERROR`, `CR_TCP_CONNECTION`,
/// `CR_SERVER_LOST`, `CR_SERVER_LOST_EXTENDED`.
const LOST: [u16; 4] = [2006, 2011, 2013, 2055];
const CLOSED: &str = "attempt to use an already closed connection";

/// What an error means for the script; the numbers are the prelude's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    /// The event is to be tried again.
    Ignorable = 1,
    /// The hook decides.
    Fatal = 2,
    /// There is no number and no text: `SQL API error`.
    Misuse = 3,
}

/// A failed call, as the prelude learns of it.
struct Failed {
    severity: Severity,
    refusal: Option<Refusal>,
}

type Outcome = Result<MultiValue, Failed>;

/// `core.wait`.
pub(crate) fn call(lua: &Lua, core: &Rc<Core>, arguments: MultiValue) -> mlua::Result<MultiValue> {
    let mut arguments = Arguments(arguments);
    let operation = arguments
        .number()
        .and_then(|number| OPERATIONS.get(number as usize));
    let Some((_, operation)) = operation else {
        return Err(mlua::Error::runtime("no such operation"));
    };
    let outcome = perform(lua, core, *operation, &mut arguments)?;
    outcome.or_else(|failed| {
        let severity = failed.severity as i32;
        let refusal = failed.refusal.unwrap_or(Refusal {
            code: 0,
            state: String::new(),
            message: String::new(),
            place: String::new(),
        });
        let (state, message) = (
            lua.create_string(refusal.state)?,
            lua.create_string(refusal.message)?,
        );
        (false, severity, refusal.code, state, message).into_lua_multi(lua)
    })
}

fn perform(
    lua: &Lua,
    core: &Rc<Core>,
    operation: Operation,
    arguments: &mut Arguments,
) -> mlua::Result<Outcome> {
    let none = || Ok(Ok(MultiValue::new()));
    if operation == Operation::MoreEvents {
        let has_more = core.host.borrow_mut().has_more_events();
        return Ok(Ok(has_more.into_lua_multi(lua)?));
    }
    if operation == Operation::Connect {
        return connect(lua, core);
    }
    let number = arguments.number().unwrap_or(0);
    let mut connections = core.connections.borrow_mut();
    let connection = connections.entry(number).or_default();
    let mut call = Call {
        core,
        number,
        connection,
    };
    match operation {
        Operation::Reconnect => return Ok(call.reconnect().map(|()| MultiValue::new())),
        Operation::Disconnect => {
            call.disconnect();
            return none();
        }
        _ if !call.connection.is_open => {
            core.host.borrow_mut().log(Level::Alert, CLOSED);
            return Ok(Err(Failed::misuse()));
        }
        _ => {}
    }
    match operation {
        Operation::Query => {
            let text = arguments.text().unwrap_or_default();
            let done = call.query(&text);
            reply(lua, done)
        }
        Operation::Prepare => {
            let text = arguments.text().unwrap_or_default();
            match call.prepare(&text) {
                Ok((number, parameters)) => Ok(Ok((number, parameters).into_lua_multi(lua)?)),
                Err(failed) => Ok(Err(failed)),
            }
        }
        Operation::Execute => {
            let done = call.execute(arguments);
            reply(lua, done)
        }
        Operation::CloseStatement => {
            call.close_statement(arguments.number().unwrap_or(0));
            none()
        }
        Operation::NextResult => {
            let done = call.next_result();
            reply(lua, done)
        }
        Operation::BulkNext => {
            let row = arguments.text().unwrap_or_default();
            Ok(call.bulk_next(&row).map(|()| MultiValue::new()))
        }
        Operation::BulkDone => Ok(call.bulk_done().map(|()| MultiValue::new())),
        Operation::Connect
        | Operation::Reconnect
        | Operation::Disconnect
        | Operation::MoreEvents => none(),
    }
}

/// Nothing for a statement without a result set; else number, rows and fields of the set.
fn reply(lua: &Lua, done: Result<Option<(u32, usize, usize)>, Failed>) -> mlua::Result<Outcome> {
    Ok(match done {
        Ok(None) => Ok(MultiValue::new()),
        Ok(Some(set)) => Ok(set.into_lua_multi(lua)?),
        Err(failed) => Err(failed),
    })
}

fn connect(lua: &Lua, core: &Rc<Core>) -> mlua::Result<Outcome> {
    let connected = core.host.borrow_mut().connect();
    match connected {
        Ok(number) => {
            let connection = Connection {
                is_open: true,
                ..Connection::default()
            };
            core.connections.borrow_mut().insert(number, connection);
            Ok(Ok(number.into_lua_multi(lua)?))
        }
        Err(Failure::Stopped) => Ok(Err(Failed::misuse())),
        Err(Failure::Refused(refusal)) => {
            let mut host = core.host.borrow_mut();
            let place = &refusal.place;
            let line = format!("unable to connect to MySQL server {place}, aborting...");
            host.log(Level::Fatal, &line);
            let (code, message) = (refusal.code, &refusal.message);
            host.log(Level::Fatal, &format!("error {code}: {message}"));
            Ok(Err(Failed::misuse()))
        }
    }
}

impl Failed {
    fn misuse() -> Self {
        Self {
            severity: Severity::Misuse,
            refusal: None,
        }
    }
}

/// One call on one connection.
struct Call<'a> {
    core: &'a Core,
    number: u32,
    connection: &'a mut Connection,
}

impl Call<'_> {
    fn log(&self, level: Level, line: &str) {
        self.core.host.borrow_mut().log(level, line);
    }

    fn ask(&mut self, request: Request<'_>) -> Result<Reply, Failure> {
        self.connection.result = None;
        if !matches!(request, Request::NextResult) {
            self.drain()?;
        }
        let reply = self.core.host.borrow_mut().request(self.number, request)?;
        self.connection.has_more = reply.has_more();
        Ok(reply)
    }

    /// Takes the results that the script left.
    fn drain(&mut self) -> Result<(), Failure> {
        while std::mem::take(&mut self.connection.has_more) {
            let mut host = self.core.host.borrow_mut();
            let reply = host.request(self.number, Request::NextResult)?;
            self.connection.has_more = reply.has_more();
        }
        Ok(())
    }

    fn query(&mut self, text: &[u8]) -> Result<Option<(u32, usize, usize)>, Failed> {
        match self.ask(Request::Query(text)) {
            Ok(reply) => Ok(self.take(reply)),
            Err(failure) => Err(self.failed(failure, "mysql_drv_query()", text)),
        }
    }

    fn next_result(&mut self) -> Result<Option<(u32, usize, usize)>, Failed> {
        if !self.connection.has_more {
            return Ok(None);
        }
        match self.ask(Request::NextResult) {
            Ok(reply) => Ok(self.take(reply)),
            Err(failure) => Err(self.failed(failure, "mysql_drv_next_result()", b"")),
        }
    }

    /// Counts a reply and keeps its rows.
    fn take(&mut self, reply: Reply) -> Option<(u32, usize, usize)> {
        let counter = match &reply {
            Reply::Rows(_) => Counter::Read,
            Reply::Done { affected_rows, .. } if *affected_rows > 0 => Counter::Write,
            _ => Counter::Other,
        };
        self.core.host.borrow_mut().count(counter);
        let Reply::Rows(rows) = reply else {
            return None;
        };
        let number = self.core.number();
        let told = (number, rows.len(), rows.fields);
        self.connection.result = Some(Open {
            number,
            rows,
            next: 0,
        });
        Some(told)
    }

    fn prepare(&mut self, text: &[u8]) -> Result<(u32, usize), Failed> {
        let prepared = if self.core.sends_text {
            Prepared::of_text(text)
        } else {
            match self.ask(Request::Prepare(text)) {
                Ok(Reply::Prepared {
                    statement,
                    parameters,
                }) => Prepared::of_server(text, statement, parameters.into()),
                Err(Failure::Refused(refusal)) if refusal.code != UNSUPPORTED_AS_PREPARED => {
                    return Err(self.not_prepared(&refusal));
                }
                Err(Failure::Stopped) => return Err(Failed::misuse()),
                _ => Prepared::of_text(text),
            }
        };
        let (number, parameters) = (self.core.number(), prepared.parameters);
        self.connection.statements.insert(number, prepared);
        Ok((number, parameters))
    }

    fn not_prepared(&self, refusal: &Refusal) -> Failed {
        self.log(Level::Fatal, "mysql_stmt_prepare() failed");
        let (code, message) = (refusal.code, &refusal.message);
        self.log(Level::Fatal, &format!("MySQL error: {code} \"{message}\""));
        Failed::misuse()
    }

    fn execute(
        &mut self,
        arguments: &mut Arguments,
    ) -> Result<Option<(u32, usize, usize)>, Failed> {
        let number = arguments.number().unwrap_or(0);
        let Some(prepared) = self.connection.statements.get(&number) else {
            return Err(Failed::misuse());
        };
        let text = Rc::clone(&prepared.text);
        if prepared.kinds.len() != prepared.parameters {
            let refusal = Refusal {
                code: PARAMETERS_NOT_BOUND,
                state: "HY000".to_owned(),
                message: "No data supplied for parameters in prepared statement".to_owned(),
                place: String::new(),
            };
            return Err(self.failed(Failure::Refused(refusal), "mysql_stmt_execute()", &text));
        }
        let kinds = prepared.kinds.iter();
        let values: Vec<_> = kinds.map(|kind| arguments.parameter(*kind)).collect();
        let how = prepared.how.clone();
        let reply = match &how {
            How::Server(statement) => self.ask(Request::Execute {
                statement: *statement,
                values: &values,
            }),
            How::Text(pieces) => self.ask(Request::Query(&with_values(pieces, &values))),
        };
        match reply {
            Ok(reply) => Ok(self.take(reply)),
            Err(failure) => Err(self.failed(failure, "mysql_stmt_execute()", &text)),
        }
    }

    fn close_statement(&mut self, number: u32) {
        let Some(prepared) = self.connection.statements.remove(&number) else {
            return;
        };
        if let How::Server(statement) = prepared.how {
            // The server does not answer; a lost connection shows at the next call.
            let _ = self.ask(Request::Close(statement));
        }
    }

    /// Logs and counts an error, and makes a lost connection again where its error is ignored.
    fn failed(&mut self, failure: Failure, function: &str, text: &[u8]) -> Failed {
        let Failure::Refused(refusal) = failure else {
            return Failed::misuse();
        };
        if !self.core.errors.ignores(refusal.code) {
            let (code, message) = (refusal.code, &refusal.message);
            let text = String::from_utf8_lossy(text);
            self.log(
                Level::Fatal,
                &format!("{function} returned error {code} ({message}) for query '{text}'"),
            );
            self.core.host.borrow_mut().count(Counter::Error);
            return Failed {
                severity: Severity::Fatal,
                refusal: Some(refusal),
            };
        }
        if LOST.contains(&refusal.code) {
            if let Err(failed) = self.reconnect() {
                return failed;
            }
        } else {
            self.core.host.borrow_mut().count(Counter::Error);
        }
        Failed {
            severity: Severity::Ignorable,
            refusal: Some(refusal),
        }
    }

    fn reconnect(&mut self) -> Result<(), Failed> {
        *self.connection = Connection::default();
        let made = self.core.host.borrow_mut().reconnect(self.number);
        if made.is_err() {
            return Err(Failed::misuse());
        }
        self.connection.is_open = true;
        self.core.host.borrow_mut().count(Counter::Reconnect);
        Ok(())
    }

    fn disconnect(&mut self) {
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

    fn bulk_next(&mut self, row: &[u8]) -> Result<(), Failed> {
        let Some(bulk) = &mut self.connection.bulk else {
            self.log(
                Level::Alert,
                "attempt to call bulk_insert_next() before bulk_insert_init()",
            );
            return Err(Failed::misuse());
        };
        if !bulk.has_room(row) {
            if bulk.rows == 0 {
                self.log(
                    Level::Fatal,
                    "a row of a bulk insert is larger than its buffer",
                );
                return Err(Failed::misuse());
            }
            let text = bulk.take();
            self.query(&text)?;
        }
        let bulk = self.connection.bulk.as_mut();
        match bulk.filter(|bulk| bulk.has_room(row)) {
            Some(bulk) => bulk.push(row),
            None => return Err(Failed::misuse()),
        }
        Ok(())
    }

    fn bulk_done(&mut self) -> Result<(), Failed> {
        match self.connection.bulk.take() {
            Some(bulk) if bulk.rows > 0 => self.query(&bulk.text).map(|_| ()),
            _ => Ok(()),
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

/// What a call was given.
struct Arguments(MultiValue);

impl Arguments {
    fn number(&mut self) -> Option<u32> {
        match self.0.pop_front()? {
            Value::Integer(number) => u32::try_from(number).ok(),
            Value::Number(number) => Some(number as u32),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        match self.0.pop_front()? {
            Value::String(text) => Some(text.as_bytes().to_vec()),
            Value::Integer(number) => Some(number.to_string().into_bytes()),
            _ => None,
        }
    }

    /// The next value, as a parameter of this kind.
    fn parameter(&mut self, kind: ParameterKind) -> Parameter {
        let value = self.0.pop_front().unwrap_or(Value::Nil);
        match (kind, value) {
            (ParameterKind::Integer, Value::Integer(number)) => Parameter::Integer(number),
            (ParameterKind::Integer, Value::Number(number)) => Parameter::Integer(number as i64),
            (ParameterKind::Integer, Value::String(digits)) => integer(&digits.as_bytes()),
            (ParameterKind::Real, Value::Integer(number)) => Parameter::Real(number as f64),
            (ParameterKind::Real, Value::Number(number)) => Parameter::Real(number),
            (ParameterKind::Text, Value::String(text)) => Parameter::Text(text.as_bytes().to_vec()),
            _ => Parameter::Null,
        }
    }
}

/// A 64-bit number as the prelude writes it.
fn integer(digits: &[u8]) -> Parameter {
    let text = String::from_utf8_lossy(digits);
    let signed = text.parse::<i64>().ok();
    let unsigned = || text.parse::<u64>().ok().map(u64::cast_signed);
    signed
        .or_else(unsigned)
        .map_or(Parameter::Null, Parameter::Integer)
}
