//! A server that goes and stays away: connections are made again for as long as it takes, so that only a look from
//! outside ends the replay.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_model::Endpoint;
use weir_mysql::{Connection, Gate};

use crate::slot::Stage;

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// Longest time that a server that is there may take to let one in.
const LOGIN: Duration = Duration::from_secs(5);

/// Sets `ends` when `stop` is set, or when the server has answered nothing for as long as it may be away and lets no
/// connection in; whether that was the reason. Returns when the run is over.
pub(crate) fn watch(
    stage: &Stage,
    endpoint: &Endpoint,
    gate: &Gate,
    stop: &AtomicBool,
    (ends, is_over): (&AtomicBool, &AtomicBool),
) -> bool {
    let mut answered = 0;
    let mut since = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
        if stop.load(Ordering::Relaxed) {
            ends.store(true, Ordering::Relaxed);
        }
        let now_answered = stage.tally().answered;
        if now_answered != answered {
            (answered, since) = (now_answered, Instant::now());
        } else if since.elapsed() > stage.options.away_max {
            // It may be at a long statement, or have nothing to do.
            if Connection::open(endpoint, gate, LOGIN).is_err() {
                ends.store(true, Ordering::Relaxed);
                return true;
            }
            since = Instant::now();
        }
    }
    false
}
