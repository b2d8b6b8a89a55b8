//! Relay between a client and its server in a test: over TCP, it delays, swallows, stalls, half-closes, resets,
//! prepares nothing or ends what is idle.

mod requests;

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;

use self::requests::Requests;

/// Time after which a fault takes effect where nothing travels.
const LOOK: Duration = Duration::from_millis(10);
const NO_PANIC: &str = "invariant: no thread panics while it holds the fault";

/// Treatment of the bytes of all its connections by a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Passes them on.
    None,
    /// Takes no more of them, for ever: the peers' buffers fill.
    Stall,
    /// Takes them and passes none on.
    Swallow,
    /// Tells the client that no more will come, and still listens to it.
    HalfClose,
    /// Ends both connections with a reset.
    Reset,
    /// Answers each request to prepare a statement with an error, as proxies do that cannot.
    RefusePrepares,
    /// Answers each `LOAD DATA` with this error, as proxies do that do not know it.
    RefuseFiles(u16),
    /// Ends connections on which nothing travels for so long.
    CloseIdle(Duration),
}

/// A relay on a free port of 127.0.0.1; its connections end with it.
#[derive(Debug)]
pub struct Relay {
    port: u16,
    shared: Arc<RelayState>,
}

#[derive(Debug)]
struct RelayState {
    target: u16,
    delay: Duration,
    fault: Mutex<Fault>,
    accepted: AtomicUsize,
    is_over: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Relay {
    /// Starts it before the server on port `target` of 127.0.0.1; each way takes `delay` longer.
    ///
    /// # Panics
    /// When the host gives no port.
    pub fn start(target: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("invariant: loopback has ports");
        let port = listener
            .local_addr()
            .expect("invariant: it is bound")
            .port();
        let shared = Arc::new(RelayState {
            target,
            delay,
            fault: Mutex::new(Fault::None),
            accepted: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            streams: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accepting.accept(&listener));
        Self { port, shared }
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on, this happens.
    pub fn set(&self, fault: Fault) {
        *self.shared.fault.lock().expect(NO_PANIC) = fault;
    }

    /// Connections that it has taken so far.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        let streams = self.shared.streams.lock();
        for stream in streams.iter().flat_map(|streams| streams.iter()) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl RelayState {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming() {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            self.accepted.fetch_add(1, Ordering::SeqCst);
            // A server that refuses ends the client's connection, as without a relay.
            let _ = client.and_then(|client| self.join(client));
        }
    }

    fn join(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(("127.0.0.1", self.target))?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(LOOK))?;
            if let Ok(mut streams) = self.streams.lock() {
                streams.push(stream.try_clone()?);
            }
        }
        let used = Arc::new(Mutex::new(Instant::now()));
        self.pump(client.try_clone()?, server.try_clone()?, &used, false);
        self.pump(server, client, &used, true);
        Ok(())
    }

    /// Carries one way, in two threads: what is read waits for its time without holding up what follows.
    fn pump(
        self: &Arc<Self>,
        from: TcpStream,
        to: TcpStream,
        used: &Arc<Mutex<Instant>>,
        is_to_client: bool,
    ) {
        let (sender, receiver) = channel();
        let (reading, writing) = (Arc::clone(self), Arc::clone(self));
        let used = Arc::clone(used);
        thread::spawn(move || {
            let _ = reading.read(from, &sender, &used, is_to_client);
        });
        thread::spawn(move || {
            let _ = writing.write(&to, &receiver, is_to_client);
            let _ = to.shutdown(Shutdown::Write);
        });
    }

    fn read(
        &self,
        mut from: TcpStream,
        sender: &Sender<(Instant, Vec<u8>)>,
        used: &Mutex<Instant>,
        is_to_client: bool,
    ) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        let mut requests = Requests::default();
        while !self.is_over.load(Ordering::SeqCst) {
            match self.fault() {
                Fault::Stall => {
                    thread::sleep(LOOK);
                    continue;
                }
                Fault::Reset => {
                    return set_socket_linger(&from, Some(Duration::ZERO)).map_err(Into::into);
                }
                Fault::HalfClose if is_to_client => return Ok(()),
                Fault::CloseIdle(limit) if used.lock().expect(NO_PANIC).elapsed() > limit => {
                    return from.shutdown(Shutdown::Both);
                }
                _ => {}
            }
            match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) if self.fault() != Fault::Swallow => {
                    let now = Instant::now();
                    *used.lock().expect(NO_PANIC) = now;
                    let mut bytes = buffer[..count].to_vec();
                    let fault = self.fault();
                    let refuses = matches!(fault, Fault::RefusePrepares | Fault::RefuseFiles(_));
                    if refuses && !is_to_client {
                        let answers;
                        (bytes, answers) = requests.without_refused(fault, &bytes);
                        from.write_all(&answers)?;
                    }
                    if sender.send((now + self.delay, bytes)).is_err() {
                        return Ok(());
                    }
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write(
        &self,
        mut to: &TcpStream,
        receiver: &Receiver<(Instant, Vec<u8>)>,
        is_to_client: bool,
    ) -> io::Result<()> {
        for (due, bytes) in receiver {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            to.write_all(&bytes)?;
        }
        if self.fault() == Fault::Reset && is_to_client {
            set_socket_linger(to, Some(Duration::ZERO))?;
        }
        Ok(())
    }

    fn fault(&self) -> Fault {
        *self.fault.lock().expect(NO_PANIC)
    }
}
