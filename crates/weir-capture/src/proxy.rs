//! A proxy that writes down what passes.
//!
//! One thread carries the bytes of all connections, each way as they come; a few threads take new connections and
//! reach the server for them; one thread writes the file. If that falls behind, whole sessions are left out of the
//! capture and counted: who is served by the server never waits for the file. If it cannot be written any more, the
//! capture ends, and connections do not.

mod carrier;
mod encryption;
mod link;
mod login;
mod packets;
mod parameters;
mod recorder;
mod replies;
mod socket;
mod unpacker;
mod watch;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use mio::Waker;
use weir_model::{Address, Endpoint, Flavor};
use weir_mysql::{Blocking, Deadline};

use crate::{CaptureError, CaptureHead, CaptureSource, CaptureTail, CaptureWriter, Literals};
use carrier::{Carrier, ClientAndServer};
use encryption::Encryption;
pub use encryption::ProxyCertificate;
pub(crate) use login::asks_for_tls;
use recorder::Recorder;
pub(crate) use recorder::write_seen;
pub(crate) use watch::{ConnectionEvent, Watch};

/// Connections that are made to the server at the same time.
const ACCEPTING: usize = 4;
/// Longest wait for the server to take one.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// A proxy that listens.
#[derive(Debug)]
pub struct CaptureProxy {
    listener: TcpListener,
    server: Address,
    flavor: Flavor,
    encryption: Option<Encryption>,
}

impl CaptureProxy {
    /// Listens, and will reach this server. Its account is not used: who connects logs in itself. Who encrypts sees
    /// `certificate`, and the proxy encrypts to the server for it, as the endpoint's TLS says.
    ///
    /// # Errors
    ///
    /// An address that cannot be used, and files of TLS that cannot be used.
    pub fn bind(
        listen: SocketAddr,
        endpoint: &Endpoint,
        flavor: Flavor,
        certificate: &ProxyCertificate,
    ) -> Result<Self, CaptureError> {
        let encryption = Encryption::new(endpoint, certificate)?;
        let listener = TcpListener::bind(listen);
        let listener = listener.map_err(|error| CaptureError::Listen {
            address: listen,
            why: error.to_string().to_lowercase(),
        })?;
        Ok(Self {
            listener,
            server: endpoint.address.clone(),
            flavor,
            encryption,
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn address(&self) -> Result<SocketAddr, CaptureError> {
        let address = self.listener.local_addr();
        address.map_err(|error| CaptureError::host("listen", &error))
    }

    /// Carries connections until `stop` is set, and writes what they say to a new file; connections that are open
    /// then are closed. `on_end` hears why the file cannot be written any more: the capture ends there, and
    /// connections are carried on.
    ///
    /// # Errors
    ///
    /// A file that cannot be written, or could not to the end.
    pub fn run(
        self,
        path: &Path,
        literals: Literals,
        stop: &AtomicBool,
        on_end: &mut dyn FnMut(&str),
    ) -> Result<CaptureTail, CaptureError> {
        let address = self.address()?;
        // One after the other: starts are as far off as these are apart.
        let (now, origin) = (jiff::Timestamp::now().as_microsecond(), Instant::now());
        let mut head = CaptureHead::new(CaptureSource::Proxy, literals, now);
        head.flavor = Some(self.flavor);
        let writer = CaptureWriter::create(path, &head)?;
        let (recorder, recording) = Recorder::start(writer)?;
        let (accepted, arriving) = channel();
        let mut carrier = Carrier::new(arriving, recorder, self.encryption.map(Arc::new), origin)?;
        let waker = carrier.waker()?;
        let is_over = AtomicBool::new(false);
        let carried = std::thread::scope(|scope| {
            for _ in 0..ACCEPTING {
                let (accepted, waker) = (accepted.clone(), &waker);
                let (listener, server, is_over) = (&self.listener, &self.server, &is_over);
                scope.spawn(move || accept(listener, server, &accepted, waker, is_over));
            }
            let carried = carrier.run(stop, on_end);
            is_over.store(true, Ordering::SeqCst);
            for _ in 0..ACCEPTING {
                // Each wakes one that waits for a connection.
                let own = Address::Tcp(address.ip().to_string(), address.port());
                let _ = Blocking::connect(&own, Deadline::after(CONNECT_LIMIT));
            }
            carried
        });
        drop(carrier);
        let tail = recording.finish(origin)?;
        carried.map(|()| tail)
    }
}

/// Takes connections and reaches the server for each.
fn accept(
    listener: &TcpListener,
    server: &Address,
    accepted: &std::sync::mpsc::Sender<ClientAndServer>,
    waker: &Waker,
    is_over: &AtomicBool,
) {
    while let Ok((client, _)) = listener.accept() {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let _ = client.set_nodelay(true);
        // A server that cannot be reached ends the client's connection, as without a proxy.
        let Ok(server) = Blocking::connect(server, Deadline::after(CONNECT_LIMIT)) else {
            continue;
        };
        if accepted.send((client, server.into_stream())).is_err() || waker.wake().is_err() {
            return;
        }
    }
}
