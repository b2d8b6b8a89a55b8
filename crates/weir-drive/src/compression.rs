//! How much the drive's inline compression would save, estimated from samples.
//!
//! Compressing all that a server writes would cost the host more than a core, and the device has
//! its own engine. So one 4 KiB block every few milliseconds is compressed for real, zlib level 1
//! as the profile says, by a thread of its own, and each kind of file keeps a moving average. At
//! most 250 blocks a second of about 70 us each stay below 2 % of a core.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, Thread};

use flate2::Compression as Level;
use flate2::write::ZlibEncoder;
use weir_model::{FileKind, Nanoseconds};

/// What the drive compresses on its own.
const BLOCK_BYTES: usize = 4096;
/// Shortest time between two samples.
const INTERVAL_NS: Nanoseconds = 4_000_000;
/// Weight of a new sample in the moving average: the memory is about 30 samples of a kind.
const WEIGHT: f64 = 1.0 / 30.0;
/// No kind of data shrinks further: the drive keeps a map entry and a header for each block.
const FRACTION_MIN: f64 = 1.0 / 64.0;

/// The estimate, shared between the thread that serves requests and the one that compresses.
#[derive(Debug)]
pub(crate) struct Sampler {
    shared: Arc<Shared>,
    next_at: AtomicU64,
    /// Changes the block within a write that is sampled.
    turn: AtomicU64,
    worker: Thread,
    handle: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    /// Bits of an `f64` by kind; 0 until the first sample.
    fractions: [AtomicU64; FileKind::ALL.len()],
    waiting: Mutex<Option<(FileKind, Box<[u8; BLOCK_BYTES]>)>>,
    ended: AtomicBool,
}

impl Sampler {
    /// Starts the thread that compresses.
    pub(crate) fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            fractions: Default::default(),
            waiting: Mutex::new(None),
            ended: AtomicBool::new(false),
        });
        let of_worker = Arc::clone(&shared);
        let handle = std::thread::Builder::new()
            .name("drive-compress".to_owned())
            .spawn(move || of_worker.work())?;
        Ok(Self {
            shared,
            next_at: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            worker: handle.thread().clone(),
            handle: Some(handle),
        })
    }

    /// Stored bytes / written bytes of what is written to files of `kind`.
    pub(crate) fn fraction(&self, kind: FileKind) -> f64 {
        self.shared.fraction(kind).unwrap_or(1.0)
    }

    /// Looks at a write, if it is time for a sample.
    pub(crate) fn observe(&self, kind: FileKind, data: &[u8], now: Nanoseconds) {
        if now < self.next_at.load(Ordering::Relaxed) || data.len() < BLOCK_BYTES {
            return;
        }
        self.next_at.store(now + INTERVAL_NS, Ordering::Relaxed);
        let blocks = data.len() / BLOCK_BYTES;
        let block = self.turn.fetch_add(1, Ordering::Relaxed) as usize % blocks;
        let start = block * BLOCK_BYTES;
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

impl Shared {
    fn work(&self) {
        while !self.ended.load(Ordering::Relaxed) {
            let sample = self.lock().take();
            match sample {
                Some((kind, block)) => self.learn(kind, compressed_fraction(block.as_slice())),
                None => std::thread::park(),
            }
        }
    }

    fn learn(&self, kind: FileKind, fraction: f64) {
        let learnt = match self.fraction(kind) {
            Some(before) => before + WEIGHT * (fraction - before),
            None => fraction,
        };
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

/// Compressed size / size of one block, by zlib at level 1.
fn compressed_fraction(block: &[u8]) -> f64 {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(block.len()), Level::fast());
    let compressed = encoder.write_all(block).and_then(|()| encoder.finish());
    // Writing to memory cannot fail; a block that did would be stored as it is.
    let bytes = compressed.map_or(block.len(), |output| output.len());
    (bytes as f64 / block.len() as f64).clamp(FRACTION_MIN, 1.0)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// A page like those of the usual load generators: digits, which hold 3.32 bits a byte.
    fn digits(bytes: usize) -> Vec<u8> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..bytes)
            .map(|_| b'0' + (random.next_u32() % 10) as u8)
            .collect()
    }

    #[test]
    fn digits_shrink_by_half_and_noise_not_at_all() {
        let found = compressed_fraction(&digits(BLOCK_BYTES));
        assert!((0.4..0.6).contains(&found), "{found}");
        let mut noise = vec![0; BLOCK_BYTES];
        Xoshiro256PlusPlus::seed_from_u64(2).fill_bytes(&mut noise);
        assert!((compressed_fraction(&noise) - 1.0).abs() < f64::EPSILON);
        assert!((compressed_fraction(&[0; BLOCK_BYTES]) - FRACTION_MIN).abs() < f64::EPSILON);
    }

    #[test]
    fn each_kind_of_file_learns_its_own_fraction() {
        let sampler = Sampler::start().unwrap();
        assert!((sampler.fraction(FileKind::Data) - 1.0).abs() < f64::EPSILON);
        let page = digits(16_384);
        let patience = Instant::now() + Duration::from_secs(10);
        let mut now = INTERVAL_NS;
        while sampler.fraction(FileKind::Data) > 0.9 && Instant::now() < patience {
            sampler.observe(FileKind::Data, &page, now);
            now += INTERVAL_NS;
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!((0.4..0.6).contains(&sampler.fraction(FileKind::Data)));
        assert!((sampler.fraction(FileKind::Redo) - 1.0).abs() < f64::EPSILON);
    }
}
