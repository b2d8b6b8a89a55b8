//! The permit to send what the gate does not judge.

use super::Gate;

/// Allows texts that the gate does not judge: those of a user's script, and all to a server of Weir's own. Only
/// [`Gate::script_permit`] gives one out.
#[derive(Debug, Clone, Copy)]
pub struct ScriptPermit<'a>(std::marker::PhantomData<&'a Gate>);

impl Gate {
    /// The permit of a script, while this gate lives; `None` where each statement has to be judged.
    pub fn script_permit(&self) -> Option<ScriptPermit<'_>> {
        let is_judged = |guard: &std::sync::Arc<super::Guard>| !guard.permissions.is_script;
        if self.0.as_ref().is_some_and(is_judged) {
            return None;
        }
        Some(ScriptPermit(std::marker::PhantomData))
    }
}
