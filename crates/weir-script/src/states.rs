//! Interpreters of a script, each with its body run.

use std::sync::Arc;

use crate::lua::{ScriptError, State};

use crate::host::{Part, ThreadHost};
use crate::options;
use crate::world::World;

/// An interpreter of this thread in which the body has run.
pub(crate) fn with_body(
    world: &Arc<World>,
    thread: u32,
    part: &Part,
) -> Result<State, ScriptError> {
    let host = ThreadHost::new(Arc::clone(world), thread, Part::clone(part));
    let state = State::new(&world.identity(thread), Box::new(host))?;
    let script = &world.plan.script;
    let path = if script.path.is_empty() {
        "stdin"
    } else {
        &script.path
    };
    state.run_body(&script.text, path)?;
    Ok(state)
}

/// The same with its options.
pub(crate) fn with_options(
    world: &Arc<World>,
    thread: u32,
    part: &Part,
) -> Result<State, ScriptError> {
    let state = with_body(world, thread, part)?;
    options::fill(world, &state)?;
    Ok(state)
}
