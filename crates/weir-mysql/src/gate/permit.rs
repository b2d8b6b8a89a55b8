//! The permit to send what the gate does not judge.

use std::marker::PhantomData;

/// Allows texts that the gate does not judge: those of a user's script, and all to a server of Weir's own. Only
/// [`Gate::script_permit`](super::Gate::script_permit) gives one out, which lives as long as the gate.
#[derive(Debug, Clone, Copy)]
pub struct ScriptPermit<'a>(PhantomData<&'a ()>);

impl ScriptPermit<'_> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}
