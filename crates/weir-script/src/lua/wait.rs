//! The calls of a script that wait, all through one function.
//!
//! Each has two halves: [`begin`] says what is to be asked of a server, and [`finish`] turns its reply into
//! values. A host that waits in place has both within `core.wait` (`entry.rs`); a coroutine in a reactor goes
//! away between them.

mod arguments;
mod asked;
mod entry;
mod given;
pub(crate) mod in_place;
mod on_connection;
mod rows;

use self::arguments::Arguments;
pub use self::asked::Pending;
pub(crate) use self::asked::names;
use self::asked::{Answered, Failed, First, OPERATIONS, Operation};
pub(crate) use self::entry::Waits;
pub(crate) use self::given::Given;
use self::on_connection::Call;
pub(crate) use self::on_connection::{begin_bulk, open};
use crate::lua::core::Core;
use crate::lua::host::{Failure, Reply};

/// A call's first half.
enum Begun {
    /// There is nothing to ask.
    Done(Given),
    /// This is to be asked.
    Asks(Pending),
}

/// The host's answer, waited for in place.
fn answer(core: &Core, pending: &Pending) -> Result<Reply, Failure> {
    let mut host = core.host.borrow_mut();
    host.request(pending.connection, pending.request())
}

/// The first half of a call.
fn begin(core: &Core, arguments: &mut Arguments) -> Begun {
    let operation = arguments
        .number()
        .and_then(|number| OPERATIONS.get(number as usize));
    let Some((_, operation)) = operation else {
        return Begun::Done(Given::Failed(Failed::misuse()));
    };
    match operation {
        Operation::MoreEvents => {
            let has_more = core.host.borrow_mut().has_more_events();
            return Begun::Done(Given::HasMore(has_more));
        }
        Operation::Connect => {
            return Begun::Done(open(core).map_or_else(Given::Failed, Given::Connection));
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
        Ok(First::Ask(ask)) => Begun::Asks(Pending {
            connection: number,
            ask,
        }),
        Ok(First::Now(answered)) => Begun::Done(Given::Answered(answered)),
        Err(failed) => Begun::Done(Given::Failed(failed)),
    }
}

/// The second half of a call.
pub(crate) fn finish(core: &Core, pending: Pending, reply: Result<Reply, Failure>) -> Given {
    conclude(core, pending, reply).into()
}

/// What a reply means, and its rows kept.
fn conclude(
    core: &Core,
    pending: Pending,
    reply: Result<Reply, Failure>,
) -> Result<Answered, Failed> {
    Call::on(core, pending.connection, |call| {
        if let Ok(reply) = &reply {
            call.connection.has_more = reply.has_more();
        }
        call.finish(pending.ask, reply)
    })
}
