//! Chooses how a reactor waits, and runs it.

use std::sync::atomic::AtomicBool;

use super::{EpollSockets, Outcome, Reactor, RingSockets, Sockets, host};
use crate::LoadError;
use crate::driver::Driver;
use crate::meter::Meter;
use crate::reactor_kind::{RING_CONNECTIONS_MIN, ReactorKind};

/// Runs `drivers` on the calling thread; what they did, and on which kind of reactor.
pub(crate) fn drive<D: Driver>(
    kind: ReactorKind,
    drivers: Vec<D>,
    (stop, abort): (&AtomicBool, &AtomicBool),
    shared: &mut D::Resources,
    meter: &mut Meter<'_>,
) -> Result<(Outcome, ReactorKind), LoadError> {
    let count = drivers.len();
    // A schedule asks how long replies take; a closed loop asks how many there can be.
    let in_rounds = !meter.has_schedule();
    let is_plain = drivers.iter().all(Driver::is_plain);
    let ring_pays =
        in_rounds && count >= RING_CONNECTIONS_MIN as usize && drivers.iter().all(Driver::is_local);
    let ring = match kind {
        ReactorKind::Epoll => None,
        ReactorKind::Auto if !is_plain || !ring_pays => None,
        // A kernel that is too old, or one that forbids it (kernel.io_uring_disabled, seccomp).
        ReactorKind::Auto => RingSockets::new(count, in_rounds).ok(),
        ReactorKind::IoUring if !is_plain => {
            return Err(LoadError::Setting {
                setting: "reactor",
                value: "io_uring".to_owned(),
                why: "encrypted connections need epoll",
            });
        }
        ReactorKind::IoUring => Some(
            RingSockets::new(count, in_rounds)
                .map_err(|error| host("make an io_uring (--reactor=epoll needs none)", &error))?,
        ),
    };
    if let Some(ring) = ring {
        let outcome = run(drivers, ring, stop, abort, shared, meter)?;
        return Ok((outcome, ReactorKind::IoUring));
    }
    let epoll = EpollSockets::new(count).map_err(|error| host("make an epoll instance", &error))?;
    let outcome = run(drivers, epoll, stop, abort, shared, meter)?;
    Ok((outcome, ReactorKind::Epoll))
}

fn run<D: Driver, S: Sockets>(
    drivers: Vec<D>,
    sockets: S,
    stop: &AtomicBool,
    abort: &AtomicBool,
    shared: &mut D::Resources,
    meter: &mut Meter<'_>,
) -> Result<Outcome, LoadError> {
    Reactor::new(drivers, sockets, stop, abort)?.run(shared, meter)
}
