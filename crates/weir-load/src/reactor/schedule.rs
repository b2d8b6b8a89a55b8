//! `SCHED_BATCH` for reactor threads.
//!
//! Under the default policy every reply wakes the reactor, and the wake-up pre-empts the server's
//! thread that is still busy on the same core. Measured on two cores: throughput halves. A batch
//! thread does not pre-empt; it runs when a core is free and then finds many replies at once.
//! sched(7) lets any process choose it.

/// Puts the calling thread under `SCHED_BATCH`; whether the kernel allowed it.
#[allow(unsafe_code)] // rustix has no sched_setscheduler
pub(crate) fn use_batch_scheduling() -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the pointer is to a live, initialised `sched_param`, which the call only reads; pid
    // 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameters) == 0 }
}

#[cfg(test)]
mod tests {
    use super::use_batch_scheduling;

    #[test]
    fn any_thread_may_choose_it() {
        std::thread::spawn(|| {
            assert!(use_batch_scheduling());
            // Field 41 of /proc/thread-self/stat is the policy; 3 is SCHED_BATCH (proc(5)).
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            let after_name = stat.rsplit_once(')').unwrap().1;
            assert_eq!(after_name.split_whitespace().nth(38), Some("3"));
        })
        .join()
        .unwrap();
    }
}
