//! Every profile of the repository, run in virtual time against its data sheet.

use weir_model::{DeviceModel, DriveProfile, FileKind, Op, OpKind, Scale};

use super::Model;
use super::closed_loop::{Job, random, run};
use crate::profiles;

/// Figures by the maker (or by those who measured); sources are in the profiles.
struct Sheet {
    name: &'static str,
    /// Random 4 KiB operations per second at full queue depth; writes in steady state.
    read_iops: f64,
    write_iops: f64,
    /// 4 KiB at queue depth 1.
    read_us: f64,
    write_us: f64,
    /// 10^6 bytes per second.
    read_mb_per_s: f64,
    write_mb_per_s: f64,
}

/// Most of them repeat figures of the profile (latencies, read IOPS, bandwidths, and the write IOPS
/// that a controller or a throttle caps): for those, the test says that buffers, units and clocks
/// keep what they were given. Random writes in steady state follow from the simulated flash, and for
/// the drives whose spare flash was derived from that figure this closes the circle. Tests without
/// a figure of a profile are in `media_tests.rs`, `tier_tests.rs` and `aging_tests.rs`.
///
/// The CSD 2000's come from its profile, which derives them from published gains over a plain drive, with data
/// that do not compress; the gains themselves are in `tests.rs`.
#[rustfmt::skip]
const SHEETS: [Sheet; 24] = [
    sheet("aws-gp3", [3e3, 3e3], [530., 1000.], [131., 131.]),
    sheet("aws-io2", [64e3, 64e3], [400., 400.], [4194., 4194.]),
    sheet("alibaba-essd-pl1", [50e3, 50e3], [250., 200.], [350., 350.]),
    sheet("alibaba-essd-pl1-io-acceleration", [50e3, 50e3], [250., 200.], [350., 350.]),
    sheet("consumer-tlc", [450e3, 30e3], [70., 18.], [3400., 2500.]),
    sheet("fusionio-iodrive-160-slc", [140e3, 135e3], [50., 25.], [700., 600.]),
    sheet("fusionio-iodrive-320-mlc", [70e3, 29.4e3], [95., 30.], [700., 524.]),
    sheet("intel-optane-p4800x", [550e3, 500e3], [9., 10.], [2400., 2000.]),
    sheet("intel-p3700-2tb", [450e3, 175e3], [78., 25.], [2800., 2000.]),
    sheet("intel-p3700-400gb", [450e3, 75e3], [78., 25.], [2700., 1080.]),
    sheet("intel-p4610", [638e3, 220e3], [77., 18.], [3200., 3000.]),
    sheet("intel-x25e-32gb", [35e3, 3.3e3], [75., 85.], [240., 170.]),
    sheet("raid10-8x15k-bbu", [1.5e3, 0.75e3], [5000., 75.], [450., 250.]),
    sheet("scaleflux-csd2000", [638e3, 147e3], [82., 23.], [3200., 2000.]),
    sheet("scaleflux-csd3000", [1450e3, 180e3], [82., 20.], [7000., 4800.]),
    sheet("azure-premium-ssd-v2", [3e3, 3e3], [1000., 1000.], [125., 125.]),
    sheet("gcp-hyperdisk-balanced", [50e3, 50e3], [1000., 1000.], [2400., 2400.]),
    sheet("kioxia-cm7-r", [2700e3, 310e3], [75., 9.], [14000., 6750.]),
    sheet("micron-7450-max", [530e3, 145e3], [80., 10.], [6800., 1400.]),
    sheet("micron-7600-max", [2100e3, 675e3], [80., 17.], [12000., 7000.]),
    sheet("samsung-990-pro-2tb", [1400e3, 47e3], [80., 17.], [7450., 6900.]),
    sheet("samsung-pm9a3", [900e3, 200e3], [80., 17.], [6500., 3500.]),
    sheet("solidigm-p5520", [700e3, 114e3], [75., 9.], [5300., 1900.]),
    sheet("wd-black-sn850x-1tb", [800e3, 47e3], [80., 17.], [7300., 6300.]),
];

const fn sheet(name: &'static str, iops: [f64; 2], us: [f64; 2], mb_per_s: [f64; 2]) -> Sheet {
    Sheet {
        name,
        read_iops: iops[0],
        write_iops: iops[1],
        read_us: us[0],
        write_us: us[1],
        read_mb_per_s: mb_per_s[0],
        write_mb_per_s: mb_per_s[1],
    }
}

