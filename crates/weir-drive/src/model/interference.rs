//! Reads beside writes: what they take from each other on the media that they share.
//!
//! Reads go first: the media answer a read, and the draining write buffer stands still meanwhile.
//! Once the buffer is half full, writes are sure of a quarter of the time, since a buffer that runs
//! full because of reads would make all writers wait.
//!
//! A read that comes while the media are busy with a write waits for them: for the access that its
//! disk is in the middle of, or for the die that programs or erases (`dies.rs`).

/// Fill of the write buffer, 0 to 1, from which on writes are sure of their share.
const CROWDED_FILL: f64 = 0.5;
/// Share of the time that reads get at most beside a crowded buffer.
const READ_SHARE_MAX: f64 = 0.75;
/// Bytes that a NAND die reads at a time.
const FLASH_PAGE_BYTES: f64 = 16_384.0;

/// Returns the factor by which a read takes more of the media's time while the write buffer of
/// `fill` drains.
pub(super) fn cost_factor(fill: f64) -> f64 {
    if fill < CROWDED_FILL {
        1.0
    } else {
        1.0 / READ_SHARE_MAX
    }
}

/// Accesses to flash that a read of `bytes` takes.
pub(super) fn flash_accesses(bytes: u64) -> f64 {
    (bytes as f64 / FLASH_PAGE_BYTES).max(1.0)
}
