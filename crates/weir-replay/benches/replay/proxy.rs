//! The cost of the capture proxy: a closed loop of a few connections with and without it, and by a plain relay, in turn.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use weir_capture::{CaptureError, CaptureProxy, CaptureTail, Literals, ProxyCertificate};
use weir_load::{LoadPlan, NullServer, NullServerBehavior, run};
use weir_model::{Address, Endpoint, Flavor, LoadSpec, WorkloadName};
use weir_mysql::Gate;

use crate::relay;
use crate::spread::Spread;

/// Turns of all three ways.
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
#[derive(Clone, Copy)]
struct Speed {
    per_s: f64,
    us_p50: f64,
}

fn load(endpoint: &Endpoint, connections: u32, seconds: u64) -> Speed {
    let plan = LoadPlan {
        load: LoadSpec {
            connections,
            measure: weir_model::Duration::from_secs(seconds),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint.clone(), WorkloadName::OltpPointSelect)
    };
    let outcome = run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    Speed {
        per_s: outcome.counts.queries as f64 / outcome.measured_s,
        us_p50: outcome.latency.us_p50,
    }
}

pub(crate) fn measure(folder: &Path, seconds: u64) -> Value {
    let server = NullServer::start_tcp(0, NullServerBehavior::default()).unwrap();
    let direct = server.endpoint();
    let Address::Tcp(_, port) = direct.address else {
        panic!("it listens on TCP");
    };
    let relay = Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), relay::start(port)),
        ..direct.clone()
    };
    let proxy = ProxyThread::start(&direct, &folder.join("proxy.weircap"));
    let found = [1, 16].map(|connections| {
        // One after the other, so that each turn has the same minute.
        let ways = [&direct, &relay, &proxy.endpoint];
        let turns = (0..TURNS).map(|_| ways.map(|way| load(way, connections, seconds)));
        told(connections, &turns.collect::<Vec<_>>())
    });
    proxy.finish();
    found.into_iter().collect()
}

/// Prints turns, each direct, by the relay and by the proxy.
fn told(connections: u32, turns: &[[Speed; 3]]) -> Value {
    let spread = |read: fn(&[Speed; 3]) -> f64| Spread::new(turns.iter().map(read).collect());
    let added = spread(|[direct, _, proxy]| proxy.us_p50 - direct.us_p50);
    let added_by_relay = spread(|[direct, relay, _]| relay.us_p50 - direct.us_p50);
    let to_relay = spread(|[_, relay, proxy]| proxy.us_p50 / relay.us_p50);
    let throughput = spread(|[direct, _, proxy]| proxy.per_s / direct.per_s);
    let throughput_to_relay = spread(|[_, relay, proxy]| proxy.per_s / relay.per_s);
    println!(
        "proxy, {connections} connections: p50 + {} us, a plain relay + {} us; p50 / relay's {}; throughput / direct {}, \
         / relay's {}",
        added.text(0),
        added_by_relay.text(0),
        to_relay.text(2),
        throughput.text(2),
        throughput_to_relay.text(2)
    );
    json!({
        "connections": connections,
        "added_us_p50": added.all(),
        "relay_added_us_p50": added_by_relay.all(),
        "p50_ratio_to_relay": to_relay.all(),
        "throughput_ratio": throughput.all(),
        "throughput_ratio_to_relay": throughput_to_relay.all(),
    })
}