impl Sheet {
    /// The points that the model misses by more than 10 %, in words.
    fn missed(&self) -> Vec<String> {
        let mut aged = profiles::embedded(self.name).expect("a profile of that name");
        // Of data that do not compress.
        if let Some(flash) = &mut aged.flash {
            flash.fill_compressed_fraction = 1.0;
        }
        // Of arms that go over the whole disk, in no order.
        if let Some(disks) = &mut aged.disks {
            disks.seek_min_us = None;
            disks.sorted = 1;
        }
        // Reads, latencies and sequential writes are specified for a drive without garbage.
        let mut new = aged.clone();
        if let Some(flash) = &mut new.flash {
            flash.fill = 0.0;
        }
        // The second half is what is measured; the first has to fill the write buffer.
        let operations = (aged.write.buffer.0 / 4096 * 3).max(20_000);
        let rate = |profile: &DriveProfile, job: Job| {
            let job = Job { operations, ..job };
            run(profile, Scale::FULL, job).per_second
        };
        let bandwidth = |kind| {
            let job = Job {
                operations: 20_000,
                ..random(kind, 131_072, 32).sequential()
            };
            run(&new, Scale::FULL, job).bytes_per_second / 1e6
        };
        let points = [
            (
                "read IOPS",
                rate(&new, random(OpKind::Read, 4096, 256)),
                self.read_iops,
            ),
            (
                "write IOPS",
                rate(&aged, random(OpKind::Write, 4096, 256)),
                self.write_iops,
            ),
            ("read latency", latency_us(&new, OpKind::Read), self.read_us),
            (
                "write latency",
                latency_us(&new, OpKind::Write),
                self.write_us,
            ),
            (
                "read bandwidth",
                bandwidth(OpKind::Read),
                self.read_mb_per_s,
            ),
            (
                "write bandwidth",
                bandwidth(OpKind::Write),
                self.write_mb_per_s,
            ),
        ];
        points
            .into_iter()
            .filter(|(_, found, wanted)| (found / wanted - 1.0).abs() >= 0.1)
            .map(|(what, found, wanted)| format!("{}: {what} {found}, not {wanted}", self.name))
            .collect()
    }
}

/// Mean latency of operations that come one by one, each to an idle drive.
fn latency_us(profile: &DriveProfile, kind: OpKind) -> f64 {
    const OPERATIONS: u64 = 2000;
    let mut model = Model::new(profile, Scale::FULL);
    let mut sum_ns = 0;
    for number in 0..OPERATIONS {
        let op = Op {
            kind,
            file: 1,
            file_kind: FileKind::Data,
            offset: number * 7919 % OPERATIONS * 4096,
            bytes: 4096,
            compressed_fraction: 1.0,
        };
        let now = 20_000_000 * (number + 1);
        sum_ns += model.submit(&op, now) - now;
    }
    sum_ns as f64 / OPERATIONS as f64 / 1e3
}

#[test]
fn every_profile_gives_its_data_sheets_points() {
    let missed: Vec<String> = std::thread::scope(|scope| {
        let halves = SHEETS.chunks(SHEETS.len() / 2);
        let running: Vec<_> = halves
            .map(|half| scope.spawn(|| half.iter().flat_map(Sheet::missed).collect::<Vec<_>>()))
            .collect();
        running
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    });
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn every_profile_has_a_data_sheet_here() {
    for name in profiles::embedded_names() {
        let has_sheet = SHEETS.iter().any(|sheet| sheet.name == name);
        assert!(has_sheet || name == "null", "{name}");
    }
}

/// The maker's blog: an equal mix of reads and writes saturates at 950,000, of data that compress.
#[test]
fn data_that_compress_lift_the_csd3000_to_its_controllers_limit() {
    let mut profile = profiles::embedded("scaleflux-csd3000").unwrap();
    profile.flash.as_mut().unwrap().fill_compressed_fraction = 0.4;
    let job = Job {
        compressed_fraction: 0.4,
        ..random(OpKind::Write, 4096, 256)
    };
    let found = run(&profile, Scale::FULL, job).per_second;
    assert!((found / 475e3 - 1.0).abs() < 0.1, "{found}");
}
