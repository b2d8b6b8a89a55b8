//! The events of a thread as a coroutine, for an engine that drives many.

#![allow(unsafe_code)] // a coroutine's stack

use std::ffi::c_int;

use mlua::ffi::{self, lua_State};
use mlua::{Function, Table, Thread, Value};

use super::{State, first_words};
use crate::lua::ScriptError;
use crate::lua::host::{Failure, Reply};
use crate::lua::state_data::enter;
use crate::lua::wait::{self, PendingRequest};

/// Key of the registry for the core of the prelude.
pub(super) const CORE: &str = "weir.core";

/// Step that a coroutine has come to.
#[derive(Debug)]
pub enum CoroutineStep {
    /// It waits for a reply.
    Asks(PendingRequest),
    /// It waits for so many seconds.
    Sleeps(f64),
    /// An event is complete; `ends_loop`: it was the last, and counts for nothing.
    Event {
        /// `event` returned something.
        ends_loop: bool,
    },
    /// The thread has said its last words.
    Ended,
    /// An error of the script's.
    Failed(ScriptError),
}

/// A thread's events, or its last words, in a coroutine.
#[derive(Debug)]
pub struct Events {
    coroutine: Thread,
    /// Argument of its first call.
    first: Option<u32>,
    function: &'static str,
}

impl State {
    /// The thread's events.
    ///
    /// # Errors
    ///
    /// A state that was made for a thread of its own.
    pub fn events(&self, thread: u32) -> Result<Events, ScriptError> {
        self.coroutine("events", "thread_run", thread)
    }

    /// The thread's last words: its function `thread_done`.
    ///
    /// # Errors
    ///
    /// As [`Self::events`].
    pub fn last_words(&self, thread: u32) -> Result<Events, ScriptError> {
        self.coroutine("last_words", "thread_done", thread)
    }

    fn coroutine(
        &self,
        name: &str,
        function: &'static str,
        thread: u32,
    ) -> Result<Events, ScriptError> {
        let core: Table = self.lua.named_registry_value(CORE)?;
        let body: Function = core.get(name)?;
        Ok(Events {
            coroutine: self.lua.create_thread(body)?,
            first: Some(thread),
            function,
        })
    }

    /// Returns true if the script has a loop of its own in the place of the engine's.
    pub fn has_own_loop(&self) -> bool {
        self.asks_core("has_own_loop")
    }

    /// Returns true if the script has loaded modules that are not Lua: their waits cannot be seen.
    pub fn has_c_modules(&self) -> bool {
        self.asks_core("has_c_modules")
    }

    fn asks_core(&self, name: &str) -> bool {
        let core = self.lua.named_registry_value::<Table>(CORE);
        let asked = core.and_then(|core| core.get::<Function>(name)?.call(()));
        asked.unwrap_or(true)
    }

    /// Numbers of the connections that are open.
    pub fn open_connections(&self) -> Vec<u32> {
        let connections = self.core.connections.borrow();
        let open = connections.iter().filter(|(_, c)| c.is_open);
        open.map(|(number, _)| *number).collect()
    }

    /// Switches the compiler of this state off.
    ///
    /// # Errors
    ///
    /// A script that has taken `jit` away.
    pub fn stop_compiling(&self) -> Result<(), ScriptError> {
        let jit: Table = self.lua.globals().get("jit")?;
        Ok(jit.get::<Function>("off")?.call(())?)
    }

    /// Collects all garbage: what a script leaves before its events should not be collected among them.
    ///
    /// # Errors
    ///
    /// What a finaliser raises.
    pub fn collect(&self) -> Result<(), ScriptError> {
        let _entered = enter(&self.core);
        Ok(self.lua.gc_collect()?)
    }

    /// Goes on: from the beginning of an event, or from a sleep.
    pub fn go_on(&self, events: &mut Events) -> CoroutineStep {
        let _entered = enter(&self.core);
        let thread = events.coroutine.state();
        // SAFETY: the coroutine is one of this state's that waits, with room for a number.
        unsafe {
            let first = events.first.take();
            let count = first.map_or(0, |thread_number| {
                ffi::lua_pushnumber(thread, thread_number.into());
                1
            });
            self.resume(events, count)
        }
    }

