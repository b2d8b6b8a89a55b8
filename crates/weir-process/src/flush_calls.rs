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
//!
//! Profiles of containers forbid calls that this needs, such as `pidfd_getfd(2)` (Docker's, without
//! `CAP_SYS_PTRACE`). A server then runs without it, and its starter learns that as a [`FlushObstacle`].

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Signal, pidfd_getfd, pidfd_open};

use crate::{FlushObstacle, run_promptly, spawn_tied};

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
    /// Passes where this host allows it, tried once on a child.
    ///
    /// # Errors
    ///
    /// The call that is refused.
    pub fn check() -> Result<(), FlushObstacle> {
        static FOUND: OnceLock<Result<(), FlushObstacle>> = OnceLock::new();
        FOUND.get_or_init(|| tried_on(Command::new("cat"))).clone()
    }

    /// Has the kernel hand over the flushes of what `command` will start. Where the kernel lets no process filter
    /// its calls, the command starts without.
    ///
    /// # Errors
    ///
    /// A pair of sockets that the system does not give.
    pub fn intercept(command: &mut Command) -> io::Result<Self> {
        let (of_child, of_parent) = UnixDatagram::pair()?;
        of_child.set_nonblocking(true)?;
        #[allow(unsafe_code)]
        // SAFETY: the closure makes system calls on values of its own and allocates nothing, which is allowed
        // between fork and exec.
        unsafe {
            command.pre_exec(move || {
                let installed = install_filter();
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
                let mut message = SendAncillaryBuffer::new(&mut space);
                let (listener, number) = match &installed {
                    Ok(listener) => (Some([listener.as_fd()]), 0),
                    Err(error) => (None, error.raw_os_error().unwrap_or(libc::EPERM)),
                };
                if let Some(listener) = &listener {
                    message.push(SendAncillaryMessage::ScmRights(listener));
                }
                let number = number.to_ne_bytes();
                let text = [io::IoSlice::new(&number)];
                sendmsg(&of_parent, &text, &mut message, SendFlags::NOSIGNAL)?;
                Ok(())
            });
        }
        Ok(Self { of_child })
    }

    /// Makes the flushes of the child that was started, process `child`, in threads that end with it. The obstacle, if
    /// there is one: its flushes go on as they were.
    ///
    /// # Errors
    ///
    /// A child whose calls Weir cannot answer; end it.
    pub fn serve(self, child: u32) -> io::Result<Option<FlushObstacle>> {
        let listener = match received(&self.of_child)? {
            Ok(listener) => listener,
            Err(obstacle) => return Ok(Some(obstacle)),
        };
        let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
        let child = pidfd_open(pid.ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
        let obstacle = refusal(&child);
        thread::Builder::new()
            .name("flush-calls".to_owned())
            .spawn(move || answer_all(&listener, &child))?;
        Ok(obstacle)
    }
}

/// Passes where `command`, which waits for its input, would have its flushes made.
fn tried_on(mut command: Command) -> Result<(), FlushObstacle> {
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let made = FlushCalls::intercept(&mut command)
        .map_err(|error| FlushObstacle::new("socket", &error))?;
    let started = spawn_tied(&mut command, Signal::KILL);
    let mut child = started.map_err(|error| FlushObstacle::new("cat", &error))?;
    let found = made.serve(child.id());
    let _ = child.kill();
    let _ = child.wait();
    match found {
        Ok(None) => Ok(()),
        Ok(Some(obstacle)) => Err(obstacle),
        Err(error) => Err(FlushObstacle::new("pidfd_open", &error)),
    }
}

/// The refusal of files of `child`, by the one that each program has open.
fn refusal(child: &OwnedFd) -> Option<FlushObstacle> {
    let is_refused =
        |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS));
    match pidfd_getfd(child, 0, PidfdGetfdFlags::empty()) {
        Ok(file) => {
            let failed = write_back(&file).err().filter(is_refused);
            failed.map(|error| FlushObstacle::new("sync_file_range", &error))
        }
        // It has closed the file, or has ended.
        Err(Errno::BADF | Errno::SRCH) => None,
        Err(error) => Some(FlushObstacle::new("pidfd_getfd", &error.into())),
    }
}

/// The listener that the child has sent, or why it has none.
fn received(socket: &UnixDatagram) -> io::Result<Result<OwnedFd, FlushObstacle>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut number = [0; size_of::<i32>()];
    let mut into = [IoSliceMut::new(&mut number)];
    recvmsg(socket, &mut into, &mut message, RecvFlags::CMSG_CLOEXEC)?;
    let sent = message.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    Ok(sent.ok_or_else(|| {
        let refused = io::Error::from_raw_os_error(i32::from_ne_bytes(number));
        FlushObstacle::new("seccomp", &refused)
    }))
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
    let flushed = write_back(&file).and_then(|()| {
        #[allow(unsafe_code)]
        // SAFETY: the call is on an open file and takes no pointers.
        succeeded(unsafe { libc::ioctl(file.as_raw_fd(), libc::Ioctl::from(FLUSH)) })
    });
    match flushed.map_err(|error| error.raw_os_error()) {
        Ok(()) => Ok(true),
        Err(Some(libc::EIO)) => Err(Errno::IO),
        Err(_) => Ok(false),
    }
}

/// Writes what a mapping has changed: all that fsync does beside the drive's own flush.
fn write_back(file: &OwnedFd) -> io::Result<()> {
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    #[allow(unsafe_code)]
    // SAFETY: the call is on an open file and takes no pointers.
    succeeded(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, all) })
}

fn succeeded(result: libc::c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
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

    /// Runs `sync` of coreutils, which calls `fdatasync` or `fsync`, on `path`; returns true if it
    /// succeeded.
    fn synced(path: &std::path::Path, option: Option<&str>) -> bool {
        let mut command = Command::new("sync");
        command.args(option).arg(path);
        let calls = FlushCalls::intercept(&mut command).unwrap();
        let mut child = command.spawn().unwrap();
        assert_eq!(calls.serve(child.id()).unwrap(), None);
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
    fn a_child_that_may_not_filter_its_calls_starts_without() {
        let mut command = Command::new("cat");
        weir_testing::refuse_calls(&mut command, &[libc::SYS_seccomp]);
        let obstacle = tried_on(command).unwrap_err();
        assert_eq!(
            obstacle.to_string(),
            "seccomp: operation not permitted (os error 1); in a container name a seccomp profile that allows it"
        );
        assert_eq!(FlushCalls::check(), Ok(()));
    }

    #[test]
    fn the_threads_end_with_the_child() {
        let (done, ended) = mpsc::channel();
        let mut command = Command::new("true");
        let calls = FlushCalls::intercept(&mut command).unwrap();
        let mut child = command.spawn().unwrap();
        let listener = received(&calls.of_child).unwrap().unwrap();
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
