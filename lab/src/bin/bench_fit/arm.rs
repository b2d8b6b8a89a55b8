//! One of both loads on a server of its own data, with a pool of some size.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use weir_load::{LoadPlan, Workload, run};
use weir_model::{Endpoint, ReplayPace, WorkloadName};
use weir_mysql::Gate;
use weir_replay::{ReplayOptions, Survey, replay};
use weir_server::PrivateServer;

use crate::production::{Captured, plan, start};

/// What is sent.
enum Load<'a> {
    Replay(&'a Path),
    Fitted(&'a Workload, u64),
}

/// A load and the data that it begins with.
pub(crate) struct Arm<'a> {
    data: &'a Path,
    load: Load<'a>,
    /// Of the capture, as the fit has them.
    transactions: u64,
}

/// A run of an arm.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    /// Page requests that the pool served.
    pub(crate) hit_ratio: f64,
    pub(crate) page_requests: f64,
    pub(crate) transactions_per_s: f64,
}

impl<'a> Arm<'a> {
    pub(crate) fn replay(captured: &'a Captured) -> Self {
        Self {
            data: &captured.data[0],
            load: Load::Replay(&captured.capture),
            transactions: captured.fitted.transactions,
        }
    }

    pub(crate) fn fitted(captured: &'a Captured, transactions: u64) -> Self {
        Self {
            data: &captured.data[1],
            load: Load::Fitted(&captured.workload, transactions),
            transactions,
        }
    }

    /// Runs it twice on a new copy of its data: once to fill the pool, and once to measure.
    pub(crate) fn measure(&self, pool: &str) -> Measured {
        let folder = tempfile::tempdir().unwrap();
        weir_server::copy_directory(&self.data.join("data"), &folder.path().join("data")).unwrap();
        let pool = [("innodb_buffer_pool_size".to_owned(), pool.to_owned())];
        let server = start(folder.path(), &pool);
        self.send(server.endpoint(), 1);
        let before = pages(&server);
        let took_s = self.send(server.endpoint(), 2);
        let after = pages(&server);
        server.kill();
        let (requests, reads) = (after.0 - before.0, after.1 - before.1);
        Measured {
            hit_ratio: 1.0 - reads / requests,
            page_requests: requests,
            transactions_per_s: self.transactions as f64 / took_s,
        }
    }

    /// Sends it; how long its statements took, seconds.
    fn send(&self, endpoint: Endpoint, seed: u64) -> f64 {
        let (gate, stop) = (Gate::own(), AtomicBool::new(false));
        match self.load {
            Load::Fitted(workload, transactions) => {
                let plan = LoadPlan {
                    seed,
                    ..plan(endpoint, workload.clone(), transactions)
                };
                run(&plan, &gate, &stop, &mut |_| {}).unwrap().measured_s
            }
            Load::Replay(path) => {
                let options = ReplayOptions {
                    pace: ReplayPace::Fast,
                    ..ReplayOptions::default()
                };
                let survey = Survey::read(path, &options).unwrap();
                let plan = LoadPlan::new(endpoint, WorkloadName::OltpPointSelect);
                let sent = replay(
                    &plan,
                    path,
                    &survey,
                    &options,
                    (&gate, true),
                    &stop,
                    &mut |_| {},
                );
                sent.unwrap().load.measured_s
            }
        }
    }
}

/// Page requests, and those that read the drive, since the server's start.
fn pages(server: &PrivateServer) -> (f64, f64) {
    let status = server.status().unwrap();
    let of = |name: &str| status[name].parse::<f64>().unwrap();
    (
        of("Innodb_buffer_pool_read_requests"),
        of("Innodb_buffer_pool_reads"),
    )
}
