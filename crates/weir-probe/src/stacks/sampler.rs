//! Stacks of all threads of a process, from a thread of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use weir_model::{CpuList, StackCounts, StackProfile};

use super::ProfileError;
use super::ring::{Chain, Place, Ring};
use super::symbols::Symbols;
use super::waits::WaitCounts;

/// Samples per second of a thread's CPU time; no divisor of the periods at which servers do things.
pub const FREQUENCY_HZ: u64 = 49;

/// Time between two looks at the samples, at new threads and at those that wait.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// A process whose stacks are sampled.
#[derive(Debug)]
pub struct StackSampler {
    pid: u32,
    control: Arc<Control>,
    thread: JoinHandle<SampleSet>,
}

/// Control of the thread that samples.
#[derive(Debug, Default)]
struct Control {
    /// Samples before it do not count.
    begin: OnceLock<Instant>,
    stop: AtomicBool,
}

impl StackSampler {
    /// Begins to sample `pid`; samples count from [`StackSampler::begin_at`] on.
    ///
    /// # Errors
    /// If the kernel does not permit it, or there is no such process.
    pub fn start(pid: u32) -> Result<Self, ProfileError> {
        let mut rings = Rings::open(pid)?;
        let control = Arc::new(Control::default());
        let of_thread = Arc::clone(&control);
        let thread = thread::Builder::new()
            .name("profile".to_owned())
            .spawn(move || {
                while !of_thread.stop.load(Ordering::Acquire) {
                    thread::park_timeout(LOOK_INTERVAL);
                    rings.look(of_thread.begin.get().copied());
                }
                rings.collected
            });
        let thread = thread.map_err(|source| ProfileError::Kernel { pid, source })?;
        Ok(Self {
            pid,
            control,
            thread,
        })
    }

    /// Sets the time from which samples count. Only the first call has an effect.
    pub fn begin_at(&self, at: Instant) {
        let _ = self.control.begin.set(at);
    }

    /// Ends the sampling and names the functions.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn finish(self) -> Result<StackProfile, ProfileError> {
        self.control.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        let collected = self.thread.join().unwrap_or_default();
        collected.into_profile(self.pid)
    }
}

/// Samples by thread name and call chain.
#[derive(Debug, Default)]
struct SampleSet {
    stacks: HashMap<(Arc<str>, Chain), u64>,
    lost: u64,
    has_kernel: bool,
    waits: WaitCounts,
    /// Threads that the kernel refused.
    refused: BTreeSet<u32>,
}

impl SampleSet {
    fn into_profile(self, pid: u32) -> Result<StackProfile, ProfileError> {
        let chains = self.stacks.keys().map(|(_, chain)| chain);
        let symbols = Symbols::read(pid, chains).ok_or(ProfileError::Ended { pid })?;
        let (mut folded, mut cut) = (StackCounts::default(), 0);
        for ((thread, chain), samples) in &self.stacks {
            let (functions, is_cut) = symbols.stack(chain);
            if is_cut {
                cut += samples;
            }
            let stack = [vec![thread.to_string()], functions].concat();
            folded.add(stack.join(";"), *samples);
        }
        Ok(StackProfile {
            frequency_hz: FREQUENCY_HZ,
            samples: folded.samples(),
            cut,
            lost: self.lost,
            threads_without: self.refused.len() as u64,
            has_kernel: self.has_kernel,
            folded: folded.to_string(),
            waits: self.waits.counts.to_string(),
            waits_hidden: self.waits.hidden,
        })
    }
}

/// Events that sample a process.
struct Rings {
    pid: u32,
    /// By processor, or by thread.
    rings: BTreeMap<u32, Ring>,
    by_thread: bool,
    /// Names of the threads that were met.
    names: HashMap<u32, Arc<str>>,
    collected: SampleSet,
}

impl Rings {
    /// Begins by processor where that is permitted. Else it begins by thread, with the kernel's part of the stacks where
    /// that is permitted.
    fn open(pid: u32) -> Result<Self, ProfileError> {
        if threads(pid).is_empty() {
            let source = Errno::SRCH.into();
            return Err(ProfileError::Kernel { pid, source });
        }
        let mut rings = Self {
            pid,
            rings: BTreeMap::new(),
            by_thread: false,
            names: HashMap::new(),
            collected: SampleSet {
                has_kernel: true,
                ..SampleSet::default()
            },
        };
        match processor_rings() {
            Ok(of_processors) => rings.rings = of_processors,
            Err(_) => rings.begin_by_thread()?,
        }
        Ok(rings)
    }

