//! Calls from C: each is asked and waited for in place.

use super::on_connection::{CLOSED, Call};
use super::request::{Ask, CallAnswer, CallFailure, First, Operation, PendingRequest, Severity};
use super::{CallResult, answer, conclude};
use crate::lua::host::{Level, Parameter, Refusal};
use crate::lua::state_data::Core;
use crate::lua::statement::{ParameterKind, ScriptStatement};

/// Reason that a call from C failed: with an error that is ignored, another, or none of the
/// server's.
pub(crate) type CallRefusal = Option<(bool, Refusal)>;

/// Waits for what a call asks.
pub(super) fn done(core: &Core, pending: PendingRequest) -> CallResult {
    let reply = answer(core, &pending);
    conclude(core, pending, reply).into()
}

fn refused(failed: CallFailure) -> CallRefusal {
    let is_ignored = failed.severity == Severity::Ignorable;
    failed.refusal.map(|refusal| (is_ignored, refusal))
}

/// Does one call on a connection, and waits for its answer.
fn in_place(
    core: &Core,
    number: u32,
    operation: Operation,
    first: impl FnOnce(&mut Call<'_>) -> Result<First, CallFailure>,
) -> Result<CallAnswer, CallFailure> {
    let first = Call::on(core, number, |call| {
        if !call.connection.is_open {
            call.log(Level::Alert, CLOSED);
            return Err(CallFailure::misuse());
        }
        let first = first(call)?;
        if let First::Ask(_) = &first {
            call.drain(operation);
        }
        Ok(first)
    });
    let ask = match first? {
        First::Now(answered) => return Ok(answered),
        First::Ask(ask) => ask,
    };
    let pending = PendingRequest {
        connection: number,
        ask,
    };
    let reply = answer(core, &pending);
    conclude(core, pending, reply)
}

/// Runs a text; number, rows and fields of its result set, if it has one.
pub(crate) fn query(
    core: &Core,
    number: u32,
    text: Vec<u8>,
) -> Result<Option<(u32, usize, usize)>, CallRefusal> {
    let ask = |_: &mut Call<'_>| Ok(First::Ask(Ask::Query(text)));
    match in_place(core, number, Operation::Query, ask) {
        Ok(CallAnswer::Set(number, rows, fields)) => Ok(Some((number, rows, fields))),
        Ok(_) => Ok(None),
        Err(failed) => Err(refused(failed)),
    }
}

/// Prepares a text; number and parameters of the statement.
pub(crate) fn prepare(
    core: &Core,
    number: u32,
    text: Vec<u8>,
) -> Result<(u32, usize), CallRefusal> {
    let first = |call: &mut Call<'_>| {
        if call.core.sends_text {
            return Ok(First::Now(call.keep(ScriptStatement::of_text(&text))));
        }
        Ok(First::Ask(Ask::Prepare(text)))
    };
    match in_place(core, number, Operation::Prepare, first) {
        Ok(CallAnswer::Prepared(number, parameters)) => Ok((number, parameters)),
        Ok(_) => Err(None),
        Err(failed) => Err(refused(failed)),
    }
}

/// Says of which kinds the values of a statement are; whether there are as many as it takes.
pub(crate) fn bind(core: &Core, number: u32, statement: u32, kinds: Vec<ParameterKind>) -> bool {
    let bound = Call::on(core, number, |call| {
        let prepared = call.connection.statements.get_mut(&statement);
        let prepared = prepared.filter(|prepared| prepared.parameters == kinds.len());
        prepared.map(|prepared| prepared.kinds = kinds)
    });
    bound.is_some()
}

/// Executes a statement with these values; number, rows and fields of its result set, if it has one.
pub(crate) fn execute(
    core: &Core,
    number: u32,
    statement: u32,
    values: Vec<Parameter>,
) -> Result<Option<(u32, usize, usize)>, CallRefusal> {
    let ask = |call: &mut Call<'_>| {
        let ask = call.execute_with(statement, |_| values);
        ask.map(First::Ask)
    };
    match in_place(core, number, Operation::Execute, ask) {
        Ok(CallAnswer::Set(number, rows, fields)) => Ok(Some((number, rows, fields))),
        Ok(_) => Ok(None),
        Err(failed) => Err(refused(failed)),
    }
}

/// Forgets a statement.
pub(crate) fn close_statement(core: &Core, number: u32, statement: u32) -> Result<(), CallRefusal> {
    let close = |call: &mut Call<'_>| {
        call.close_statement(statement);
        Ok(First::Now(CallAnswer::Nothing))
    };
    let done = in_place(core, number, Operation::CloseStatement, close);
    done.map(drop).map_err(refused)
}

/// Adds a row to a bulk insert, or sends the rest.
pub(crate) fn insert(core: &Core, number: u32, row: Option<Vec<u8>>) -> Result<(), CallRefusal> {
    let operation = match row {
        Some(_) => Operation::BulkNext,
        None => Operation::BulkDone,
    };
    let first = |call: &mut Call<'_>| match row {
        Some(row) => call.bulk_next(row).map(First::from),
        None => Ok(call.bulk_done().into()),
    };
    let done = in_place(core, number, operation, first);
    done.map(drop).map_err(refused)
}

/// Closes a connection.
pub(crate) fn close(core: &Core, number: u32) -> Result<(), CallRefusal> {
    let close = |call: &mut Call<'_>| {
        call.disconnect();
        Ok(First::Now(CallAnswer::Nothing))
    };
    let done = in_place(core, number, Operation::Disconnect, close);
    done.map(drop).map_err(refused)
}

/// Opens a connection again.
pub(crate) fn open_again(core: &Core, number: u32) -> Result<(), CallRefusal> {
    let again = |call: &mut Call<'_>| {
        call.reconnect()?;
        Ok(First::Now(CallAnswer::Nothing))
    };
    let done = in_place(core, number, Operation::Reconnect, again);
    done.map(drop).map_err(refused)
}
