//! How faithful a replay is, the cost of the capture proxy beside a plain relay, the speed of import beside a reader that
//! counts lines, and the memory and files of these:
//! `cargo bench -p weir-replay --bench replay -- OUT.json [--seconds=10] [--rounds=20]
//! [--megabytes=256] [--turn-seconds=3] [--only=PART]`.
//!
//! Captures are made of general logs that are written here, so that each start is known. They are sent to the null
//! server, which shares this machine's processors with the replay. Equal arms are judged on a real server.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints, and ends at what it can't do

mod equal_arms;
mod import;
mod lateness;
mod own_process;
mod profile;
mod proxy;
mod relay;
mod spread;
mod starts;
mod written;

use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Map, Value, json};

/// What is asked on the command line.
struct Arguments {
    out: Option<String>,
    /// Length of the captures of many sessions, seconds.
    seconds: u64,
    /// Comparisons of equal arms.
    rounds: u64,
    /// Size of the log that is imported, megabytes.
    megabytes: u64,
    /// Length of a turn of the proxy's loads, seconds.
    turn_seconds: u64,
    /// One part in place of all.
    only: Option<String>,
}

impl Arguments {
    fn read() -> Self {
        let words: Vec<_> = std::env::args().skip(1).collect();
        let of = |name: &str| {
            let mut values = words.iter().filter_map(|word| word.strip_prefix(name));
            values.next().map(str::to_owned)
        };
        let number = |name: &str, default| of(name).map_or(default, |text| text.parse().unwrap());
        Self {
            out: words.iter().find(|word| !word.starts_with("--")).cloned(),
            seconds: number("--seconds=", 10),
            rounds: number("--rounds=", 20),
            megabytes: number("--megabytes=", 256),
            turn_seconds: number("--turn-seconds=", 3),
            only: of("--only="),
        }
    }
}

fn main() {
    let asked = Arguments::read();
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    raise_file_limit();
    let mut result = Map::new();
    result.insert("load_before".to_owned(), json!(load_average()));
    result.insert(
        "processors".to_owned(),
        json!(std::thread::available_parallelism().unwrap().get()),
    );
    for (name, part) in parts(&asked) {
        if asked.only.as_ref().is_none_or(|only| only == name) {
            result.insert(name.to_owned(), part(folder.path()));
        }
    }
    result.insert("load_after".to_owned(), json!(load_average()));
    if let Some(out) = asked.out {
        std::fs::write(out, serde_json::to_string_pretty(&result).unwrap()).unwrap();
    }
}

/// A part of the benchmark: measures below a folder of its own use.
type Part = Box<dyn Fn(&Path) -> Value>;

fn parts(asked: &Arguments) -> [(&'static str, Part); 6] {
    let (seconds, rounds) = (asked.seconds, asked.rounds);
    let (megabytes, turn_seconds) = (asked.megabytes, asked.turn_seconds);
    [
        (
            "lateness",
            Box::new(move |folder: &Path| -> Value {
                let both = [(1_000, 20_000), (5_000, 5_000)];
                both.map(|(sessions, per_s)| lateness::measure(folder, sessions, per_s, seconds))
                    .into_iter()
                    .collect()
            }),
        ),
        ("profile", Box::new(profile::measure)),
        (
            "proxy",
            Box::new(move |folder: &Path| proxy::measure(folder, turn_seconds)),
        ),
        (
            "import",
            Box::new(move |folder: &Path| import::measure(folder, megabytes)),
        ),
        ("starts", Box::new(starts::measure)),
        (
            "equal_arms",
            Box::new(move |folder: &Path| equal_arms::measure(folder, rounds)),
        ),
    ]
}

fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    load.trim().to_owned()
}

/// Both ends of each session are files of this process.
fn raise_file_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, limit).unwrap();
}
