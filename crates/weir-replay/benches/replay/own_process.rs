//! What this process takes, null server and all.

/// The most memory that it had since that was forgotten, bytes.
pub(crate) fn memory_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let line = lines.find(|line| line.starts_with("VmHWM")).unwrap();
    let mut words = line.split_ascii_whitespace();
    let kib: u64 = words.nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// Forgets what it had before (proc(5), `clear_refs`).
pub(crate) fn forget_memory_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Files and sockets that are open.
pub(crate) fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
