//! Servers on other hosts.

use super::*;

#[test]
fn a_server_on_another_host_has_what_an_agent_can_make() {
    let study = STUDY.replace("[server]", "[server]\n    agent = \"db1\"");
    let plan = resolved(&study).unwrap();
    let node = plan.cells[0].spec.primary();
    assert_eq!(node.hosting_agents().unwrap().all(), ["db1"]);
    // Of a server that its owner runs the agent tells the host's figures.
    let url = "[server]\n    flavor = \"mysql://app@db1/sbtest\"";
    let external = study
        .replace("[server]", url)
        .replace("drive = [\"a\", \"b\"]", "");
    let plan = resolved(&external.replace(", drive = \"1/25\"", "")).unwrap();
    assert_eq!(plan.cells[0].spec.primary().hosting_agents(), None);
    for (wanted, why) in [
        (
            ("[server]", "[server]\n    replicas = 1"),
            "no replicas yet",
        ),
        (
            ("[server]", "[server]\n    flavor = \"/opt/mysqld\""),
            "a program's path",
        ),
        (("\"b\"]", "\"b.toml\"]"), "a drive profile's file"),
        (
            ("oltp_write_only", "oltp_text_read_only"),
            "the text file is on this host",
        ),
    ] {
        let refused = message(&study.replacen(wanted.0, wanted.1, 1));
        assert!(
            refused.contains("`server.agent` = `db1`") && refused.contains(why),
            "{refused}"
        );
    }
}

#[test]
fn repetitions_go_round_several_hosts() {
    let study = STUDY.replace("[server]", "[server]\n    agent = [\"db1\", \"db2\"]");
    let plan = resolved(&study).unwrap();
    let node = plan.cells[0].spec.primary();
    let agents: Vec<_> = (1..=3)
        .map(|repetition| node.agent_of(repetition))
        .collect();
    assert_eq!(agents, [Some("db1"), Some("db2"), Some("db1")]);
    let url = "[server]\n    agent = [\"db1\", \"db2\"]\n    flavor = \"mysql://app@db1/sbtest\"";
    let external = STUDY
        .replace("[server]", url)
        .replace("drive = [\"a\", \"b\"]", "")
        .replace(", drive = \"1/25\"", "");
    let refused = message(&external);
    assert!(refused.contains("is on one host"), "{refused}");
    let few = message(&study.replace("\"db2\"]", "\"db2\", \"db3\", \"db4\"]"));
    assert!(few.contains("each host needs a repetition"), "{few}");
    let double = message(&study.replace("db2", "db1"));
    assert!(double.contains("named twice"), "{double}");
}
