//! Dependencies between crates point down; ARCHITECTURE.md lists the same layers.

use std::process::Command;

use serde_json::Value;

/// Layer of each crate. A crate may use crates of lower layers only.
const LAYERS: [(&str, u32); 16] = [
    ("weir-model", 0),
    ("weir-innodb", 1),
    ("weir-mysql", 1),
    ("weir-process", 1),
    ("weir-stats", 1),
    ("weir-store", 1),
    ("weir-drive", 2),
    ("weir-load", 2),
    ("weir-probe", 2),
    ("weir-server", 2),
    ("weir-crash", 3),
    ("weir-predict", 3),
    ("weir-report", 3),
    ("weir-study", 3),
    ("weir-serve", 4),
    ("weir", 5),
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

#[test]
fn arrows_point_down() {
    let arrows = arrows();
    assert!(arrows.len() > 10, "the workspace was not read: {arrows:?}");
    for (user, used) in arrows {
        assert!(layer(&user) > layer(&used), "{user} must not use {used}");
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
