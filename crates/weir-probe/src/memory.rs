//! The host's memory: `/proc/meminfo` (`proc_meminfo(5)`).

use std::fs;
use std::path::Path;

use weir_model::Bytes;

use crate::ProbeError;

const MEMINFO: &str = "/proc/meminfo";

/// The host's memory at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub total: Bytes,
    /// What could be used without swapping.
    pub available: Bytes,
}

/// Reads the host's memory.
pub fn memory() -> Result<Memory, ProbeError> {
    let path = Path::new(MEMINFO);
    let text = fs::read_to_string(path).map_err(ProbeError::read(path))?;
    parse(&text).ok_or_else(ProbeError::format(path, "MemTotal or MemAvailable"))
}

fn parse(meminfo: &str) -> Option<Memory> {
    Some(Memory {
        total: line(meminfo, "MemTotal:")?,
        available: line(meminfo, "MemAvailable:")?,
    })
}

/// `label    123 kB`; the kernel's kB are KiB.
fn line(meminfo: &str, label: &str) -> Option<Bytes> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix(label))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(kibibytes * 1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_the_line_is_not_zero() {
        assert_eq!(parse("MemTotal: 1 kB\n"), None);
        let both = parse("MemTotal:       8 kB\nMemAvailable:   4 kB\n");
        let expected = Memory {
            total: Bytes(8192),
            available: Bytes(4096),
        };
        assert_eq!(both, Some(expected));
    }

    #[test]
    fn available_memory_is_in_bytes() {
        let text = "MemFree:        22000000 kB\nMemAvailable:   23170252 kB\n";
        assert_eq!(line(text, "MemAvailable:"), Some(Bytes(23_170_252 * 1024)));
    }

    #[test]
    fn this_host_has_memory() {
        let memory = memory().unwrap();
        assert!(memory.available.0 > 1 << 20 && memory.total >= memory.available);
    }
}
