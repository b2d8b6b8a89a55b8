//! Real-time priority, for threads that answer where a device or the kernel would.

/// Asks for `SCHED_FIFO` at `priority` (1 to 99) for the calling thread and those that it starts; without the privilege
/// (`CAP_SYS_NICE`) nothing changes. Whether it was given.
#[allow(unsafe_code)] // rustix has no sched_setscheduler(2).
pub fn run_promptly(priority: i32) -> bool {
    let parameter = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the pointer is to a live value of the type that the call reads; 0 is the caller.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) == 0 }
}
