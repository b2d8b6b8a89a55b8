//! This process as another host can know it, and its program.

use std::fs;
use std::path::PathBuf;

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

/// The program of this process, also if its file was replaced since.
pub(crate) fn own_program() -> PathBuf {
    let path = std::env::current_exe().ok();
    path.filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}
