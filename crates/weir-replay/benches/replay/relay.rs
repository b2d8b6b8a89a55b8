//! The least that stands between client and server: bytes that are read on one side and written on the other.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// Starts a relay to a port of this host, on a port of its own; it lives as long as the process.
pub(crate) fn start(to: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
            for stream in [&client, &server] {
                stream.set_nodelay(true).unwrap();
            }
            let (back, forth) = (
                (server.try_clone().unwrap(), client.try_clone().unwrap()),
                (client, server),
            );
            for (from, to) in [back, forth] {
                std::thread::spawn(move || carry(from, to));
            }
        }
    });
    port
}

/// Carries bytes one way, until either end has gone.
fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match from.read(&mut chunk) {
            Ok(length @ 1..) if to.write_all(&chunk[..length]).is_ok() => {}
            _ => break,
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
