//! Dependencies between crates point down; ARCHITECTURE.md lists the same layers. Inside a crate, files use no circles.
//! Functions are short and take few arguments.

mod function_size;
mod module_graph;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::function_size::FunctionSizes;
use self::module_graph::ModuleGraph;

/// Layer of each crate. A crate may use crates of lower layers only.
const LAYERS: &[(&str, u32)] = &[
    ("weir-model", 0),
    ("weir-innodb", 1),
    ("weir-mysql", 1),
    ("weir-process", 0),
    ("weir-stats", 1),
    ("weir-store", 1),
    ("weir-variables", 1),
    ("weir-capture", 2),
    ("weir-drive", 2),
    ("weir-judge", 2),
    ("weir-probe", 2),
    ("weir-server", 2),
    ("weir-workload", 2),
    ("weir-terminal", 3),
    ("weir-flashback", 4),
    ("weir-load", 3),
    ("weir-predict", 4),
    ("weir-report", 3),
    ("weir-crash", 4),
    ("weir-replay", 4),
    ("weir-script", 4),
    ("weir-serve", 4),
    ("weir-sysbench", 4),
    ("weir-study", 5),
    ("weir-testing", 3),
    ("weir-agent", 5),
    ("weir-run", 6),
    ("weir", 7),
    ("weir-lab", 7),
];

fn layer(name: &str) -> u32 {
    let found = LAYERS.iter().find(|(known, _)| *known == name);
    found
        .unwrap_or_else(|| panic!("`{name}` has no layer; add it to LAYERS"))
        .1
}

/// `(crate, crate it uses)` of the workspace, without what only tests use.
fn arrows() -> Vec<(String, String)> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let of_package = |package: &Value| {
        let uses = package["dependencies"].as_array().unwrap().iter();
        let uses = uses.filter(|used| used["path"].is_string() && used["kind"] != "dev");
        uses.map(|used| (text(package), text(used)))
            .collect::<Vec<_>>()
    };
    packages.iter().flat_map(of_package).collect()
}

/// It has another promise than a measurement: nothing needs it, and the program can be built without it.
#[test]
fn only_the_program_uses_flashback() {
    let users: Vec<_> = arrows()
        .into_iter()
        .filter(|(_, used)| used == "weir-flashback")
        .collect();
    assert_eq!(users, [("weir".to_owned(), "weir-flashback".to_owned())]);
}

/// A page in a browser is made of files: whoever serves it needs no way to a server or a drive.
#[test]
fn who_serves_results_links_nothing_that_reaches_a_server_or_a_drive() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", "weir-serve", "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success());
    let tree = String::from_utf8(output.stdout).unwrap();
    let crates: Vec<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(crates.contains(&"weir-judge"), "{crates:?}");
    for reaching in [
        "fuser",
        "io-uring",
        "rustls",
        "mysql_common",
        "weir-mysql",
        "weir-server",
    ] {
        assert!(!crates.contains(&reaching), "{reaching}");
    }
}

#[test]
fn arrows_point_down() {
    let arrows = arrows();
    assert!(arrows.len() > 10, "the workspace was not read: {arrows:?}");
    for (user, used) in arrows {
        assert!(layer(&user) > layer(&used), "{user} must not use {used}");
    }
}

#[test]
fn no_files_of_a_crate_use_each_other_in_a_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = 0;
    let mut circles = Vec::new();
    for (name, _) in LAYERS {
        let graph = ModuleGraph::read(&crates.join(name).join("src"));
        files += graph.len();
        let found = graph.circles().into_iter();
        circles.extend(found.map(|circle| format!("{name}: {}", circle.join(", "))));
    }
    assert!(files > 500, "the sources were not found: {files} files");
    assert!(
        circles.is_empty(),
        "these use each other; a file of plain types below them, or one above them, ends that:\n{}",
        circles.join("\n")
    );
}

