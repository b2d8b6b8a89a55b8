//! Where a session is in its transactions.

use weir_capture::TransactionStep;

/// Where a session is in its transactions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TransactionState {
    pub(crate) is_in: bool,
    /// Autocommit is off.
    is_manual: bool,
}

impl TransactionState {
    /// Applies the effect of a statement on the transaction.
    pub(crate) fn follow(&mut self, step: TransactionStep) {
        match step {
            TransactionStep::Begins => self.is_in = true,
            TransactionStep::Ends => self.is_in = false,
            TransactionStep::AutocommitOff => self.is_manual = true,
            TransactionStep::AutocommitOn => *self = Self::default(),
            TransactionStep::None => self.is_in |= self.is_manual,
        }
    }
}
