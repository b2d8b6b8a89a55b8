//! Results of a call of the prelude, as values on Lua's stack.

#![allow(unsafe_code)] // Lua's stack

use std::ffi::c_int;

use mlua::ffi::{self, lua_State};

use super::request::{CallAnswer, CallFailure};

/// Result of a call.
pub(crate) enum CallResult {
    /// True if there is another event.
    HasMore(bool),
    /// The number of a new connection.
    Connection(u32),
    Answered(CallAnswer),
    Failed(CallFailure),
}

impl From<Result<CallAnswer, CallFailure>> for CallResult {
    fn from(answered: Result<CallAnswer, CallFailure>) -> Self {
        answered.map_or_else(Self::Failed, Self::Answered)
    }
}

impl CallResult {
    /// Pushes the values, how many are returned. A failed call begins with `false`.
    ///
    /// # Safety
    ///
    /// The stack has room for five values.
    pub(crate) unsafe fn push(self, state: *mut lua_State) -> c_int {
        // SAFETY: as the function asks of its caller. Only an interpreter without memory jumps out of here.
        unsafe {
            match self {
                Self::HasMore(has_more) => ffi::lua_pushboolean(state, has_more.into()),
                Self::Connection(number) => ffi::lua_pushnumber(state, number.into()),
                Self::Answered(CallAnswer::Nothing) => return 0,
                Self::Answered(CallAnswer::Set(number, rows, fields)) => {
                    ffi::lua_pushnumber(state, number.into());
                    ffi::lua_pushnumber(state, rows as f64);
                    ffi::lua_pushnumber(state, fields as f64);
                    return 3;
                }
                Self::Answered(CallAnswer::Prepared(number, parameters)) => {
                    ffi::lua_pushnumber(state, number.into());
                    ffi::lua_pushnumber(state, parameters as f64);
                    return 2;
                }
                Self::Failed(failed) => {
                    push_failed(failed, state);
                    return 5;
                }
            }
        }
        1
    }
}

/// # Safety
///
/// As [`CallResult::push`].
unsafe fn push_failed(failed: CallFailure, state: *mut lua_State) {
    let severity = failed.severity as i32;
    let (code, words, message) = failed.refusal.map_or_else(Default::default, |refusal| {
        (refusal.code, refusal.state, refusal.message)
    });
    // SAFETY: as the function asks of its caller.
    unsafe {
        ffi::lua_pushboolean(state, 0);
        ffi::lua_pushnumber(state, severity.into());
        ffi::lua_pushnumber(state, code.into());
        for text in [words, message] {
            ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
        }
    }
}
