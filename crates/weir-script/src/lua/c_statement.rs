//! The functions `db_*` of prepared statements that modules declare and call through FFI. Each waits in place.

#![allow(unsafe_code)] // exported names, structs that C and Rust share, and buffers of the caller's

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use std::ptr::{null_mut, read_unaligned};

use crate::lua::c_database::{SqlConnection, SqlResult, bytes, note, number, on, result};
use crate::lua::host::{Level, Parameter};
use crate::lua::state_data::current;
use crate::lua::statement::ParameterKind;
use crate::lua::wait::in_place;

/// A prepared statement.
#[repr(C)]
struct SqlStatement {
    connection: *mut SqlConnection,
    own: *mut OwnStatement,
}

/// Fields of a statement that only this side knows.
struct OwnStatement {
    number: u32,
    /// Buffers of the caller's, from which values are read at each execution.
    bound: Vec<SqlBind>,
}

/// A buffer of the caller's for a value.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct SqlBind {
    /// As `sysbench.sql.type` numbers them.
    kind: c_uint,
    buffer: *const c_void,
    /// Length of a text; null: all of `max_length`.
    length: *const c_ulong,
    max_length: c_ulong,
    /// Null, or whether the value is NULL.
    is_null: *const c_char,
}

const NONE: c_uint = 0;
const TINYINT: c_uint = 1;
const SMALLINT: c_uint = 2;
const INT: c_uint = 3;
const BIGINT: c_uint = 4;
const FLOAT: c_uint = 5;
const DOUBLE: c_uint = 6;
const CHAR: c_uint = 11;
const VARCHAR: c_uint = 12;

#[used]
static KEPT: Exports = Exports {
    prepare: db_prepare,
    bind: [db_bind_param, db_bind_result],
    execute: db_execute,
    close: db_close,
};

type Prepare = unsafe extern "C" fn(*mut SqlConnection, *const c_char, usize) -> *mut SqlStatement;
type Bind = unsafe extern "C" fn(*mut SqlStatement, *const SqlBind, usize) -> c_int;

#[allow(dead_code, reason = "the linker reads it")]
struct Exports {
    prepare: Prepare,
    bind: [Bind; 2],
    execute: unsafe extern "C" fn(*mut SqlStatement) -> *mut SqlResult,
    close: unsafe extern "C" fn(*mut SqlStatement) -> c_int,
}

/// Touches the table, so that the crate's other users link it, too.
pub(crate) fn keep() {
    std::hint::black_box(&raw const KEPT);
}

// SAFETY of all `no_mangle` names below: they are sysbench's, and no other library has them.
// Safety of all functions below: pointers are null, or those that another of the functions has returned and that were
// not freed; texts have as many bytes as is said; bound buffers live until the statement is closed or bound anew.

#[unsafe(no_mangle)]
unsafe extern "C" fn db_prepare(
    connection: *mut SqlConnection,
    text: *const c_char,
    length: usize,
) -> *mut SqlStatement {
    let (Some(core), false) = (current(), connection.is_null()) else {
        return null_mut();
    };
    // SAFETY: as the file asks of its callers.
    let (of, text) = unsafe { (number(connection), bytes(text, length)) };
    let prepared = in_place::prepare(&core, of, text);
    // SAFETY: as above.
    unsafe { note(connection, prepared.as_ref().err()) };
    let Ok((number, _)) = prepared else {
        return null_mut();
    };
    let own = OwnStatement {
        number,
        bound: Vec::new(),
    };
    Box::into_raw(Box::new(SqlStatement {
        connection,
        own: Box::into_raw(Box::new(own)),
    }))
}

