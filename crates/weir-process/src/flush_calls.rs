//! `fsync` and `fdatasync` of a child, made beside its writes to the same file.
//!
//! Linux keeps a file of a FUSE file system locked while it is flushed (`fuse_fsync` in `fs/fuse/file.c` holds
//! the inode's lock until the reply comes), so a write to it waits for the flush: for most of the 20 ms that a
//! disk's may take. Other file systems let it pass, and MySQL, whose redo log is written while it is flushed,
//! commits a quarter to a third less often than on the drive itself. An `ioctl(2)` takes no lock. So the kernel hands these two calls of the
//! child over (`seccomp_unotify(2)`), and they are made as [`FLUSH`] on the same open file. Where no drive knows that
//! request, on another file system and on a directory, the child's call goes on as it was.
//!
//! Handing over takes 20 us, and 80 on a busy host, so it is for drives whose flushes take much longer.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::run_promptly;

/// The `ioctl(2)` by which an emulated drive flushes an open file, without an argument: `_IO('w', 1)`.
pub const FLUSH: u32 = 0x7701;

/// As many calls of one server at a time: its log, its page cleaners and a few connections.
const AT_ONCE: usize = 16;

/// A command whose flushes are handed over; [`FlushCalls::serve`] makes them.
#[derive(Debug)]
pub struct FlushCalls {
    /// The listener comes out of it once the child runs.
    of_child: UnixDatagram,
}

/// A call that the kernel has handed over and whose caller waits.
#[derive(Clone, Copy)]
struct Call {
    id: u64,
    file: i32,
}

impl FlushCalls {
    /// Has the kernel hand over the flushes of what `command` will start.
    ///
    /// Starting it fails where the kernel does not let a process filter its calls.
    ///
    /// # Errors
    ///
    /// A pair of sockets that the system does not give.
    pub fn of(command: &mut Command) -> io::Result<Self> {
        let (of_child, of_parent) = UnixDatagram::pair()?;
        of_child.set_nonblocking(true)?;
        #[allow(unsafe_code)]
        // SAFETY: the closure makes system calls on values of its own and allocates nothing, which is allowed
        // between fork and exec.
        unsafe {
            command.pre_exec(move || {
                let listener = install_filter()?;
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
                let mut message = SendAncillaryBuffer::new(&mut space);
                let listener = [listener.as_fd()];
                message.push(SendAncillaryMessage::ScmRights(&listener));
                let byte = [io::IoSlice::new(&[0])];
                sendmsg(&of_parent, &byte, &mut message, SendFlags::NOSIGNAL)?;
                Ok(())
            });
        }
        Ok(Self { of_child })
    }

    /// Makes the flushes of the child that was started, process `child`, in threads that end with it.
    ///
    /// # Errors
    ///
    /// A child that hands over no filter, or a thread that cannot be started.
    pub fn serve(self, child: u32) -> io::Result<()> {
        let listener = received(&self.of_child)?;
        let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
        let child = pidfd_open(pid.ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
        thread::Builder::new()
            .name("flush-calls".to_owned())
            .spawn(move || answer_all(&listener, &child))?;
        Ok(())
    }
}

/// The listener that the child has sent.
fn received(socket: &UnixDatagram) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut into = [IoSliceMut::new(&mut byte)];
    recvmsg(socket, &mut into, &mut message, RecvFlags::CMSG_CLOEXEC)?;
    let sent = message.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    sent.ok_or_else(|| io::Error::other("the child sent no listener"))
}

/// Answers calls until the child and all that it started have ended.
fn answer_all(listener: &OwnedFd, child: &OwnedFd) {
    // Threads inherit it: the drive would begin with a flush at once, however busy the host.
    run_promptly(1);
    let (sender, receiver) = mpsc::channel::<Call>();
    let receiver = Mutex::new(receiver);
    let next = || {
        let calls = receiver.lock().unwrap_or_else(PoisonError::into_inner);
        calls.recv().ok()
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(call) = next() {
                    respond(listener, call, flush(child, call.file));
                }
            });
        }
        while is_listening(listener) {
            // A caller that a signal has interrupted has taken its call back.
            if let Ok(call) = receive(listener) {
                // The threads above end after this loop.
                let _ = sender.send(call);
            }
        }
        drop(sender);
    });
}

/// Waits for a call; false once no process is left to make one (`EPOLLHUP`, Linux 5.9).
fn is_listening(listener: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(listener, PollFlags::IN)];
    match poll(&mut polled, None) {
        Ok(_) => polled[0].revents().contains(PollFlags::IN),
        Err(error) => error == Errno::INTR,
    }
}

