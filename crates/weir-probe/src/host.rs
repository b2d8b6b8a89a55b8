//! The host's processors (`/proc/stat`, `proc_stat(5)`) and its memory.

use std::fs;
use std::path::Path;

use weir_model::metrics;

use crate::{Probe, ProbeError, Reading, memory};

const STAT: &str = "/proc/stat";

/// Reads the host's CPU times and its available memory.
#[derive(Debug, Default)]
pub struct HostProbe;

impl HostProbe {
    /// The host that this runs on.
    pub fn new() -> Self {
        Self
    }
}

impl Probe for HostProbe {
    fn name(&self) -> &'static str {
        "host"
    }

    fn sample(&mut self) -> Result<Vec<Reading>, ProbeError> {
        let stat = read(STAT)?;
        let ticks_per_s = rustix::param::clock_ticks_per_second();
        let mut readings = parse_cpu(&stat, ticks_per_s as f64)
            .ok_or_else(ProbeError::format(Path::new(STAT), "line of ten cpu times"))?;
        let available = memory()?.available;
        readings.push((metrics::HOST_MEMORY_AVAILABLE, available.0 as f64));
        Ok(readings)
    }
}

fn read(path: &str) -> Result<String, ProbeError> {
    fs::read_to_string(path).map_err(ProbeError::read(Path::new(path)))
}

/// CPU times of all cores together, from the first line: `cpu user nice system idle iowait irq
/// softirq steal guest guest_nice`, in ticks. Guest time is in user and nice already.
fn parse_cpu(stat: &str, ticks_per_s: f64) -> Option<Vec<Reading>> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<f64> = line
        .split_ascii_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let &[user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks.as_slice() else {
        return None;
    };
    Some(vec![
        (metrics::HOST_CPU_USER, (user + nice) / ticks_per_s),
        (
            metrics::HOST_CPU_SYSTEM,
            (system + irq + softirq) / ticks_per_s,
        ),
        (metrics::HOST_CPU_IDLE, idle / ticks_per_s),
        (metrics::HOST_CPU_IOWAIT, iowait / ticks_per_s),
        (metrics::HOST_CPU_STEAL, steal / ticks_per_s),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded on a virtual machine of two cores.
    const STAT: &str = "\
cpu  122452 179 19251 327059 2497 0 305 128 0 0
cpu0 59384 90 9062 166654 723 0 22 56 0 0
cpu1 63068 89 10189 160405 1774 0 282 72 0 0
";

    #[test]
    fn cpu_times_are_summed_by_where_they_went() {
        let readings = parse_cpu(STAT, 100.0).unwrap();
        let expected = [
            (metrics::HOST_CPU_USER, 1226.31),
            (metrics::HOST_CPU_SYSTEM, 195.56),
            (metrics::HOST_CPU_IDLE, 3270.59),
            (metrics::HOST_CPU_IOWAIT, 24.97),
            (metrics::HOST_CPU_STEAL, 1.28),
        ];
        assert_eq!(readings, expected);
    }

    #[test]
    fn a_text_without_the_line_is_not_zero() {
        assert_eq!(parse_cpu("cpu0 1 2 3\n", 100.0), None);
        assert_eq!(parse_cpu("cpu  1 2 three 4 5 6 7 8\n", 100.0), None);
    }

    #[test]
    fn this_host_can_be_read_and_its_time_passes() {
        let total =
            |readings: &[Reading]| readings[..5].iter().map(|(_, value)| value).sum::<f64>();
        let mut probe = HostProbe::new();
        let first = probe.sample().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        let second = probe.sample().unwrap();
        assert_eq!(first.len(), 6);
        assert!(total(&second) > total(&first));
    }
}
