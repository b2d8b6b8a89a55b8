//! Everything that is read from outside, with bytes changed, cut off, added and mixed: nothing panics, nothing
//! hangs, nothing takes memory without bound.
//!
//! Each target begins with real inputs. By default it tries a few hundred variants of them; with
//! `WEIR_FUZZ_SECONDS=60` (`make fuzz`) it tries for so long, with another seed each time. Time is the processor's,
//! so that a busy machine tries as much. A failure names the seed and keeps the input.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod captures;
mod drives;
mod files;
mod mutate;
mod packets;
mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mutate::Mutator;

/// Says for how long a target is tried.
const SECONDS: &str = "WEIR_FUZZ_SECONDS";
/// Variants that are tried without it, and the longest time for them, by the clock.
const VARIANTS: u64 = 300;
const SHORT: Duration = Duration::from_secs(5);
/// Longest time that one input may take.
const LONGEST: Duration = Duration::from_secs(20);
/// Address space that a target may have beyond what the process has when it begins.
const MEMORY_BYTES: u64 = 2 << 30;

/// Gives variants of `seeds` to `target`, in files of its own where it wants them: it is given a path for one.
fn fuzz(name: &str, seeds: Vec<Vec<u8>>, words: &[&str], mut target: impl FnMut(&[u8], &Path)) {
    limit_memory();
    let length = std::env::var(SECONDS)
        .ok()
        .map(|seconds| seconds.parse().unwrap());
    let length = length.map(Duration::from_secs);
    let seed = length.map_or(1, |_| clock());
    let mut mutator = Mutator::new(seed, seeds, words);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("input");
    let (began, began_at) = (processor_time(), Instant::now());
    let mut tried = 0;
    let mut longest = Duration::ZERO;
    let is_enough = |tried: u64| match length {
        Some(length) => since(began) >= length,
        None => tried >= VARIANTS || began_at.elapsed() >= SHORT,
    };
    while !is_enough(tried) {
        let input = mutator.next();
        std::fs::write(&file, &input).unwrap();
        let input_began = processor_time();
        let result = catch_unwind(AssertUnwindSafe(|| target(&input, &file)));
        let took = since(input_began);
        longest = longest.max(took);
        if result.is_err() || took > LONGEST {
            let kept = keep(name, &input);
            panic!("{name}, seed {seed}: {} took {took:?}", kept.display());
        }
        tried += 1;
    }
    let all = since(began);
    tell(&format!(
        "{name}: {tried} inputs in {all:?}, the longest took {longest:?}, seed {seed}"
    ));
}

#[allow(clippy::print_stderr, reason = "who runs the tests wants to know")]
fn tell(what: &str) {
    eprintln!("{what}");
}

/// Processor's time of this process.
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn since(began: Duration) -> Duration {
    processor_time().saturating_sub(began)
}

fn clock() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64
}

/// Keeps an input that broke something.
fn keep(name: &str, input: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{}-{}", name.replace(' ', "-"), clock()));
    std::fs::write(&path, input).unwrap();
    path
}

/// What asks for more memory than any input is worth is ended by the kernel's refusal.
fn limit_memory() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    let most = pages * rustix::param::page_size() as u64 + MEMORY_BYTES;
    let limit = Rlimit {
        current: Some(most),
        maximum: None,
    };
    setrlimit(Resource::As, limit).unwrap();
}

/// The contents of all files of a folder of the repository that end so.
fn repository(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let entries = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}