/// Flushes the child's open file number `file`; whether that was possible. The error is the drive's.
fn flush(child: &OwnedFd, file: i32) -> Result<bool, Errno> {
    let Ok(file) = pidfd_getfd(child, file, PidfdGetfdFlags::empty()) else {
        return Ok(false);
    };
    #[allow(unsafe_code)]
    // SAFETY: both calls are on an open file and take no pointers.
    let flushed = unsafe {
        // What a mapping has changed: all that fsync does beside the drive's own flush.
        let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        libc::sync_file_range(file.as_raw_fd(), 0, 0, all) == 0
            && libc::ioctl(file.as_raw_fd(), libc::Ioctl::from(FLUSH)) == 0
    };
    match (flushed, io::Error::last_os_error().raw_os_error()) {
        (true, _) => Ok(true),
        (false, Some(libc::EIO)) => Err(Errno::IO),
        (false, _) => Ok(false),
    }
}

/// Tells the kernel how to end `call`, which may be over by now.
fn respond(listener: &OwnedFd, call: Call, flushed: Result<bool, Errno>) {
    let (error, flags) = match flushed {
        Ok(true) => (0, 0),
        Ok(false) => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        Err(error) => (-error.raw_os_error(), 0),
    };
    let mut response = libc::seccomp_notif_resp {
        id: call.id,
        val: 0,
        error,
        flags,
    };
    #[allow(unsafe_code)]
    // SAFETY: the request reads a live value of its type.
    unsafe {
        let send = libc::SECCOMP_IOCTL_NOTIF_SEND;
        libc::ioctl(listener.as_raw_fd(), send, &raw mut response);
    }
}

fn receive(listener: &OwnedFd) -> io::Result<Call> {
    #[allow(unsafe_code)]
    // SAFETY: the request writes a live value of its type, which the kernel wants to be zero before and for which
    // zeros are a value.
    let (result, request) = unsafe {
        let mut request: libc::seccomp_notif = std::mem::zeroed();
        let receive = libc::SECCOMP_IOCTL_NOTIF_RECV;
        let result = libc::ioctl(listener.as_raw_fd(), receive, &raw mut request);
        (result, request)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Call {
        id: request.id,
        file: request.data.args[0] as i32,
    })
}

/// Filters the calls of this process and of what it will start: flushes are handed to the listener.
fn install_filter() -> io::Result<OwnedFd> {
    // Who is not root may filter only a process that can gain no privileges.
    rustix::thread::set_no_new_privs(true)?;
    let mut program = program();
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    #[allow(unsafe_code)]
    // SAFETY: the call reads a live program; what it returns is a new file of its own.
    unsafe {
        let listener = libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        );
        if listener < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(listener as i32))
    }
}

/// "Is it `fsync` or `fdatasync`?" in the kernel's classic packet filter, on `seccomp_data`, which begins with the
/// call's number. A process of another architecture has other numbers; servers are of this one.
fn program() -> [libc::sock_filter; 5] {
    let instruction = |code: u32, (jt, jf), k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let is = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (0, 0), 0),
        instruction(is, (1, 0), libc::SYS_fsync as u32),
        instruction(is, (0, 1), libc::SYS_fdatasync as u32),
        instruction(answer, (0, 0), libc::SECCOMP_RET_USER_NOTIF),
        instruction(answer, (0, 0), libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What `sync` of coreutils, which calls `fdatasync` or `fsync`, does to `path`.
    fn synced(path: &std::path::Path, option: Option<&str>) -> bool {
        let mut command = Command::new("sync");
        command.args(option).arg(path);
        let calls = FlushCalls::of(&mut command).unwrap();
        let mut child = command.spawn().unwrap();
        calls.serve(child.id()).unwrap();
        child.wait().unwrap().success()
    }

    #[test]
    fn a_file_that_is_on_no_drive_is_flushed_as_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "text").unwrap();
        assert!(synced(&path, None));
        assert!(synced(&path, Some("--data")));
        assert!(synced(folder.path(), None), "a directory");
        assert!(!synced(&folder.path().join("absent"), None));
    }

    #[test]
    fn the_threads_end_with_the_child() {
        let (done, ended) = mpsc::channel();
        let mut command = Command::new("true");
        let calls = FlushCalls::of(&mut command).unwrap();
        let mut child = command.spawn().unwrap();
        let listener = received(&calls.of_child).unwrap();
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        thread::spawn(move || {
            answer_all(&listener, &pidfd);
            done.send(()).unwrap();
        });
        child.wait().unwrap();
        ended
            .recv_timeout(std::time::Duration::from_secs(30))
            .unwrap();
    }
}
