//! Users of the processors: the run's processes, the kernel's own threads, and all others by name
//! (`proc_pid_stat(5)`).
//!
//! Looking at all processes costs some microseconds for each, so that it is done the less often the more
//! there are. The names of processes that live shorter than that are not seen; their time is seen with their
//! parents, to which the kernel adds it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use weir_model::metrics;

use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

/// Time between two looks, as a multiple of the CPU time that one takes.
const PAUSE: u32 = 200;
/// The parent of the kernel's threads.
const KERNEL_THREADS: u32 = 2;
/// Names that are kept apart, at most; the others are added up.
const NAMES_MAX: usize = 100;
/// Name of the further others.
const FURTHER: &str = "(others)";

/// All processes.
#[derive(Debug)]
pub(super) struct Processes {
    /// Those that are the run's, with their children.
    run: Vec<u32>,
    seen: HashMap<u32, ProcessSnapshot>,
    /// Since the first look, ticks.
    run_ticks: u64,
    kernel_ticks: u64,
    other_ticks: HashMap<String, u64>,
    due: Option<Instant>,
}

/// A process as it was when it was looked at.
#[derive(Debug, Clone)]
struct ProcessSnapshot {
    parent: u32,
    name: String,
    /// Begin of the process: another one may get its number.
    start: u64,
    ticks: u64,
    /// Of children that have ended.
    of_children: u64,
}

impl Processes {
    /// `others` are part of the run beside this process and its children.
    pub(super) fn new(others: impl IntoIterator<Item = u32>) -> Self {
        Self {
            run: std::iter::once(std::process::id()).chain(others).collect(),
            seen: HashMap::new(),
            run_ticks: 0,
            kernel_ticks: 0,
            other_ticks: HashMap::new(),
            due: None,
        }
    }

    /// Adds what all processes have used since they were last looked at.
    fn look(&mut self, now: HashMap<u32, ProcessSnapshot>) {
        let is_first = self.seen.is_empty();
        let known = self.known_of_ended(&now);
        for (pid, process) in &now {
            let before = self.seen.get(pid);
            let before = before.filter(|before| before.start == process.start);
            if is_first {
                continue;
            }
            let of_before = before.map_or((0, 0), |before| (before.ticks, before.of_children));
            let of_children = process.of_children.saturating_sub(of_before.1);
            let of_children = of_children.saturating_sub(known.get(pid).copied().unwrap_or(0));
            let used = process.ticks.saturating_sub(of_before.0) + of_children;
            self.add(*pid, process, used, &now);
        }
        self.seen = now;
    }

    /// Returns the time that ended processes had used at the last look, by the nearest process above that is still
    /// there. The kernel has added it there, with the rest.
    fn known_of_ended(&self, now: &HashMap<u32, ProcessSnapshot>) -> HashMap<u32, u64> {
        let is_there = |pid: u32| {
            let before = self.seen.get(&pid).map(|before| before.start);
            now.get(&pid)
                .is_some_and(|now| before.is_none_or(|start| start == now.start))
        };
        let parent = |pid: &u32| self.seen.get(pid).map(|before| before.parent);
        let mut known: HashMap<u32, u64> = HashMap::new();
        for (pid, before) in &self.seen {
            if is_there(*pid) {
                continue;
            }
            let line = std::iter::successors(Some(before.parent), parent);
            let above = line.take(self.seen.len() + 1).find(|pid| is_there(*pid));
            if let Some(above) = above {
                *known.entry(above).or_default() += before.ticks + before.of_children;
            }
        }
        known
    }

    fn add(
        &mut self,
        pid: u32,
        process: &ProcessSnapshot,
        used: u64,
        all: &HashMap<u32, ProcessSnapshot>,
    ) {
        if used == 0 {
            return;
        }
        if self.is_of_run(pid, all) {
            self.run_ticks += used;
        } else if pid == KERNEL_THREADS || process.parent == KERNEL_THREADS {
            self.kernel_ticks += used;
        } else if let Some(ticks) = self.other_ticks.get_mut(&process.name) {
            *ticks += used;
        } else {
            let name = if self.other_ticks.len() < NAMES_MAX {
                &process.name
            } else {
                FURTHER
            };
            *self.other_ticks.entry(name.to_owned()).or_default() += used;
        }
    }

    fn is_of_run(&self, pid: u32, all: &HashMap<u32, ProcessSnapshot>) -> bool {
        let parent = |pid: &u32| all.get(pid).map(|process| process.parent);
        // Numbers may have been given anew while they were read: no more steps than there are processes.
        let mut line = std::iter::successors(Some(pid), parent).take(all.len() + 1);
        line.any(|pid| self.run.contains(&pid))
    }
}

