//! Arrivals over TCP and their times: on both of the kernel's ways to wait for them.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::super::sockets::{Arrival, Sockets, Wait};
use super::super::{EpollSockets, RingSockets};
use crate::driver::NonBlocking;
use crate::stamp::Stamp;
use weir_mysql::{Channel, Stream};

/// Longer than any buffer.
const LENGTH: usize = 100_000;

/// A connection in the hands of `sockets`, as number 1, and its other end.
fn connect(sockets: &mut impl Sockets) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    let transport = Channel::plain(NonBlocking::try_from(Stream::Tcp(near)).unwrap());
    sockets.attach(1, transport).unwrap();
    far
}

/// Waits once; what came, how long ago the last of it did, and whether the connection has ended.
fn receive(sockets: &mut impl Sockets) -> (Vec<u8>, Option<u64>, bool) {
    let wait = Wait {
        now_ns: 0,
        until_ns: 100_000_000,
        timer_ns: None,
    };
    sockets.wait(wait).unwrap();
    let (mut bytes, mut age_ns, mut is_over) = (Vec::new(), None, false);
    while let Some(arrival) = sockets.next() {
        let Arrival::Chunk(1, chunk) = arrival else {
            panic!("{arrival:?}")
        };
        let Ok(chunk) = chunk else {
            is_over = true;
            continue;
        };
        bytes.extend_from_slice(sockets.bytes(&chunk));
        age_ns = chunk.came.map(Stamp::age_ns);
        sockets.recycle(chunk);
    }
    (bytes, age_ns, is_over)
}

/// Returns all bytes up to the end of the connection.
fn receive_all(sockets: &mut impl Sockets) -> Vec<u8> {
    let begin = Instant::now();
    let mut received = Vec::new();
    while begin.elapsed() < Duration::from_secs(30) {
        let (bytes, _, is_over) = receive(sockets);
        received.extend(bytes);
        if is_over {
            return received;
        }
    }
    panic!("{} bytes and no end", received.len());
}

fn long_messages_come_whole(sockets: &mut impl Sockets) {
    let mut far = connect(sockets);
    let sent: Vec<u8> = (0..LENGTH).map(|at| (at % 251) as u8).collect();
    let sender = std::thread::spawn({
        let sent = sent.clone();
        move || far.write_all(&sent).unwrap()
    });
    let received = receive_all(sockets);
    sender.join().unwrap();
    assert!(received == sent, "{} of {LENGTH} bytes", received.len());
}

fn a_last_reply_and_the_end_come_at_once(sockets: &mut impl Sockets) {
    let mut far = connect(sockets);
    far.write_all(b"reply").unwrap();
    drop(far);
    assert_eq!(receive_all(sockets), b"reply");
}

fn what_is_read_late_has_come_in_time(sockets: &mut impl Sockets) {
    let mut far = connect(sockets);
    // The kernel begins to note times some time after it was asked.
    let is_told = (0..50).any(|_| {
        let before = Instant::now();
        far.write_all(b"reply").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let (bytes, age_ns, _) = receive(sockets);
        let waited_ns = before.elapsed().as_nanos() as u64;
        assert_eq!(bytes, b"reply");
        assert!(age_ns <= Some(waited_ns), "{age_ns:?} {waited_ns}");
        age_ns >= Some(20_000_000)
    });
    assert!(is_told);
}

#[test]
fn epoll() {
    long_messages_come_whole(&mut EpollSockets::new(2).unwrap());
    a_last_reply_and_the_end_come_at_once(&mut EpollSockets::new(2).unwrap());
    what_is_read_late_has_come_in_time(&mut EpollSockets::new(2).unwrap());
}

#[test]
fn io_uring() {
    long_messages_come_whole(&mut RingSockets::new(2, true).unwrap());
    a_last_reply_and_the_end_come_at_once(&mut RingSockets::new(2, true).unwrap());
    what_is_read_late_has_come_in_time(&mut RingSockets::new(2, false).unwrap());
}
