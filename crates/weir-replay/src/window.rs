//! Which transactions of a session are sent: those that begin within the replay's part of the capture, each whole.

use weir_capture::TransactionStep;

use crate::ReplayOptions;

/// Where a session is in its transactions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TransactionState {
    pub(crate) is_in: bool,
    /// Autocommit is off.
    is_manual: bool,
}

impl TransactionState {
    /// What a statement does to the transaction.
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

/// A session's view of the window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Window {
    state: TransactionState,
    takes: bool,
}

impl Window {
    /// Whether a statement is sent.
    pub(crate) fn take(
        &mut self,
        at_us: u64,
        step: TransactionStep,
        options: &ReplayOptions,
    ) -> bool {
        if !self.state.is_in {
            self.takes = options.contains(at_us);
        }
        self.state.follow(step);
        self.takes
    }

    /// Whether a transaction that is sent has not ended.
    pub(crate) fn is_open(self) -> bool {
        self.takes && self.state.is_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_taken_whole_or_not_at_all() {
        use TransactionStep::{Begins, Ends, None};
        let options = ReplayOptions {
            from_us: 100,
            length_us: Some(100),
            ..ReplayOptions::default()
        };
        let mut window = Window::default();
        let statements = [
            (90, Begins, false),
            (110, None, false),
            (120, Ends, false),
            (130, None, true),
            (190, Begins, true),
            (210, None, true),
            (220, Ends, true),
            (230, None, false),
        ];
        for (at_us, step, expected) in statements {
            assert_eq!(window.take(at_us, step, &options), expected, "{at_us}");
        }
        assert!(!window.is_open());
    }
}
