//! `weir drive powercut`, on emulated drives that are cut under it.
//!
//! One recording of a writer at work is cut by many rules. Each promise that the rules break is found, and none that
//! they keep is found broken.

mod loop_device;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;

use weir_crash::{CacheRule, DeviceRules};
use weir_drive::powercut::{
    CheckOptions, CutCount, CutKind, DeviceSummary, PowercutVerdict, check,
};
use weir_model::{Atomicity, Bytes};

use crate::harness::{Output, Weir, World, signal, wait_until};

/// Acknowledgments in the witness's log after which the drive is cut: some rounds of each lane.
const ACKNOWLEDGED: usize = 1_000;
/// Outcomes of each recording under each rule.
const SEEDS: u64 = 8;
/// Size of each device's cache: what was acknowledged within half a second is in it, however slow a flush is.
const CACHE_BYTES: Bytes = Bytes(16 << 20);
/// Number of recordings of the table in docs/powercut.md; a test makes one.
const RECORDINGS: &str = "WEIR_POWERCUT_RECORDINGS";

/// A witness that listens.
struct WitnessProcess {
    child: Child,
    address: String,
    log: PathBuf,
}

impl WitnessProcess {
    fn start(world: &World) -> Self {
        let log = world.path("witness.log");
        let mut child = Weir::in_world(world)
            .args([
                "drive",
                "powercut",
                "witness",
                "--listen",
                "127.0.0.1:0",
                "--log",
            ])
            .args([&log])
            .spawn();
        let mut line = String::new();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        said.read_line(&mut line).unwrap();
        let address = line.split([' ', ';']).nth(2).unwrap().to_owned();
        // Read on, so that it never waits for a reader.
        std::thread::spawn(move || said.lines().for_each(drop));
        Self {
            child,
            address,
            log,
        }
    }

    fn lines(&self) -> usize {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().count()
    }

    fn end(mut self) {
        signal(self.child.id(), "TERM");
        assert_eq!(self.child.wait().unwrap().code(), Some(130));
    }
}

/// A drive that takes its time, so that writes of each lane are open at any moment: in flight for the device's bandwidth,
/// and completed for the length of a flush.
fn mounted(world: &World, backing: &Path, more: &[&str]) -> Child {
    let dir = world.path("drive");
    let child = Weir::in_world(world)
        .args(["drive", "mount", "null"])
        .args([&dir, Path::new("--backing"), backing])
        .args([
            "--set",
            "write.bandwidth_mb_per_s=30",
            "--set",
            "write.buffer=64K",
        ])
        .args(["--set", "flush.latency_us=20000"])
        .args(more)
        .spawn();
    wait_until("the drive is mounted", || !world.mounts().is_empty());
    child
}

fn writer(world: &World, witness: &str) -> Weir {
    Weir::in_world(world)
        .args([
            "drive",
            "powercut",
            "write",
            "--pages",
            "16",
            "--witness",
            witness,
            "--dir",
        ])
        .args([world.path("drive")])
}

/// Cuts a drive while the writer is at work; the recording.
fn recorded(world: &World) -> PathBuf {
    let [backing, record] = ["backing", "record"].map(|name| world.path(name));
    let record_options = ["--record", record.to_str().unwrap(), "--record-base"];
    let drive = mounted(world, &backing, &record_options);
    let witness = WitnessProcess::start(world);
    let writing = writer(world, &witness.address).spawn();
    wait_until("the writer is at work", || witness.lines() > ACKNOWLEDGED);
    Weir::in_world(world)
        .args(["drive", "cut", "--json"])
        .args([world.path("drive")])
        .succeeds();
    let end = Output::from(writing.wait_with_output().unwrap());
    assert!(end.only_error().contains(" failed ("), "{}", end.stderr);
    assert_eq!(
        Output::from(drive.wait_with_output().unwrap()).code,
        Some(0)
    );
    witness.end();
    record
}

/// A rule of a device, and a name for it.
struct Rule {
    name: &'static str,
    rules: DeviceRules,
}

fn rule(name: &'static str, cache: CacheRule, atomicity: Atomicity) -> Rule {
    let cache_size = CACHE_BYTES;
    Rule {
        name,
        rules: DeviceRules {
            cache,
            cache_size,
            atomicity,
        },
    }
}

