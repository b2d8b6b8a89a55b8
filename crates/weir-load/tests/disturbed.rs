//! The engine behind a line that garbles, cuts or swallows what a server says: whatever comes, a
//! run ends in time, without a panic, and says what went wrong.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do
#![allow(clippy::print_stdout)] // seeds, shown when a test fails

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use tempfile::TempDir;
use weir_load::{
    LoadError, LoadOutcome, LoadPlan, NullServer, NullServerBehavior, PreparePlan, ReactorKind,
    TableOptions, prepare, run,
};
use weir_model::{Address, Endpoint, Flavor, LoadSpec, Tls, TlsMode, WorkloadName};
use weir_mysql::{Compression, Gate};

/// No run outlives its time by more. It gives up after three seconds; twelve at a time on a busy machine take longer.
const PATIENCE: Duration = Duration::from_secs(20);
const MEASURE: Duration = Duration::from_millis(150);
/// More than twelve loads at a time keep with their histograms and one packet of the largest length each
/// (16 MiB), far less than what such lengths can announce many times over.
const MEMORY_BYTES_MAX: u64 = 512 << 20;

/// Damage to a byte stream, at a place in it.
#[derive(Debug, Clone, Copy)]
enum Damage {
    /// A byte becomes another.
    Change(u8),
    /// Bytes come that nobody sent.
    Insert(u8, u8),
    /// Bytes are lost.
    Lose(u8),
    /// Nothing comes any more.
    Swallow,
    /// The connection ends.
    Close,
}

impl Damage {
    fn random(rng: &mut Xoshiro256PlusPlus) -> Self {
        let bits = rng.next_u64().to_le_bytes();
        match bits[0] % 8 {
            0..=3 => Self::Change(bits[1]),
            4 => Self::Insert(bits[1], 1 + bits[2] % 64),
            5 => Self::Lose(1 + bits[2] % 64),
            6 => Self::Swallow,
            _ => Self::Close,
        }
    }

    /// Does it to `bytes`, of which it concerns those from `at`; whether anything may follow.
    fn apply(self, bytes: &mut Vec<u8>, at: usize) -> bool {
        match self {
            Self::Change(byte) => bytes[at] = byte,
            Self::Insert(byte, count) => {
                bytes.splice(at..at, std::iter::repeat_n(byte, usize::from(count)));
            }
            Self::Lose(count) => {
                let end = bytes.len().min(at + usize::from(count));
                bytes.drain(at..end);
            }
            Self::Swallow | Self::Close => {
                bytes.truncate(at);
                return false;
            }
        }
        true
    }
}

/// A line to a server that does damage at one place of all that the server says.
struct Line {
    socket: PathBuf,
    _directory: TempDir,
}

impl Line {
    fn to(server: PathBuf, damage: Damage, at: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let said = Arc::new(AtomicU64::new(0));
        // Ends with the test's process: it waits for connections that do not come.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&server)) else {
                    return;
                };
                forward(client, server, damage, at, Arc::clone(&said));
            }
        });
        Self {
            socket,
            _directory: directory,
        }
    }

    fn endpoint(&self, behind: &Endpoint) -> Endpoint {
        Endpoint {
            address: Address::Socket(self.socket.clone()),
            ..behind.clone()
        }
    }
}

