//! CPU time and memory of one process: `/proc/PID/stat` (`proc_pid_stat(5)`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use weir_model::{Metric, metrics};

use crate::proc_file::ProcFile;
use crate::{Probe, ProbeError, Readings};

/// Reads the CPU time and the memory of one process.
#[derive(Debug)]
pub struct ProcessProbe {
    name: &'static str,
    pid: u32,
    /// Source of its process id, where another process may take its place.
    pids: Option<Arc<AtomicU32>>,
    stat: ProcFile,
    cpu: Metric,
    memory: Metric,
    /// A server's threads, faults and cores are of interest, too.
    is_server: bool,
}

impl ProcessProbe {
    /// The server with this process id.
    pub fn server(pid: u32) -> Self {
        Self {
            is_server: true,
            ..Self::new(
                "server process",
                pid,
                metrics::SERVER_CPU,
                metrics::SERVER_MEMORY,
            )
        }
    }

    /// The server whose process id is this one, and may become another.
    pub fn server_that_changes(pids: Arc<AtomicU32>) -> Self {
        let first = Self::server(pids.load(Ordering::Relaxed));
        Self {
            pids: Some(pids),
            ..first
        }
    }

    /// Looks at the process that is there now.
    fn follow(&mut self) {
        let Some(pids) = &self.pids else {
            return;
        };
        let pid = pids.load(Ordering::Relaxed);
        if pid != self.pid {
            self.pid = pid;
            self.stat = ProcFile::new(format!("/proc/{pid}/stat"));
        }
    }

    /// The drive emulation with this process id.
    pub fn drive(pid: u32) -> Self {
        Self::new(
            "drive process",
            pid,
            metrics::DRIVE_CPU,
            metrics::DRIVE_MEMORY,
        )
    }

    /// The calling process: the load engine, with what the probes themselves cost.
    pub fn client(pid: u32) -> Self {
        Self::new(
            "client process",
            pid,
            metrics::CLIENT_CPU,
            metrics::CLIENT_MEMORY,
        )
    }

    fn new(name: &'static str, pid: u32, cpu: Metric, memory: Metric) -> Self {
        Self {
            name,
            pid,
            pids: None,
            stat: ProcFile::new(format!("/proc/{pid}/stat")),
            cpu,
            memory,
            is_server: false,
        }
    }
}

impl Probe for ProcessProbe {
    fn name(&self) -> &'static str {
        self.name
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        self.follow();
        let text = self.stat.read()?;
        let usage = parse(text).ok_or(ProbeError::Ended { pid: self.pid })?;
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        readings.add(self.cpu, usage.cpu_ticks as f64 / ticks_per_s);
        let bytes = usage.resident_pages as f64 * rustix::param::page_size() as f64;
        readings.add(self.memory, bytes);
        if self.is_server {
            readings.add(metrics::SERVER_THREADS, usage.threads as f64);
            readings.add(metrics::SERVER_MAJOR_FAULTS, usage.major_faults as f64);
            if let Some(cores) = allowed_cores(self.pid) {
                readings.add(metrics::SERVER_CORES, cores);
            }
        }
        Ok(())
    }
}

/// Cores that a process may run on (`sched_getaffinity(2)`).
fn allowed_cores(pid: u32) -> Option<f64> {
    let pid = rustix::thread::Pid::from_raw(i32::try_from(pid).ok()?)?;
    let set = rustix::thread::sched_getaffinity(Some(pid)).ok()?;
    Some(f64::from(set.count()))
}

#[derive(Debug, PartialEq, Eq)]
struct Usage {
    cpu_ticks: u64,
    resident_pages: u64,
    major_faults: u64,
    threads: u64,
}

/// Fields 12 (major faults), 14 (user time), 15 (system time), 20 (threads) and 24 (resident
/// pages). A zombie's last times are still there, but it uses nothing any more: `None`.
fn parse(stat: &str) -> Option<Usage> {
    // The command's name (field 2) may hold spaces and brackets; it ends at the last bracket.
    let (_, after_name) = stat.rsplit_once(')')?;
    // Field 3 is the first here, so field N is at N - 3.
    let field = |number: usize| after_name.split_ascii_whitespace().nth(number - 3);
    let number = |wanted: usize| field(wanted)?.parse::<u64>().ok();
    if matches!(field(3)?, "Z" | "X") {
        return None;
    }
    Some(Usage {
        cpu_ticks: number(14)? + number(15)?,
        resident_pages: number(24)?,
        major_faults: number(12)?,
        threads: number(20)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from mysqld 9.7 behind its own dynamic linker; the name was made difficult.
    const STAT: &str = "9677 (ld-linux) x86 (64) S 9547 9547 6319 0 -1 4194304 124011 205 3 0 39 \
        55 0 0 20 0 31 0 236573 1011515392 135416 18446744073709551615 140644318298112 \
        140644318462417 140734810503584 0 0 0 543239 4102 9448 0 0 0 17 1 0 0 0 0 0 \
        140644318512544 140644318521420 93825149886464 140734810511081 140734810511930 \
        140734810511930 140734810513314 0\n";

    #[test]
    fn times_and_memory_are_found_after_any_name() {
        let usage = Usage {
            cpu_ticks: 39 + 55,
            resident_pages: 135_416,
            major_faults: 3,
            threads: 31,
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
        let mut probe = ProcessProbe::client(std::process::id());
        let mut cpu_s = || {
            let mut readings = Readings::default();
            probe.sample(&mut readings).unwrap();
            assert!(readings.value(metrics::CLIENT_MEMORY).unwrap() > 1e6);
            readings.value(metrics::CLIENT_CPU).unwrap()
        };
        let before = cpu_s();
        // Two ticks of ten milliseconds, whatever else the machine does.
        while cpu_s() < before + 0.02 {}
        // Process ids end at 4,194,304 (proc_sys_kernel(5)).
        let missing = ProcessProbe::server(4_194_305).sample(&mut Readings::default());
        assert!(matches!(missing, Err(ProbeError::Read { .. })));
    }

    #[test]
    fn a_process_that_was_read_and_has_ended_is_a_gap() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let mut probe = ProcessProbe::server(child.id());
        let mut readings = Readings::default();
        probe.sample(&mut readings).unwrap();
        let cores = readings.value(metrics::SERVER_CORES).unwrap();
        assert!(cores >= 1.0, "{cores}");
        child.kill().unwrap();
        child.wait().unwrap();
        let ended = probe.sample(&mut Readings::default());
        assert!(matches!(ended, Err(ProbeError::Read { .. })), "{ended:?}");
    }
}
