//! The kernel's event of a processor or a thread, and the memory that its samples arrive in.

use std::io;

use perf_event::data::Record;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag, Sampler};

/// Memory of the samples of a place. At 49 a second and read five times a second, ten stacks of a hundred functions.
const RING_BYTES: usize = 16 << 10;

/// Context words in a call chain: what follows is the kernel's part, or the program's (`PERF_CONTEXT_*` in
/// `linux/perf_event.h`).
const CONTEXT_KERNEL: u64 = -128_i64 as u64;
const CONTEXT_USER: u64 = -512_i64 as u64;
const CONTEXT_FIRST: u64 = -4095_i64 as u64;

/// Addresses of one sample, the innermost first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Chain {
    pub(crate) kernel: Vec<u64>,
    pub(crate) user: Vec<u64>,
}

impl Chain {
    fn new(words: &[u64]) -> Self {
        let mut chain = Self::default();
        let mut is_kernel = false;
        for word in words {
            match *word {
                CONTEXT_KERNEL => is_kernel = true,
                CONTEXT_USER => is_kernel = false,
                CONTEXT_FIRST.. => {}
                address if is_kernel => chain.kernel.push(address),
                address => chain.user.push(address),
            }
        }
        chain
    }
}

/// A place to sample.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// All that a processor does, which needs a privilege. A timer that goes on costs nothing at a switch of threads.
    Processor(u32),
    /// One thread. The kernel starts and stops its timer at each switch, which on virtual machines is dear.
    Thread(u32),
}

/// One sample.
pub(crate) struct ThreadSample {
    pub(crate) process: u32,
    pub(crate) thread: u32,
    pub(crate) chain: Chain,
}

/// Samples of one place.
pub(crate) struct Ring(Sampler);

impl Ring {
    /// Begins to sample `place`.
    ///
    /// # Errors
    /// The kernel's reason.
    pub(crate) fn open(place: Place, frequency_hz: u64, has_kernel: bool) -> io::Result<Self> {
        let mut builder = Builder::new(Software::CPU_CLOCK);
        match place {
            Place::Processor(processor) => builder.any_pid().one_cpu(processor as usize),
            Place::Thread(thread) => builder.observe_pid(thread.cast_signed()).any_cpu(),
        };
        builder
            .sample_frequency(frequency_hz)
            .sample(SampleFlag::CALLCHAIN | SampleFlag::TID)
            .exclude_kernel(!has_kernel);
        let mut sampler = builder.build()?.sampled(RING_BYTES)?;
        sampler.as_counter_mut().enable()?;
        Ok(Self(sampler))
    }

    /// Takes the samples since the last time; returns the number of those that the kernel had no room for.
    pub(crate) fn drain(&mut self, take: &mut dyn FnMut(ThreadSample)) -> u64 {
        let mut lost = 0;
        while let Some(record) = self.0.next_record() {
            match record.parse_record() {
                Ok(Record::Sample(sample)) => take(ThreadSample {
                    process: sample.pid().unwrap_or_default(),
                    thread: sample.tid().unwrap_or_default(),
                    chain: Chain::new(sample.callchain().unwrap_or(&[])),
                }),
                Ok(Record::Lost(gap)) => lost += gap.lost,
                Ok(_) => {}
                Err(_) => lost += 1,
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_a_part_of_the_kernel_and_one_of_the_program() {
        let chain = Chain::new(&[CONTEXT_KERNEL, 1, 2, CONTEXT_USER, 3, 4]);
        assert_eq!((chain.kernel, chain.user), (vec![1, 2], vec![3, 4]));
    }
}
