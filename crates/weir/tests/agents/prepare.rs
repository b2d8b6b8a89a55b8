//! Tables that several agents make, and new rows that they number: as of one process, also where one was killed.

use std::fs;
use std::time::Duration;

use weir_model::Flavor;
use weir_server::Session;

use super::hosts::{Process, World, signal_process, wait_until};

const WORKLOAD: &str = r#"
[tables.visit]
rows = 10
create = "CREATE TABLE visit (id BIGINT PRIMARY KEY, at INT)"
columns = { id = "row", at = { integer = [1, 9] } }

[[transactions]]
name = "visit"
statements = [{ sql = "INSERT INTO visit (id, at) VALUES (?, ?)", values = [{ sequence = 1 }, { integer = [1, 9] }] }]
"#;

struct Scene {
    world: World,
    port: String,
    session: Session,
}

impl Scene {
    fn load(&self, workload: &str, schema: &str, more: &[&str]) -> Process {
        let (port, schema) = (
            format!("--mysql-port={}", self.port),
            format!("--mysql-db={schema}"),
        );
        let mut command =
            self.world
                .conductor(&["load", workload, "--mysql-host=127.0.0.1", &port, &schema]);
        command.args(["--mysql-user=app"]).args(more);
        Process::start(command.env("WEIR_MYSQL_PASSWORD", "sesame-11"))
    }

    /// To success.
    fn loads(&self, workload: &str, schema: &str, more: &[&str]) -> String {
        let mut load = self.load(workload, schema, more);
        assert!(load.ends(Duration::from_mins(3)), "{}", load.text());
        load.text()
    }

    fn agent(&self, number: u32) -> Process {
        self.world.agent_here(number, &[])
    }

    fn checksums(&mut self, schema: &str, tables: u32) -> Vec<u64> {
        (1..=tables)
            .map(|table| {
                let query = format!("CHECKSUM TABLE {schema}.sbtest{table}");
                let row: Vec<(String, Option<u64>)> =
                    self.session.rows("checksum", &query).unwrap();
                row[0].1.unwrap()
            })
            .collect()
    }
}

/// Acceptance S11.
#[test]
fn several_agents_make_the_tables_of_one_process() {
    let (server, _directory, port) =
        weir_testing::start_on_tcp(Flavor::Mysql, &weir_testing::LAZY_COMMITS);
    let mut session = server.session().unwrap();
    for statement in [
        "CREATE USER app@'127.0.0.1' IDENTIFIED BY 'sesame-11'",
        "GRANT ALL ON *.* TO app@'127.0.0.1'",
    ] {
        session.run("make an account", statement).unwrap();
    }
    let mut scene = Scene {
        world: World::on_loopback(3),
        port: port.to_string(),
        session,
    };
    let mut agents: Vec<_> = (1..=3).map(|number| scene.agent(number)).collect();
    scene.world.wait_for_agents(3);
    let tables = [
        "--tables=5",
        "--table_size=20000",
        "--threads=3",
        "--rand-seed=7",
    ];
    let shared = [&tables[..], &["--agents=3", "prepare"]].concat();

    // One dies in the middle: the command names it, and the same command goes on with what is there.
    let mut load = scene.load("oltp_read_write", "shared", &shared);
    wait_until("tables under way", Duration::from_mins(1), || {
        agents[1].text().contains("making tables")
    });
    signal_process(agents[1].id(), "KILL");
    assert!(!load.ends(Duration::from_mins(1)), "{}", load.text());
    assert!(load.text().contains("agent-2"), "{}", load.text());
    agents[1] = scene.agent(2);
    scene.world.wait_for_agents(3);
    scene.loads("oltp_read_write", "shared", &shared);
    scene.loads(
        "oltp_read_write",
        "alone",
        &[&tables[..], &["prepare"]].concat(),
    );
    assert_eq!(scene.checksums("shared", 5), scene.checksums("alone", 5));
    for agent in &agents {
        assert!(agent.text().contains("making tables"), "{}", agent.text());
    }

    // New rows in sequence: no number twice, although each agent counts for itself.
    let workload = scene.world.path("visit.toml").display().to_string();
    fs::write(&workload, WORKLOAD).unwrap();
    scene.loads(&workload, "shared", &["prepare"]);
    let events = [
        "--threads=6",
        "--events=900",
        "--time=0",
        "--agents=3",
        "run",
    ];
    scene.loads(&workload, "shared", &events);
    let rows: Vec<u64> = scene
        .session
        .rows("count", "SELECT COUNT(*) FROM shared.visit")
        .unwrap();
    assert_eq!(rows, [910]);
}