    fn begin_by_thread(&mut self) -> Result<(), ProfileError> {
        let pid = self.pid;
        self.by_thread = true;
        let with = |has_kernel| Ring::open(Place::Thread(pid), FREQUENCY_HZ, has_kernel);
        let (has_kernel, first) = match with(true) {
            Err(error) if is_refusal(&error) => (false, with(false)),
            first => (true, first),
        };
        self.collected.has_kernel = has_kernel;
        drop(first.map_err(|source| {
            if is_refusal(&source) {
                return ProfileError::Forbidden {
                    pid,
                    paranoid: paranoid(),
                };
            }
            ProfileError::Kernel { pid, source }
        })?);
        self.meet(threads(pid));
        Ok(())
    }

    /// Takes the samples and begins with new threads. Without a `begin`, or before it, samples are thrown away.
    fn look(&mut self, begin: Option<Instant>) {
        let counts = begin.is_some_and(|begin| begin <= Instant::now());
        let (pid, collected, names) = (self.pid, &mut self.collected, &mut self.names);
        for ring in self.rings.values_mut() {
            let lost = ring.drain(&mut |sample| {
                if !counts || sample.process != pid {
                    return;
                }
                let name = name_of(names, pid, sample.thread);
                let key = (name, sample.chain);
                *collected.stacks.entry(key).or_default() += 1;
            });
            if counts {
                collected.lost += lost;
            }
        }
        let threads = threads(pid);
        for thread in threads.iter().filter(|_| counts) {
            let name = name_of(names, pid, *thread);
            collected.waits.look(pid, *thread, &name);
        }
        if self.by_thread {
            self.meet(threads);
        }
    }

    /// Begins with those of `threads` that are new, and leaves those that have ended.
    fn meet(&mut self, threads: BTreeSet<u32>) {
        if threads.is_empty() {
            // The process has ended; the last samples were taken.
            return;
        }
        self.rings.retain(|thread, _| threads.contains(thread));
        for thread in threads {
            if self.rings.contains_key(&thread) || self.collected.refused.contains(&thread) {
                continue;
            }
            let place = Place::Thread(thread);
            match Ring::open(place, FREQUENCY_HZ, self.collected.has_kernel) {
                Ok(ring) => {
                    self.rings.insert(thread, ring);
                }
                // It has ended meanwhile.
                Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => {}
                Err(_) => {
                    self.collected.refused.insert(thread);
                }
            }
        }
    }
}

/// Events of all processors; an error says why there are none.
fn processor_rings() -> io::Result<BTreeMap<u32, Ring>> {
    let list = fs::read_to_string("/sys/devices/system/cpu/online")?;
    let processors = processors(&list)?;
    let rings = processors.numbers().iter().map(|&processor| {
        let place = Place::Processor(processor);
        Ok((processor, Ring::open(place, FREQUENCY_HZ, true)?))
    });
    rings.collect()
}

/// Numbers of a list such as `0-3,6`, as the kernel writes it.
fn processors(list: &str) -> io::Result<CpuList> {
    list.trim().parse().map_err(io::Error::other)
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Value of the kernel's setting, for an error.
fn paranoid() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    text.map_or_else(
        |error| format!("unknown: {error}"),
        |text| text.trim().to_owned(),
    )
}

/// Threads of the process; none if it has ended.
fn threads(pid: u32) -> BTreeSet<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return BTreeSet::new();
    };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.collect()
}

/// Name of a thread, read once.
fn name_of(names: &mut HashMap<u32, Arc<str>>, pid: u32, thread: u32) -> Arc<str> {
    let name = names.entry(thread);
    Arc::clone(name.or_insert_with(|| thread_name(pid, thread).into()))
}

/// Name of a thread without a number at its end, so that threads of one kind share a frame.
fn thread_name(pid: u32, thread: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm"));
    let name = name.unwrap_or_default().trim_end().replace(';', ":");
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit() || "-_/".contains(c));
    if kind.is_empty() {
        "thread".to_owned()
    } else {
        kind.to_owned()
    }
}

#[cfg(test)]
mod tests;
