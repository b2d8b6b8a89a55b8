//! How far the proxy's starts of statements are from the client's own: both read the same clock.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use weir_capture::{CaptureReader, Happening};
use weir_load::{NullServer, NullServerBehavior};
use weir_model::Endpoint;
use weir_mysql::{Connection, Gate};

use crate::proxy::ProxyThread;

/// Of each connection.
const STATEMENTS: u64 = 4_000;
/// Between two statements of a connection: the proxy is not what the machine is busy with.
const REST: Duration = Duration::from_millis(2);

pub(crate) fn measure(folder: &Path) -> Value {
    let server = NullServer::start_tcp(0, NullServerBehavior::default()).unwrap();
    let of = |connections: u64| {
        let to = folder.join(format!("starts-{connections}.weircap"));
        let proxy = ProxyThread::start(&server.endpoint(), &to);
        let clients: Vec<_> = (0..connections)
            .map(|number| {
                let endpoint = proxy.endpoint.clone();
                std::thread::spawn(move || sent(&endpoint, number * STATEMENTS))
            })
            .collect();
        let sent: HashMap<_, _> = clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect();
        proxy.finish();
        let mut off_us = distances_us(&to, &sent);
        off_us.sort_unstable();
        assert_eq!(off_us.len(), sent.len());
        let quantile = |share: f64| off_us[((off_us.len() - 1) as f64 * share) as usize];
        let [p50, p99, most] = [0.5, 0.99, 1.0].map(quantile);
        println!(
            "proxy's starts, {connections} connections: {p50} us after the client's at p50, {p99} us at p99, {most} us at most"
        );
        json!({ "connections": connections, "statements": off_us.len(), "us_p50": p50, "us_p99": p99, "us_max": most })
    };
    [of(1), of(16)].into_iter().collect()
}

fn now_unix_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_micros()).unwrap()
}

/// The literal of each statement, and when it was sent, microseconds since 1970.
fn sent(endpoint: &Endpoint, first: u64) -> Vec<(Vec<u8>, i64)> {
    let patience = Duration::from_secs(5);
    let mut connection = Connection::open(endpoint, &Gate::own(), patience).unwrap();
    let numbers = first..first + STATEMENTS;
    numbers
        .map(|number| {
            std::thread::sleep(REST);
            let text = format!("SELECT {number}");
            let at_us = now_unix_us();
            let _: Vec<String> = connection.rows(&text).unwrap();
            (number.to_string().into_bytes(), at_us)
        })
        .collect()
}

/// The capture's start of each of these less its own, microseconds.
fn distances_us(capture: &Path, sent: &HashMap<Vec<u8>, i64>) -> Vec<i64> {
    let mut reader = CaptureReader::open(capture).unwrap();
    let began_us = reader.head().began_unix_us;
    reader
        .by_ref()
        .filter_map(|record| {
            let record = record.unwrap();
            let Happening::Started(started) = record.happening else {
                return None;
            };
            let sent_us = sent.get(started.literals.first()?)?;
            Some(began_us + i64::try_from(record.at_us).unwrap() - sent_us)
        })
        .collect()
}
