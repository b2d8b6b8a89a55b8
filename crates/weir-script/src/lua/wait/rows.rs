//! Rows of the last result set, as values on Lua's stack.

#![allow(unsafe_code)] // functions of C

use std::ffi::c_int;

use mlua::ffi::{self, lua_State};

use super::arguments::Arguments;
use crate::lua::state_data::Core;

/// Fields of a row that are returned as values; a function of C has to ask for more room first.
const ROOM: c_int = 16;

/// The next row of a result set as a table, with holes where fields are NULL; nil after the last.
///
/// # Safety
///
/// A function of C runs in this state, with the numbers of a connection and of its result as arguments.
pub(super) unsafe fn fetch(core: &Core, state: *mut lua_State) -> c_int {
    // SAFETY: as the function asks of its caller.
    let numbers = unsafe { Arguments::new(state) };
    let given = next(core, numbers, |fields, row| {
        // SAFETY: two values at a time find room.
        unsafe {
            ffi::lua_createtable(state, fields, 0);
            for (position, field) in (1..).zip(row) {
                if let Some(text) = field {
                    ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
                    ffi::lua_rawseti_(state, -2, position);
                }
            }
        }
        1
    });
    if given == 0 {
        // SAFETY: one value finds room.
        unsafe { ffi::lua_pushnil(state) };
    }
    1
}

/// The fields of the next row as values.
///
/// # Safety
///
/// As [`fetch`].
pub(super) unsafe fn row(core: &Core, state: *mut lua_State) -> c_int {
    // SAFETY: as the function asks of its caller.
    let numbers = unsafe { Arguments::new(state) };
    next(core, numbers, |fields, row| {
        // SAFETY: there is room, or no value.
        unsafe {
            if fields > ROOM && ffi::lua_checkstack(state, fields) == 0 {
                return 0;
            }
            for field in row {
                match field {
                    Some(text) => {
                        ffi::lua_pushlstring(state, text.as_ptr().cast(), text.len());
                    }
                    None => ffi::lua_pushnil(state),
                }
            }
        }
        fields
    })
}

/// Returns the result of `give` on the next row; 0 without one.
fn next(
    core: &Core,
    mut numbers: Arguments,
    give: impl FnOnce(c_int, &mut dyn Iterator<Item = Option<&[u8]>>) -> c_int,
) -> c_int {
    let (connection, number) = (numbers.number(), numbers.number());
    let mut connections = core.connections.borrow_mut();
    let connection = connection.and_then(|connection| connections.get_mut(&connection));
    let open = connection.and_then(|connection| connection.result.as_mut());
    let Some(open) = open.filter(|open| Some(open.number) == number) else {
        return 0;
    };
    if open.next >= open.rows.len() {
        return 0;
    }
    open.next += 1;
    // The protocol counts columns in 16 bits.
    let fields = c_int::try_from(open.rows.fields).unwrap_or(c_int::MAX);
    give(fields, &mut open.rows.row(open.next - 1))
}
