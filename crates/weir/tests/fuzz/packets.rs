//! What servers say: replies as bytes, and a whole load through a wire that changes some of them.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weir_load::{LoadPlan, NullServer, NullServerBehavior, ToleratedErrors, run};
use weir_model::{Address, WorkloadName};
use weir_mysql::{ExpectedReply, Gate, ReplyParser};
use weir_workload::{Rng, seeded};

use crate::fuzz;

/// A packet.
fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

#[test]
fn replies() {
    let definition = |sequence| {
        let column = b"\x03def\0\0\0\x01a\x01a\x0C\x2D\0\x01\0\0\0\xFD\0\0\0\0\0";
        packet(sequence, column)
    };
    let rows = [
        packet(1, &[1]),
        definition(2),
        packet(3, b"\x03one"),
        packet(4, &[0xFB]),
        packet(5, &[0xFE, 0, 0, 2, 0, 0, 0]),
    ];
    let prepared = [
        packet(1, &[0, 7, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]),
        definition(2),
        definition(3),
    ];
    let seeds = vec![
        packet(1, &[0, 0, 0, 2, 0, 0, 0]),
        packet(1, b"\xFF\x48\x04#HY000words"),
        rows.concat(),
        prepared.concat(),
    ];
    fuzz("replies", seeds, &[], |input, _| {
        for is_deprecated in [true, false] {
            for expected in [
                ExpectedReply::TextRows,
                ExpectedReply::TypedRows,
                ExpectedReply::Outcome,
                ExpectedReply::Statement,
            ] {
                let mut parser = ReplyParser::new(is_deprecated);
                parser.expect(expected);
                for chunk in input.chunks(7) {
                    if !matches!(parser.feed(chunk), Ok(None)) {
                        break;
                    }
                }
                assert!(parser.rows().len() <= input.len());
            }
        }
    });
}

/// A wire to a server that changes some of what the server says.
struct Wire {
    port: u16,
    is_over: Arc<AtomicBool>,
}

impl Wire {
    fn start(server: &Address, seed: u64, one_of: u64) -> Self {
        let Address::Socket(socket) = server.clone() else {
            panic!("a socket");
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_over = Arc::new(AtomicBool::new(false));
        let rng = Arc::new(Mutex::new(seeded(seed, 1)));
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&socket)) else {
                    break;
                };
                let (up, down) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || {
                    copy(&up, &server, |_| {});
                    // The server ends its side, and both threads end.
                    server.shutdown(Shutdown::Both).unwrap_or_default();
                });
                let rng = Arc::clone(&rng);
                std::thread::spawn(move || {
                    copy(&down, &client, |bytes| {
                        spoil(bytes, &mut rng.lock().unwrap(), one_of);
                    });
                    client.shutdown(Shutdown::Both).unwrap_or_default();
                });
            }
        });
        Self { port, is_over }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The listener looks up.
        TcpStream::connect(("127.0.0.1", self.port))
            .map(drop)
            .unwrap_or_default();
    }
}

fn copy<R, W>(mut from: &R, mut to: &W, mut change: impl FnMut(&mut [u8]))
where
    for<'a> &'a R: Read,
    for<'a> &'a W: Write,
{
    let mut buffer = [0; 4096];
    let mut pass = || -> io::Result<bool> {
        let length = from.read(&mut buffer)?;
        change(&mut buffer[..length]);
        to.write_all(&buffer[..length])?;
        Ok(length > 0)
    };
    while pass().unwrap_or(false) {}
}

/// Changes one of so many bytes, on average.
fn spoil(bytes: &mut [u8], rng: &mut Rng, one_of: u64) {
    for byte in bytes {
        if rng.below(one_of) == 0 {
            *byte = match rng.below(4) {
                0 => 0,
                1 => 0xFF,
                2 => *byte ^ (1 << rng.below(8)),
                _ => rng.below(256) as u8,
            };
        }
    }
}

#[test]
fn servers_that_lie() {
    let directory = tempfile::tempdir().unwrap();
    let server = NullServer::start(&directory.path().join("s"), NullServerBehavior::default());
    let server = server.unwrap();
    // The input is nothing but a seed here.
    fuzz(
        "servers that lie",
        vec![vec![1; 8], vec![200; 8]],
        &[],
        |input, _| {
            let seed = input
                .iter()
                .fold(7_u64, |seed, byte| seed.wrapping_mul(31) + u64::from(*byte));
            let wire = Wire::start(server.address(), seed, 50 << (seed % 8));
            let mut endpoint = server.endpoint();
            endpoint.address = Address::Tcp("127.0.0.1".to_owned(), wire.port);
            let mut plan = LoadPlan::new(endpoint, WorkloadName::OltpReadWrite);
            plan.load.connections = 2;
            plan.load.measure = Duration::from_millis(50).into();
            plan.init_timeout = Duration::from_millis(300);
            plan.max_events = Some(20);
            if seed.is_multiple_of(3) {
                plan.tolerated = ToleratedErrors::All;
            }
            let stop = AtomicBool::new(false);
            let outcome = run(&plan, &Gate::own(), &stop, &mut |_| {});
            if let Err(error) = outcome {
                let told = error.to_string();
                assert_eq!(told.lines().count(), 1, "{told}");
            }
        },
    );
}
