//! Says what to do when the page, which is built from `web/`, is not there yet.

use std::path::Path;

fn main() {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let page = Path::new(&here).join("../../web/dist/serve.html");
    println!("cargo::rerun-if-changed={}", page.display());
    if !page.is_file() {
        println!(
            "cargo::error=web/dist/serve.html is missing (it is built, not kept in the repository); run `make web`"
        );
    }
}
