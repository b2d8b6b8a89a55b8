//! A server in production behind the proxy, and another one for the replay.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use tempfile::TempDir;
use weir_capture::{CaptureError, CaptureProxy, CaptureTail, Literals, ProxyCertificate};
use weir_load::{LoadPlan, PreparePlan, TableOptions, Workload, prepare};
use weir_model::{Address, Endpoint, Flavor, LoadSpec, ReplayPace, Secret};
use weir_mysql::{Connection, Gate, Permissions};

use weir_replay::{CapturePart, ReplayOptions, ReplayOutcome, Survey, replay};
use weir_testing::PrivateServer;

const USER: &str = "shop";
const PASSWORD: &str = "of-the-test";
const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/shop.toml");

/// A server with the shop's tables. It goes before its directory.
pub(crate) struct Shop {
    pub(crate) server: PrivateServer,
    pub(crate) directory: TempDir,
    pub(crate) port: u16,
    pub(crate) workload: Workload,
}

impl Shop {
    /// All have the same rows.
    pub(crate) fn start(flavor: Flavor) -> Self {
        let (server, directory, port) = weir_testing::start_on_tcp(flavor, &[]);
        let path = directory.path().join("shop.toml");
        let text = std::fs::read_to_string(SHOP).unwrap();
        std::fs::write(&path, text.replace("00_000\n", "_000\n")).unwrap();
        let workload = Workload::read(path.to_str().unwrap()).unwrap();
        let plan = PreparePlan {
            threads: 2,
            tables: TableOptions::default(),
            ..PreparePlan::new(server.endpoint(), workload.clone())
        };
        prepare(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
        weir_testing::make_account(&server.endpoint(), USER, PASSWORD);
        Self {
            server,
            directory,
            port,
            workload,
        }
    }

    pub(crate) fn oracle(&self) -> Connection {
        weir_testing::connect(&self.server.endpoint())
    }

    /// A connection of the account.
    pub(crate) fn client(&self) -> Connection {
        weir_testing::connect(&self.endpoint(self.port))
    }

    pub(crate) fn purchases(&self) -> u64 {
        let count: Option<(u64,)> = self
            .oracle()
            .first("SELECT COUNT(*) FROM purchase")
            .unwrap();
        count.unwrap().0
    }

    /// By TCP on this port, as the application logs in.
    pub(crate) fn endpoint(&self, port: u16) -> Endpoint {
        Endpoint {
            address: Address::Tcp("127.0.0.1".to_owned(), port),
            user: USER.to_owned(),
            password: Secret::new(PASSWORD),
            ..self.server.endpoint()
        }
    }

    /// Sends a capture to it.
    pub(crate) fn replay(
        &self,
        path: &Path,
        pace: ReplayPace,
        allows_writes: bool,
    ) -> ReplayOutcome {
        let options = ReplayOptions {
            pace,
            ..ReplayOptions::default()
        };
        self.replay_as(path, &options, allows_writes)
    }

    /// The same with options.
    pub(crate) fn replay_as(
        &self,
        path: &Path,
        options: &ReplayOptions,
        allows_writes: bool,
    ) -> ReplayOutcome {
        self.replay_until(path, options, allows_writes, &AtomicBool::new(false))
    }

    /// The same, until it is stopped.
    pub(crate) fn replay_until(
        &self,
        path: &Path,
        options: &ReplayOptions,
        allows_writes: bool,
        stop: &AtomicBool,
    ) -> ReplayOutcome {
        let survey = Survey::read(path, options).unwrap();
        let gate = if allows_writes {
            Gate::new(Permissions {
                schema: Some(self.server.endpoint().database),
                ..Permissions::default()
            })
        } else {
            Gate::reading()
        };
        let plan = LoadPlan::new(self.endpoint(self.port), self.workload.clone());
        replay(
            &plan,
            CapturePart {
                path,
                survey: &survey,
                options,
            },
            (&gate, allows_writes),
            stop,
            &mut |_| {},
        )
        .unwrap()
    }
}

/// A proxy that runs.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    pub(crate) path: PathBuf,
    stop: Arc<AtomicBool>,
    running: JoinHandle<Result<CaptureTail, CaptureError>>,
}

impl Proxy {
    pub(crate) fn start(shop: &Shop, flavor: Flavor) -> Self {
        let path = shop.directory.path().join("shop.weircap");
        Self::to(&shop.endpoint(shop.port), flavor, &path)
    }

    /// Before this server, with its capture there.
    pub(crate) fn to(server: &Endpoint, flavor: Flavor, path: &Path) -> Self {
        let listen = "127.0.0.1:0".parse().unwrap();
        let path = path.to_owned();
        let certificate = ProxyCertificate::default();
        let proxy = CaptureProxy::bind(listen, server, flavor, &certificate).unwrap();
        let port = proxy.address().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let (of_thread, to) = (Arc::clone(&stop), path.clone());
        let running =
            std::thread::spawn(move || proxy.run(&to, Literals::Keep, &of_thread, &mut |_| {}));
        Self {
            port,
            path,
            stop,
            running,
        }
    }

    /// The server's endpoint, reached through it.
    pub(crate) fn endpoint(&self, server: &Endpoint) -> Endpoint {
        Endpoint {
            address: Address::Tcp("127.0.0.1".to_owned(), self.port),
            ..server.clone()
        }
    }

    pub(crate) fn finish(self) -> CaptureTail {
        self.stop.store(true, Ordering::SeqCst);
        self.running.join().unwrap().unwrap()
    }
}

/// Four customers at a time, without an end by the clock.
pub(crate) fn load(shop: &Shop, port: u16, events: u64) -> LoadPlan {
    LoadPlan {
        max_events: Some(events),
        load: LoadSpec {
            connections: 4,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(shop.endpoint(port), shop.workload.clone())
    }
}
