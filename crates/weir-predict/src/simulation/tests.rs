//! Simulation and mean values, which know nothing of each other.

use std::collections::BTreeMap;
use std::path::Path;

use weir_drive::{Model, profiles};
use weir_model::{DriveProfile, Scale};

use super::*;
use crate::cleaning::CleaningModel;
use crate::network::Resource;
use crate::{
    Demands, DriveAbility, Flushing, PageGroup, PoolUse, Popularity, System, WriteSettings, Writes,
};

const DRIVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
const CONFIGURATIONS: u64 = 50;
const DATA_PAGES: u64 = 2_048;

/// Drives that are the same from the first operation on: none with savings to spend or a cache to
/// fill.
fn drives() -> Vec<DriveProfile> {
    let mut profiles = profiles::list(Some(Path::new(DRIVES))).unwrap();
    profiles.retain(|profile| {
        let saves = profile.throttle.as_ref().is_some_and(|throttle| {
            throttle.iops.burst_credit > 0.0 || throttle.mb_per_s.burst_credit > 0.0
        });
        !saves && profile.cache.is_none()
    });
    // Mean values know no queue that a controller could sort.
    for disks in profiles
        .iter_mut()
        .filter_map(|profile| profile.disks.as_mut())
    {
        (disks.seek_min_us, disks.sorted) = (None, 1);
    }
    profiles
}

/// A drive and what runs on it.
struct Configuration {
    profile: DriveProfile,
    scenario: Scenario,
}

impl Configuration {
    fn random(seed: u64, profiles: &[DriveProfile]) -> Self {
        let mut random = Random::seeded(seed);
        let mut between = |low: f64, high: f64| {
            let share = random.below(1 << 32) as f64 / f64::from(u32::MAX);
            low * (high / low).powf(share)
        };
        let profile = &profiles[between(1.0, profiles.len() as f64 + 0.99) as usize - 1];
        Self {
            profile: profile.clone(),
            scenario: Scenario {
                connections: between(1.0, 200.0) as u32,
                cores: between(1.0, 16.9) as u32,
                cpu_s: between(1e-4, 2e-3),
                emulation_s: 0.0,
                wait_s: between(1e-4, 2e-3),
                statements: between(1.0, 20.0),
                reads: between(0.1, 8.0),
                page_writes: 0.0,
                cleaned: 0.0,
                batch_pages: 1,
                doublewrite: false,
                redo_bytes: 0.0,
                durable_commits: false,
                data_pages: DATA_PAGES,
                compressed_fraction: 1.0,
                transactions: 20_000,
                seed,
            },
        }
    }

    fn simulate(&self) -> SimulationResult {
        self.simulate_at(Scale::FULL)
    }

    fn simulate_at(&self, scale: Scale) -> SimulationResult {
        let capacity = self.profile.capacity.0;
        let mut model = Model::with_capacity(&self.profile, scale, capacity);
        simulate(&self.scenario, &mut model)
    }

    fn mean_values(&self, drive: &DriveAbility) -> (f64, Resource) {
        let scenario = &self.scenario;
        let system = System {
            popularity: Popularity::new([PageGroup {
                pages: 1.0,
                rate: 1.0,
                write_rate: 0.0,
            }]),
            writes: WriteSettings {
                redo_capacity_bytes: 1e9,
                redo_bytes: scenario.redo_bytes,
                doublewrite: scenario.doublewrite,
                durable_commits: scenario.durable_commits,
                flushing: Flushing {
                    batch_pages: scenario.batch_pages as f64,
                    ..Flushing::MYSQL
                },
            },
            pool_use: PoolUse::MYSQL,
            old_blocks_time_s: 1.0,
            discrepancy: crate::Discrepancy::default(),
            demands: Demands {
                cores: scenario.cores,
                cpu_s: scenario.cpu_s,
                cpu_s_per_miss: 0.0,
                emulation_s: scenario.emulation_s,
                wait_s: scenario.wait_s,
                connections_max: scenario.connections,
            },
        };
        let writes = Writes {
            cleaned: scenario.cleaned,
            ..system.writes.of_pages(scenario.page_writes)
        };
        let cleaning =
            CleaningModel::new(system.queues(drive, scenario.reads), scenario.connections);
        let per_s = cleaning
            .pace(writes, scenario.connections)
            .transactions_per_s;
        (per_s, cleaning.network(writes).limit(per_s))
    }
}

