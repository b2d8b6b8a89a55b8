//! The ratios that fio's own data reach on the two drives that compress, beside those of the real ones.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use weir_drive::profiles;

use crate::support::Drive;

/// Percent under `buffer_compress_percentage`, and the published ratios of the CSD 2000 and the CSD 3000.
const PUBLISHED: [(u32, [f64; 2]); 12] = [
    (10, [1.0, 1.0]),
    (20, [1.17, 1.19]),
    (30, [1.31, 1.35]),
    (40, [1.50, 1.57]),
    (50, [1.77, 1.82]),
    (57, [2.00, 2.15]),
    (60, [2.15, 2.29]),
    (70, [2.70, 2.99]),
    (80, [3.76, 4.25]),
    (90, [5.85, 7.72]),
    (95, [9.5, 8.0]),
    (100, [28.44, 8.0]),
];
const DRIVES: [&str; 2] = ["scaleflux-csd2000", "scaleflux-csd3000"];

pub(crate) fn measure() -> Value {
    println!("\nratio of fio's data   percent  published  emulated   error");
    let of_drive = |(index, name): (usize, &&str)| {
        let rows = PUBLISHED.map(|(percent, ratios)| row(name, percent, ratios[index]));
        json!({ "drive": name, "rows": rows })
    };
    DRIVES.iter().enumerate().map(of_drive).collect()
}

fn row(name: &str, percent: u32, published: f64) -> Value {
    let found = ratio(name, percent);
    let error = found / published - 1.0;
    println!(
        "{name:<20} {percent:>8} {published:>10.2} {found:>9.2} {:>+6.1} %",
        error * 100.0
    );
    json!({ "percent": percent, "published": published, "emulated": found, "error": error })
}

/// Written / stored bytes of what fio writes to a drive without latency that compresses as `name`.
fn ratio(name: &str, percent: u32) -> f64 {
    let cost = profiles::load(name, None).unwrap().block_cost.unwrap();
    let sections = format!(
        "capacity = \"64T\"\ncompression = \"zlib4k\"\ncompressed_sizes = \"exact\"\nblock_cost = {{ base_bytes = {}, \
         share = {}, bytes_max = {}, stored_bytes_min = {}, saving_min = {} }}",
        cost.base_bytes, cost.share, cost.bytes_max, cost.stored_bytes_min, cost.saving_min
    );
    let drive = Drive::with_profile(&[("capacity = \"64T\"", &sections)]).unwrap();
    write(drive.process.mountpoint(), percent);
    1.0 / drive.process.statistics().unwrap().compressed_fraction
}

fn write(mountpoint: &Path, percent: u32) {
    let status = Command::new("fio")
        .args(["--name=ratio", "--rw=write", "--bs=16k", "--size=16m"])
        .args(["--direct=1", "--refill_buffers", "--output=/dev/null"])
        .arg(format!("--buffer_compress_percentage={percent}"))
        .arg(format!("--filename={}", mountpoint.join("ratio").display()))
        .status()
        .expect("fio runs (Debian package `fio`)");
    assert!(status.success());
}
