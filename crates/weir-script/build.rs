//! FFI finds the C surface by `dlsym(3)`, so this crate's own tests export its names.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg=-Wl,--export-dynamic-symbol=sb_*");
    println!("cargo:rustc-link-arg=-Wl,--export-dynamic-symbol=db_*");
}
