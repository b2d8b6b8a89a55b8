//! Helpers of tests of several modules.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, channel};

use weir_model::{Address, Endpoint, Secret, Tls};

use crate::meter::{Clock, FrameSender, IntervalFrame, Meter, Timeline};

/// Returns an endpoint where no server is.
pub(crate) fn nowhere() -> Endpoint {
    Endpoint {
        address: Address::Socket("/nowhere".into()),
        user: "weir".to_owned(),
        password: Secret::new(""),
        database: "sbtest".to_owned(),
        tls: Tls::default(),
    }
}

/// A meter whose reports are not read.
pub(crate) fn meter() -> Meter<'static> {
    meter_told(Arc::default()).0
}

/// A meter of this time, nanoseconds since the run began, and who gets its reports.
pub(crate) fn meter_told(now_ns: Arc<AtomicU64>) -> (Meter<'static>, Receiver<Box<IntervalFrame>>) {
    let (full, frames) = channel();
    let sender = FrameSender {
        reporter: 0,
        full,
        empty: channel().1,
    };
    let timeline = Timeline {
        measure_ns: 0,
        end_ns: u64::MAX,
        interval_ns: 1_000_000_000,
        checkpoints: &[],
    };
    let meter = Meter::new(timeline, Clock::Told(now_ns), sender, None, None);
    (meter, frames)
}