#[test]
fn functions_are_short_and_take_few_arguments() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for (name, _) in LAYERS {
        sources(&crates.join(name).join("src"), &mut files);
    }
    let (mut functions, mut too_large) = (0, Vec::new());
    for file in files {
        let sizes = FunctionSizes::read(&fs::read_to_string(&file).unwrap());
        functions += sizes.count;
        let name = file.strip_prefix(crates).unwrap().display();
        let found = sizes.too_large.iter();
        too_large.extend(found.map(|found| format!("{name}:{found}")));
    }
    assert!(functions > 5_000, "the sources were not found: {functions}");
    assert!(
        too_large.is_empty(),
        "take parts of one idea out, and make arguments that travel together a struct:\n{}",
        too_large.join("\n")
    );
}

#[test]
fn functions_that_are_too_large_are_found() {
    let long = |lines: usize| format!("pub(crate) fn f() {{\n{}}}", "g();\n".repeat(lines - 2));
    let found = |text: &str| FunctionSizes::read(text).too_large;
    assert!(found(&long(70)).is_empty());
    assert_eq!(found(&long(71)), ["1: `f` has 71 lines, at most 70"]);
    assert!(found(&format!("#[cfg(test)]\nmod tests {{ {} }}", long(71))).is_empty());
    let method = |of, arguments| {
        found(&format!(
            "impl {of} {{ fn f(&self, {arguments}: u8) {{}} }}"
        ))
    };
    assert!(method("T", "a: u8, b: u8, c: u8, d: u8, e").is_empty());
    let seven = "a: u8, b: u8, c: u8, d: u8, e: u8, f";
    assert_eq!(method("T", seven), ["1: `f` has 7 arguments, at most 6"]);
    assert_eq!(method("Own for T", seven).len(), 1);
    assert!(method("fuser::Filesystem for T", seven).is_empty());
}

/// A crate of these files: their paths, and what they say.
fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    ModuleGraph::read(directory.path()).circles()
}

