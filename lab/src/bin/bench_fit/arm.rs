//! One of both loads on a server of its own data, with a pool of some size.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use weir_load::{LoadPlan, Workload, run};
use weir_model::{Endpoint, ReplayPace, WorkloadName};
use weir_mysql::Gate;
use weir_replay::{CapturePart, ReplayOptions, Survey, replay};
use weir_server::PrivateServer;

use crate::production::{RecordedLoad, plan, start};

/// Load that is sent.
enum Load<'a> {
    Replay(&'a Path),
    Fitted(&'a Workload, u64),
}

/// A load and the data that it begins with.
pub(crate) struct Arm<'a> {
    data: &'a Path,
    load: Load<'a>,
}

/// One after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    /// It fills the pool.
    First = 1,
    /// It is measured. None of its keys is one because the first half had it.
    Second = 2,
}

/// A run of an arm.
#[derive(Debug, Serialize)]
pub(crate) struct Measurement {
    /// Page requests that the pool served.
    pub(crate) hit_ratio: f64,
    pub(crate) page_requests: f64,
    pub(crate) queries_per_s: f64,
}

impl<'a> Arm<'a> {
    pub(crate) fn replay(captured: &'a RecordedLoad) -> Self {
        Self {
            data: &captured.data[0],
            load: Load::Replay(&captured.capture),
        }
    }

    pub(crate) fn fitted(captured: &'a RecordedLoad) -> Self {
        Self {
            data: &captured.data[1],
            load: Load::Fitted(&captured.workload, captured.fitted.transactions / 2),
        }
    }

    /// Runs it on a new copy of its data: one half to fill the pool, and one to measure.
    pub(crate) fn measure(&self, pool: &str) -> Measurement {
        let folder = tempfile::tempdir().unwrap();
        weir_server::copy_directory(&self.data.join("data"), &folder.path().join("data")).unwrap();
        let pool = [("innodb_buffer_pool_size".to_owned(), pool.to_owned())];
        let server = start(folder.path(), &pool);
        self.send(server.endpoint(), Half::First);
        let before = pages(&server);
        let queries_per_s = self.send(server.endpoint(), Half::Second);
        let after = pages(&server);
        server.kill();
        let (requests, reads) = (after.0 - before.0, after.1 - before.1);
        Measurement {
            hit_ratio: 1.0 - reads / requests,
            page_requests: requests,
            queries_per_s,
        }
    }

    /// Sends half of it; its queries per second.
    fn send(&self, endpoint: Endpoint, half: Half) -> f64 {
        let (gate, stop) = (Gate::own(), AtomicBool::new(false));
        let load = match self.load {
            Load::Fitted(workload, transactions) => {
                let plan = LoadPlan {
                    seed: half as u64,
                    ..plan(endpoint, workload.clone(), transactions)
                };
                run(&plan, &gate, &stop, &mut |_| {}).unwrap()
            }
            Load::Replay(path) => {
                let whole = ReplayOptions {
                    pace: ReplayPace::Fast,
                    ..ReplayOptions::default()
                };
                let middle_us = Survey::read(path, &whole).unwrap().length_us / 2;
                let options = match half {
                    Half::First => ReplayOptions {
                        length_us: Some(middle_us),
                        ..whole
                    },
                    Half::Second => ReplayOptions {
                        from_us: middle_us,
                        ..whole
                    },
                };
                let survey = Survey::read(path, &options).unwrap();
                let plan = LoadPlan::new(endpoint, WorkloadName::OltpPointSelect);
                let part = CapturePart {
                    path,
                    survey: &survey,
                    options: &options,
                };
                let sent = replay(&plan, part, (&gate, true), &stop, &mut |_| {});
                sent.unwrap().load
            }
        };
        load.counts_whole_run.queries as f64 / load.measured_s
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
