//! The host's memory: `/proc/meminfo` (`proc_meminfo(5)`).

use weir_model::{Bytes, metrics};

use crate::probe_parts::Part;
use crate::proc_file::ProcFile;
use crate::{ProbeError, Readings};

const MEMINFO: &str = "/proc/meminfo";

/// The host's memory at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub total: Bytes,
    /// Bytes that could be used without swapping.
    pub available: Bytes,
}

/// Reads the host's memory.
///
/// # Errors
/// If `/proc/meminfo` cannot be read.
pub fn memory() -> Result<Memory, ProbeError> {
    parse(ProcFile::new(MEMINFO).read()?)
        .ok_or_else(ProcFile::lacks(MEMINFO, "MemTotal or MemAvailable"))
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

/// Memory and swap as a part of the host.
#[derive(Debug)]
pub(super) struct MemoryInfo(ProcFile);

impl Default for MemoryInfo {
    fn default() -> Self {
        Self(ProcFile::new(MEMINFO))
    }
}

impl Part<()> for MemoryInfo {
    fn name(&self) -> &'static str {
        MEMINFO
    }

    fn read(&mut self, (): &mut (), readings: &mut Readings) -> Result<(), ProbeError> {
        let text = self.0.read()?;
        let available =
            line(text, "MemAvailable:").ok_or_else(ProcFile::lacks(MEMINFO, "MemAvailable"))?;
        readings.add(metrics::HOST_MEMORY_AVAILABLE, available.0 as f64);
        for (metric, label) in [
            (metrics::HOST_MEMORY_CACHED, "Cached:"),
            (metrics::HOST_MEMORY_DIRTY, "Dirty:"),
        ] {
            if let Some(bytes) = line(text, label) {
                readings.add(metric, bytes.0 as f64);
            }
        }
        if let (Some(total), Some(free)) = (line(text, "SwapTotal:"), line(text, "SwapFree:")) {
            readings.add(metrics::HOST_SWAP_USED, (total.0 - free.0) as f64);
        }
        Ok(())
    }
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
