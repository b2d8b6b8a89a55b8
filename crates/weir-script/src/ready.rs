//! A thread's interpreter after its start.

use weir_lua::State;

use crate::host::Part;

/// An interpreter that is ready for its events.
pub(crate) struct Ready {
    pub(crate) state: State,
    pub(crate) part: Part,
    pub(crate) thread: u32,
}
