//! Tells the program which commit it was built from, for the results that it writes.

use std::process::Command;

fn main() {
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).map(|commit| {
        let mark = if changed.is_some_and(|files| !files.is_empty()) {
            "+"
        } else {
            ""
        };
        format!("{commit}{mark}")
    });
    println!(
        "cargo::rustc-env=WEIR_COMMIT={}",
        commit.unwrap_or_else(|| "unknown".to_owned())
    );
    // The log of HEAD grows with every commit and every switch of branches.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=src");
    // Scripts find these by dlsym(3), and their modules in C expect Lua's own of the program that loads them.
    println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol=sb_*");
    println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol=db_*");
    println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol=lua_*");
    println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol=luaL_*");
}

/// What git prints; `None` outside of a repository or without git.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
