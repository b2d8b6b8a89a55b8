//! `kill -9` at any moment loses at most the run in flight.
//!
//! A study is killed again and again at random moments and resumed each time; when it is complete,
//! another one begins. Four kills per flavour, or `WEIR_KILLS`; the seed is printed, `WEIR_KILL_SEED` sets it.

#![allow(clippy::print_stderr, reason = "a failing seed must be known")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Output, Weir, World};

/// Kills of a study or command: `WEIR_KILLS`, or as many as an ordinary test run has time for.
pub(crate) fn kills() -> usize {
    std::env::var("WEIR_KILLS").map_or(4, |text| text.parse().unwrap())
}

/// A study whose runs take a fifth of a second of load.
fn study(flavor: &str) -> String {
    format!(
        r#"
        [study]
        title = "Killed"
        question = "Is anything lost?"
        [server]
        flavor = "{flavor}"
        [server.config]
        innodb_buffer_pool_size = "8M"
        [data]
        workload = "oltp_point_select"
        rows = 1_000
        scale = {{ drive = "1/25" }}
        [load]
        threads = 1
        warmup = "0s"
        measure = "200ms"
        [factors]
        drive = ["intel-p4610"]
        distribution = ["uniform", "special"]
        [repeat]
        runs = 3
        seed = 1
        "#
    )
}

/// Numbers from 0 to 1 (`SplitMix64`, Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded() -> Self {
        let given = std::env::var("WEIR_KILL_SEED").ok();
        let clock = || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            u64::from(now.unwrap().subsec_nanos())
        };
        let seed = given.map_or_else(clock, |seed| seed.parse().unwrap());
        eprintln!("kills: seed {seed}; set WEIR_KILL_SEED to repeat it");
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A study in a world of its own, with one result folder after the other.
struct KilledStudy {
    world: World,
    study: PathBuf,
    out: PathBuf,
    studies: usize,
}

impl KilledStudy {
    fn new(flavor: &str) -> Self {
        let world = World::new();
        fs::create_dir_all(world.path("work")).unwrap();
        let study = world.write("study.toml", &study(flavor));
        let out = world.path("out-0");
        Self {
            world,
            study,
            out,
            studies: 0,
        }
    }

    fn start(&self) -> Child {
        Weir::in_world(&self.world)
            .args(["run", self.study.to_str().unwrap(), "--resume"])
            .args(["--out", self.out.to_str().unwrap()])
            .args(["--work", self.world.path("work").to_str().unwrap()])
            .spawn()
    }

    /// `(cell, repetition)` of the runs that are stored; a result that cannot be read fails.
    fn runs(&self) -> Vec<(u64, u64)> {
        if !self.out.join("result.sqlite").exists() {
            return Vec::new();
        }
        let report = ["report", self.out.to_str().unwrap(), "--format", "json"];
        let result: Value =
            serde_json::from_str(&Weir::new().args(report).succeeds().stdout).unwrap();
        let runs = result["runs"].as_array().unwrap();
        let number = |run: &Value, key: &str| run["record"][key].as_u64().unwrap();
        runs.iter()
            .map(|run| (number(run, "cell"), number(run, "repetition")))
            .collect()
    }

    /// The study came to its end: everything is there once, and nothing else is.
    fn complete(&mut self, child: Child) {
        let output = Output::from(child.wait_with_output().unwrap());
        // What the rules say about runs of a fifth of a second is not asked here.
        let complete = matches!(output.code, Some(0 | 3));
        assert!(complete, "{}{}", output.stdout, output.stderr);
        let runs = self.runs();
        let expected: BTreeSet<_> = (0..2)
            .flat_map(|cell| [(cell, 1), (cell, 2), (cell, 3)])
            .collect();
        assert_eq!(runs.len(), 6, "{runs:?}");
        assert_eq!(runs.into_iter().collect::<BTreeSet<_>>(), expected);
        assert!(self.out.join("report.html").is_file());
        self.world.assert_nothing_left();
        self.studies += 1;
        self.out = self.world.path(&format!("out-{}", self.studies));
    }
}

/// Waits for `child` until `deadline`; whether it ended by itself.
fn ends_before(child: &mut Child, deadline: Instant) -> bool {
    while Instant::now() < deadline {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

fn is_killed_and_resumed(flavor: &str) {
    let mut random = Random::seeded();
    let mut killed = KilledStudy::new(flavor);
    // The first study may load the data, the second tells how long one takes here.
    let first = killed.start();
    killed.complete(first);
    let began = Instant::now();
    let second = killed.start();
    killed.complete(second);
    // Long enough that some runs complete, short enough that no study is done in one go.
    let longest = began.elapsed().div_f64(4.0);
    let (mut kills, wanted) = (0, kills());
    let mut kept = Vec::new();
    while kills < wanted {
        let mut child = killed.start();
        let deadline = Instant::now() + longest.mul_f64(random.next());
        if ends_before(&mut child, deadline) {
            killed.complete(child);
            kept.clear();
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let now = killed.runs();
        assert_eq!(now[..kept.len()], kept, "a complete run was lost");
        kept = now;
    }
    let last = killed.start();
    killed.complete(last);
    eprintln!("{flavor}: {wanted} kills in {} studies", killed.studies);
}

#[test]
fn kills_lose_nothing_on_mysql() {
    is_killed_and_resumed("mysql");
}

#[test]
fn kills_lose_nothing_on_mariadb() {
    is_killed_and_resumed("mariadb");
}
