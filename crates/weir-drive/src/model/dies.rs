//! Dies of NAND: a die that programs or erases answers no read, unless it suspends what it does.
//!
//! What the write buffer drains, garbage collection included, is programmed on one die after the
//! other; after as many programs as fill a block, the die erases one. There are as many dies as
//! keep up with the bandwidth of the media when all of them are busy, so that the share of busy
//! dies is the share of the bandwidth that is used. A scaled drive keeps its dies and programs less
//! at a time: then that share, and with it the tail of the reads, stays that of the full-size one.

use std::collections::VecDeque;

use weir_model::{Nand, Nanoseconds, Op, WriteTiming};

/// Bytes that lie on the same die.
const STRIPE_BYTES: u64 = 16_384;

/// The dies behind a write buffer.
#[derive(Debug)]
pub(super) struct Dies {
    dies: Vec<Die>,
    /// The die that programs next.
    next: usize,
    bytes_per_program: f64,
    program_ns: f64,
    erase_ns: f64,
    /// The longest that a read waits for either.
    program_wait_ns: f64,
    erase_wait_ns: f64,
    programs_per_block: u32,
    /// Drained bytes that do not make a program yet.
    rest_bytes: f64,
    /// Bytes that the buffer will drain, and the time from when on, in the drain's time.
    ahead: VecDeque<(f64, f64)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Die {
    busy_until: f64,
    programs: u32,
}

impl Dies {
    pub(super) fn new(nand: &Nand, timing: &WriteTiming, scale_factor: f64) -> Self {
        let program_ns = nand.program_us * 1e3;
        let erase_ns = nand.erase_us * 1e3;
        let busy_ns = program_ns + erase_ns / f64::from(nand.programs_per_block);
        let bytes_per_ns = timing.bandwidth_mb_per_s / 1e3;
        let count = (bytes_per_ns * busy_ns / nand.program_bytes.0 as f64).max(1.0);
        let whole = count.ceil();
        Self {
            // Erasures do not all fall due at the same time.
            dies: (0..whole as u32)
                .map(|die| Die {
                    busy_until: 0.0,
                    programs: die * 7919 % nand.programs_per_block,
                })
                .collect(),
            next: 0,
            // One die more than needed, because of the rounding, programs less at a time.
            bytes_per_program: nand.program_bytes.0 as f64 * count / whole * scale_factor,
            program_ns,
            erase_ns,
            programs_per_block: nand.programs_per_block,
            program_wait_ns: longest_ns(program_ns, nand.program_suspend_us),
            erase_wait_ns: longest_ns(erase_ns, nand.erase_suspend_us),
            rest_bytes: 0.0,
            ahead: VecDeque::new(),
        }
    }

    /// The buffer drains `bytes` from the drain's time `from` on.
    pub(super) fn queue(&mut self, from: f64, bytes: f64) {
        self.ahead.push_back((from, bytes));
    }

    /// Starts all programs that are due before `now`, when the drain has stood still for
    /// `held_up_ns` so far.
    pub(super) fn advance(&mut self, now: f64, held_up_ns: f64) {
        while let Some(&(from, bytes)) = self.ahead.front() {
            let start = from + held_up_ns;
            if start > now {
                break;
            }
            self.ahead.pop_front();
            self.rest_bytes += bytes;
            while self.rest_bytes >= self.bytes_per_program {
                self.rest_bytes -= self.bytes_per_program;
                self.program(start);
            }
        }
    }

    fn program(&mut self, start: f64) {
        let count = self.dies.len();
        let die = &mut self.dies[self.next];
        self.next = (self.next + 1) % count;
        die.busy_until = die.busy_until.max(start) + self.program_ns;
        die.programs += 1;
        if die.programs >= self.programs_per_block {
            die.programs = 0;
            die.busy_until += self.erase_ns;
        }
    }

