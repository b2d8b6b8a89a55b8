//! `weir workload fit`, `check` and `list` by hand.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Output, Weir};

/// A general log of a shop, imported.
fn capture(directory: &TempDir) -> PathBuf {
    let mut log = String::new();
    // Knuth's MMIX generator.
    let mut random = 1_u64;
    for number in 0..2_000_u32 {
        let at = format!(
            "2026-11-25T10:{:02}:{:02}.000001Z",
            number / 60,
            number % 60
        );
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let id = (random >> 33) % 1_009;
        let _ = writeln!(
            log,
            "{at}\t    8 Query\tSELECT name FROM item WHERE id = {id} AND kind = 'planted'"
        );
        if number % 4 == 0 {
            let _ = writeln!(
                log,
                "{at}\t    9 Query\tUPDATE item SET pieces = {} WHERE id = {id}",
                number % 5
            );
        }
    }
    let path = directory.path().join("general.log");
    fs::write(&path, log).unwrap();
    let capture = directory.path().join("tuesday.weircap");
    Weir::new()
        .args(["capture", "import", "-o"])
        .args([&capture, &path])
        .succeeds();
    capture
}

fn check(capture: &PathBuf, workload: &PathBuf, more: &[&str]) -> Output {
    Weir::new()
        .args(["workload", "check"])
        .args([capture, workload])
        .args(more)
        .output()
}

#[test]
fn a_fit_is_written_checked_and_listed() {
    let directory = TempDir::new().unwrap();
    let capture = capture(&directory);
    let fitted = directory.path().join("tuesday.toml");
    let fit = || {
        Weir::new()
            .args(["workload", "fit", "-o"])
            .args([&fitted, &capture])
    };
    let output = fit().succeeds();
    assert!(
        output.stdout.contains("2 kinds of transactions"),
        "{}",
        output.stdout
    );
    assert!(
        output.stderr.contains("makes no tables"),
        "{}",
        output.stderr
    );
    let text = fs::read_to_string(&fitted).unwrap();
    assert!(!text.contains("planted"), "{text}");
    let again = fit().output();
    assert!(
        again.code == Some(1) && again.stderr.contains("is there already"),
        "{}",
        again.stderr
    );

    let output = check(&capture, &fitted, &[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(
        output.stdout.contains("mix of statements"),
        "{}",
        output.stdout
    );
    let output = check(&capture, &fitted, &["--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["holds"], true);

    // Another mix is beyond the limit.
    let other = directory.path().join("other.toml");
    fs::write(&other, text.replacen("weight = 500", "weight = 5000", 1)).unwrap();
    assert_ne!(fs::read_to_string(&other).unwrap(), text);
    let output = check(&capture, &other, &[]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    assert!(
        output.stdout.contains("beyond its limit"),
        "{}",
        output.stdout
    );

    fs::write(directory.path().join("wrong.toml"), "transactions = 5").unwrap();
    let listed = Weir::new()
        .args(["workload", "list"])
        .args([directory.path()])
        .succeeds();
    for word in [
        "oltp_read_write",
        "order_entry",
        "tuesday.toml",
        "cannot be used",
    ] {
        assert!(listed.stdout.contains(word), "{word}: {}", listed.stdout);
    }
}
