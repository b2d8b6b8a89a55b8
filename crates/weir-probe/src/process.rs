//! CPU time and memory of one process: `/proc/PID/stat` (`proc_pid_stat(5)`).

use std::fs;
use std::path::{Path, PathBuf};

use weir_model::{Metric, metrics};

use crate::{Probe, ProbeError, Reading};

/// Reads the CPU time, and for a server the memory, of one process.
#[derive(Debug)]
pub struct ProcessProbe {
    name: &'static str,
    path: PathBuf,
    cpu: Metric,
    memory: Option<Metric>,
}

impl ProcessProbe {
    /// The server with this process id.
    pub fn server(pid: u32) -> Self {
        Self {
            name: "server process",
            path: stat_path(pid),
            cpu: metrics::SERVER_CPU,
            memory: Some(metrics::SERVER_MEMORY),
        }
    }

    /// The drive emulation with this process id.
    pub fn drive(pid: u32) -> Self {
        Self {
            name: "drive process",
            path: stat_path(pid),
            cpu: metrics::DRIVE_CPU,
            memory: None,
        }
    }

    /// The calling process: the load engine, with what the probes themselves cost.
    pub fn client() -> Self {
        Self {
            name: "client process",
            path: stat_path(std::process::id()),
            cpu: metrics::CLIENT_CPU,
            memory: None,
        }
    }
}

fn stat_path(pid: u32) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join("stat")
}

impl Probe for ProcessProbe {
    fn name(&self) -> &'static str {
        self.name
    }

    fn sample(&mut self) -> Result<Vec<Reading>, ProbeError> {
        let text = fs::read_to_string(&self.path).map_err(ProbeError::read(&self.path))?;
        let usage = parse(&text).ok_or_else(ProbeError::format(&self.path, "running process"))?;
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        let mut readings = vec![(self.cpu, usage.cpu_ticks as f64 / ticks_per_s)];
        if let Some(metric) = self.memory {
            let bytes = usage.resident_pages as f64 * rustix::param::page_size() as f64;
            readings.push((metric, bytes));
        }
        Ok(readings)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Usage {
    cpu_ticks: u64,
    resident_pages: u64,
}

/// Fields 14 (user time), 15 (system time) and 24 (resident pages). A zombie's last times are
/// still there, but it uses nothing any more: `None`.
fn parse(stat: &str) -> Option<Usage> {
    // The command's name (field 2) may hold spaces and brackets; it ends at the last bracket.
    let (_, after_name) = stat.rsplit_once(')')?;
    // Field 3 is the first here, so field N is at N - 3.
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    Some(Usage {
        cpu_ticks: number(14)? + number(15)?,
        resident_pages: number(24)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from mysqld 9.7 behind its own dynamic linker; the name was made difficult.
    const STAT: &str = "9677 (ld-linux) x86 (64) S 9547 9547 6319 0 -1 4194304 124011 205 0 0 39 \
        55 0 0 20 0 31 0 236573 1011515392 135416 18446744073709551615 140644318298112 \
        140644318462417 140734810503584 0 0 0 543239 4102 9448 0 0 0 17 1 0 0 0 0 0 \
        140644318512544 140644318521420 93825149886464 140734810511081 140734810511930 \
        140734810511930 140734810513314 0\n";

    #[test]
    fn times_and_memory_are_found_after_any_name() {
        let usage = Usage {
            cpu_ticks: 39 + 55,
            resident_pages: 135_416,
        };
        assert_eq!(parse(STAT), Some(usage));
    }

    #[test]
    fn a_zombie_and_a_torn_text_give_nothing() {
        assert_eq!(parse(&STAT.replace(") S ", ") Z ")), None);
        assert_eq!(parse("9677 (mysqld) S 1 2 3"), None);
    }

    #[test]
    fn the_own_process_uses_cpu_and_a_missing_one_is_a_gap() {
        let mut probe = ProcessProbe::client();
        let before = probe.sample().unwrap()[0].1;
        // Two ticks of ten milliseconds, whatever else the machine does.
        let mut after = before;
        while after < before + 0.02 {
            after = probe.sample().unwrap()[0].1;
        }
        // Process ids end at 4,194,304 (proc_sys_kernel(5)).
        let error = ProcessProbe::server(4_194_305).sample().unwrap_err();
        assert!(matches!(error, ProbeError::Read { .. }));
    }
}
