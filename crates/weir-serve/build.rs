//! Says what to do when the page, which is built from `web/`, is not there yet.

use std::path::Path;

fn main() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist/serve.html");
    println!("cargo::rerun-if-changed={}", page.display());
    if !page.is_file() {
        println!(
            "cargo::error=web/dist/serve.html is missing (it is built, not kept in the repository); run `make web`"
        );
    }
}
