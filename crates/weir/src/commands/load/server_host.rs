//! `weir load --server-agent=NAME`: the server's host during the run, as its agent sees it.

use std::time::{Duration, Instant};

use weir_agent::{AgentPool, RemoteHost};
use weir_load::LoadOutcome;
use weir_model::ServerHost;
use weir_mysql::Gate;
use weir_probe::Sampler;
use weir_server::{ServerIdentity, Session};
use weir_sysbench::Invocation;

/// Interval of its samples.
const INTERVAL: Duration = Duration::from_secs(1);

/// A host that is sampled.
pub(super) struct SampledHost {
    host: RemoteHost,
    sampler: Sampler,
    began: Instant,
}

impl SampledHost {
    /// Begins, if the command line names an agent for the server's host.
    pub(super) fn begin(invocation: &Invocation) -> anyhow::Result<Option<Self>> {
        let Some(agent) = &invocation.server_agent else {
            return Ok(None);
        };
        let mut session = Session::open(&invocation.plan.endpoint, &Gate::reading())?;
        let identity = ServerIdentity::ask(&mut session)?;
        let (file, version) = (AgentPool::usual_file(), env!("WEIR_COMMIT"));
        let host = RemoteHost::find(&file, version, agent, identity)?;
        let began = Instant::now();
        Ok(Some(Self {
            sampler: Sampler::start(vec![Box::new(host.probe())], INTERVAL, began),
            host,
            began,
        }))
    }

    /// Ends, and tells the host's part of the measurement.
    pub(super) fn tell(self, outcome: &LoadOutcome) {
        let host: &ServerHost = self.host.host();
        for (name, value) in self.host.states() {
            eprintln!("note: {name}: {value}");
        }
        let from = outcome.measured_from.unwrap_or(self.began);
        let shift_s = from.saturating_duration_since(self.began).as_secs_f64();
        let (mut series, gaps) = self.sampler.finish();
        let times = series.iter_mut().flat_map(|series| &mut series.times_s);
        times.for_each(|time_s| *time_s -= shift_s);
        let used = weir_run::host_utilization(&series, host.device.as_deref(), outcome.measured_s);
        if used.host_cores > 0.0 {
            eprintln!("{}", weir_report::server_host_line(host, &used));
        } else {
            let name = host.name();
            eprintln!("note: server's host {name}: too few samples; measure for some seconds");
        }
        for gap in gaps {
            let (from_s, to_s) = (gap.from_s - shift_s, gap.to_s - shift_s);
            let (source, reason) = (gap.source, gap.reason);
            eprintln!("note: {source} not sampled from {from_s:.0} to {to_s:.0} s: {reason}");
        }
    }
}
