//! Events of a study that copy a table while the load goes on: by the log, and by a tool that fails. Copies by triggers
//! and the real tool are tested in `weir-server`: at the swap of the former the load may meet error 1146.

use serde_json::Value;

use crate::harness::World;
use crate::run::{FLAVORS, result, run};

fn study(flavor: &str) -> String {
    format!(
        r#"
        [study]
        title = "Copies"
        question = "What does a copy cost?"
        [server]
        flavor = "{flavor}"
        [server.config]
        innodb_buffer_pool_size = "16M"
        log_bin = "binlog"
        server_id = 7
        binlog_format = "ROW"
        [data]
        workload = "oltp_read_write"
        tables = 3
        rows = 2_000
        scale = {{ drive = "1/25" }}
        [load]
        threads = 2
        warmup = "1s"
        measure = "12s"
        [factors]
        drive = ["intel-p4610"]
        [repeat]
        runs = 1
        seed = 1
        [[events]]
        name = "by log"
        at = "1s"
        kind = "ddl"
        statement = "ALTER TABLE sbtest1 ADD COLUMN i INT"
        copy = "log"
        [[events]]
        name = "by a tool"
        at = "2s"
        kind = "ddl"
        statement = "ALTER TABLE sbtest2 ADD COLUMN j INT"
        tool = "/bin/false {{alter}}"
        "#
    )
}

#[test]
fn a_copy_swaps_the_table_under_load_and_tools_are_told_with_what_they_leave() {
    for flavor in FLAVORS {
        let world = World::new();
        let study = world.write("study.toml", &study(flavor));
        let output = run(&world, &study).output();
        assert!(
            matches!(output.code, Some(0 | 3)),
            "{}{}",
            output.stdout,
            output.stderr
        );
        let result = result(&world);
        let event = |name: &str| -> &Value {
            let events = result["runs"][0]["events"].as_array().unwrap();
            events.iter().find(|event| event["name"] == name).unwrap()
        };
        let copied = event("by log");
        assert_eq!(copied["ending"], "done", "{copied}");
        let rows = copied["session"]["copy.rows"].as_str().unwrap();
        assert!(rows.parse::<u64>().unwrap() >= 1_900, "{copied}");
        let failed = event("by a tool");
        let refused = failed["ending"]["refused"]["message"].to_string();
        assert!(refused.contains("/bin/false"), "{refused}");
        assert_eq!(failed["session"]["tool.left"], "nothing", "{failed}");
        world.assert_nothing_left();
    }
}
