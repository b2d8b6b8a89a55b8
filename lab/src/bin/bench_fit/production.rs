//! A server in production, its capture, and the workload that is fitted to it on another server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_capture::{CaptureProxy, Literals, ProxyCertificate};
use weir_load::{LoadPlan, PreparePlan, TableOptions, Workload, prepare, run};
use weir_model::{
    Address, Distribution, Endpoint, Flavor, LoadSpec, Secret, SysbenchWorkload, WorkloadName,
};
use weir_mysql::Gate;
use weir_replay::fit::{FitResult, Tables, fit};
use weir_server::{PrivateServer, free_port, loopback_variables};

const USER: &str = "production";
const PASSWORD: &str = "of-the-benchmark";
/// Connections of production.
pub(crate) const CONNECTIONS: u32 = 4;
/// Time limit for a server to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// A kind of production.
pub(crate) struct Production {
    pub(crate) name: &'static str,
    /// Rows of each table, of workloads that do not say it themselves.
    rows: u64,
    /// Transactions that are captured.
    pub(crate) transactions: u64,
    /// True if the fit runs; otherwise only its shares are printed.
    pub(crate) is_run: bool,
    workload: fn() -> Workload,
}

/// Productions that are measured.
pub(crate) static PRODUCTIONS: [Production; 3] = [
    Production {
        name: "point-select",
        rows: 200_000,
        transactions: 20_000,
        is_run: true,
        workload: || {
            Workload::from(SysbenchWorkload {
                distribution: Distribution::Zipfian { exponent: 0.9 },
                ..SysbenchWorkload::from(WorkloadName::OltpPointSelect)
            })
        },
    },
    Production {
        name: "shop",
        rows: 0,
        transactions: 4_000,
        is_run: true,
        workload: || Workload::read("workloads/shop.toml").unwrap(),
    },
    Production {
        name: "order-entry",
        rows: 0,
        transactions: 5_000,
        is_run: false,
        workload: || Workload::read("order_entry").unwrap(),
    },
];

/// A capture, what was fitted to it, and the data of both.
pub(crate) struct RecordedLoad {
    pub(crate) capture: PathBuf,
    pub(crate) fitted: FitResult,
    /// The fitted workload.
    pub(crate) workload: Workload,
    /// Folders with the data of production before the capture, and of the fitted tables.
    pub(crate) data: [PathBuf; 2],
}

impl Production {
    /// Runs it behind the proxy, and fits its capture.
    pub(crate) fn capture(&self, folder: &Path, transactions: u64) -> RecordedLoad {
        let data = ["production", "fitted"].map(|name| folder.join(name));
        for folder in &data {
            std::fs::create_dir(folder).unwrap();
            let binary = weir_testing::binary(Flavor::Mysql);
            weir_testing::data_directory(&binary, &folder.join("data"));
        }
        let tables = self.tables();
        let server = start(&data[0], &[]);
        fill(&server, &(self.workload)(), tables.clone());
        weir_testing::make_account(&server.endpoint(), USER, PASSWORD);
        server.stop(PATIENCE).unwrap();
        // Production changes its data; a replay begins with those from before.
        let before = folder.join("before");
        std::fs::create_dir(&before).unwrap();
        weir_server::copy_directory(&data[0].join("data"), &before.join("data")).unwrap();

        let port = free_port().unwrap();
        let server = start(&data[0], &loopback_variables(port));
        let capture = folder.join("production.weircap");
        self.load(&server, port, &capture, transactions);
        let endpoint = server.endpoint();
        let mut reader = weir_testing::connect(&endpoint);
        let with_tables = Tables {
            connection: &mut reader,
            schema: &endpoint.database,
        };
        let fitted = fit(&capture, Some(with_tables)).unwrap();
        drop(reader);
        server.stop(PATIENCE).unwrap();

        let file = folder.join("fitted.toml");
        std::fs::write(&file, &fitted.text).unwrap();
        let workload = Workload::read(file.to_str().unwrap()).unwrap();
        if self.is_run {
            let server = start(&data[1], &[]);
            fill(&server, &workload, TableOptions::default());
            server.stop(PATIENCE).unwrap();
        }
        let [_, fitted_data] = data;
        RecordedLoad {
            capture,
            fitted,
            workload,
            data: [before, fitted_data],
        }
    }

    fn tables(&self) -> TableOptions {
        TableOptions {
            rows: self.rows.max(1),
            ..TableOptions::default()
        }
    }

    fn load(&self, server: &PrivateServer, port: u16, capture: &Path, transactions: u64) {
        let by_tcp = |port: u16| Endpoint {
            address: Address::Tcp("127.0.0.1".to_owned(), port),
            user: USER.to_owned(),
            password: Secret::new(PASSWORD),
            ..server.endpoint()
        };
        let listen = "127.0.0.1:0".parse().unwrap();
        let certificate = ProxyCertificate::default();
        let proxy = CaptureProxy::bind(listen, &by_tcp(port), Flavor::Mysql, &certificate).unwrap();
        let through = by_tcp(proxy.address().unwrap().port());
        let stop = Arc::new(AtomicBool::new(false));
        let (of_thread, to) = (Arc::clone(&stop), capture.to_owned());
        let running = std::thread::spawn(move || {
            // The result has the error, too.
            proxy.run(&to, Literals::Keep, &of_thread, &mut |_| {})
        });
        let plan = LoadPlan {
            rows: self.rows.max(1),
            ..plan(through, (self.workload)(), transactions)
        };
        run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
        stop.store(true, Ordering::SeqCst);
        running.join().unwrap().unwrap();
    }
}

/// So many transactions, as fast as the connections can.
pub(crate) fn plan(endpoint: Endpoint, workload: Workload, transactions: u64) -> LoadPlan {
    LoadPlan {
        max_events: Some(transactions),
        load: LoadSpec {
            connections: CONNECTIONS,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint, workload)
    }
}

/// A server on the data in this folder.
pub(crate) fn start(folder: &Path, variables: &[(String, String)]) -> PrivateServer {
    let mut options = weir_testing::options(folder);
    options.variables.extend(variables.iter().cloned());
    let lazy = weir_testing::LAZY_COMMITS;
    let lazy = lazy.map(|(name, value)| (name.to_owned(), value.to_owned()));
    options.variables.extend(lazy);
    PrivateServer::start(&weir_testing::binary(Flavor::Mysql), &options).unwrap()
}

fn fill(server: &PrivateServer, workload: &Workload, tables: TableOptions) {
    let plan = PreparePlan {
        threads: 2,
        tables,
        ..PreparePlan::new(server.endpoint(), workload.clone())
    };
    prepare(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
}