/// Binding is by reference: what the buffers hold counts at each execution.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_bind_param(
    statement: *mut SqlStatement,
    values: *const SqlBind,
    count: usize,
) -> c_int {
    let (Some(core), false) = (current(), statement.is_null()) else {
        return 1;
    };
    // SAFETY: as the file asks of its callers; there are `count` values.
    let (of, own, values) = unsafe {
        let statement = &mut *statement;
        let values = match count {
            0 => &[],
            _ => std::slice::from_raw_parts(values, count),
        };
        (number(statement.connection), &mut *statement.own, values)
    };
    let kinds: Option<Vec<_>> = values.iter().map(|value| kind_of(value.kind)).collect();
    let Some(kinds) = kinds else {
        let line = "a parameter has a type that cannot be bound";
        core.host.borrow_mut().log(Level::Fatal, line);
        return 1;
    };
    if !in_place::bind(&core, of, own.number, kinds) {
        let line = "Wrong number of parameters to mysql_stmt_bind_param";
        core.host.borrow_mut().log(Level::Fatal, line);
        return 1;
    }
    own.bound = values.to_vec();
    0
}

/// Does nothing, as sysbench's: rows are fetched as text.
#[unsafe(no_mangle)]
unsafe extern "C" fn db_bind_result(
    statement: *mut SqlStatement,
    _values: *const SqlBind,
    _count: usize,
) -> c_int {
    c_int::from(statement.is_null())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_execute(statement: *mut SqlStatement) -> *mut SqlResult {
    let (Some(core), false) = (current(), statement.is_null()) else {
        return null_mut();
    };
    // SAFETY: as the file asks of its callers.
    let (connection, own) = unsafe { ((*statement).connection, &*(*statement).own) };
    // SAFETY: as above.
    let (of, values) = unsafe {
        let values = own.bound.iter().map(|bind| value(bind)).collect();
        (number(connection), values)
    };
    let answer = in_place::execute(&core, of, own.number, values);
    // SAFETY: as above.
    unsafe { result(connection, statement.cast(), answer) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_close(statement: *mut SqlStatement) -> c_int {
    if statement.is_null() {
        return 1;
    }
    // SAFETY: as the file asks of its callers: both were made by `db_prepare`.
    unsafe {
        let statement = Box::from_raw(statement);
        let own = Box::from_raw(statement.own);
        on(statement.connection, |core, connection| {
            in_place::close_statement(core, connection, own.number)
        })
    }
}

fn kind_of(kind: c_uint) -> Option<ParameterKind> {
    match kind {
        NONE | TINYINT | SMALLINT | INT | BIGINT => Some(ParameterKind::Integer),
        FLOAT | DOUBLE => Some(ParameterKind::Real),
        CHAR | VARCHAR => Some(ParameterKind::Text),
        // Times lie in a struct of the client library's.
        _ => None,
    }
}

/// Reads the value of a buffer.
///
/// # Safety
///
/// Its pointers are null or as the file asks of its callers.
unsafe fn value(bind: &SqlBind) -> Parameter {
    let buffer = bind.buffer;
    // SAFETY: as asked; the type says how long the buffer is.
    unsafe {
        let is_null = !bind.is_null.is_null() && *bind.is_null != 0;
        if is_null || buffer.is_null() {
            return Parameter::Null;
        }
        match bind.kind {
            TINYINT => Parameter::Integer(read_unaligned(buffer.cast::<i8>()).into()),
            SMALLINT => Parameter::Integer(read_unaligned(buffer.cast::<i16>()).into()),
            INT => Parameter::Integer(read_unaligned(buffer.cast::<i32>()).into()),
            BIGINT => Parameter::Integer(read_unaligned(buffer.cast::<i64>())),
            FLOAT => Parameter::Real(read_unaligned(buffer.cast::<f32>()).into()),
            DOUBLE => Parameter::Real(read_unaligned(buffer.cast::<f64>())),
            CHAR | VARCHAR => {
                let length = if bind.length.is_null() {
                    bind.max_length
                } else {
                    *bind.length
                };
                Parameter::Text(bytes(buffer.cast(), length as usize))
            }
            _ => Parameter::Null,
        }
    }
}
