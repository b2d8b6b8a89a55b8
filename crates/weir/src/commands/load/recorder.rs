//! Files and metrics of a run beside its report: the log of latencies, the CSV file, the endpoint for Prometheus.

mod csv_file;
mod load_metrics;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context as _;
use weir_load::{HdrLog, Interval, LoadOutcome};
use weir_serve::MetricsEndpoint;
use weir_sysbench::Invocation;

use csv_file::CsvFile;
use load_metrics::LoadMetrics;

/// Records the intervals of a run. An output that fails is not written any more; the run goes on, and the command ends
/// with the first failure.
pub(super) struct Recorder {
    hdr_log: Option<(PathBuf, HdrLog<File>)>,
    csv: Option<CsvFile>,
    metrics: Option<(Arc<Mutex<LoadMetrics>>, MetricsEndpoint)>,
    failed: Option<anyhow::Error>,
}

impl Recorder {
    /// Opens what the command line names.
    ///
    /// # Errors
    /// A file that cannot be made, and an address that is taken.
    pub(super) fn open(invocation: &Invocation) -> anyhow::Result<Self> {
        let warmup = invocation.plan.load.warmup.least().0;
        let log = |path: &PathBuf| {
            let create = || HdrLog::new(File::create(path)?, SystemTime::now() + warmup);
            let log = create().with_context(|| format!("while creating {}", path.display()))?;
            anyhow::Ok((path.clone(), log))
        };
        Ok(Self {
            hdr_log: invocation.hdr_log.as_ref().map(log).transpose()?,
            csv: invocation.csv.as_deref().map(CsvFile::create).transpose()?,
            metrics: open_metrics(invocation)?,
            failed: None,
        })
    }

    /// Takes an interval, of the warm-up or of the measurement.
    pub(super) fn interval(&mut self, interval: &Interval) {
        if let Some((path, log)) = &mut self.hdr_log
            && let Err(error) = log.write(interval)
        {
            let path = path.display();
            let error =
                anyhow::anyhow!("cannot write --hdr-log file `{path}` ({error}); free some space");
            self.failed.get_or_insert(error);
            self.hdr_log = None;
        }
        if let Some(csv) = &mut self.csv
            && let Err(error) = csv.interval(interval)
        {
            self.failed.get_or_insert(error);
            self.csv = None;
        }
        if let Some((metrics, _)) = &self.metrics {
            metrics
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .interval(interval);
        }
    }

    /// Takes the totals, which also have what came too late for its interval.
    pub(super) fn completed(&mut self, outcome: &LoadOutcome) {
        if let Some(csv) = &mut self.csv
            && let Err(error) = csv.complete(outcome)
        {
            self.failed.get_or_insert(error);
        }
        if let Some((metrics, _)) = &self.metrics {
            metrics
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .complete(outcome);
        }
    }

    /// Ends the endpoint.
    ///
    /// # Errors
    /// The first output that could not be written.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    /// The address of the metrics.
    #[cfg(test)]
    fn address(&self) -> std::net::SocketAddr {
        self.metrics.as_ref().unwrap().1.address()
    }
}

fn open_metrics(
    invocation: &Invocation,
) -> anyhow::Result<Option<(Arc<Mutex<LoadMetrics>>, MetricsEndpoint)>> {
    let Some(address) = invocation.metrics else {
        return Ok(None);
    };
    let plan = &invocation.plan;
    let metrics = LoadMetrics::new(&plan.workload.to_string(), plan.load.connections);
    let metrics = Arc::new(Mutex::new(metrics));
    let of_endpoint = Arc::clone(&metrics);
    let endpoint = MetricsEndpoint::open(address, move || {
        of_endpoint
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .exposition()
    })?;
    eprintln!("metrics: http://{}/metrics", endpoint.address());
    Ok(Some((metrics, endpoint)))
}
