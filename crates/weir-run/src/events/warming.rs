//! Shipments that keep a replica warm until it takes over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_load::LoadPlan;
use weir_model::{
    Endpoint, EventKind, FailoverRecord, LoadSpec, RunSpec, Warm, Warmup, WorkloadName,
    WorkloadSpec,
};
use weir_mysql::Gate;
use weir_server::pool_pages::{Mode, PoolError, PoolServer, Ship, Shipment};

use super::prepared_event::PreparedEvent;

/// Longer than any run.
const READS_LIMIT: Duration = Duration::from_hours(24);
/// Time between two looks at whether it is over.
const LOOK: Duration = Duration::from_millis(20);

/// Result of the shipments.
#[derive(Debug, Clone, Default)]
pub(super) struct ShipmentResult {
    /// Complete shipments.
    pub(super) shipments: u32,
    /// Pages of the last one.
    pub(super) pages: u64,
    /// Time at which the last one was complete.
    pub(super) completed: Option<Instant>,
    /// Reason that one could not be made.
    pub(super) failure: Option<String>,
}

/// Keeps the replica of a run of `spec` warm until `is_over`.
pub(super) fn keep_warm(
    warm: Warm,
    spec: &RunSpec,
    (primary, replica): (Endpoint, Endpoint),
    is_over: &AtomicBool,
) -> ShipmentResult {
    let flavor = spec.primary().server.flavor;
    let mut warmed = ShipmentResult::default();
    let servers = || -> Result<_, PoolError> {
        let from = PoolServer::private("primary", primary.clone(), flavor)?;
        let to = PoolServer::private("replica", replica.clone(), flavor)?;
        Ok((from, to))
    };
    match warm {
        Warm::None => {}
        Warm::OwnReads(percent) => {
            if let Err(error) = read(spec, percent, replica, is_over) {
                warmed.failure = Some(error);
            }
        }
        Warm::Dump(percent) => {
            let ship = Ship {
                mode: Mode::Numbers,
                percent,
                limit: None,
            };
            warmed.note(
                servers().and_then(|(from, to)| once(&ship, &from, &to, is_over)),
                is_over,
            );
        }
        Warm::Ship(every) => {
            let ship = Ship {
                mode: Mode::Translate,
                percent: 100,
                limit: None,
            };
            let mut next = Instant::now() + every.0;
            while wait(next, is_over) {
                next += every.0;
                let shipped = servers().and_then(|(from, to)| once(&ship, &from, &to, is_over));
                warmed.note(shipped, is_over);
            }
        }
    }
    warmed
}

/// Loads the replica with the reads of the run's workload until it is over.
fn read(
    spec: &RunSpec,
    percent: u8,
    replica: Endpoint,
    is_over: &AtomicBool,
) -> Result<(), String> {
    let mut own = spec.clone();
    own.timeline.clear();
    if let WorkloadSpec::Sysbench(sysbench) = &mut own.workload {
        sysbench.shares = WorkloadName::OltpReadOnly.into();
    }
    let connections = spec.load.connections * u32::from(percent) / 100;
    own.load = LoadSpec {
        connections: connections.max(1),
        warmup: Warmup::Fixed {
            length: weir_model::Duration::default(),
        },
        measure: READS_LIMIT.into(),
        ..LoadSpec::default()
    };
    let plan = LoadPlan::of_spec(&own, 0, replica)?;
    let loaded = weir_load::run_observed(&plan, &Gate::own(), is_over, &mut |_| {});
    match loaded {
        // The replica takes over: its connections are ended.
        Err(_) if is_over.load(Ordering::Relaxed) => Ok(()),
        loaded => loaded.map(drop).map_err(|error| error.to_string()),
    }
}

fn once(
    ship: &Ship,
    from: &PoolServer,
    to: &PoolServer,
    is_over: &AtomicBool,
) -> Result<Shipment, PoolError> {
    let shipment = ship.prepare(from, to)?;
    ship.load(to, &shipment, &mut |_| !is_over.load(Ordering::Relaxed))?;
    Ok(shipment)
}

/// Waits until `next`; `false`: it is over.
fn wait(next: Instant, is_over: &AtomicBool) -> bool {
    while !is_over.load(Ordering::Relaxed) {
        let left = next.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
    false
}

impl PreparedEvent {
    /// Returns the work that keeps the replica warm until `is_due`, if the event is a failover for which that is
    /// wanted.
    pub(super) fn warming<'a>(
        &self,
        is_due: &'a AtomicBool,
    ) -> Option<impl FnOnce() -> ShipmentResult + Send + use<'a>> {
        let EventKind::Failover { warm } = self.event.kind else {
            return None;
        };
        let own = self.own.as_ref()?;
        let servers = (
            own.server.endpoint(),
            own.successor.as_ref()?.endpoint().clone(),
        );
        let spec = self.spec.clone();
        Some(move || keep_warm(warm, &spec, servers, is_due))
    }
}

impl ShipmentResult {
    /// Writes it into the record of a failover that happened `began_s` after `measured_from`.
    pub(super) fn tell(self, record: &mut FailoverRecord, measured_from: Instant, began_s: f64) {
        record.shipments = self.shipments;
        record.shipped_pages = self.pages;
        let began = measured_from + Duration::from_secs_f64(began_s);
        let age = self
            .completed
            .map(|completed| began.saturating_duration_since(completed));
        record.shipment_age_s = age.map(|age| age.as_secs_f64());
        record.failure = self.failure;
    }

    fn note(&mut self, shipped: Result<Shipment, PoolError>, is_over: &AtomicBool) {
        match shipped {
            Ok(shipment) => {
                self.shipments += 1;
                self.pages = shipment.translation.pages.len() as u64;
                self.completed = Some(Instant::now());
            }
            // The primary is gone, which is what was waited for.
            Err(_) if is_over.load(Ordering::Relaxed) => {}
            Err(error) => self.failure = Some(error.to_string()),
        }
    }
}
