//! The calls of a script that wait, all through one function.
//!
//! Each has two halves: [`begin`] says what is to be asked of a server, and [`finish`] turns its reply into
//! values. A host that waits in place has both within `core.wait` (`entry.rs`); a coroutine in a reactor goes
//! away between them.

mod arguments;
mod call_result;
mod entry;
pub(crate) mod in_place;
mod on_connection;
mod request;
mod rows;

use self::arguments::Arguments;
pub(crate) use self::call_result::CallResult;
pub(crate) use self::entry::Waits;
use self::on_connection::Call;
pub(crate) use self::on_connection::{begin_bulk, open};
pub use self::request::PendingRequest;
pub(crate) use self::request::names;
use self::request::{CallAnswer, CallFailure, First, OPERATIONS, Operation};
use crate::lua::host::{Failure, Reply};
use crate::lua::state_data::Core;

/// A call's first half.
enum CallStart {
    /// There is nothing to ask.
    Done(CallResult),
    /// This is to be asked.
    Asks(PendingRequest),
}

/// The host's answer, waited for in place.
fn answer(core: &Core, pending: &PendingRequest) -> Result<Reply, Failure> {
    let mut host = core.host.borrow_mut();
    host.request(pending.connection, pending.request())
}

/// The first half of a call.
fn begin(core: &Core, arguments: &mut Arguments) -> CallStart {
    let operation = arguments
        .number()
        .and_then(|number| OPERATIONS.get(number as usize));
    let Some((_, operation)) = operation else {
        return CallStart::Done(CallResult::Failed(CallFailure::misuse()));
    };
    match operation {
        Operation::MoreEvents => {
            let has_more = core.host.borrow_mut().has_more_events();
            return CallStart::Done(CallResult::HasMore(has_more));
        }
        Operation::Connect => {
            return CallStart::Done(
                open(core).map_or_else(CallResult::Failed, CallResult::Connection),
            );
        }
        _ => {}
    }
    let number = arguments.number().unwrap_or(0);
    let first = Call::on(core, number, |call| {
        let first = call.begin(*operation, arguments);
        if let Ok(First::Ask(_)) = &first {
            call.drain(*operation);
        }
        first
    });
    match first {
        Ok(First::Ask(ask)) => CallStart::Asks(PendingRequest {
            connection: number,
            ask,
        }),
        Ok(First::Now(answered)) => CallStart::Done(CallResult::Answered(answered)),
        Err(failed) => CallStart::Done(CallResult::Failed(failed)),
    }
}

/// The second half of a call.
pub(crate) fn finish(
    core: &Core,
    pending: PendingRequest,
    reply: Result<Reply, Failure>,
) -> CallResult {
    conclude(core, pending, reply).into()
}

/// Handles a reply, and keeps its rows.
fn conclude(
    core: &Core,
    pending: PendingRequest,
    reply: Result<Reply, Failure>,
) -> Result<CallAnswer, CallFailure> {
    Call::on(core, pending.connection, |call| {
        if let Ok(reply) = &reply {
            call.connection.has_more = reply.has_more();
        }
        call.finish(pending.ask, reply)
    })
}