/// Each rule of `DeviceRules`, kept and broken.
fn all_rules() -> Vec<Rule> {
    use CacheRule::{Lying, PowerProtected, Volatile};
    let unit = |unit| Atomicity {
        unit: Bytes(unit),
        ..Atomicity::default()
    };
    let blocks_of_4k = Atomicity {
        granularity: Bytes(4096),
        ..unit(4096)
    };
    let cut_at_4k = Atomicity {
        boundary: Some(Bytes(4096)),
        ..unit(16_384)
    };
    let cut_nowhere = Atomicity {
        boundary: Some(Bytes(0)),
        ..unit(16_384)
    };
    vec![
        rule(
            "power-loss protection, 16K untorn",
            PowerProtected,
            unit(16_384),
        ),
        rule(
            "power-loss protection, sectors tear",
            PowerProtected,
            unit(512),
        ),
        rule("volatile cache, 16K untorn", Volatile, unit(16_384)),
        rule(
            "volatile cache, 16K untorn, no boundary",
            Volatile,
            cut_nowhere,
        ),
        rule("volatile cache, 8K untorn", Volatile, unit(8192)),
        rule("volatile cache, blocks of 4K", Volatile, blocks_of_4k),
        rule("volatile cache, writes cut at 4K", Volatile, cut_at_4k),
        rule("volatile cache, sectors tear", Volatile, unit(512)),
        rule("flushes do nothing, 16K untorn", Lying, unit(16_384)),
        rule("flushes do nothing, sectors tear", Lying, unit(512)),
    ]
}

/// Checks so many outcomes of the cuts in `worlds` under a rule.
fn cuts(worlds: &[(World, PathBuf)], rules: DeviceRules, seeds: u64) -> Vec<DeviceSummary> {
    let mut found = Vec::new();
    for (world, record) in worlds {
        for seed in 0..seeds {
            let media = world.path("media");
            weir_crash::survivors(record, &record.join("base"), &media, rules, seed).unwrap();
            let options = CheckOptions {
                directory: media.clone(),
                log: world.path("witness.log"),
                verdict: world.path("no-verdict"),
                cut: CutKind::Detach,
            };
            found.push(check(&options).unwrap().verdict.summary());
            fs::remove_dir_all(&media).unwrap();
        }
    }
    found
}

/// The summaries as one.
fn sum(cuts: &[DeviceSummary], count: impl Fn(&DeviceSummary) -> CutCount) -> CutCount {
    let counts = cuts.iter().map(count);
    counts.fold(CutCount::default(), |sum, one| CutCount {
        found: sum.found + one.found,
        cuts: sum.cuts + one.cuts,
    })
}

/// Judges what was found under a rule, and returns its row of the table.
fn judged(rule: &Rule, cuts: &[DeviceSummary]) -> String {
    let Rule { name, rules } = rule;
    let lost = sum(cuts, |cut| cut.lost);
    let order = sum(cuts, |cut| cut.out_of_order);
    let damaged = sum(cuts, |cut| cut.damaged);
    let unflushed = sum(cuts, |cut| cut.unflushed_lost);
    assert_eq!(damaged.found, 0, "{name}");
    let lies = rules.cache == CacheRule::Lying;
    assert_eq!(
        (lost.found > 0, order.found > 0),
        (lies, lies),
        "{name}: {cuts:?}"
    );
    let is_protected = rules.cache == CacheRule::PowerProtected;
    assert_eq!(unflushed.found == 0, is_protected, "{name}: {cuts:?}");
    let (mut torn, mut may_tear, mut torn_at_all) = (Vec::new(), false, 0);
    for page in [4096, 8192, 16_384] {
        let count = sum(cuts, |cut| cut.torn_directly(Bytes(page)));
        if rules.atomicity.keeps_whole(page) {
            assert_eq!(count.found, 0, "{name}: pages of {page}");
        } else {
            may_tear = true;
            torn_at_all += count.found;
        }
        torn.push(format!("{} of {}", count.found, count.cuts));
    }
    assert_eq!(torn_at_all > 0, may_tear, "{name}: {cuts:?}");
    format!(
        "| {name} | {} of {} | {} of {} | {} of {} | {} |",
        lost.found,
        lost.cuts,
        order.found,
        order.cuts,
        unflushed.found,
        unflushed.cuts,
        torn.join(" | ")
    )
}

