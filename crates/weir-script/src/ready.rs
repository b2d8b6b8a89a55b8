//! A thread's interpreter after its start.

use std::sync::Arc;

use crate::lua::{ScriptError, State};

use crate::host::Part;
use crate::states::with_options;
use crate::world::World;

/// An interpreter that is ready for its events.
pub(crate) struct Ready {
    pub(crate) state: State,
    pub(crate) part: Part,
    pub(crate) thread: u32,
}

impl Ready {
    /// Makes the interpreter of a thread and lets it get ready.
    pub(crate) fn new(world: &Arc<World>, thread: u32) -> Result<Self, ScriptError> {
        let part = Part::default();
        let state = with_options(world, thread, &part)?;
        if state.has_function("thread_init") {
            state.call("thread_init", thread)?;
        }
        Ok(Self {
            state,
            part,
            thread,
        })
    }
}