fn forward(client: UnixStream, server: UnixStream, damage: Damage, at: u64, said: Arc<AtomicU64>) {
    let (mut requests, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut requests, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    let (mut replies, mut to_client) = (server, client);
    std::thread::spawn(move || {
        let mut buffer = [0; 16 << 10];
        while let Ok(read @ 1..) = replies.read(&mut buffer) {
            let mut bytes = buffer[..read].to_vec();
            let from = said.fetch_add(read as u64, Ordering::Relaxed);
            let mut goes_on = true;
            if (from..from + read as u64).contains(&at) {
                goes_on = damage.apply(&mut bytes, (at - from) as usize);
            }
            if to_client.write_all(&bytes).is_err() {
                return;
            }
            if goes_on {
                continue;
            }
            if matches!(damage, Damage::Swallow) {
                // Until the client gives up.
                let _ = std::io::copy(&mut replies, &mut std::io::sink());
            }
            let _ = to_client.shutdown(Shutdown::Both);
            return;
        }
        let _ = to_client.shutdown(Shutdown::Write);
    });
}

fn plan(endpoint: Endpoint) -> LoadPlan {
    LoadPlan {
        rows: 100,
        interval: Duration::from_millis(50),
        init_timeout: Duration::from_millis(500),
        load: LoadSpec {
            connections: 2,
            measure: MEASURE.into(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint, WorkloadName::OltpReadWrite)
    }
}

fn go(plan: &LoadPlan) -> Result<LoadOutcome, LoadError> {
    let began = Instant::now();
    let result = run(plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {});
    let limit = plan.init_timeout + plan.load.measure.0 + PATIENCE;
    assert!(began.elapsed() < limit, "{:?}: {result:?}", began.elapsed());
    result
}

/// The most memory that this process has had.
fn memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

/// Runs so many loads over lines that are damaged in different ways, several at a time.
fn survive(behind: &Endpoint, compression: Option<Compression>, cases: u64, said_bytes: u64) {
    const PARALLEL: u64 = 12;
    let Address::Socket(server) = &behind.address else {
        panic!("a server on a socket")
    };
    let before = memory_bytes();
    std::thread::scope(|scope| {
        for first in 0..PARALLEL {
            scope.spawn(move || {
                for seed in (first..cases).step_by(PARALLEL as usize) {
                    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                    let at = rng.next_u64() % said_bytes;
                    let damage = Damage::random(&mut rng);
                    // Printed when the test fails.
                    println!("{compression:?}, seed {seed}: {damage:?} at {at}");
                    let line = Line::to(server.clone(), damage, at);
                    // Damage within a row is no damage to the protocol.
                    let plan = LoadPlan {
                        reactor: [ReactorKind::Epoll, ReactorKind::IoUring][seed as usize % 2],
                        load: LoadSpec {
                            compression: compression.map_or_else(Default::default, Into::into),
                            ..plan(line.endpoint(behind)).load
                        },
                        ..plan(line.endpoint(behind))
                    };
                    if let Err(error) = go(&plan) {
                        let words = error.to_string();
                        assert!(!words.contains('\n'), "seed {seed}: {words}");
                    }
                }
            });
        }
    });
    let grown = memory_bytes() - before;
    assert!(grown < MEMORY_BYTES_MAX, "grown by {grown} bytes");
}

fn null_server() -> (NullServer, TempDir, Endpoint) {
    let directory = tempfile::tempdir().unwrap();
    let behavior = NullServerBehavior::default();
    let server = NullServer::start(&directory.path().join("s"), behavior).unwrap();
    let endpoint = server.endpoint();
    (server, directory, endpoint)
}

#[test]
fn garbled_conversations_with_a_null_server_end_in_time() {
    let (_server, _directory, endpoint) = null_server();
    // The checks and both logins are the first 6 KB.
    survive(&endpoint, None, 96, 12_000);
}

fn garbled_conversations_end_in_time(flavor: Flavor) {
    let (server, _directory) = weir_testing::start(flavor);
    let tables = PreparePlan {
        tables: TableOptions {
            rows: 100,
            ..TableOptions::default()
        },
        ..PreparePlan::new(server.endpoint(), WorkloadName::OltpReadWrite)
    };
    prepare(
        &tables,
        &Gate::own(),
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap();
    survive(&server.endpoint(), None, 36, 20_000);
    let compressions: &[_] = match flavor {
        Flavor::Mysql => &[Compression::Zlib, Compression::Zstd],
        Flavor::Mariadb => &[Compression::Zlib],
    };
    for compression in compressions {
        // Damage to what is compressed is always damage to the protocol.
        survive(&server.endpoint(), Some(*compression), 36, 20_000);
    }
}

#[test]
fn garbled_conversations_with_mysql_end_in_time() {
    garbled_conversations_end_in_time(Flavor::Mysql);
}

#[test]
fn garbled_conversations_with_mariadb_end_in_time() {
    garbled_conversations_end_in_time(Flavor::Mariadb);
}

#[test]
fn what_did_not_come_is_named() {
    let (_server, _directory, endpoint) = null_server();
    let Address::Socket(server) = &endpoint.address else {
        panic!("a server on a socket")
    };
    let mut greeting = [0; 256];
    let length = UnixStream::connect(server)
        .and_then(|mut stream| stream.read(&mut greeting))
        .unwrap();
    for (at, expected) in [
        (0, "the server's greeting"),
        (length as u64, "the answer to the login"),
    ] {
        let line = Line::to(server.clone(), Damage::Swallow, at);
        let error = go(&plan(line.endpoint(&endpoint))).unwrap_err();
        assert!(matches!(error, LoadError::InitTimeout { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_server_that_is_stuck_in_its_tls_handshake_is_given_up() {
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
    let Address::Socket(socket) = server.endpoint().address else {
        panic!("a server on a socket")
    };
    // Greetings are about 80 bytes; the server's part of the handshake is more than a kilobyte.
    let line = Line::to(socket, Damage::Swallow, 200);
    let endpoint = Endpoint {
        tls: Tls {
            mode: TlsMode::Required,
            ..Tls::default()
        },
        ..line.endpoint(&server.endpoint())
    };
    let error = go(&plan(endpoint)).unwrap_err();
    assert!(error.to_string().contains("the TLS handshake"), "{error}");
}

#[test]
fn an_address_that_swallows_everything_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // With its queue full, the kernel drops what asks for a connection, as a firewall does.
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    let _queued: Vec<_> = (0..4)
        .map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(50)))
        .collect();
    let (_server, _directory, endpoint) = null_server();
    let endpoint = Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), address.port()),
        ..endpoint
    };
    let error = go(&plan(endpoint)).unwrap_err();
    assert!(matches!(error, LoadError::InitTimeout { .. }), "{error}");
    assert!(error.to_string().contains("the connection"), "{error}");
}

/// Stops a server's process while this lives.
struct StopGuard(u32);

impl StopGuard {
    fn new(pid: u32) -> Self {
        signal(pid, "STOP");
        Self(pid)
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        signal(self.0, "CONT");
    }
}

fn signal(pid: u32, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

fn a_server_that_stands_still_does_not_hold_a_run(flavor: Flavor) {
    let (server, _directory) = weir_testing::start(flavor);
    let tables = PreparePlan {
        tables: TableOptions {
            rows: 100,
            ..TableOptions::default()
        },
        ..PreparePlan::new(server.endpoint(), WorkloadName::OltpReadWrite)
    };
    prepare(
        &tables,
        &Gate::own(),
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap();
    for reconnect in [false, true] {
        let plan = LoadPlan {
            init_timeout: Duration::from_secs(10),
            reconnect,
            load: LoadSpec {
                measure: Duration::from_secs(1).into(),
                ..plan(server.endpoint()).load
            },
            ..plan(server.endpoint())
        };
        let mut stopped = None;
        let began = Instant::now();
        let outcome = run(
            &plan,
            &Gate::own(),
            &AtomicBool::new(false),
            &mut |interval| {
                if interval.record.transactions > 0 && stopped.is_none() {
                    stopped = Some((StopGuard::new(server.pid()), Instant::now()));
                }
            },
        )
        .unwrap();
        let (_, since) = stopped.expect("it did something first");
        assert!(
            since.elapsed() < Duration::from_secs(1) + PATIENCE,
            "{:?}",
            began.elapsed()
        );
        assert_eq!(outcome.unfinished, 2, "{outcome:?}");
        assert!(outcome.counts.transactions > 0);
    }
}

#[test]
fn a_mysql_that_stands_still_does_not_hold_a_run() {
    a_server_that_stands_still_does_not_hold_a_run(Flavor::Mysql);
}

#[test]
fn a_mariadb_that_stands_still_does_not_hold_a_run() {
    a_server_that_stands_still_does_not_hold_a_run(Flavor::Mariadb);
}
