//! `docs/agents-kubernetes.yaml` against the program: its commands, names and numbers are those of today.

use std::fs;

use clap::Parser as _;

use super::{check, root, words};
use crate::cli::{BusCommand, BusUpArguments, Cli, Command};

fn objects() -> String {
    fs::read_to_string(root().join("docs/agents-kubernetes.yaml")).unwrap()
}

/// The commands of Weir that pods run.
fn commands(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().map(str::trim);
    lines
        .filter_map(|line| words(line.strip_prefix("exec ")?))
        .collect()
}

/// Values of a key, wherever it stands.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("- "));
    lines
        .filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
        .collect()
}

fn bus_up(words: &[String]) -> BusUpArguments {
    match Cli::try_parse_from(words).unwrap().command {
        Command::Bus {
            command: BusCommand::Up(arguments),
        } => arguments,
        other => panic!("{other:?}"),
    }
}

#[test]
fn its_commands_are_understood() {
    let commands = commands(&objects());
    assert_eq!(commands.len(), 2);
    for words in &commands {
        assert_eq!(check(words), Ok(()), "{words:?}");
    }
}

#[test]
fn its_port_is_that_of_the_bus() {
    let text = objects();
    let bus = bus_up(&commands(&text)[0]);
    let default = bus_up(&["weir", "bus", "up"].map(str::to_owned));
    let (_, port) = default.listen.rsplit_once(':').unwrap();
    assert_eq!(bus.listen, format!("0.0.0.0:{port}"));
    let service = values(&text, "name")[0];
    let namespace = values(&text, "namespace")[0];
    let address = format!("{service}.{namespace}.svc:{port}");
    assert_eq!(bus.address, Some(address));
    for key in ["containerPort", "port", "targetPort"] {
        let values = values(&text, key);
        assert!(
            !values.is_empty() && values.iter().all(|value| *value == port),
            "{key}: {values:?}"
        );
    }
}

/// `weir bus up` names its agents agent-1, agent-2, ...
#[test]
fn each_pod_has_a_join_file() {
    let text = objects();
    let commands = commands(&text);
    let count = bus_up(&commands[0]).agents.to_string();
    for key in ["completions", "parallelism"] {
        assert_eq!(values(&text, key), [count.as_str()], "{key}");
    }
    let keys = values(&text, "mountPath").into_iter().next().unwrap();
    let join = format!("{keys}/agent-$((JOB_COMPLETION_INDEX+1)).join");
    assert!(commands[1].contains(&join), "{:?}", commands[1]);
}

#[test]
fn its_objects_refer_to_each_other() {
    let text = objects();
    let kinds = values(&text, "kind");
    assert_eq!(kinds, ["Deployment", "Service", "Job", "NetworkPolicy"]);
    let part = |kind: &str| {
        let kind = format!("kind: {kind}\n");
        text.split("\n---\n")
            .find(|part| part.contains(&kind))
            .unwrap()
    };
    let names = |kind: &str| values(part(kind), "app.kubernetes.io/name");
    assert_eq!(names("Deployment"), ["weir-bus"; 3]);
    assert_eq!(names("Service"), ["weir-bus"; 2]);
    assert_eq!(names("Job"), ["weir-agents"; 3]);
    let reached = ["weir-bus", "weir-bus", "weir-agents", "weir-conductor"];
    assert_eq!(names("NetworkPolicy"), reached);
    assert_eq!(values(&text, "namespace"), ["weir"; 4]);
    assert_eq!(values(&text, "secretName"), ["weir-keys"; 2]);
    for key in ["cpu", "memory"] {
        let values = values(&text, key);
        assert!(
            values.len() == 2 && values[0] == values[1],
            "{key}: {values:?}"
        );
    }
}
