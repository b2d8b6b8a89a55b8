//! Errors of the server that a script's event does not end with.

/// Errors that restart an event (`--mysql-ignore-errors`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Errors {
    /// All.
    All,
    /// Those of these numbers.
    Codes(Vec<u16>),
    /// None.
    #[default]
    None,
}

impl Errors {
    pub(crate) fn ignores(&self, code: u16) -> bool {
        match self {
            Self::All => true,
            Self::Codes(codes) => codes.contains(&code),
            Self::None => false,
        }
    }
}
