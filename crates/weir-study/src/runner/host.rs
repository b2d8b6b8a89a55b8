//! The host, in words for the result: who reads a number wants to know on what it was measured.

use std::collections::BTreeMap;
use std::fs;

use weir_model::Bytes;

/// Processor, cores, memory and kernel.
pub(super) fn describe() -> BTreeMap<String, String> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let system = rustix::system::uname();
    [
        (
            "processor",
            field("/proc/cpuinfo", "model name").unwrap_or_default(),
        ),
        ("cores", cores.to_string()),
        ("memory", memory("MemTotal").to_string()),
        ("kernel", system.release().to_string_lossy().into_owned()),
    ]
    .map(|(label, text)| (label.to_owned(), text))
    .into()
}

/// Memory that a new process could have (`proc_meminfo(5)`).
pub(super) fn memory_available() -> Bytes {
    memory("MemAvailable")
}

fn memory(label: &str) -> Bytes {
    let text = field("/proc/meminfo", label).unwrap_or_default();
    let kibibytes = text
        .strip_suffix("kB")
        .and_then(|number| number.trim().parse().ok());
    Bytes(kibibytes.unwrap_or(0_u64) * 1024)
}

/// The value of the first line `label : value` of a file in /proc.
fn field(path: &str, label: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(label))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_memory_and_a_kernel() {
        let host = describe();
        assert!(memory_available().0 > 1 << 20);
        assert!(
            !host["kernel"].is_empty() && host["memory"] != "0",
            "{host:?}"
        );
    }
}