#[test]
fn circles_of_files_are_found_however_they_are_written() {
    let root = (
        "lib.rs",
        "mod plan; mod reactor; mod spec; pub use spec::Kind;",
    );
    let plan = (
        "plan.rs",
        "use crate::spec; use crate::reactor::{self, Ring};",
    );
    let spec = ("spec.rs", "pub enum Kind { A }");
    let below = |reactor| circles_of(&[root, plan, spec, ("reactor.rs", reactor)]);
    let circle = [["plan", "reactor"]];
    assert!(below("use crate::Kind; pub struct Ring(Kind);").is_empty());
    assert_eq!(below("use crate::plan::Plan;"), circle);
    assert_eq!(below("use crate::{Kind, plan as p};"), circle);
    assert_eq!(below("fn f() -> super::plan::Plan { g() }"), circle);
    assert_eq!(
        below(r#"fn f() { println!("{}", crate::plan::SIZE); }"#),
        circle
    );
    // What only tests use is no part of the crate.
    assert!(below("#[cfg(test)] mod tests { use crate::plan::Plan; }").is_empty());
    // By way of a name that the root passes on.
    let root = (
        "lib.rs",
        "mod plan; mod reactor; mod spec; pub use plan::Plan;",
    );
    let reactor = ("reactor.rs", "use crate::Plan; pub struct Ring;");
    assert_eq!(circles_of(&[root, plan, spec, reactor]), circle);
}

#[test]
fn a_file_below_another_may_use_it_and_its_siblings_may_not_close_a_circle() {
    let root = ("lib.rs", "mod rules; mod claims;");
    let rules = ("rules.rs", "mod fair; use fair::FAIR; pub struct Rule;");
    let fair = |text| ("rules/fair.rs", text);
    let claims = |text| ("claims.rs", text);
    let alone = [root, rules, fair("use super::Rule;"), claims("")];
    assert!(circles_of(&alone).is_empty());
    let above = [
        root,
        rules,
        fair("use super::Rule;"),
        claims("use crate::rules::Rule;"),
    ];
    assert!(circles_of(&above).is_empty());
    let through = [
        root,
        rules,
        fair("use crate::claims::pairs;"),
        claims("use crate::rules::Rule;"),
    ];
    assert_eq!(circles_of(&through), [["claims", "rules", "rules::fair"]]);
}

/// What opens a connection, and who does so to something else than a server of the user's.
const OPENS: [&str; 7] = [
    "Stream::connect",
    "connect_timeout(",
    "socket_with(",
    "Command::new(\"mysql",
    "Command::new(\"mariadb",
    "mysql_async",
    "sqlx::",
];
const OPENS_OTHERS: [&str; 6] = [
    // Whether the bus of load hosts answers.
    "weir-agent/src/bus/server.rs",
    // A drive's own control socket.
    "weir-drive/src/control.rs",
    // The witness of a power-cut test.
    "weir-drive/src/powercut/witness_link.rs",
    // Whether a private server's socket is in use.
    "weir-server/src/private_server/settings.rs",
    // What stands between client and server in tests; it carries bytes and says nothing of its own.
    "weir-testing/src/relay.rs",
    // A client of tests that says what no driver says.
    "weir-testing/src/raw_client.rs",
];

#[test]
fn only_the_client_with_the_gate_opens_connections_to_servers() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for member in fs::read_dir(crates).unwrap().map(Result::unwrap) {
        sources(&member.path().join("src"), &mut files);
    }
    assert!(files.len() > 300, "the sources were not found");
    let mut seen = Vec::new();
    for file in files {
        let name = file.strip_prefix(crates).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        if OPENS.iter().any(|opens| product.contains(opens)) {
            seen.push(name);
        }
    }
    let is_expected =
        |name: &String| name.starts_with("weir-mysql/") || OPENS_OTHERS.contains(&&**name);
    assert!(seen.iter().all(is_expected), "{seen:?}");
    assert!(
        seen.contains(&"weir-mysql/src/blocking.rs".to_owned()),
        "{seen:?}"
    );
}

/// All Rust files below `directory` but those of tests.
fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.ends_with("tests") || path.ends_with("tests.rs") {
            continue;
        }
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Nothing but a server of Weir's own is opened without a gate that holds something back.
#[test]
fn a_gate_that_lets_everything_pass_is_for_private_servers() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (folder, files) in [
        ("weir-probe/src", &[][..]),
        ("weir-load/src", &[]),
        ("weir-study/src", &[]),
        (
            "weir-run/src",
            &[
                "data.rs",
                "private.rs",
                "heartbeat.rs",
                "handle.rs",
                "warming.rs",
                // What an agent starts on another host.
                "remote.rs",
            ],
        ),
        ("weir-server/src/pool_pages", &["server.rs"]),
        ("weir-flashback/src", &["private.rs"]),
        (
            "weir/src",
            &[
                "server.rs",
                "pool.rs",
                "doublewrite.rs",
                "target.rs",
                "observe.rs",
                "backup.rs",
            ],
        ),
    ] {
        let mut all = Vec::new();
        sources(&crates.join(folder), &mut all);
        for file in all {
            let text = fs::read_to_string(&file).unwrap();
            let product = text.split("#[cfg(test)]").next().unwrap_or_default();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let is_known = files.contains(&&*name);
            assert!(
                is_known || !product.contains("Gate::own()"),
                "{}",
                file.display()
            );
        }
    }
}

#[test]
fn the_documented_layers_are_these() {
    let text = include_str!("../../../../ARCHITECTURE.md");
    for (name, layer) in LAYERS {
        let documented = text.lines().find(|line| {
            let mut words = line.split('|').map(str::trim).skip(1);
            words.next() == Some(&format!("`{name}`")) && words.next() == Some(&layer.to_string())
        });
        assert!(
            documented.is_some(),
            "ARCHITECTURE.md does not say that {name} is in layer {layer}"
        );
    }
}
