//! The shop as production: its capture is fitted with its tables, and the fit runs on an empty server.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;
use weir_capture::{CaptureProxy, Literals, ProxyCertificate};
use weir_load::{LoadPlan, PreparePlan, TableOptions, Workload, prepare, run};
use weir_model::{Address, Endpoint, Flavor, LoadSpec, Secret};
use weir_mysql::Gate;
use weir_replay::fit::{FitLimits, Tables, compare, fit};
use weir_testing::PrivateServer;

use crate::written::{parameter, workload};

const USER: &str = "shop";
const PASSWORD: &str = "of-the-test";
const EVENTS: u64 = 3_000;
const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/shop.toml");

weir_testing::on_both_flavors! {
    a_fit_of_production_runs_on_an_empty_server
}

fn fill(server: &PrivateServer, workload: &Workload) {
    let plan = PreparePlan {
        threads: 2,
        tables: TableOptions::default(),
        ..PreparePlan::new(server.endpoint(), workload.clone())
    };
    prepare(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
}

fn load(endpoint: Endpoint, workload: &Workload, events: u64) -> u64 {
    let plan = LoadPlan {
        max_events: Some(events),
        load: LoadSpec {
            connections: 4,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint, workload.clone())
    };
    let outcome = run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    outcome.counts_whole_run.transactions
}

/// Production with a proxy before it; its capture.
fn capture(
    server: &PrivateServer,
    port: u16,
    directory: &TempDir,
    shop: &Workload,
    flavor: Flavor,
) -> PathBuf {
    weir_testing::make_account(&server.endpoint(), USER, PASSWORD);
    let by_tcp = |port: u16| Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), port),
        user: USER.to_owned(),
        password: Secret::new(PASSWORD),
        ..server.endpoint()
    };
    let listen = "127.0.0.1:0".parse().unwrap();
    let proxy =
        CaptureProxy::bind(listen, &by_tcp(port), flavor, &ProxyCertificate::default()).unwrap();
    let through = by_tcp(proxy.address().unwrap().port());
    let path = directory.path().join("shop.weircap");
    let stop = Arc::new(AtomicBool::new(false));
    let (of_thread, to) = (Arc::clone(&stop), path.clone());
    let running =
        std::thread::spawn(move || proxy.run(&to, Literals::Keep, &of_thread, &mut |_| {}));
    assert_eq!(load(through, shop, EVENTS), EVENTS);
    stop.store(true, Ordering::SeqCst);
    running.join().unwrap().unwrap();
    path
}

fn a_fit_of_production_runs_on_an_empty_server(flavor: Flavor) {
    let (server, directory, port) = weir_testing::start_on_tcp(flavor, &[]);
    let path = directory.path().join("shop.toml");
    let text = std::fs::read_to_string(SHOP).unwrap();
    std::fs::write(&path, text.replace("00_000\n", "_000\n")).unwrap();
    let shop = Workload::read(path.to_str().unwrap()).unwrap();
    fill(&server, &shop);
    let capture = capture(&server, port, &directory, &shop, flavor);

    let endpoint = server.endpoint();
    let mut reader = weir_testing::connect(&endpoint);
    let tables = Tables {
        connection: &mut reader,
        schema: &endpoint.database,
    };
    let fitted = fit(&capture, Some(tables)).unwrap();
    let text = &fitted.text;
    // No statement names the customers' table.
    assert_eq!(fitted.tables, 2, "{text}");
    // Few products sell most, and all are named by their key.
    let by_key = "{ key = { table = \"product\", distribution = \"zipfian\", ";
    assert!(text.contains(by_key), "{text}");
    // So do the rows of purchases, and a search by product finds as many.
    let sold = "columns.\"product_id\" = { key = { range = ";
    assert!(text.contains(sold), "{text}");
    assert!(
        (parameter(text, "exponent") / 0.8 - 1.0).abs() <= 0.05,
        "{text}"
    );
    assert!(
        text.contains("[tables.\"purchase\"]") && text.contains("INDEX `product` (`product_id`)"),
        "{text}"
    );
    assert!(!text.contains(".example"), "{text}");
    let schema = Some(endpoint.database.clone());
    // What the load engine asks about the server before it begins takes a part of so short a capture.
    let limits = FitLimits {
        time: 0.7,
        ..FitLimits::default()
    };
    let comparison = compare(&capture, schema.clone(), &workload(text), &limits).unwrap();
    assert!(comparison.holds(), "{comparison:#?}\n{text}");

    // Its tables and its transactions hold on a server that has neither.
    let (empty, empty_directory, port) = weir_testing::start_on_tcp(flavor, &[]);
    let fitted_workload = Workload::try_from(&workload(text)).unwrap();
    fill(&empty, &fitted_workload);
    let mut looker = weir_testing::connect(&empty.endpoint());
    let rows: Option<(u64,)> = looker.first("SELECT COUNT(*) FROM product").unwrap();
    assert_eq!(rows, Some((20_000,)));
    let again = self::capture(&empty, port, &empty_directory, &fitted_workload, flavor);
    let bought: Option<(u64,)> = looker
        .first("SELECT COUNT(*) FROM purchase WHERE at IS NOT NULL")
        .unwrap();
    let share = bought.unwrap().0 as f64 / EVENTS as f64;
    assert!((0.03..0.08).contains(&share), "{share}");
    // What the fit asks a real server is what the shop asked.
    let comparison = compare(&again, schema, &workload(text), &limits).unwrap();
    assert!(comparison.holds(), "{comparison:#?}");
}