    /// Returns the time that a read that could start at `start` waits for its die, nanoseconds.
    pub(super) fn wait_ns(&self, op: &Op, start: Nanoseconds) -> f64 {
        let stripe = op.file.wrapping_mul(0x9e37_79b9) ^ (op.offset / STRIPE_BYTES);
        // Fibonacci hashing (Knuth, volume 3, section 6.4): neighbours come to lie on other dies.
        let spread = stripe.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let die = self.dies[(spread % self.dies.len() as u64) as usize];
        let busy_ns = die.busy_until - start as f64;
        if busy_ns <= 0.0 {
            return 0.0;
        }
        // Reads go before what else is queued on the die.
        busy_ns.min(if die.programs == 0 {
            self.erase_wait_ns
        } else {
            self.program_wait_ns
        })
    }
}

fn longest_ns(whole_ns: f64, suspend_us: Option<f64>) -> f64 {
    suspend_us.map_or(whole_ns, |us| whole_ns.min(us * 1e3))
}

#[cfg(test)]
mod tests {
    use weir_model::{Bytes, FileKind, OpKind, WriteCache};

    use super::*;

    fn dies(suspend_us: Option<f64>, scale_factor: f64) -> Dies {
        let nand = Nand {
            program_us: 600.0,
            program_bytes: Bytes(32_768),
            erase_us: 6000.0,
            programs_per_block: 1000,
            program_suspend_us: suspend_us,
            erase_suspend_us: suspend_us,
        };
        let timing = WriteTiming {
            latency_us: 20.0,
            iops_max: 1e6,
            iops_max_random: None,
            bandwidth_mb_per_s: 1000.0,
            percentiles_us: Vec::new(),
            buffer: Bytes(1 << 20),
            amplification_random: 1.0,
            cache: WriteCache::PowerProtected,
        };
        Dies::new(&nand, &timing, scale_factor)
    }

    fn read(number: u64) -> Op {
        Op {
            kind: OpKind::Read,
            file: 1,
            file_kind: FileKind::Data,
            offset: number * 16_384,
            bytes: 16_384,
            compressed_fraction: 1.0,
        }
    }

    /// Waits in microseconds of a read every 100 us, while `share` of the bandwidth is used.
    fn waits(mut dies: Dies, share: f64, scale_factor: f64) -> Vec<f64> {
        let mut waits = Vec::new();
        for number in 0..100_000_u64 {
            let now = number as f64 * 1e5;
            dies.queue(now, 1e5 * share * scale_factor);
            dies.advance(now, 0.0);
            waits.push(dies.wait_ns(&read(number), now as Nanoseconds) / 1e3);
        }
        waits.sort_by(f64::total_cmp);
        waits
    }

    #[test]
    fn the_share_of_reads_that_wait_is_the_share_of_the_bandwidth_at_every_scale() {
        for scale_factor in [1.0, 0.04] {
            for share in [0.1, 0.5, 0.9] {
                let waits = waits(dies(None, scale_factor), share, scale_factor);
                let waiting = waits.iter().filter(|&&us| us > 0.0).count() as f64 / 1e5;
                assert!((waiting / share - 1.0).abs() < 0.05, "{share}: {waiting}");
                // Any time into a program is as likely: half of it is left on average.
                let mean = waits.iter().sum::<f64>() / waits.len() as f64 / waiting;
                assert!((290.0..380.0).contains(&mean), "{share}: {mean}");
            }
        }
    }

    #[test]
    fn an_erasure_is_the_tail_of_the_tail_and_suspension_cuts_both() {
        let at = |waits: &[f64], share: f64| waits[(waits.len() as f64 * share) as usize];
        let plain = waits(dies(None, 1.0), 0.5, 1.0);
        assert!(at(&plain, 0.98) <= 600.0 && at(&plain, 0.999) > 2000.0);
        let suspending = waits(dies(Some(30.0), 1.0), 0.5, 1.0);
        assert!(at(&suspending, 0.9999) <= 30.0 && at(&suspending, 0.9) > 0.0);
    }
}
