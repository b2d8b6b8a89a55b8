//! The drive's end of the control socket.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Answer, PATIENCE, Request, socket_path};
use crate::DriveError;
use crate::stop::Stop;

/// Interval at which the listener looks for its end.
const POLL: Duration = Duration::from_millis(100);

/// The socket, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    path: PathBuf,
    socket: UnixListener,
}

impl Listener {
    pub(crate) fn bind(mountpoint: &Path) -> Result<Self, DriveError> {
        let path = socket_path(mountpoint)?;
        // A killed drive leaves its socket; the mountpoint was found free, so no process listens.
        let _ = std::fs::remove_file(&path);
        let bind = || {
            let socket = UnixListener::bind(&path)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = bind().map_err(DriveError::path("listen on", &path))?;
        Ok(Self { path, socket })
    }

    /// Answers requests with `answer` until `stop`.
    pub(crate) fn serve(&self, stop: &Stop, answer: impl Fn(Request) -> Answer) {
        while !stop.wait_for(Duration::ZERO) {
            match self.socket.accept() {
                // A client that went away in the middle concerns no other client.
                Ok((stream, _)) => drop(exchange(stream, &answer)),
                Err(_) => drop(stop.wait_for(POLL)),
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn exchange(mut stream: UnixStream, answer: &impl Fn(Request) -> Answer) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    let answer = match serde_json::from_str(&line) {
        Ok(request) => answer(request),
        Err(error) => Err(format!("unknown request ({error})")),
    };
    writeln!(stream, "{}", serde_json::to_string(&answer)?)
}
