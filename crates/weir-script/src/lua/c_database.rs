//! The functions `db_*` that modules declare and call through FFI: connections, queries, rows, bulk inserts. Each waits
//! in place. Prepared statements are in `c_statement`.

#![allow(unsafe_code)] // exported names, and structs that C and Rust share

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use crate::lua::state_data::{Core, current};
use crate::lua::wait::{self, in_place};

/// A driver; there is one.
#[repr(C)]
struct SqlDriver {
    short_name: *const c_char,
    long_name: *const c_char,
}

// SAFETY: its names are constants.
unsafe impl Sync for SqlDriver {}

static DRIVER: SqlDriver = SqlDriver {
    short_name: c"mysql".as_ptr(),
    long_name: c"MySQL driver".as_ptr(),
};

/// A connection, with its last error.
#[repr(C)]
pub(crate) struct SqlConnection {
    /// 0: none, 1: the event is to be tried again, 2: another.
    error: c_int,
    code: c_int,
    state: *const c_char,
    message: *const c_char,
    driver: *const SqlDriver,
    own: *mut OwnConnection,
}

/// Fields of a connection that only this side knows.
struct OwnConnection {
    number: u32,
    state: CString,
    message: CString,
}

#[repr(C)]
struct SqlValue {
    length: u32,
    /// Null is NULL.
    text: *const c_char,
}

#[repr(C)]
struct SqlRow {
    /// Not used.
    own: *mut c_void,
    values: *const SqlValue,
}

/// A result set, with the row that was fetched last.
#[repr(C)]
pub(crate) struct SqlResult {
    rows: u32,
    fields: u32,
    connection: *mut SqlConnection,
    /// Of which it is a result; null for a text.
    statement: *mut c_void,
    row: SqlRow,
    own: *mut OwnResult,
}

struct OwnResult {
    connection: u32,
    number: u32,
    values: Vec<SqlValue>,
    /// Texts that the values point into: each with a NUL after its end.
    texts: Vec<Option<Vec<u8>>>,
}

#[used]
static KEPT: Exports = Exports {
    drivers: (db_create, db_destroy),
    connect: db_connection_create,
    connections: [
        db_connection_close,
        db_connection_reconnect,
        db_bulk_insert_done,
    ],
    free: db_connection_free,
    query: db_query,
    results: (db_fetch_row, db_free_results),
    bulk: [db_bulk_insert_init, db_bulk_insert_next],
};

type OfText = unsafe extern "C" fn(*mut SqlConnection, *const c_char, usize) -> c_int;
type OfConnection = unsafe extern "C" fn(*mut SqlConnection) -> c_int;
type Query = unsafe extern "C" fn(*mut SqlConnection, *const c_char, usize) -> *mut SqlResult;
type Fetch = unsafe extern "C" fn(*mut SqlResult) -> *const SqlRow;
type Free = unsafe extern "C" fn(*mut SqlResult) -> c_int;

#[allow(dead_code, reason = "the linker reads it")]
struct Exports {
    drivers: (
        extern "C" fn(*const c_char) -> *const SqlDriver,
        extern "C" fn(*const SqlDriver) -> c_int,
    ),
    connect: extern "C" fn(*const SqlDriver) -> *mut SqlConnection,
    connections: [OfConnection; 3],
    free: unsafe extern "C" fn(*mut SqlConnection),
    query: Query,
    results: (Fetch, Free),
    bulk: [OfText; 2],
}

/// Touches the table, so that the crate's other users link it, too.
pub(crate) fn keep() {
    std::hint::black_box(&raw const KEPT);
}

// SAFETY of all `no_mangle` names below: they are sysbench's, and no other library has them.
// Safety of all functions below: pointers are null, or those that another of the functions has returned and that were
// not freed; texts have as many bytes as is said.

#[unsafe(no_mangle)]
extern "C" fn db_create(_name: *const c_char) -> *const SqlDriver {
    if let Some(core) = current() {
        core.host.borrow_mut().uses_sql();
    }
    &raw const DRIVER
}

