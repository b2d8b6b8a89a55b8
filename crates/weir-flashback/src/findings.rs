//! Findings of one pass over the log beside the changes of rows.

/// Findings of one pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFindings {
    /// The first transaction after the moment: its name, place and time.
    pub first: Option<(String, String, String)>,
    /// The last one before it.
    pub last_before: Option<(String, String)>,
    /// Transactions whose own time is not after the moment's, though they stand behind the first that is.
    pub late: u64,
    /// Names of transactions within the second of the moment, each with whether it counts as after it: the first ones.
    pub within_second: Vec<(String, bool)>,
    /// The numbers of all of these, of those before it and those after it.
    pub counts_within_second: [u64; 2],
    /// The log says whole seconds, of when statements began.
    pub is_in_seconds: bool,
    /// Transactions after the moment.
    pub transactions: u64,
    /// Changes of rows of the tables.
    pub changes: u64,
    /// Bytes of log that were read.
    pub log_bytes: u64,
    /// Columns that were added since, by table.
    pub added: Vec<Vec<String>>,
    /// Statements that changed tables otherwise, where that is only told.
    pub statements: Vec<String>,
    /// Transactions of two phases (XA) that changed rows of the tables, were prepared and had not ended.
    pub pending: usize,
}
