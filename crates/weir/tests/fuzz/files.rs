//! Results, which Weir itself has written and somebody or something has changed.

use std::path::{Path, PathBuf};
use std::process::Command;

use weir_store::Store;

use crate::fuzz;

/// Runs the program to its end.
fn weir(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

const STUDY: &str = r#"
    [study]
    title = "Small"
    question = "Is it read?"
    [server]
    flavor = "mariadb"
    [server.config]
    innodb_buffer_pool_size = "32M"
    [data]
    workload = "oltp_point_select"
    tables = 1
    rows = 100
    [load]
    threads = 1
    warmup = "0s"
    measure = "1s"
    [factors]
    innodb_io_capacity = [200, 400]
    [repeat]
    runs = 1
"#;

#[test]
fn results() {
    let directory = tempfile::tempdir().unwrap();
    let (study, out) = (
        directory.path().join("study.toml"),
        directory.path().join("out"),
    );
    std::fs::write(&study, STUDY).unwrap();
    weir(&["run", text(&study), "--out", text(&out)]);
    let files = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_result =
        |path: &PathBuf| std::fs::read(path).is_ok_and(|b| b.starts_with(b"SQLite format 3"));
    let result = files.into_iter().find(is_result).unwrap();
    let seed = std::fs::read(result).unwrap();
    let words = ["null", "{}", "[]", "\"kind\":", "1e999", "-0"];
    fuzz("results", vec![seed], &words, |_, path| {
        let Ok(store) = Store::open(path) else {
            return;
        };
        if let Ok(result) = store.read() {
            weir_judge::evaluate(result).map(drop).unwrap_or_default();
        }
        store.read_without_samples().map(drop).unwrap_or_default();
    });
}
