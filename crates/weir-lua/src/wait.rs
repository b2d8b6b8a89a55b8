//! The calls of a script that wait, all through one function.
//!
//! Each has two halves: [`begin`] says what is to be asked of a server, and [`finish`] turns its reply into
//! values. A host that waits in place has both within `core.wait` ([`call`]); a coroutine in a reactor goes
//! away between them.

mod arguments;
mod asked;
pub(crate) mod in_place;
mod on_connection;

use std::rc::Rc;

use mlua::{IntoLuaMulti as _, Lua, MultiValue};

use self::arguments::Arguments;
pub use self::asked::Pending;
pub(crate) use self::asked::names;
use self::asked::{Answered, Failed, First, OPERATIONS, Operation};
use self::on_connection::Call;
pub(crate) use self::on_connection::{begin_bulk, open};
use crate::core::Core;
use crate::host::{Failure, Refusal, Reply};

/// A call's first half.
pub(crate) enum Begun {
    /// There is nothing to ask.
    Done(MultiValue),
    /// This is to be asked.
    Asks(Pending),
}

/// `core.wait`.
pub(crate) fn call(lua: &Lua, core: &Rc<Core>, arguments: MultiValue) -> mlua::Result<MultiValue> {
    match begin(lua, core, arguments)? {
        Begun::Done(values) => Ok(values),
        Begun::Asks(pending) => {
            let reply = answer(core, &pending);
            finish(lua, core, pending, reply)
        }
    }
}

/// The host's answer, waited for in place.
pub(crate) fn answer(core: &Core, pending: &Pending) -> Result<Reply, Failure> {
    let mut host = core.host.borrow_mut();
    host.request(pending.connection, pending.request())
}

/// The first half of a call.
pub(crate) fn begin(lua: &Lua, core: &Rc<Core>, arguments: MultiValue) -> mlua::Result<Begun> {
    let mut arguments = Arguments(arguments);
    let operation = arguments
        .number()
        .and_then(|number| OPERATIONS.get(number as usize));
    let Some((_, operation)) = operation else {
        return Err(mlua::Error::runtime("no such operation"));
    };
    match operation {
        Operation::MoreEvents => {
            let has_more = core.host.borrow_mut().has_more_events();
            return Ok(Begun::Done(has_more.into_lua_multi(lua)?));
        }
        Operation::Connect => {
            let outcome = connect(lua, core)?;
            return Ok(Begun::Done(values(lua, outcome)?));
        }
        _ => {}
    }
    let number = arguments.number().unwrap_or(0);
    let first = Call::on(core, number, |call| {
        let first = call.begin(*operation, &mut arguments);
        if let Ok(First::Ask(_)) = &first {
            call.drain(*operation);
        }
        first
    });
    let outcome = match first {
        Ok(First::Ask(ask)) => {
            return Ok(Begun::Asks(Pending {
                connection: number,
                ask,
            }));
        }
        Ok(First::Now(answered)) => Ok(answered),
        Err(failed) => Err(failed),
    };
    Ok(Begun::Done(told(lua, outcome)?))
}

/// The second half of a call.
pub(crate) fn finish(
    lua: &Lua,
    core: &Rc<Core>,
    pending: Pending,
    reply: Result<Reply, Failure>,
) -> mlua::Result<MultiValue> {
    told(lua, conclude(core, pending, reply))
}

/// What a reply means, and its rows kept.
fn conclude(
    core: &Rc<Core>,
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

/// What a call gives, as values.
fn told(lua: &Lua, answered: Result<Answered, Failed>) -> mlua::Result<MultiValue> {
    let outcome = match answered {
        Ok(Answered::Nothing) => Ok(MultiValue::new()),
        Ok(Answered::Set(number, rows, fields)) => Ok((number, rows, fields).into_lua_multi(lua)?),
        Ok(Answered::Prepared(number, parameters)) => Ok((number, parameters).into_lua_multi(lua)?),
        Err(failed) => Err(failed),
    };
    values(lua, outcome)
}

/// What the prelude gets: a failed call begins with `false`.
fn values(lua: &Lua, outcome: Result<MultiValue, Failed>) -> mlua::Result<MultiValue> {
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

fn connect(lua: &Lua, core: &Rc<Core>) -> mlua::Result<Result<MultiValue, Failed>> {
    Ok(match open(core) {
        Ok(number) => Ok(number.into_lua_multi(lua)?),
        Err(failed) => Err(failed),
    })
}