impl Part<()> for Processes {
    fn name(&self) -> &'static str {
        "/proc/*/stat"
    }

    fn read(&mut self, (): &mut (), readings: &mut Readings) -> Result<(), ProbeError> {
        let began = Instant::now();
        if self.due.is_some_and(|due| began < due) {
            return Ok(());
        }
        // Not by the clock: a look that waits for a core costs nothing meanwhile.
        let used_before = thread_cpu();
        self.look(processes()?);
        let cost = thread_cpu().saturating_sub(used_before);
        let pause = (cost * PAUSE).min(Duration::from_mins(1));
        // A sample that is a little early must not skip the look that is due with it.
        self.due = Some(began + pause.saturating_sub(Duration::from_millis(50)));
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        let seconds = |ticks: u64| ticks as f64 / ticks_per_s;
        readings.add(metrics::HOST_RUN_CPU, seconds(self.run_ticks));
        readings.add(metrics::HOST_KERNEL_CPU, seconds(self.kernel_ticks));
        for (name, ticks) in &self.other_ticks {
            readings.add_of(metrics::HOST_OTHER_CPU, name, seconds(*ticks));
        }
        Ok(())
    }
}

/// CPU time of the calling thread.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// All processes that are there and may be read.
fn processes() -> Result<HashMap<u32, ProcessSnapshot>, ProbeError> {
    let entries = std::fs::read_dir("/proc").map_err(ProbeError::read("/proc".as_ref()))?;
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let pids = entries.flatten().filter_map(number);
    Ok(pids
        .filter_map(|pid| {
            let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            Some((pid, parse(&String::from_utf8_lossy(&stat))?))
        })
        .collect())
}

/// Fields 2 (name), 4 (parent), 14 and 15 (user and system time), 16 and 17 (those of children), 22 (start).
fn parse(stat: &str) -> Option<ProcessSnapshot> {
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let fields: Vec<_> = after.split_ascii_whitespace().collect();
    // Field 3 is the first here.
    let number = |wanted: usize| fields.get(wanted - 3)?.parse::<u64>().ok();
    Some(ProcessSnapshot {
        parent: u32::try_from(number(4)?).ok()?,
        name: name.to_owned(),
        start: number(22)?,
        ticks: number(14)? + number(15)?,
        of_children: number(16)? + number(17)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(parent: u32, name: &str, ticks: u64, of_children: u64) -> ProcessSnapshot {
        ProcessSnapshot {
            parent,
            name: name.to_owned(),
            start: 7,
            ticks,
            of_children,
        }
    }

    #[test]
    fn time_is_the_runs_the_kernels_or_others_by_name() {
        let own = std::process::id();
        let (server, given, make) = (own + 1, own + 2, own + 3);
        let mut processes = Processes::new(Some(given));
        let all = |used: u64| {
            HashMap::from([
                (own, process(1, "weir", used, 0)),
                (server, process(own, "mysqld", 2 * used, 0)),
                (given, process(1, "mariadbd", 3 * used, 0)),
                (90, process(KERNEL_THREADS, "kworker/0:1", 4 * used, 0)),
                (make, process(1, "make", used, 0)),
                (91, process(make, "gcc", 0, 0)),
                (92, process(91, "cc1", 50 * used, 0)),
            ])
        };
        processes.look(all(10));
        assert!(processes.other_ticks.is_empty() && processes.run_ticks == 0);
        let mut later = all(20);
        // The compiler and its parent have ended: 500 of its 700 ticks were known, and one that was never seen
        // had 30.
        later.remove(&91);
        later.remove(&92);
        later.get_mut(&make).unwrap().of_children = 730;
        processes.look(later);
        assert_eq!((processes.run_ticks, processes.kernel_ticks), (60, 40));
        let make = 10 + 730 - 500;
        assert_eq!(
            processes.other_ticks,
            HashMap::from([("make".to_owned(), make)])
        );
    }

    #[test]
    fn a_busy_process_beside_is_found_by_its_name() {
        // It is this process's child, so that "the run" is another process here.
        let mut busy = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        let mut probe = Processes {
            run: vec![u32::MAX],
            ..Processes::new(None)
        };
        let mut seconds = || {
            let mut readings = Readings::default();
            probe.due = None;
            probe.read(&mut (), &mut readings).unwrap();
            readings
                .value_of(metrics::HOST_OTHER_CPU, "sh")
                .unwrap_or(0.0)
        };
        while seconds() < 0.1 {
            std::thread::sleep(Duration::from_millis(20));
        }
        busy.kill().unwrap();
        busy.wait().unwrap();
    }
}
