//! The engine against a server whose every delay and fault is known.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod counts;
mod errors;
mod losses;
mod times;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tempfile::TempDir;
use weir_load::{
    Interval, LoadError, LoadOutcome, LoadPlan, NullServer, NullServerBehavior, ReactorKind, run,
};
use weir_model::{LoadSpec, WorkloadName};
use weir_mysql::Gate;

struct Bench {
    server: NullServer,
    /// Of its socket, if it has one.
    _directory: Option<TempDir>,
}

impl Bench {
    fn new(behavior: NullServerBehavior) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket: PathBuf = directory.path().join("s");
        let server = NullServer::start(&socket, behavior).unwrap();
        Self {
            server,
            _directory: Some(directory),
        }
    }

    fn over_tcp(behavior: NullServerBehavior) -> Self {
        Self {
            server: NullServer::start_tcp(0, behavior).unwrap(),
            _directory: None,
        }
    }

    fn plan(&self, workload: WorkloadName, measure_ms: u64) -> LoadPlan {
        let endpoint = self.server.endpoint();
        LoadPlan {
            tables: 2,
            interval: Duration::from_millis(100),
            load: LoadSpec {
                connections: 4,
                measure: Duration::from_millis(measure_ms).into(),
                ..LoadSpec::default()
            },
            ..LoadPlan::new(endpoint, workload)
        }
    }
}

/// Each way to wait for a server, on each way to one that behaves so.
fn everywhere(behavior: NullServerBehavior, test: impl Fn(Bench, ReactorKind)) {
    for reactor in [ReactorKind::Epoll, ReactorKind::IoUring] {
        test(Bench::new(behavior), reactor);
        test(Bench::over_tcp(behavior), reactor);
    }
}

fn go(plan: &LoadPlan) -> Result<(LoadOutcome, Vec<Interval>), LoadError> {
    let stop = AtomicBool::new(false);
    let mut intervals = Vec::new();
    let outcome = run(plan, &Gate::own(), &stop, &mut |interval| {
        intervals.push(interval.clone());
    })?;
    Ok((outcome, intervals))
}

/// Measures for as long as it takes until there is something to add up: a busy machine may not get
/// to a single transaction within the first length.
fn measure_until_there_is_something(
    plan: impl Fn(u64) -> LoadPlan,
) -> (f64, LoadOutcome, Vec<Interval>) {
    for measure_ms in [500, 2_000, 8_000] {
        let (outcome, intervals) = go(&plan(measure_ms)).unwrap();
        if outcome.counts.transactions > 0 {
            return (measure_ms as f64 / 1e3, outcome, intervals);
        }
    }
    panic!("not one transaction within 8 s");
}
