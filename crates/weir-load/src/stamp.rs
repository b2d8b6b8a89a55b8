//! Time at which bytes reached this machine, by the kernel's clock: `SO_TIMESTAMPNS` (`socket(7)`).
//!
//! The kernel notes the time as a packet comes in, on loopback within the sender's own call. A reader
//! that was asleep, busy or without a processor when a reply came still learns when that was. TCP has
//! such times, streams over Unix sockets have none (Linux 6.18). The kernel begins to note them some
//! time after the machine's first socket asks (`netstamp_work` in its `net/core/dev.c`).

#![allow(unsafe_code)] // recvmsg(2) with ancillary data of a kind that no wrapper knows

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

use rustix::time::{ClockId, clock_gettime};

/// Ancillary data of one time: `struct cmsghdr`, then `struct timespec`.
pub(crate) const CONTROL_BYTES: usize = HEADER_BYTES + size_of::<libc::timespec>();
const HEADER_BYTES: usize = size_of::<libc::cmsghdr>();

/// A time of arrival: nanoseconds since 1970 on the clock that tells the date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Returns the time since then, nanoseconds. Wrong by as much as the clock was set since, 0 at
    /// least.
    pub(crate) fn age_ns(self) -> u64 {
        let now = clock_gettime(ClockId::Realtime);
        nanoseconds(now.tv_sec, now.tv_nsec).saturating_sub(self.0)
    }

    /// The time that ancillary data tell, if they do.
    pub(crate) fn of_control(control: &[u8]) -> Option<Self> {
        let (header, time) = control.get(..CONTROL_BYTES)?.split_at(HEADER_BYTES);
        let kind = [libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS].map(i32::to_ne_bytes);
        if header.get(size_of::<usize>()..)? != kind.as_flattened() {
            return None;
        }
        let (seconds, rest) = time.split_first_chunk()?;
        let (rest_ns, _) = rest.split_first_chunk()?;
        Some(Self(nanoseconds(
            i64::from_ne_bytes(*seconds),
            i64::from_ne_bytes(*rest_ns),
        )))
    }
}

fn nanoseconds(seconds: i64, rest_ns: i64) -> u64 {
    seconds as u64 * 1_000_000_000 + rest_ns as u64
}

/// From now on, what this socket receives has stamps.
pub(crate) fn ask(socket: RawFd) -> io::Result<()> {
    let yes: libc::c_int = 1;
    // SAFETY: the option's value is an int, which lives until the call returns.
    let result = unsafe {
        libc::setsockopt(
            socket,
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const yes).cast(),
            size_of_val(&yes) as libc::socklen_t,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// As `recv(2)`: how many bytes came, and when the last of them did.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<Stamp>)> {
    let mut control = [0_u64; CONTROL_BYTES.div_ceil(size_of::<u64>())];
    let mut place = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all zero is a valid msghdr, which names nothing.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut place;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    // SAFETY: buffer and control live until the call returns, are as long as told, and borrowed for
    // writing by nothing else; the descriptor is open.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    let control = control.map(u64::to_ne_bytes);
    Ok((length, Stamp::of_control(control.as_flattened())))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd as _;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_stamp_is_of_the_arrival_and_not_of_the_reading() {
        // Some of them may come before the kernel has begun to note times.
        let mut ages_ns = (0..50).map(|_| age_ns_of_a_reply_read_after(Duration::from_millis(20)));
        assert!(ages_ns.any(|age_ns| age_ns.is_some_and(|age_ns| age_ns >= 20_000_000)));
    }

    fn age_ns_of_a_reply_read_after(pause: Duration) -> Option<u64> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        ask(near.as_raw_fd()).unwrap();
        let before = Instant::now();
        far.write_all(b"reply").unwrap();
        std::thread::sleep(pause);
        let mut buffer = [0; 64];
        let (length, stamp) = receive(near.as_fd(), &mut buffer).unwrap();
        let age_ns = stamp.map(Stamp::age_ns);
        let waited_ns = before.elapsed().as_nanos() as u64;
        assert_eq!(&buffer[..length], b"reply");
        assert!(age_ns <= Some(waited_ns), "{age_ns:?} {waited_ns}");
        age_ns
    }

    #[test]
    fn other_ancillary_data_are_no_stamp() {
        assert_eq!(Stamp::of_control(&[]), None);
        assert_eq!(Stamp::of_control(&[0; CONTROL_BYTES]), None);
    }
}
