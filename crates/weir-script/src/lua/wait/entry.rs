//! The function of C that all calls of a script go through.

#![allow(unsafe_code)] // functions of C

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mlua::ffi::{self, lua_State};
use mlua::{Function, LightUserData, Lua, Table};

use super::arguments::Arguments;
use super::request::PendingRequest;
use super::{CallStart, begin, in_place, rows};
use crate::lua::state_data::Core;

unsafe extern "C-unwind" {
    /// Returns non-zero if `lua_yield` is possible; of `LuaJIT`, and not in Lua 5.1's header.
    fn lua_isyieldable(state: *mut lua_State) -> c_int;
}

/// Data that `core.wait` needs of its state.
#[derive(Debug)]
pub(crate) struct Waits {
    core: Rc<Core>,
    /// The events are a coroutine of an engine's: what waits goes away.
    yields: bool,
    /// Request that the coroutine has gone away for.
    pending: RefCell<Option<PendingRequest>>,
}

impl Waits {
    pub(crate) fn new(core: &Rc<Core>, yields: bool) -> Rc<Self> {
        Rc::new(Self {
            core: Rc::clone(core),
            yields,
            pending: RefCell::default(),
        })
    }

    /// Gives the prelude `core.wait` and its like, and the mark of yields that are the engine's.
    ///
    /// They are plain functions of C: arguments are read on Lua's stack, and values left there. The binding's own
    /// functions make lists of references of both, which costs more than all else that a script does for a statement.
    ///
    /// # Safety
    ///
    /// `self` lives longer than the interpreter.
    pub(crate) unsafe fn give(self: &Rc<Self>, lua: &Lua, table: &Table) -> mlua::Result<()> {
        let function = |function: ffi::lua_CFunction| -> mlua::Result<Function> {
            // SAFETY: both values are Lua's own.
            unsafe {
                lua.exec_raw((), |state| {
                    ffi::lua_pushlightuserdata(state, self.mark());
                    ffi::lua_pushcclosure(state, function, 1);
                })
            }
        };
        table.set("mark", LightUserData(self.mark()))?;
        table.set("wait", function(wait)?)?;
        table.set("settle", function(settle)?)?;
        table.set("fetch", function(fetch)?)?;
        table.set("row", function(row)?)
    }

    /// Returns the value that a coroutine yields first if it waits for the engine.
    pub(crate) fn mark(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// Returns the request that the coroutine has gone away for.
    pub(crate) fn pending(&self) -> Option<PendingRequest> {
        self.pending.take()
    }
}

/// # Safety
///
/// A function that [`Waits::give`] gave runs in this state.
unsafe fn waits_of<'a>(state: *mut lua_State) -> &'a Waits {
    // SAFETY: as the function asks of its caller: the upvalue is one that lives.
    unsafe { &*ffi::lua_touserdata(state, ffi::lua_upvalueindex(1)).cast::<Waits>() }
}

/// `core.wait`: does a call. In a coroutine of an engine's it goes away to wait, wherever that is possible; elsewhere it
/// waits in place.
unsafe extern "C-unwind" fn wait(state: *mut lua_State) -> c_int {
    // SAFETY: LuaJIT calls this with a stack that has room for 20 values beside the arguments.
    unsafe {
        let waits = waits_of(state);
        let pending = match begin(&waits.core, &mut Arguments::new(state)) {
            CallStart::Done(given) => return given.push(state),
            CallStart::Asks(pending) => pending,
        };
        if waits.yields && lua_isyieldable(state) != 0 {
            waits.pending.replace(Some(pending));
            ffi::lua_pushlightuserdata(state, waits.mark());
            return ffi::lua_yield(state, 1);
        }
        in_place::done(&waits.core, pending).push(state)
    }
}

/// `core.settle`: waits in place for what a coroutine of the script's has gone away for.
unsafe extern "C-unwind" fn settle(state: *mut lua_State) -> c_int {
    // SAFETY: as above.
    unsafe {
        let waits = waits_of(state);
        let pending = waits.pending.take();
        pending.map_or(0, |pending| {
            in_place::done(&waits.core, pending).push(state)
        })
    }
}

/// `core.fetch`: the next row of a result set.
unsafe extern "C-unwind" fn fetch(state: *mut lua_State) -> c_int {
    // SAFETY: as above.
    unsafe { rows::fetch(&waits_of(state).core, state) }
}

/// `core.row`: the same as values.
unsafe extern "C-unwind" fn row(state: *mut lua_State) -> c_int {
    // SAFETY: as above.
    unsafe { rows::row(&waits_of(state).core, state) }
}
