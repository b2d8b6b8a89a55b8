//! Effect of a statement on a server.

/// Effect of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing that outlasts the connection.
    None,
    /// It changes tables; the schemas that it names, none for that of the connection.
    Write(Vec<String>),
    /// It sets these global variables, in lower case with underscores.
    Global(Vec<String>),
    /// It keeps what the connection writes out of the binary log, or no longer.
    SkipBinaryLog,
    /// It ends what this connection is doing.
    Kill(u32),
    /// Nothing that any command needs, and why.
    Forbidden(String),
}

pub(super) fn forbidden(why: &str) -> Effect {
    Effect::Forbidden(why.to_owned())
}
