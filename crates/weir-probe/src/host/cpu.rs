//! Processors: `/proc/stat` (`proc_stat(5)`).

use weir_model::{Metric, metrics};

use crate::probe_parts::Part;
use crate::proc_file::ProcFile;
use crate::{ProbeError, Readings};

const STAT: &str = "/proc/stat";

/// CPU times of all cores together and of each, context switches, and who waits.
#[derive(Debug)]
pub(super) struct Cpu(ProcFile);

impl Default for Cpu {
    fn default() -> Self {
        Self(ProcFile::new(STAT))
    }
}

impl Part<()> for Cpu {
    fn name(&self) -> &'static str {
        STAT
    }

    fn read(&mut self, (): &mut (), readings: &mut Readings) -> Result<(), ProbeError> {
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        parse(self.0.read()?, ticks_per_s, readings)
            .ok_or_else(ProcFile::lacks(STAT, "line of ten cpu times"))
    }
}

fn parse(stat: &str, ticks_per_s: f64, readings: &mut Readings) -> Option<()> {
    let mut is_there = false;
    for line in stat.lines() {
        let (label, rest) = line.split_once(' ')?;
        match label.strip_prefix("cpu") {
            Some("") => {
                is_there = true;
                add_all(Times::parse(rest, ticks_per_s)?, readings);
            }
            Some(core) => add_core(core, Times::parse(rest, ticks_per_s)?, readings),
            None => add_other(label, rest, readings),
        }
    }
    is_there.then_some(())
}

/// Times of the processors by state, seconds.
#[derive(Debug, Clone, Copy)]
struct Times {
    user: f64,
    system: f64,
    idle: f64,
    iowait: f64,
    steal: f64,
}

impl Times {
    /// `user nice system idle iowait irq softirq steal guest guest_nice`, in ticks. Guest time is
    /// in user and nice already.
    fn parse(line: &str, ticks_per_s: f64) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let mut next = || Some(fields.next()?.parse::<f64>().ok()? / ticks_per_s);
        let (user, nice, system, idle, iowait) = (next()?, next()?, next()?, next()?, next()?);
        let (irq, softirq, steal) = (next()?, next()?, next()?);
        Some(Self {
            user: user + nice,
            system: system + irq + softirq,
            idle,
            iowait,
            steal,
        })
    }
}

fn add_all(times: Times, readings: &mut Readings) {
    readings.add(metrics::HOST_CPU_USER, times.user);
    readings.add(metrics::HOST_CPU_SYSTEM, times.system);
    readings.add(metrics::HOST_CPU_IDLE, times.idle);
    readings.add(metrics::HOST_CPU_IOWAIT, times.iowait);
    readings.add(metrics::HOST_CPU_STEAL, times.steal);
}

fn add_core(core: &str, times: Times, readings: &mut Readings) {
    readings.add_of(metrics::HOST_CORE_CPU_USER, core, times.user);
    readings.add_of(metrics::HOST_CORE_CPU_SYSTEM, core, times.system);
    readings.add_of(metrics::HOST_CORE_CPU_IOWAIT, core, times.iowait);
    readings.add_of(metrics::HOST_CORE_CPU_STEAL, core, times.steal);
}

fn add_other(label: &str, value: &str, readings: &mut Readings) {
    let metric: Metric = match label {
        "ctxt" => metrics::HOST_CONTEXT_SWITCHES,
        "procs_running" => metrics::HOST_THREADS_RUNNABLE,
        "procs_blocked" => metrics::HOST_THREADS_BLOCKED,
        _ => return,
    };
    if let Ok(value) = value.trim().parse() {
        readings.add(metric, value);
    }
}

/// The processors, in words of the kernel; `None` where it has none for them.
pub fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded on a virtual machine of two cores.
    const STAT: &str = "\
cpu  122452 179 19251 327059 2497 0 305 128 0 0
cpu0 59384 90 9062 166654 723 0 22 56 0 0
cpu1 63068 89 10189 160405 1774 0 282 72 0 0
intr 1234 5 6
ctxt 3187210
procs_running 3
procs_blocked 1
";

    #[test]
    fn cpu_times_are_summed_by_where_they_went() {
        let mut readings = Readings::default();
        parse(STAT, 100.0, &mut readings).unwrap();
        let expected = [
            (metrics::HOST_CPU_USER, "", 1226.31),
            (metrics::HOST_CPU_SYSTEM, "", 195.56),
            (metrics::HOST_CPU_IDLE, "", 3270.59),
            (metrics::HOST_CPU_IOWAIT, "", 24.97),
            (metrics::HOST_CPU_STEAL, "", 1.28),
            (metrics::HOST_CORE_CPU_SYSTEM, "1", 104.71),
            (metrics::HOST_CORE_CPU_IOWAIT, "0", 7.23),
            (metrics::HOST_CONTEXT_SWITCHES, "", 3_187_210.0),
            (metrics::HOST_THREADS_RUNNABLE, "", 3.0),
            (metrics::HOST_THREADS_BLOCKED, "", 1.0),
        ];
        for (metric, instance, value) in expected {
            let found = readings.value_of(metric, instance).unwrap();
            assert!((found - value).abs() < 1e-6, "{} {found}", metric.name);
        }
    }

    #[test]
    fn a_text_without_the_line_is_not_zero() {
        for stat in ["cpu0 1 2 3\n", "ctxt 7\n", "cpu  1 2 three 4 5 6 7 8\n"] {
            assert_eq!(parse(stat, 100.0, &mut Readings::default()), None);
        }
    }
}