#[test]
fn each_lie_of_an_emulated_drive_is_found_and_none_is_invented() {
    let recordings = std::env::var(RECORDINGS).ok();
    let recordings: u64 = recordings.map_or(1, |number| number.parse().unwrap());
    let worlds: Vec<_> = (0..recordings)
        .map(|_| {
            let world = World::new();
            let record = recorded(&world);
            (world, record)
        })
        .collect();
    for rule in all_rules() {
        println!("{}", judged(&rule, &cuts(&worlds, rule.rules, SEEDS)));
    }
}

#[test]
fn a_cut_drive_is_checked_after_it_is_back_and_counts_for_itself_alone() {
    let world = World::new();
    let record = recorded(&world);
    let drive = mounted(&world, &record.join("media"), &[]);
    let dir = world.path("drive");
    let asked = |more: &[&str]| {
        Weir::in_world(&world)
            .args(["drive", "powercut", "check", "--dir"])
            .args([&dir, Path::new("--log"), &world.path("witness.log")])
            .args(more)
    };
    let not_cut = asked(&[]).fails();
    assert!(not_cut.contains("was not cut"), "{not_cut}");
    // The drive keeps what it completes. Its sectors may tear, or not in this one cut.
    let said = asked(&["--cut", "detach"]).output();
    assert!(
        matches!(said.code, Some(0 | 1)),
        "{}{}",
        said.stdout,
        said.stderr
    );
    let first = said.stdout.lines().next().unwrap();
    assert_eq!(
        first,
        "This counts for a drive that Weir emulates alone: no device lost its power."
    );
    assert!(
        said.stdout
            .contains("acknowledged writes lost: 0 in 1 cut (below 95 % at 95 %)")
    );
    let verdict = PowercutVerdict::read(&dir.join("weir-powercut.json")).unwrap();
    assert!(!verdict.summary().breaks_promise());
    let json = asked(&["--cut", "detach", "--json"]).output().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["summary"]["lost"]["cuts"], 1, "{json}");
    assert_eq!(json["lanes"].as_array().unwrap().len(), 21, "{json}");
    signal(drive.id(), "TERM");
    assert_eq!(
        Output::from(drive.wait_with_output().unwrap()).code,
        Some(0)
    );
}

#[test]
fn bad_input_is_one_line_and_touches_nothing() {
    let world = World::new();
    let dir = world.path("data");
    fs::create_dir_all(&dir).unwrap();
    let no_log = world.path("no-log");
    fs::write(&no_log, "not a log\n").unwrap();
    let [dir_text, log] = [&dir, &no_log].map(|path| path.to_str().unwrap());
    let fails = |command: &str, arguments: &[&str], words: &str| {
        let weir = Weir::in_world(&world).args(["drive", "powercut", command]);
        let said = weir.args(arguments).fails();
        assert!(said.contains(words), "{said}");
    };
    let gone = ["--dir", "/no/such/folder", "--witness", "127.0.0.1:1"];
    fails("write", &gone, "/no/such/folder");
    let unreachable = ["--dir", dir_text, "--witness", "127.0.0.1:1"];
    fails("write", &unreachable, "weir drive powercut witness");
    let odd = [&unreachable[..], &["--pages", "100"]].concat();
    fails("write", &odd, "power of two");
    fails("witness", &["--listen", "nowhere", "--log", log], "nowhere");
    fails(
        "check",
        &["--dir", dir_text, "--log", "/no/such/log"],
        "/no/such/log",
    );
    fails(
        "check",
        &["--dir", dir_text, "--log", log],
        "none of its lines",
    );
    let not_a_verdict = Weir::in_world(&world).args(["crash-test", "run", "--powercut", log]);
    assert!(not_a_verdict.fails().contains("name the verdict of"));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(&no_log).unwrap(), "not a log\n");
}
