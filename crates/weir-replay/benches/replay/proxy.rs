//! What the capture proxy adds: a closed loop of a few connections with and without it, in turn.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use weir_capture::{CaptureError, CaptureProxy, CaptureTail, Literals, ProxyCertificate};
use weir_load::{LoadPlan, NullServer, NullServerBehavior, run};
use weir_model::{Address, Endpoint, Flavor, LoadSpec, WorkloadName};
use weir_mysql::Gate;

/// Turns of direct and through the proxy.
const TURNS: usize = 5;

/// A proxy that runs.
pub(crate) struct ProxyThread {
    /// How it is reached, with the account of the server behind it.
    pub(crate) endpoint: Endpoint,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<CaptureTail, CaptureError>>,
}

impl ProxyThread {
    /// In front of a server that listens on TCP.
    pub(crate) fn start(server: &Endpoint, to: &Path) -> Self {
        let listen = "127.0.0.1:0".parse().unwrap();
        let certificate = ProxyCertificate::default();
        let proxy = CaptureProxy::bind(listen, server, Flavor::Mysql, &certificate).unwrap();
        let port = proxy.address().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let (of_thread, to) = (Arc::clone(&stop), to.to_owned());
        Self {
            endpoint: Endpoint {
                address: Address::Tcp("127.0.0.1".to_owned(), port),
                ..server.clone()
            },
            thread: std::thread::spawn(move || {
                proxy.run(&to, Literals::Keep, &of_thread, &mut |_| {})
            }),
            stop,
        }
    }

    pub(crate) fn finish(self) {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().unwrap().unwrap();
    }
}

/// Queries per second and the median, microseconds.
fn load(endpoint: &Endpoint, connections: u32) -> (f64, f64) {
    let plan = LoadPlan {
        load: LoadSpec {
            connections,
            measure: weir_model::Duration::from_secs(3),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint.clone(), WorkloadName::OltpPointSelect)
    };
    let outcome = run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    (
        outcome.counts.queries as f64 / outcome.measured_s,
        outcome.latency.us_p50,
    )
}

pub(crate) fn measure(folder: &Path) -> Value {
    let server = NullServer::start_tcp(0, NullServerBehavior::default()).unwrap();
    let direct = server.endpoint();
    let proxy = ProxyThread::start(&direct, &folder.join("proxy.weircap"));
    let found = [1, 16].map(|connections| {
        let turns: Vec<_> = (0..TURNS)
            .map(|_| {
                (
                    load(&direct, connections),
                    load(&proxy.endpoint, connections),
                )
            })
            .collect();
        let sorted = |values: Vec<f64>| {
            let mut values = values;
            values.sort_by(f64::total_cmp);
            values
        };
        let added = turns.iter().map(|(direct, through)| through.1 - direct.1);
        let added = sorted(added.collect());
        let ratio = turns.iter().map(|(direct, through)| through.0 / direct.0);
        let ratio = sorted(ratio.collect());
        println!(
            "proxy, {connections} connections: p50 + {:.0} us ({:.0} to {:.0}), throughput {:.2}x",
            added[TURNS / 2],
            added[0],
            added[TURNS - 1],
            ratio[TURNS / 2]
        );
        json!({
            "connections": connections,
            "added_us_p50": added,
            "throughput_ratio": ratio,
        })
    });
    proxy.finish();
    found.into_iter().collect()
}