/// All but the drives whose limit of the rate is about as slow as their latency, and disks whose
/// latency varies: those are off by up to a tenth near the knee.
#[test]
fn mean_values_and_simulation_agree() {
    let profiles = drives();
    let abilities: BTreeMap<_, _> = profiles
        .iter()
        .map(|profile| {
            (
                profile.name.clone(),
                DriveAbility::from_profile(profile, 1.0).unwrap(),
            )
        })
        .collect();
    let (mut agree, mut worst) = (0, 0.0_f64);
    for seed in 1..=CONFIGURATIONS {
        let configuration = Configuration::random(seed, &profiles);
        let simulated = configuration.simulate().transactions_per_s;
        let drive = &abilities[&configuration.profile.name];
        let (mean, limit) = configuration.mean_values(drive);
        let error = mean / simulated - 1.0;
        eprintln!(
            "seed {seed}: {:+.1} % {} {limit:?} simulated {simulated:.0} mean values {mean:.0} {:?}",
            error * 100.0,
            configuration.profile.name,
            configuration.scenario,
        );
        agree += u64::from(error.abs() <= 0.03);
        worst = worst.max(error.abs());
    }
    assert!(agree >= CONFIGURATIONS - 3, "{agree} of {CONFIGURATIONS}");
    assert!(worst <= 0.1, "{:.1} %", worst * 100.0);
}

/// Half of the cores' time or more, where the cores are the limit; where few connections wait for the drive it does
/// not show.
#[test]
fn a_drives_emulation_takes_of_the_cores_and_of_no_latency() {
    let profiles = drives();
    let profile = profiles.iter().find(|drive| drive.name == "intel-p4610");
    let mut configuration = Configuration::random(1, &profiles);
    configuration.profile = profile.unwrap().clone();
    let drive = DriveAbility::from_profile(&configuration.profile, 1.0).unwrap();
    configuration.scenario = Scenario {
        cores: 2,
        cpu_s: 0.5e-3,
        emulation_s: 60e-6,
        wait_s: 1e-3,
        reads: 8.0,
        page_writes: 2.0,
        ..configuration.scenario
    };
    for (connections, most) in [(32, 2.0 / (0.5e-3 + 10.0 * 60e-6)), (1, f64::INFINITY)] {
        configuration.scenario.connections = connections;
        let simulated = configuration.simulate().transactions_per_s;
        let (mean, _) = configuration.mean_values(&drive);
        assert!(
            (mean / simulated - 1.0).abs() < 0.03,
            "{mean} {simulated} with {connections}"
        );
        assert!(simulated < most * 1.02 && (simulated > most * 0.95 || most.is_infinite()));
    }
    let emulated = configuration.simulate().transactions_per_s;
    configuration.scenario.emulation_s = 0.0;
    let real = configuration.simulate().transactions_per_s;
    assert!(emulated / real > 0.9, "{emulated} {real}");
}

/// Sixteen connections that do little but commit to a drive whose flush takes 20 ms: those that come soon after a flush
/// wait for all of the next one and then for their own, those that come late for half of one and their own.
#[test]
fn commits_wait_for_the_rest_of_the_flush_that_goes_on() {
    let profiles = drives();
    let profile = profiles
        .iter()
        .find(|drive| drive.name == "intel-x25e-32gb");
    let mut configuration = Configuration::random(1, &profiles);
    configuration.profile = profile.unwrap().clone();
    configuration.scenario = Scenario {
        connections: 16,
        cores: 2,
        cpu_s: 1e-4,
        emulation_s: 0.0,
        statements: 1.0,
        reads: 0.0,
        page_writes: 0.0,
        redo_bytes: 1_000.0,
        durable_commits: true,
        ..configuration.scenario
    };
    let drive = DriveAbility::from_profile(&configuration.profile, 1.0).unwrap();
    for wait_s in [1e-3, 5e-3, 20e-3, 100e-3] {
        configuration.scenario.wait_s = wait_s;
        let simulated = configuration.simulate().transactions_per_s;
        let (mean, _) = configuration.mean_values(&drive);
        assert!(
            (mean / simulated - 1.0).abs() < 0.1,
            "{wait_s}: {mean} {simulated}"
        );
    }
}

/// Sixteen connections whose commits wait for a page cleaner's batches, on a scaled drive; the fewer pages are
/// written for each transaction, the longer it rests.
#[test]
fn transactions_and_the_page_cleaner_take_turns() {
    let profiles = drives();
    let profile = profiles.iter().find(|drive| drive.name == "intel-p4610");
    let mut configuration = Configuration::random(1, &profiles);
    configuration.profile = profile.unwrap().clone();
    configuration.scenario = Scenario {
        connections: 16,
        cores: 2,
        cpu_s: 1e-3,
        wait_s: 0.0,
        statements: 20.0,
        reads: 0.0,
        cleaned: 1.0,
        batch_pages: 128,
        doublewrite: true,
        redo_bytes: 3_000.0,
        durable_commits: true,
        ..configuration.scenario
    };
    let scale: Scale = "1/25".parse().unwrap();
    let drive = DriveAbility::from_profile(&configuration.profile, 1.0).unwrap();
    let drive = drive.at_scale(scale);
    for pages in [0.5, 1.0, 2.0, 4.0] {
        configuration.scenario.page_writes = pages;
        let simulated = configuration.simulate_at(scale);
        let (mean, _) = configuration.mean_values(&drive);
        let apart = mean / simulated.transactions_per_s - 1.0;
        eprintln!("{pages} pages: {apart:+.3} {mean:.0} {simulated:?}");
        assert!(apart.abs() < 0.15, "{pages} pages: {mean} {simulated:?}");
    }
}
