//! Arguments of a call of the prelude, read where Lua has them: on its stack.

#![allow(unsafe_code)] // Lua's stack

use std::ffi::c_int;

use mlua::ffi::{self, lua_State};

use crate::lua::host::Parameter;
use crate::lua::statement::ParameterKind;

/// Arguments of a call, the next value first.
pub(super) struct Arguments {
    state: *mut lua_State,
    next: c_int,
}

impl Arguments {
    /// Those of the function of C that runs in `state`.
    ///
    /// # Safety
    ///
    /// The function has not returned when the arguments are read, and leaves its stack alone meanwhile.
    pub(super) unsafe fn new(state: *mut lua_State) -> Self {
        Self { state, next: 1 }
    }

    fn take(&mut self) -> c_int {
        self.next += 1;
        self.next - 1
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        let index = self.take();
        // SAFETY: as `of` asks of its caller; an index behind the last argument is no number.
        unsafe {
            (ffi::lua_type(self.state, index) == ffi::LUA_TNUMBER)
                .then(|| ffi::lua_tonumber(self.state, index) as u32)
        }
    }

    pub(super) fn text(&mut self) -> Option<Vec<u8>> {
        let index = self.take();
        // SAFETY: as `of` asks of its caller.
        unsafe { text(self.state, index) }
    }

    /// Values of these kinds, of the parameters in the next argument, a table.
    pub(super) fn parameters(&mut self, kinds: &[ParameterKind]) -> Vec<Parameter> {
        let table = self.take();
        let state = self.state;
        // SAFETY: as `of` asks of its caller. Lua's functions of C have room for 20 values beside their arguments.
        unsafe {
            if ffi::lua_type(state, table) != ffi::LUA_TTABLE {
                return vec![Parameter::Null; kinds.len()];
            }
            (1..)
                .zip(kinds)
                .map(|(position, kind)| {
                    ffi::lua_rawgeti_(state, table, position);
                    let value = if ffi::lua_type(state, -1) == ffi::LUA_TTABLE {
                        ffi::lua_rawgeti_(state, -1, 1);
                        let value = parameter(state, *kind);
                        ffi::lua_settop(state, -2);
                        value
                    } else {
                        Parameter::Null
                    };
                    ffi::lua_settop(state, -2);
                    value
                })
                .collect()
        }
    }
}

/// The value on the top of the stack, as a parameter of this kind.
///
/// # Safety
///
/// There is one.
unsafe fn parameter(state: *mut lua_State, kind: ParameterKind) -> Parameter {
    // SAFETY: as the function asks of its caller.
    unsafe {
        match (kind, ffi::lua_type(state, -1)) {
            (ParameterKind::Integer, ffi::LUA_TNUMBER) => {
                Parameter::Integer(ffi::lua_tonumber(state, -1) as i64)
            }
            (ParameterKind::Integer, ffi::LUA_TSTRING) => {
                text(state, -1).map_or(Parameter::Null, |digits| integer(&digits))
            }
            (ParameterKind::Real, ffi::LUA_TNUMBER) => {
                Parameter::Real(ffi::lua_tonumber(state, -1))
            }
            (ParameterKind::Text, ffi::LUA_TSTRING) => {
                text(state, -1).map_or(Parameter::Null, Parameter::Text)
            }
            _ => Parameter::Null,
        }
    }
}

/// The text or number at `index`.
///
/// # Safety
///
/// The index is within the stack, or behind its last value.
unsafe fn text(state: *mut lua_State, index: c_int) -> Option<Vec<u8>> {
    let mut length = 0;
    // SAFETY: as the function asks of its caller; Lua keeps the bytes while the value is on the stack.
    unsafe {
        let bytes = ffi::lua_tolstring(state, index, &raw mut length);
        (!bytes.is_null()).then(|| std::slice::from_raw_parts(bytes.cast(), length).to_vec())
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
