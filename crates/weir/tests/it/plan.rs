//! `weir plan`.

use crate::harness::{Weir, World, small_study};

#[test]
fn a_plan_shows_cells_order_time_and_space_and_runs_nothing() {
    let world = World::new();
    let study = world.write("study.toml", &small_study("mariadb"));
    let output = Weir::in_world(&world)
        .args(["plan", study.to_str().unwrap()])
        .succeeds();
    for part in [
        "innodb_doublewrite OFF",
        "order (seed 1):",
        "repetition 3",
        "data:",
        "time:",
    ] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    assert_eq!(world.records().len(), 0);
}

#[test]
fn a_plan_as_json_has_every_default_filled_in() {
    let world = World::new();
    let study = world.write("study.toml", &small_study("mysql"));
    let output = Weir::in_world(&world)
        .args(["plan", study.to_str().unwrap(), "--json"])
        .succeeds();
    let plan: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(plan["runs"].as_array().unwrap().len(), 6);
    for cell in plan["cells"].as_array().unwrap() {
        let primary = &cell["spec"]["topology"]["nodes"][0];
        let variables = &primary["variables"];
        assert_eq!(variables["innodb_buffer_pool_load_at_startup"], "OFF");
        assert_eq!(variables["skip_log_bin"], "1");
    }
}

/// What varies is not shared: its ends are told.
#[test]
fn a_plan_tells_the_size_of_all_data_and_pools() {
    let world = World::new();
    let text = small_study("mysql");
    let factors = "[factors]\nrows = [50_000, 100_000]\n\
                   innodb_buffer_pool_size = [\"32M\", \"64M\"]";
    let text = text.replace("[factors]", factors);
    let study = world.write("study.toml", &text);
    let output = Weir::in_world(&world)
        .args(["plan", study.to_str().unwrap()])
        .succeeds();
    let data = output.stdout.lines().find(|line| line.starts_with("data:"));
    let data = data.unwrap();
    assert!(data.contains("100000 to 200000 rows"), "{data}");
    assert!(data.contains("buffer pool of 32M to 64M"), "{data}");
    assert!(data.contains("0.4 to 1.5 times"), "{data}");
}

#[test]
fn an_unknown_drive_is_named_before_anything_runs() {
    let world = World::new();
    let text = small_study("mysql").replace("intel-p4610", "intel-p4160+write.buffer=1M");
    let study = world.write("study.toml", &text);
    let error = Weir::in_world(&world)
        .args(["plan", study.to_str().unwrap()])
        .fails();
    assert!(error.contains("did you mean `intel-p4610`?"), "{error}");
}

#[test]
fn wrong_usage_exits_with_2() {
    let output = Weir::new().args(["plan"]).output();
    assert_eq!(output.code, Some(2));
}

/// `small_study` with one more line of configuration.
fn with_setting(flavor: &str, setting: &str) -> String {
    small_study(flavor).replace("[server.config]", &format!("[server.config]\n{setting}"))
}

/// What the installed program makes of a setting is said; what it refuses ends the plan with one line.
fn an_installed_server_is_asked(flavor: &str) {
    let world = World::new();
    let plan = |setting: &str| {
        let study = world.write("study.toml", &with_setting(flavor, setting));
        Weir::in_world(&world).args(["plan", study.to_str().unwrap()])
    };
    let output = plan("innodb-io-capacity = 1").succeeds().stdout;
    assert!(output.contains(" reads them"), "{output}");
    assert!(
        output.contains("makes innodb_io_capacity 100 of 1"),
        "{output}"
    );

    let error = plan("innodb_flush_log_at_trx_commit = \"ON\"").fails();
    let words = " refuses innodb_flush_log_at_trx_commit = ON: ";
    assert!(error.contains(words) && error.contains(flavor), "{error}");
    let error = plan("innodb_io_capacit = 200").fails();
    assert!(
        error.contains("did you mean `innodb_io_capacity`"),
        "{error}"
    );
    let error = plan("innodb-doublewrite = \"ON\"").fails();
    assert!(error.contains("keep one spelling"), "{error}");
    assert_eq!(world.records().len(), 0);
}

#[test]
fn an_installed_mysql_is_asked() {
    an_installed_server_is_asked("mysql");
}

#[test]
fn an_installed_mariadb_is_asked() {
    an_installed_server_is_asked("mariadb");
}

/// Small pools of a scaled study: what the server will make of them counts.
#[test]
fn a_scaled_pool_is_the_one_that_the_server_will_make() {
    let world = World::new();
    let plan = |flavor: &str| {
        let text = small_study(flavor).replace("\"8M\"", "\"200M\"");
        let text = text.replace("drive = \"1/25\" }", "data = \"1/100\", drive = \"1/25\" }");
        let study = world.write("study.toml", &text);
        Weir::in_world(&world).args(["plan", study.to_str().unwrap()])
    };
    let output = plan("mysql").succeeds().stdout;
    assert!(output.contains("the buffer pool of 5M\n"), "{output}");
    assert!(
        output.contains("innodb_buffer_pool_size 5M of 2M"),
        "{output}"
    );
    let error = plan("mariadb").fails();
    let words = " refuses innodb_buffer_pool_size = 2M: InnoDB: innodb_page_size=16384 requires";
    assert!(
        error.contains(words) && error.contains("scale of 1/100"),
        "{error}"
    );
}

/// A version that is not there cannot be asked: settings are as they are written.
#[test]
fn a_server_that_is_not_installed_is_not_asked() {
    let world = World::new();
    let study = world.write("study.toml", &small_study("mysql 5.1"));
    let output = Weir::in_world(&world)
        .args(["plan", study.to_str().unwrap()])
        .succeeds();
    assert!(
        output
            .stdout
            .contains("settings: as they are written (no mysql 5.1"),
        "{}",
        output.stdout
    );
}
