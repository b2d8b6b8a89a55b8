//! The estimate: one 4 KiB block every few milliseconds is compressed, by a thread of its own, and
//! each kind of file keeps a moving average. Empty blocks, often half of a table, are counted instead:
//! as samples they would be most of the estimate's error.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread};

use weir_model::{BlockCost, FileKind, Nanoseconds};

use super::block::{BLOCK_BYTES, BlockCompressor, is_empty};

/// Shortest time between two samples: 200 a second.
const INTERVAL_NS: Nanoseconds = 5_000_000;
/// The memory of the moving average, in samples of a kind: about half a second of a busy one.
const MEMORY: u32 = 128;

/// The estimate, shared between the thread that serves requests and the one that compresses.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<SamplerState>,
    next_at: AtomicU64,
    /// Changes the block within a write that is sampled.
    turn: AtomicU64,
    /// Stored / written bytes of an empty block.
    empty_fraction: f64,
    worker: Thread,
    handle: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct SamplerState {
    /// Bits of an `f64` by kind; 0 until the first sample.
    fractions: [AtomicU64; FileKind::ALL.len()],
    /// Samples by kind, up to the memory of the average.
    samples: [AtomicU64; FileKind::ALL.len()],
    waiting: Mutex<Option<(FileKind, Box<[u8; BLOCK_BYTES]>)>>,
    ended: AtomicBool,
}

impl Sampler {
    /// Starts the thread that compresses.
    ///
    /// # Errors
    ///
    /// A thread that cannot be started.
    pub fn start(cost: BlockCost) -> std::io::Result<Self> {
        let shared = Arc::new(SamplerState {
            fractions: Default::default(),
            samples: Default::default(),
            waiting: Mutex::new(None),
            ended: AtomicBool::new(false),
        });
        let of_worker = Arc::clone(&shared);
        let handle = std::thread::Builder::new()
            .name("drive-compress".to_owned())
            .spawn(move || of_worker.work(cost))?;
        Ok(Self {
            shared,
            next_at: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            empty_fraction: cost.empty_fraction(),
            worker: handle.thread().clone(),
            handle: Some(handle),
        })
    }

    /// Stored bytes / written bytes of `data`, written to a file of `kind`: its empty blocks as they
    /// are, the others as samples of their kind were.
    pub fn fraction(&self, kind: FileKind, data: &[u8]) -> f64 {
        let of_others = self.shared.fraction(kind).unwrap_or(1.0);
        let blocks = data.chunks(BLOCK_BYTES);
        let all = blocks.len().max(1) as f64;
        let empty = blocks.filter(|block| is_empty(block)).count() as f64;
        of_others + (self.empty_fraction - of_others) * empty / all
    }

    /// Looks at a write, if it is time for a sample.
    pub fn observe(&self, kind: FileKind, data: &[u8], now: Nanoseconds) {
        if now < self.next_at.load(Ordering::Relaxed) || data.len() < BLOCK_BYTES {
            return;
        }
        let blocks = data.len() / BLOCK_BYTES;
        let block = self.turn.fetch_add(1, Ordering::Relaxed) as usize % blocks;
        let start = block * BLOCK_BYTES;
        // Empty blocks are counted, not sampled.
        if is_empty(&data[start..start + BLOCK_BYTES]) {
            return;
        }
        self.next_at.store(now + INTERVAL_NS, Ordering::Relaxed);
        let mut copy = Box::new([0; BLOCK_BYTES]);
        copy.copy_from_slice(&data[start..start + BLOCK_BYTES]);
        *self.shared.lock() = Some((kind, copy));
        self.worker.unpark();
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        self.worker.unpark();
        if let Some(handle) = self.handle.take() {
            // A panic in the thread has already been printed; there is nothing to add.
            let _ = handle.join();
        }
    }
}

impl SamplerState {
    fn work(&self, cost: BlockCost) {
        let mut compressor = BlockCompressor::new(cost);
        while !self.ended.load(Ordering::Relaxed) {
            let sample = self.lock().take();
            match sample {
                Some((kind, block)) => self.learn(kind, compressor.fraction(block.as_slice())),
                None => std::thread::park(),
            }
        }
    }

    fn learn(&self, kind: FileKind, fraction: f64) {
        let samples = &self.samples[kind.index()];
        // A plain mean of the first ones, so that none of them weighs more than the others.
        let count = (samples.load(Ordering::Relaxed) + 1).min(u64::from(MEMORY));
        samples.store(count, Ordering::Relaxed);
        let before = self.fraction(kind).unwrap_or(0.0);
        let learnt = before + (fraction - before) / count as f64;
        self.fractions[kind.index()].store(learnt.to_bits(), Ordering::Relaxed);
    }

    fn fraction(&self, kind: FileKind) -> Option<f64> {
        let bits = self.fractions[kind.index()].load(Ordering::Relaxed);
        (bits != 0).then(|| f64::from_bits(bits))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(FileKind, Box<[u8; BLOCK_BYTES]>)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(super) use self::tests::digits;

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// A page like those of the usual load generators: digits, which hold 3.32 bits a byte.
    pub(in crate::compression) fn digits(bytes: usize) -> Vec<u8> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..bytes)
            .map(|_| b'0' + (random.next_u32() % 10) as u8)
            .collect()
    }

    #[test]
    fn each_kind_of_file_learns_its_own_fraction() {
        let sampler = Sampler::start(BlockCost::default()).unwrap();
        let mut page = digits(16_384);
        assert!((sampler.fraction(FileKind::Data, &page) - 1.0).abs() < f64::EPSILON);
        let patience = Instant::now() + Duration::from_secs(10);
        let mut now = INTERVAL_NS;
        while sampler.fraction(FileKind::Data, &page) > 0.9 && Instant::now() < patience {
            sampler.observe(FileKind::Data, &page, now);
            now += INTERVAL_NS;
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!((0.4..0.6).contains(&sampler.fraction(FileKind::Data, &page)));
        assert!((sampler.fraction(FileKind::Redo, &page) - 1.0).abs() < f64::EPSILON);
        let full = sampler.fraction(FileKind::Data, &page);
        page[..8192].fill(0);
        let half_empty = sampler.fraction(FileKind::Data, &page);
        assert!((half_empty - f64::midpoint(full, sampler.empty_fraction)).abs() < 1e-9);
    }
}
