//! The schema that a captured session is in.

use std::collections::VecDeque;

use weir_capture::Ended;

/// Moves when the server lets the session into another schema, and not when it refuses.
#[derive(Debug, Default)]
pub(crate) struct SessionSchema {
    name: String,
    /// Of `USE` commands that have not ended.
    asked: VecDeque<String>,
}

impl SessionSchema {
    /// That of a login.
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            asked: VecDeque::new(),
        }
    }

    /// The schema of a command that begins now. One that follows a `USE` before its end was sent by a client that counts on
    /// it.
    pub(crate) fn name(&self) -> &str {
        self.asked.back().unwrap_or(&self.name)
    }

    /// The session asks for a schema.
    pub(crate) fn ask(&mut self, schema: String) {
        self.asked.push_back(schema);
    }

    /// The oldest of these commands has ended; where it is not known how, it is taken for a good end.
    pub(crate) fn ended(&mut self, ended: &Ended) {
        if let Some(schema) = self.asked.pop_front()
            && ended.error.unwrap_or(0) == 0
        {
            self.name = schema;
        }
    }
}
