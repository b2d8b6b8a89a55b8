//! This process as another host can know it.

use std::fs;

use crate::messages::ProcessId;

/// Of the calling process.
pub(crate) fn own_process() -> ProcessId {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let namespace = fs::read_link("/proc/self/ns/pid");
    ProcessId {
        boot_id: boot_id.unwrap_or_default().trim().to_owned(),
        namespace: namespace.unwrap_or_default().display().to_string(),
        pid: std::process::id(),
    }
}
