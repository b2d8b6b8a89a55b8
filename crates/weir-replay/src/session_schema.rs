//! The schema that a captured session is in.

use std::collections::VecDeque;

use weir_capture::{CommandEnd, Login};

/// Moves when the server lets the session into another schema or account, and not when it refuses.
#[derive(Debug, Default)]
pub(crate) struct SessionSchema {
    name: String,
    /// Moves that have not ended.
    asked: VecDeque<Move>,
}

#[derive(Debug)]
enum Move {
    Schema(String),
    Login(Login),
}

impl Move {
    fn schema(&self) -> &str {
        match self {
            Self::Schema(schema) => schema,
            Self::Login(login) => &login.schema,
        }
    }
}

impl SessionSchema {
    /// Makes the schema of a login.
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            asked: VecDeque::new(),
        }
    }

    /// The schema of a command that begins now. One that follows a move before its end was sent by a client that counts on
    /// it.
    pub(crate) fn name(&self) -> &str {
        self.asked.back().map_or(&*self.name, Move::schema)
    }

    /// The session asks for a schema.
    pub(crate) fn ask(&mut self, schema: String) {
        self.asked.push_back(Move::Schema(schema));
    }

    /// The session asks to go on with another login.
    pub(crate) fn ask_login(&mut self, login: Login) {
        self.asked.push_back(Move::Login(login));
    }

    /// The oldest of these commands has ended; where it is not known how, it is taken for a good end. The login that the
    /// session has then, if it is another one.
    pub(crate) fn ended(&mut self, ended: &CommandEnd) -> Option<Login> {
        let moved = self.asked.pop_front()?;
        if ended.error.unwrap_or(0) != 0 {
            return None;
        }
        moved.schema().clone_into(&mut self.name);
        match moved {
            Move::Login(login) => Some(login),
            Move::Schema(_) => None,
        }
    }
}
