//! Every study and drive that is shipped can be used.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::{Weir, World};

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let found: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(!found.is_empty());
    found
}

#[test]
fn studies_can_be_planned() {
    // The profile that a reader has measured.
    let world = World::new();
    let mine = Weir::new()
        .args(["drive", "show", "intel-p4610"])
        .succeeds();
    world.write("mine.toml", &mine.stdout);
    for study in files("studies") {
        let study = study.canonicalize().unwrap();
        let output = Weir::new()
            .at(world.home.path())
            .args(["plan", study.to_str().unwrap()])
            .succeeds();
        assert!(output.stdout.contains("time:"), "{}", output.stdout);
        if fs::read_to_string(&study).unwrap().contains("\n[reduced") {
            let shorter = ["plan", "--reduced", study.to_str().unwrap()];
            let shorter = Weir::new().at(world.home.path()).args(shorter).succeeds();
            assert!(shorter.stdout.contains("time:"), "{}", shorter.stdout);
            assert_ne!(shorter.stdout, output.stdout);
        }
    }
}

#[test]
fn drives_can_be_shown_and_name_their_sources() {
    for drive in files("drives") {
        let output = Weir::new()
            .args(["drive", "show", drive.to_str().unwrap()])
            .succeeds();
        assert!(
            output.stdout.contains("[sources]"),
            "{}: {}",
            drive.display(),
            output.stdout
        );
    }
}
