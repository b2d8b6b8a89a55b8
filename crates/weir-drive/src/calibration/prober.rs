//! A caller of the drive's own, which sees what round trips take while the drive is in use.
//!
//! A thread asks for the attributes of the root, whose reply is held for a known time like any
//! other. It holds no file open, so that the drive can be unmounted; an unmount from outside that
//! meets a request of the prober is refused as busy and succeeds when it is repeated.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::{Correction, HOLD_NS};
use crate::placement::Placement;
use crate::stop::Stop;

/// Between two probes. Each delays a request or two of a caller on the same processor, so at a
/// hundred times the time of a request they are too few for its 99th percentile.
const INTERVAL: Duration = Duration::from_millis(50);

/// The thread that asks; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Prober {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Prober {
    /// Starts to probe the drive that is mounted at `mountpoint`.
    pub(crate) fn start(
        mountpoint: &Path,
        correction: Arc<Correction>,
        placement: Arc<Placement>,
    ) -> io::Result<Self> {
        let stop = Stop::new();
        let (until, mountpoint) = (stop.clone(), mountpoint.to_owned());
        let thread = std::thread::Builder::new()
            .name("drive-prober".to_owned())
            .spawn(move || probe(&mountpoint, &correction, &placement, &until))?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Prober {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has already been printed; there is nothing to add.
            let _ = thread.join();
        }
    }
}

fn probe(mountpoint: &Path, correction: &Correction, placement: &Placement, stop: &Stop) {
    correction.set_prober(own_thread());
    while !stop.wait_for(INTERVAL) {
        placement.join();
        // The first finds cold caches, unlike a caller at work.
        let warmed_up = ask(mountpoint);
        let began = Instant::now();
        if warmed_up.and_then(|()| ask(mountpoint)).is_err() {
            // The drive is being unmounted, and no other thread needs the correction either.
            break;
        }
        let round_trip_ns = began.elapsed().as_nanos() as i64;
        correction.probed(round_trip_ns - HOLD_NS.cast_signed());
    }
    correction.set_prober(0);
}

/// The calling thread, as the kernel names it in its requests.
pub(super) fn own_thread() -> u32 {
    rustix::thread::gettid().as_raw_pid().cast_unsigned()
}

/// One round trip: the kernel must not answer from its cache (statx(2)).
pub(super) fn ask(mountpoint: &Path) -> io::Result<()> {
    let flags = AtFlags::STATX_FORCE_SYNC;
    rustix::fs::statx(CWD, mountpoint, flags, StatxFlags::BASIC_STATS)?;
    Ok(())
}
