//! Comparing the monotonic clocks of two hosts, by question and answer.
//!
//! Of several round trips the one with the least delay counts, and the true offset lies within half of that delay
//! whatever the routes are like (Cristian 1989; the filter of NTP, RFC 5905). The wall clock is never asked.

/// One question and its answer; nanoseconds on the clock of the side that saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// The question left, by the clock of who asks.
    pub(crate) asked_ns: u64,
    /// It came, by the other clock.
    pub(crate) received_ns: u64,
    /// The answer left, by the other clock.
    pub(crate) answered_ns: u64,
    /// It came back.
    pub(crate) back_ns: u64,
}

impl Exchange {
    /// Time on the way, both ways together.
    fn delay_ns(&self) -> u64 {
        let whole = self.back_ns.saturating_sub(self.asked_ns);
        whole.saturating_sub(self.answered_ns.saturating_sub(self.received_ns))
    }

    fn offset_ns(&self) -> i64 {
        let there = i128::from(self.received_ns) - i128::from(self.asked_ns);
        let back = i128::from(self.answered_ns) - i128::from(self.back_ns);
        i128::midpoint(there, back) as i64
    }
}

/// Lead of another clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offset {
    /// The other clock minus this one, nanoseconds.
    pub(crate) ahead_ns: i64,
    /// At most this much is wrong with it.
    pub(crate) error_ns: u64,
}

impl Offset {
    /// The best that follows from these exchanges; nothing from none.
    pub(crate) fn estimate(exchanges: &[Exchange]) -> Option<Self> {
        let best = exchanges
            .iter()
            .min_by_key(|exchange| exchange.delay_ns())?;
        Some(Self {
            ahead_ns: best.offset_ns(),
            error_ns: best.delay_ns().div_ceil(2),
        })
    }

    /// Returns the time of the other clock when this one shows `ns`.
    pub(crate) fn there(self, ns: u64) -> u64 {
        ns.saturating_add_signed(self.ahead_ns)
    }

    /// Returns the growth of the other clock's lead up to `later`, and its error at most, nanoseconds.
    pub(crate) fn moved(self, later: Self) -> (i64, u64) {
        let moved_ns = later.ahead_ns.saturating_sub(self.ahead_ns);
        (moved_ns, self.error_ns.saturating_add(later.error_ns))
    }

    /// The time of a round trip, nanoseconds.
    pub(crate) fn round_trip_ns(self) -> u64 {
        self.error_ns * 2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Acceptance S2, without a network: asymmetrical routes, jitter, clocks that are 100 s apart.
        #[test]
        fn the_true_offset_lies_within_the_stated_error(
            ahead_s in -100_i64..=100,
            there_us in 10_u64..20_000,
            back_us in 10_u64..20_000,
            jitters in proptest::collection::vec((0_u64..2_000, 0_u64..2_000, 0_u64..500), 1..64),
        ) {
            let ahead_ns = ahead_s * 1_000_000_000 + 12_345;
            let mut now_ns = 1_000_000_000_000_u64;
            let exchanges: Vec<_> = jitters.iter().map(|(there, back, thinking)| {
                let asked_ns = now_ns;
                let came_ns = asked_ns + (there_us + there) * 1_000;
                let left_ns = came_ns + thinking * 1_000;
                let back_ns = left_ns + (back_us + back) * 1_000;
                now_ns = back_ns + 1_000_000;
                Exchange {
                    asked_ns,
                    received_ns: came_ns.saturating_add_signed(ahead_ns),
                    answered_ns: left_ns.saturating_add_signed(ahead_ns),
                    back_ns,
                }
            }).collect();
            let offset = Offset::estimate(&exchanges).unwrap();
            prop_assert!(offset.ahead_ns.abs_diff(ahead_ns) <= offset.error_ns, "{offset:?}");
            let most_ns = jitters.iter().map(|(there, back, _)| there + back).min().unwrap();
            prop_assert!(offset.error_ns <= (there_us + back_us + most_ns) * 500 + 1);
            // Asked again later, of a clock that has gone ahead by 3 ms meanwhile.
            let later: Vec<_> = exchanges.iter().rev().map(|exchange| Exchange {
                received_ns: exchange.received_ns + 3_000_000,
                answered_ns: exchange.answered_ns + 3_000_000,
                ..*exchange
            }).collect();
            let (moved_ns, error_ns) = offset.moved(Offset::estimate(&later).unwrap());
            prop_assert!(moved_ns.abs_diff(3_000_000) <= error_ns, "{moved_ns} {error_ns}");
            prop_assert_eq!(offset.there(5_000_000_000_000), 5_000_000_000_000_u64.saturating_add_signed(offset.ahead_ns));
        }
    }

    #[test]
    fn without_an_exchange_there_is_no_offset() {
        assert!(Offset::estimate(&[]).is_none());
    }
}
