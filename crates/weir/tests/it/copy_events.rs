//! Events of a study that copy a table while the load goes on: by the copiers of the lab, and by tools of the user's.

use std::path::Path;

use serde_json::Value;

use crate::harness::World;
use crate::run::{FLAVORS, result, run};

/// pt-online-schema-change twice: to its end, and on another table until the load is over.
fn by_the_real_tool(program: &Path) -> String {
    let program = program.display();
    format!(
        r#"
        [[events]]
        name = "by pt"
        at = "1s"
        kind = "ddl"
        statement = "ALTER TABLE sbtest2 ADD COLUMN h INT"
        tool = "{program}"
        [[events]]
        name = "pt too slow"
        at = "3s"
        kind = "ddl"
        statement = "ALTER TABLE sbtest3 ADD COLUMN h INT"
        tool = "{program} --chunk-size=100 --chunk-time=0 --sleep=300"
        "#
    )
}

fn study(flavor: &str, more: &str) -> String {
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
        name = "by triggers"
        at = "500ms"
        kind = "ddl"
        statement = "ALTER TABLE sbtest1 ADD COLUMN h INT"
        copy = "triggers"
        [[events]]
        name = "by log"
        at = "6s"
        kind = "ddl"
        statement = "ALTER TABLE sbtest1 ADD COLUMN i INT"
        copy = "log"
        [[events]]
        name = "by a tool"
        at = "11s"
        kind = "ddl"
        statement = "ALTER TABLE sbtest1 ADD COLUMN j INT"
        tool = "/bin/false {{alter}}"
        {more}
        "#
    )
}

#[test]
fn copies_swap_the_table_under_load_and_tools_are_told_with_what_they_leave() {
    let program = weir_testing::schema_change_tool("events by pt-online-schema-change");
    let more = program.as_deref().map(by_the_real_tool);
    for flavor in FLAVORS {
        let world = World::new();
        let study = study(flavor, more.as_deref().unwrap_or_default());
        let study = world.write("study.toml", &study);
        let output = run(&world, &study).output();
        assert!(
            matches!(output.code, Some(0 | 1 | 3)),
            "{}{}",
            output.stdout,
            output.stderr
        );
        let result = result(&world);
        let event = |name: &str| -> &Value {
            let events = result["runs"][0]["events"].as_array().unwrap();
            events.iter().find(|event| event["name"] == name).unwrap()
        };
        for name in ["by triggers", "by log"] {
            let event = event(name);
            assert_eq!(event["ending"], "done", "{event}");
            let rows: u64 = event["session"]["copy.rows"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap();
            assert!(rows >= 1_900, "{event}");
        }
        let failed = event("by a tool");
        let refused = failed["ending"]["refused"]["message"].to_string();
        assert!(refused.contains("/bin/false"), "{refused}");
        assert_eq!(failed["session"]["tool.left"], "nothing", "{failed}");
        if more.is_some() {
            the_real_tool(event("by pt"), event("pt too slow"), &output.stdout);
        }
        world.assert_nothing_left();
    }
}

fn the_real_tool(done: &Value, ended: &Value, terminal: &str) {
    assert_eq!(done["ending"], "done", "{done}");
    assert_eq!(done["session"]["tool.left"], "nothing", "{done}");
    let version = done["session"]["tool.version"].as_str().unwrap();
    assert!(version.starts_with("pt-online-schema-change "), "{version}");
    let time = |event: &Value, key: &str| event[key].as_f64().unwrap();
    assert!(time(done, "began_s") >= 1.0 && time(done, "ended_s") > time(done, "began_s"));
    // It waits in its copy until Weir ends it, and leaves what Weir removes.
    assert_eq!(ended["ending"], "cut_off", "{ended}");
    assert_eq!(ended["session"]["tool.removed"], "true", "{ended}");
    let left = ended["session"]["tool.left"].as_str().unwrap();
    assert!(left.contains("table _sbtest3_new"), "{left}");
    assert!(
        terminal.contains("by pt") && terminal.contains("Weir removed"),
        "{terminal}"
    );
}
