//! Inputs of a script beside its workload.

/// Inputs of a script beside its workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptInputs {
    /// Number of tables, if the workload does not say itself.
    pub tables: u32,
    /// Rows of each, likewise.
    pub rows: u64,
    /// Connections that share the tables.
    pub connections: u32,
    /// Seed of values that are shared by all connections.
    pub seed: u64,
    /// The tables choose the keys of new rows themselves.
    pub auto_increment: bool,
}