    /// Goes on with the reply that was waited for.
    pub fn replied(
        &self,
        events: &mut Events,
        pending: PendingRequest,
        reply: Result<Reply, Failure>,
    ) -> CoroutineStep {
        let _entered = enter(&self.core);
        let given = wait::finish(&self.core, pending, reply);
        // SAFETY: as above; room for five values is there, as in any function of C.
        unsafe {
            let count = given.push(events.coroutine.state());
            self.resume(events, count)
        }
    }

    /// Lets the coroutine go on with the `count` values on its stack, and says what it has come to.
    ///
    /// # Safety
    ///
    /// The coroutine waits, and the values are there.
    unsafe fn resume(&self, events: &Events, count: c_int) -> CoroutineStep {
        let thread = events.coroutine.state();
        // SAFETY: as the function asks of its caller.
        let status = unsafe { ffi::lua_resume_(thread, count) };
        if status == ffi::LUA_YIELD {
            // SAFETY: what was yielded is on the stack.
            let turned = unsafe { self.yielded(events, thread) };
            // SAFETY: these values are not wanted any more.
            unsafe { ffi::lua_settop(thread, 0) };
            return turned;
        }
        if status == ffi::LUA_OK {
            return CoroutineStep::Ended;
        }
        // SAFETY: an error is on the coroutine's stack; it goes to the state's own, where the binding takes it.
        let error = unsafe {
            self.lua.exec_raw::<Value>((), |state| {
                ffi::lua_xmove(thread, state, 1);
            })
        };
        CoroutineStep::Failed(ScriptError::Function {
            function: events.function.to_owned(),
            why: match error {
                Ok(Value::String(why)) => why.to_string_lossy(),
                Ok(Value::Error(error)) => first_words(&error),
                Err(error) => first_words(&error),
                Ok(_) => "(not a string)".to_owned(),
            },
        })
    }

    /// Returns the meaning of a coroutine's yield: the engine's mark, and a word unless it waits
    /// for a reply.
    ///
    /// # Safety
    ///
    /// The coroutine has yielded.
    unsafe fn yielded(&self, events: &Events, thread: *mut lua_State) -> CoroutineStep {
        let failed = |why: String| {
            CoroutineStep::Failed(ScriptError::Function {
                function: events.function.to_owned(),
                why,
            })
        };
        // SAFETY: as the function asks of its caller; indexes behind the last value have no type.
        unsafe {
            if ffi::lua_touserdata(thread, 1) != self.waits.mark() {
                return failed("attempt to yield outside of a coroutine".to_owned());
            }
            let text = |index| {
                let mut length = 0;
                let bytes = ffi::lua_tolstring(thread, index, &raw mut length);
                if bytes.is_null() {
                    return Vec::new();
                }
                std::slice::from_raw_parts(bytes.cast::<u8>(), length).to_vec()
            };
            if ffi::lua_type(thread, 2) != ffi::LUA_TSTRING {
                return match self.waits.pending() {
                    Some(pending) => CoroutineStep::Asks(pending),
                    None => failed("attempt to yield outside of a coroutine".to_owned()),
                };
            }
            match text(2).as_slice() {
                b"sleep" => CoroutineStep::Sleeps(ffi::lua_tonumber(thread, 3)),
                b"done" => CoroutineStep::Event {
                    ends_loop: ffi::lua_toboolean(thread, 3) != 0,
                },
                b"ended" => CoroutineStep::Ended,
                _ => failed(String::from_utf8_lossy(&text(3)).into_owned()),
            }
        }
    }
}

/// A state that is handed from thread to thread, one after the other.
#[derive(Debug)]
pub struct MovableState<T>(T);

// SAFETY: a state and what hangs on it have no ties to the thread that made them: LuaJIT's states have none,
// and all reference counts into them lie in `T` itself, which moves as a whole.
unsafe impl<T> Send for MovableState<T> {}

impl<T> MovableState<T> {
    /// Wraps a value that is to be handed on; all that shares memory with it without locks has to
    /// be in it.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value that was handed on.
    pub fn get(&mut self) -> &mut T {
        &mut self.0
    }

    /// The same, for good.
    pub fn into_inner(self) -> T {
        self.0
    }
}
