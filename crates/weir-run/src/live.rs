//! Bottleneck of a run while it lasts: the rule of a complete run, on the latest seconds.

use std::time::{Duration, Instant};

use weir_model::{Bottleneck, IntervalRecord, LoadSpec, Utilization};
use weir_probe::Sampler;

use crate::bottleneck::bottleneck;
use crate::cancel::Control;
use crate::usage::{OfferedLoad, utilization_now};
use weir_store::progress::Event;

/// The seconds that are looked at: enough for the probes' ticks, few enough to follow a change.
const WINDOW: Duration = Duration::from_secs(4);

/// Looks at a running sampler.
pub(crate) struct LiveBottleneck<'a> {
    pub(crate) sampler: &'a Sampler,
    /// Time 0 of the sampler.
    pub(crate) sampling_began: Instant,
    pub(crate) settings: &'a LoadSpec,
    pub(crate) connections: u32,
    pub(crate) reactors: u32,
    /// The host is the server's and another one than the load generator's.
    pub(crate) client_is_apart: bool,
    /// The block device below the data, where no drive is emulated.
    pub(crate) device: Option<String>,
}

impl LiveBottleneck<'_> {
    /// Tells the present bottleneck, if it can be told.
    /// `concurrency`: transactions that are under way.
    pub(crate) fn tell(
        &self,
        record: &IntervalRecord,
        concurrency: u64,
        control: &mut Control<'_>,
    ) {
        if let Some((bottleneck, used)) = self.now(record, concurrency) {
            control.tell(&Event::Bottleneck(bottleneck, &used));
        }
    }

    /// The present bottleneck with what decided it; `None` as long as there is too little to say.
    fn now(&self, record: &IntervalRecord, concurrency: u64) -> Option<(Bottleneck, Utilization)> {
        let passed = self.sampling_began.elapsed();
        if passed < WINDOW {
            return None;
        }
        let samples = self.sampler.latest();
        let load = self.offered(record, concurrency);
        let device = self.device.as_deref();
        let mut used = utilization_now(&samples, passed.as_secs_f64(), device, &load);
        // How busy the busiest reactor is, the load engine says at its end; until then their mean.
        used.client_cpu = used.client_cores / f64::from(self.reactors.max(1));
        Some((bottleneck(&used, load.has_own_times), used))
    }

    fn offered(&self, record: &IntervalRecord, concurrency: u64) -> OfferedLoad {
        let per_s = |count: u64| count as f64 / record.length_s;
        let transactions_per_s = per_s(record.transactions);
        OfferedLoad {
            connections: f64::from(self.connections),
            has_own_times: self.settings.has_own_times(),
            rtt_s: self.settings.rtt.as_secs_f64(),
            measured_s: WINDOW.as_secs_f64(),
            transactions_per_s,
            statements_per_s: per_s(record.queries),
            commits_per_s: per_s(record.transactions.min(record.writes)),
            // Little's law: what is under way is throughput times latency.
            // The interval has no latencies of single statements.
            committing: None,
            latency_s: concurrency as f64 / transactions_per_s.max(f64::MIN_POSITIVE),
            client_cpu: 0.0,
            client_is_apart: self.client_is_apart,
        }
    }
}
