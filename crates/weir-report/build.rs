//! Says what to do when the page, which is built from `web/`, is not there yet or is older than its source.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

fn main() {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let web = Path::new(&here).join("../../web");
    let (page, source) = (web.join("dist/report.html"), web.join("src"));
    println!("cargo::rerun-if-changed={}", page.display());
    println!("cargo::rerun-if-changed={}", source.display());
    if !page.is_file() {
        println!(
            "cargo::error=web/dist/report.html is missing (it is built, not kept in the repository); run `make web`"
        );
    } else if newest(&source) > newest(&page) {
        println!(
            "cargo::warning=web/dist/report.html is older than web/src, and reports may not open; run `make web`"
        );
    }
}

/// When `path`, or the newest file below it, was changed.
fn newest(path: &Path) -> Option<SystemTime> {
    let below = fs::read_dir(path).into_iter().flatten().flatten();
    let below = below.filter_map(|entry| newest(&entry.path()));
    let own = fs::metadata(path).and_then(|metadata| metadata.modified());
    below.chain(own).max()
}