#[unsafe(no_mangle)]
extern "C" fn db_destroy(_driver: *const SqlDriver) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn db_connection_create(driver: *const SqlDriver) -> *mut SqlConnection {
    let number = current().and_then(|core| wait::open(&core).ok());
    let Some(number) = number else {
        return null_mut();
    };
    let own = Box::new(OwnConnection {
        number,
        state: CString::default(),
        message: CString::default(),
    });
    Box::into_raw(Box::new(SqlConnection {
        error: 0,
        code: 0,
        state: own.state.as_ptr(),
        message: own.message.as_ptr(),
        driver,
        own: Box::into_raw(own),
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_connection_close(connection: *mut SqlConnection) -> c_int {
    // SAFETY: as the file asks of its callers.
    unsafe { on(connection, in_place::close) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_connection_reconnect(connection: *mut SqlConnection) -> c_int {
    // SAFETY: as the file asks of its callers.
    unsafe { on(connection, in_place::open_again) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_connection_free(connection: *mut SqlConnection) {
    if connection.is_null() {
        return;
    }
    // SAFETY: as the file asks of its callers: both were made by `db_connection_create`.
    unsafe {
        let connection = Box::from_raw(connection);
        drop(Box::from_raw(connection.own));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_query(
    connection: *mut SqlConnection,
    text: *const c_char,
    length: usize,
) -> *mut SqlResult {
    let (Some(core), false) = (current(), connection.is_null()) else {
        return null_mut();
    };
    // SAFETY: as the file asks of its callers.
    let (number, text) = unsafe { (number(connection), bytes(text, length)) };
    let answer = in_place::query(&core, number, text);
    // SAFETY: as above.
    unsafe { result(connection, null_mut(), answer) }
}

/// Returns a statement's answer for C: its result set, or null; errors are noted.
///
/// # Safety
///
/// As the file asks of its callers.
#[allow(clippy::needless_pass_by_value, reason = "an answer ends here")]
pub(crate) unsafe fn result(
    connection: *mut SqlConnection,
    statement: *mut c_void,
    answer: Result<Option<(u32, usize, usize)>, in_place::CallRefusal>,
) -> *mut SqlResult {
    // SAFETY: as the file asks of its callers.
    unsafe { note(connection, answer.as_ref().err()) };
    let Ok(Some((set, rows, fields))) = answer else {
        return null_mut();
    };
    let own = OwnResult {
        // SAFETY: as above.
        connection: unsafe { number(connection) },
        number: set,
        values: Vec::new(),
        texts: Vec::new(),
    };
    Box::into_raw(Box::new(SqlResult {
        rows: rows as u32,
        fields: fields as u32,
        connection,
        statement,
        row: SqlRow {
            own: null_mut(),
            values: null(),
        },
        own: Box::into_raw(Box::new(own)),
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_fetch_row(result: *mut SqlResult) -> *const SqlRow {
    let (Some(core), false) = (current(), result.is_null()) else {
        return null();
    };
    // SAFETY: as the file asks of its callers.
    let (result, own) = unsafe { (&mut *result, &mut *(*result).own) };
    let Some(texts) = next_row(&core, own) else {
        return null();
    };
    own.texts = texts;
    let value = |text: &Option<Vec<u8>>| SqlValue {
        length: text.as_ref().map_or(0, |text| text.len() as u32 - 1),
        text: text.as_ref().map_or(null(), |text| text.as_ptr().cast()),
    };
    own.values = own.texts.iter().map(value).collect();
    result.row.values = own.values.as_ptr();
    &raw const result.row
}

/// The fields of the next row; a reader that ignores the length loses bytes from a NUL on.
fn next_row(core: &Core, own: &OwnResult) -> Option<Vec<Option<Vec<u8>>>> {
    let mut connections = core.connections.borrow_mut();
    let open = connections.get_mut(&own.connection)?.result.as_mut()?;
    if open.number != own.number || open.next >= open.rows.len() {
        return None;
    }
    let text = |field: &[u8]| [field, b"\0"].concat();
    let row = open.rows.row(open.next).map(|field| field.map(text));
    let row = row.collect();
    open.next += 1;
    Some(row)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_free_results(result: *mut SqlResult) -> c_int {
    if result.is_null() {
        return 1;
    }
    // SAFETY: as the file asks of its callers: both were made by `db_query`.
    unsafe {
        let result = Box::from_raw(result);
        drop(Box::from_raw(result.own));
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_bulk_insert_init(
    connection: *mut SqlConnection,
    text: *const c_char,
    length: usize,
) -> c_int {
    // SAFETY: as the file asks of its callers.
    unsafe {
        let text = bytes(text, length);
        on(connection, |core, number| {
            if wait::begin_bulk(core, number, &text) {
                return Ok(());
            }
            Err(None)
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_bulk_insert_next(
    connection: *mut SqlConnection,
    text: *const c_char,
    length: usize,
) -> c_int {
    // SAFETY: as the file asks of its callers.
    unsafe {
        let text = bytes(text, length);
        on(connection, |core, number| {
            in_place::insert(core, number, Some(text))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn db_bulk_insert_done(connection: *mut SqlConnection) -> c_int {
    // SAFETY: as the file asks of its callers.
    unsafe {
        on(connection, |core, number| {
            in_place::insert(core, number, None)
        })
    }
}

/// The number of a connection.
///
/// # Safety
///
/// As the file asks of its callers.
pub(crate) unsafe fn number(connection: *mut SqlConnection) -> u32 {
    // SAFETY: the connection is one of `db_connection_create`.
    unsafe { (*(*connection).own).number }
}

/// # Safety
///
/// As the file asks of its callers.
pub(crate) unsafe fn bytes(text: *const c_char, length: usize) -> Vec<u8> {
    if text.is_null() {
        return Vec::new();
    }
    // SAFETY: the text has so many bytes.
    unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) }.to_vec()
}

/// Does something on a connection and notes its error; 0: done.
///
/// # Safety
///
/// As the file asks of its callers.
pub(crate) unsafe fn on(
    connection: *mut SqlConnection,
    act: impl FnOnce(&Core, u32) -> Result<(), in_place::CallRefusal>,
) -> c_int {
    let (Some(core), false) = (current(), connection.is_null()) else {
        return 1;
    };
    // SAFETY: as the file asks of its callers.
    let number = unsafe { number(connection) };
    let done = act(&core, number);
    // SAFETY: as above.
    unsafe { note(connection, done.as_ref().err()) };
    c_int::from(done.is_err())
}

/// # Safety
///
/// As the file asks of its callers.
pub(crate) unsafe fn note(connection: *mut SqlConnection, error: Option<&in_place::CallRefusal>) {
    // SAFETY: the connection is one of `db_connection_create`.
    let (connection, own) = unsafe { (&mut *connection, &mut *(*connection).own) };
    let (error, refusal) = match error {
        None => (0, None),
        Some(None) => (2, None),
        Some(Some((is_ignored, refusal))) => (if *is_ignored { 1 } else { 2 }, Some(refusal)),
    };
    let text = |text: &str| CString::new(text).unwrap_or_default();
    own.state = refusal.map_or_else(CString::default, |refusal| text(&refusal.state));
    own.message = refusal.map_or_else(CString::default, |refusal| text(&refusal.message));
    connection.error = error;
    connection.code = refusal.map_or(0, |refusal| refusal.code.into());
    connection.state = own.state.as_ptr();
    connection.message = own.message.as_ptr();
}
