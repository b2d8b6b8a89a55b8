//! `action.yml`, the workflows and the GitLab template against each other: inputs, variables, scripts and make targets
//! exist, and none is left over.

use std::collections::BTreeSet;
use std::fs;

use yaml_rust2::{Yaml, YamlLoader};

use super::{markdown::Page, root};

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn yaml(path: &str) -> Yaml {
    let mut documents = YamlLoader::load_from_str(&text(path)).unwrap();
    assert_eq!(documents.len(), 1, "{path}");
    documents.remove(0)
}

fn keys(of: &Yaml) -> BTreeSet<String> {
    let pairs = of.as_hash().unwrap().keys();
    pairs.map(|key| key.as_str().unwrap().to_owned()).collect()
}

/// Names that stand behind `before` in `text`, up to a sign that no name has.
fn names_behind(text: &str, before: &str) -> BTreeSet<String> {
    let parts = text.split(before).skip(1);
    let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '-' || sign == '_';
    let name = |part: &str| part.chars().take_while(|sign| is_of_name(*sign)).collect();
    parts.map(name).collect()
}

/// Variables that the script's head describes: `#   WEIR_GATE   the loss ...`.
fn described() -> BTreeSet<String> {
    let script = text("scripts/gate-action.sh");
    let head = script.lines().take_while(|line| line.starts_with('#'));
    let names = head.filter_map(|line| line.strip_prefix("#   ")?.split(' ').next());
    let names: BTreeSet<_> = names.filter(|name| name.starts_with("WEIR")).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Commands of all `run` and `script` entries below `yaml`.
fn commands(yaml: &Yaml) -> Vec<String> {
    match yaml {
        Yaml::Array(items) => items.iter().flat_map(commands).collect(),
        Yaml::Hash(pairs) => {
            let of_pair = |(key, value): (&Yaml, &Yaml)| match (key.as_str(), value) {
                (Some("run"), Yaml::String(run)) => vec![run.clone()],
                (Some("script"), Yaml::Array(lines)) => lines
                    .iter()
                    .filter_map(|line| line.as_str().map(str::to_owned))
                    .collect(),
                _ => commands(value),
            };
            pairs.iter().flat_map(of_pair).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn each_input_of_the_action_is_used_and_described() {
    let action = yaml("action.yml");
    let inputs = keys(&action["inputs"]);
    assert_eq!(inputs, names_behind(&text("action.yml"), "inputs."));
    let page = Page::read(root().join("docs/ci.md"));
    let named: BTreeSet<_> = page.code_in_text().into_iter().collect();
    for input in &inputs {
        let is_named = named
            .iter()
            .any(|code| code.split(':').next() == Some(input));
        assert!(is_named, "docs/ci.md does not name the input `{input}`");
    }
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let job = YamlLoader::load_from_str(page.examples_in("yaml")[0]).unwrap();
    let copied = keys(&job[0]["jobs"]["gate"]["steps"][1]["with"]);
    assert!(
        copied.contains("study") && copied.is_subset(&inputs),
        "{copied:?}"
    );
}

#[test]
fn variables_are_those_of_the_script() {
    let described = described();
    let script = text("scripts/gate-action.sh");
    let mut read = names_behind(&script, "${WEIR");
    read = read.iter().map(|rest| format!("WEIR{rest}")).collect();
    assert_eq!(read, described, "read, and described in the script's head");
    let action = yaml("action.yml");
    let mut given = BTreeSet::new();
    for step in action["runs"]["steps"].as_vec().unwrap() {
        if !step["env"].is_badvalue() {
            given.append(&mut keys(&step["env"]));
        }
    }
    // The action's program is that of the path.
    given.insert("WEIR".to_owned());
    assert_eq!(given, described, "given by the action");
    let template = yaml("docs/gitlab-ci.yml");
    let given = keys(&template["weir-gate"]["variables"]);
    assert!(given.is_subset(&described), "{given:?}");
}

#[test]
fn commands_name_scripts_and_targets_that_exist() {
    let makefile = text("Makefile");
    let mut calls = 0;
    for path in [
        "action.yml",
        ".github/workflows/release.yml",
        "docs/gitlab-ci.yml",
    ] {
        let commands = commands(&yaml(path));
        assert!(!commands.is_empty(), "{path}");
        for line in commands.iter().flat_map(|command| command.lines()) {
            if let Some(target) = line.strip_prefix("make ") {
                calls += 1;
                assert!(makefile.contains(&format!("\n{target}:")), "{path}: {line}");
            }
            if let Some((_, rest)) = line.split_once("gate-action.sh") {
                calls += 1;
                let command = rest.trim_start_matches('"').trim();
                assert!(["install", "gate"].contains(&command), "{path}: {line}");
            }
        }
    }
    assert!(calls >= 6, "{calls}");
    // The package has the script where the template looks for it.
    let packages = text("scripts/packages.sh");
    assert!(packages.contains("gate-action.sh\" \"$share/weir/gate-action.sh\""));
    let job = yaml("docs/gitlab-ci.yml");
    let junit = job["weir-gate"]["artifacts"]["reports"]["junit"].as_str();
    assert_eq!(junit, Some("weir-gate/gate.xml"));
}
