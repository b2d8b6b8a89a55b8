//! epoll(7), edge-triggered: one read and one write for each query.

use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

use anyhow::ensure;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use rustix::io::{Errno, read, write};

use crate::login::Client;

const EVENTS_MAX: usize = 1024;
const BUFFER_BYTES: usize = 4096;
/// Time for which the loop may sleep past its end.
const PATIENCE: Duration = Duration::from_millis(100);

/// Asks until the time is over; the number of queries that were answered.
pub(crate) fn ask(mut clients: Vec<Client>, until: Instant) -> anyhow::Result<u64> {
    let mut poll = Poll::new()?;
    for (index, client) in clients.iter_mut().enumerate() {
        rustix::io::ioctl_fionbio(client.socket(), true)?;
        let descriptor = client.socket().as_raw_fd();
        let mut source = SourceFd(&descriptor);
        poll.registry()
            .register(&mut source, Token(index), Interest::READABLE)?;
        send(client)?;
    }
    let mut events = Events::with_capacity(EVENTS_MAX);
    let mut missing: Vec<_> = clients.iter().map(|client| client.reply_bytes).collect();
    let mut buffer = [0; BUFFER_BYTES];
    let mut queries = 0;
    while Instant::now() < until {
        poll.poll(&mut events, Some(PATIENCE))?;
        for event in &events {
            let Token(index) = event.token();
            let client = &mut clients[index];
            let got = match read(client.socket(), &mut buffer) {
                Err(Errno::AGAIN) => continue,
                got => got?,
            };
            ensure!(
                got > 0 && got <= missing[index],
                "a reply of an unknown length"
            );
            missing[index] -= got;
            if missing[index] == 0 {
                queries += 1;
                missing[index] = client.reply_bytes;
                send(client)?;
            }
        }
    }
    Ok(queries)
}

fn send(client: &mut Client) -> anyhow::Result<()> {
    let length = client.next_request().len();
    let sent = write(client.socket(), client.request())?;
    ensure!(sent == length, "a request was cut short");
    Ok(())
}
