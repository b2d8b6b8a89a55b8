//! Data of a state on Rust's side: its host, its connections and the events on them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::lua::host::{Host, Rows};
use crate::lua::ignored_errors::Errors;
use crate::lua::statement::ScriptStatement;

/// Bytes of a bulk insert that are sent together, as in sysbench.
pub(crate) const BULK_BYTES: usize = 512 << 10;

/// One state's share.
pub(crate) struct Core {
    pub(crate) host: RefCell<Box<dyn Host>>,
    /// By their numbers; a tree finds one of few faster than a table that is safe from chosen keys.
    pub(crate) connections: RefCell<BTreeMap<u32, Connection>>,
    pub(crate) errors: Errors,
    /// Statements are never prepared.
    pub(crate) sends_text: bool,
    next_number: Cell<u32>,
    /// The interpreter, or the coroutine of it that runs its events.
    pub(crate) running: Cell<*mut mlua::ffi::lua_State>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").finish_non_exhaustive()
    }
}

/// A connection as a script sees it.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    pub(crate) is_open: bool,
    /// The last result set, until the next call.
    pub(crate) result: Option<Open>,
    pub(crate) statements: BTreeMap<u32, ScriptStatement>,
    pub(crate) bulk: Option<Bulk>,
    /// Further results of the last statement.
    pub(crate) has_more: bool,
}

/// A result set that is being read.
#[derive(Debug)]
pub(crate) struct Open {
    /// Told from older ones of the connection.
    pub(crate) number: u32,
    pub(crate) rows: Rows,
    pub(crate) next: usize,
}

/// A bulk insert.
#[derive(Debug)]
pub(crate) struct Bulk {
    head: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) rows: u64,
}

impl Bulk {
    pub(crate) fn new(head: &[u8]) -> Self {
        Self {
            head: head.to_vec(),
            text: head.to_vec(),
            rows: 0,
        }
    }

    /// Returns true if the row fits beside those that wait.
    pub(crate) fn has_room(&self, row: &[u8]) -> bool {
        self.text.len() + row.len() + 2 <= BULK_BYTES
    }

    pub(crate) fn push(&mut self, row: &[u8]) {
        self.text
            .extend_from_slice(if self.rows > 0 { b", " } else { b" " });
        self.text.extend_from_slice(row);
        self.rows += 1;
    }

    /// The statement that is to be sent; the next one begins.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.rows = 0;
        std::mem::replace(&mut self.text, self.head.clone())
    }
}

impl Core {
    pub(crate) fn new(host: Box<dyn Host>, errors: Errors, sends_text: bool) -> Self {
        Self {
            host: RefCell::new(host),
            connections: RefCell::default(),
            errors,
            sends_text,
            next_number: Cell::new(1),
            running: Cell::new(std::ptr::null_mut()),
        }
    }

    /// A number for a result set or statement.
    pub(crate) fn number(&self) -> u32 {
        let number = self.next_number.get();
        self.next_number.set(number.wrapping_add(1));
        number
    }
}

thread_local! {
    /// The state that runs on this thread: the C surface knows no other.
    static CURRENT: RefCell<Option<Rc<Core>>> = const { RefCell::new(None) };
}

/// Makes `core` the one of the C surface until the guard is dropped.
#[must_use]
pub(crate) fn enter(core: &Rc<Core>) -> ActiveState {
    ActiveState(CURRENT.with(|current| current.replace(Some(Rc::clone(core)))))
}

/// A state that runs; the one before it comes back.
pub(crate) struct ActiveState(Option<Rc<Core>>);

impl Drop for ActiveState {
    fn drop(&mut self) {
        let before = self.0.take();
        // The thread may be ending.
        let _ = CURRENT.try_with(|current| *current.borrow_mut() = before);
    }
}

/// The interpreter that runs on this thread; null if none does.
pub(crate) fn running() -> *mut mlua::ffi::lua_State {
    let current = CURRENT.try_with(|current| {
        let current = current.try_borrow().ok()?;
        current.as_ref().map(|core| core.running.get())
    });
    current.ok().flatten().unwrap_or(std::ptr::null_mut())
}

/// The state that runs on this thread.
pub(crate) fn current() -> Option<Rc<Core>> {
    let current = CURRENT.try_with(|current| current.borrow().clone());
    current.ok().flatten()
}

/// Asks the host of the state that runs on this thread; `otherwise` without one.
pub(crate) fn ask<T>(otherwise: T, question: impl FnOnce(&mut dyn Host) -> T) -> T {
    let Some(core) = current() else {
        return otherwise;
    };
    // A host does not call Lua, so that it is never asked while it answers.
    match core.host.try_borrow_mut() {
        Ok(mut host) => question(host.as_mut()),
        Err(_) => otherwise,
    }
}
