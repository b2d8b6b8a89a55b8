//! Which transactions of a session are sent: those that begin within the replay's part of the capture, each whole.

use weir_capture::TransactionStep;

use crate::ReplayOptions;
use crate::transaction::TransactionState;
use crate::writers::Writers;

/// Which transactions are sent.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) options: ReplayOptions,
    pub(crate) writers: Writers,
}

/// A session's view of the window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Window {
    state: TransactionState,
    /// Number of the transaction that is open or was last, from 1.
    number: u32,
    takes: bool,
}

impl Window {
    /// Returns true if a statement of this session is sent. `is_of_session`: it says how the session is from now on.
    pub(crate) fn take(
        &mut self,
        at_us: u64,
        step: TransactionStep,
        (session, is_of_session): (u32, bool),
        selection: &Selection,
    ) -> bool {
        if !self.state.is_in {
            self.number += 1;
            let (options, writers) = (&selection.options, &selection.writers);
            let is_chosen = || writers.take(options.filter, session, self.number);
            self.takes = options.contains(at_us) && (is_of_session || is_chosen());
        }
        self.state.follow(step);
        self.takes
    }

    /// Returns true if a transaction is open in the capture.
    pub(crate) fn is_in(self) -> bool {
        self.state.is_in
    }

    /// Returns true if a transaction that is sent has not ended.
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
        let selection = Selection {
            options,
            ..Selection::default()
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
            let taken = window.take(at_us, step, (1, false), &selection);
            assert_eq!(taken, expected, "{at_us}");
        }
        assert!(!window.is_open());
    }
}
