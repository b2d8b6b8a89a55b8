//! Rules judge what settings mean, never how they are written.

use super::*;

/// A study on two drives, of which one writes pages whole, with `config` and `factors`.
fn study(flavor: &str, config: &str, factors: &str) -> String {
    format!(
        r#"
[study]
title = "Spellings"
question = "What do settings mean?"
[server]
flavor = "{flavor}"
[server.config]
{config}
[data]
workload = "oltp_write_only"
tables = 1
rows = 1000
[load]
threads = 2
warmup = "60s"
measure = "1800s"
[factors]
{factors}
[repeat]
runs = 5
"#
    )
}

const OFF: [(&str, &str); 8] = [
    ("innodb_doublewrite", "0"),
    ("innodb_doublewrite", "off"),
    ("innodb_doublewrite", "FALSE"),
    ("innodb_doublewrite", " OFF "),
    ("innodb-doublewrite", "OFF"),
    ("skip_innodb_doublewrite", "1"),
    ("skip-innodb-doublewrite", "ON"),
    ("loose_innodb_doublewrite", "detect_only"),
];

#[test]
fn r3_sees_doublewrite_off_in_every_spelling() {
    let rules = |config: &str| of_text(&study("mysql", config, r#"drive = ["intel-p4610"]"#));
    for (name, value) in OFF {
        let rules = rules(&format!("{name} = \"{value}\""));
        assert!(
            rules.contains(&"R3".to_owned()),
            "{name} = {value}: {rules:?}"
        );
    }
    for config in [
        "innodb_doublewrite = \"TRUE\"",
        "skip_innodb_doublewrite = 0",
        "",
    ] {
        assert!(!rules(config).contains(&"R3".to_owned()), "{config}");
    }
}

#[test]
fn r2_sees_unequal_pages_in_every_spelling() {
    for (name, value) in OFF {
        let factors = format!(
            "drive = [{{ name = \"a\", drive = \"intel-p4610\" }}, \
             {{ name = \"b\", drive = \"scaleflux-csd2000\", {name} = \"{value}\" }}]"
        );
        // What is not set is as by default, so both say it.
        let factors = factors.replace(
            "drive = \"intel-p4610\" }",
            &format!("drive = \"intel-p4610\", {name} = \"{}\" }}", on(name)),
        );
        let rules = of_text(&study("mysql", "", &factors));
        assert!(
            rules.contains(&"R2".to_owned()),
            "{name} = {value}: {rules:?}"
        );
    }
}

fn on(name: &str) -> &'static str {
    if name.starts_with("skip") { "0" } else { "ON" }
}

/// 3 flushes at each commit on MariaDB; MySQL makes it 2.
#[test]
fn r2_knows_what_three_means_on_each_server() {
    let rules = |flavor: &str| {
        let factors = "innodb_flush_log_at_trx_commit = [1, 3]";
        of_text(&study(flavor, "", factors))
    };
    assert!(!rules("mariadb").contains(&"R2".to_owned()));
    assert!(rules("mysql").contains(&"R2".to_owned()));
}

/// `log_bin = OFF` switches it off, and `skip_log_bin = 0` on.
#[test]
fn r2_knows_a_binary_log_whatever_it_is_called() {
    let unequal = |log: &str| {
        let factors = format!("sync_binlog = [1, 0]\n{log}");
        of_text(&study("mysql", "", &factors)).contains(&"R2".to_owned())
    };
    assert!(unequal(r#"log_bin = ["ON"]"#));
    assert!(unequal(r#"log_bin = ["shop"]"#));
    assert!(!unequal(r#"log_bin = ["OFF"]"#));
    assert!(unequal("skip_log_bin = [0]"));
    assert!(!unequal("skip-log-bin = [1]"));
}

#[test]
fn two_spellings_of_one_value_are_one_setting() {
    let plan = plan(&study(
        "mysql",
        "",
        r#"innodb_doublewrite = ["OFF", "0", "ON"]"#,
    ));
    let settings = crate::cell_settings::CellSettings::new(&plan);
    assert_eq!(settings.identical(), [vec![0, 1]]);
}

#[test]
fn two_spellings_of_one_variable_are_an_error() {
    for (config, factors) in [
        (
            "innodb-doublewrite = \"ON\"\ninnodb_doublewrite = \"OFF\"",
            "drive = [\"null\"]",
        ),
        (
            "innodb_doublewrite = \"ON\"",
            "skip-innodb-doublewrite = [0, 1]",
        ),
        (
            "",
            "a = [{ name = \"x\", sync-binlog = 1 }]\nsync_binlog = [1, 0]",
        ),
        (
            "",
            "a = [{ sync_binlog = 1 }, { log_bin = \"b\", skip_log_bin = true }]",
        ),
    ] {
        let error = plan_from_text(&study("mysql", config, factors), weir_model::Flavor::Mysql)
            .unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("sets the same variable; keep one spelling"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }
}

/// Arms never meet: what one of them spells otherwise is no mistake.
#[test]
fn arms_may_spell_a_variable_each_in_its_own_way() {
    let arms = r#"arm = [{ log_bin = "binlog", sync_binlog = 1 }, { skip_log_bin = true }]"#;
    let findings = findings_before(&plan(&study("mysql", "", arms)));
    let price = findings.iter().find(|finding| finding.rule == RuleId::R2);
    let price = &price.unwrap().message;
    assert!(
        price.contains("(binary log flushed: no binary log against sync_binlog = 1)"),
        "{price}"
    );
}

/// Dashes do not keep a pool from being scaled with the data.
#[test]
fn a_size_is_scaled_in_every_spelling() {
    let text = study(
        "mysql",
        "innodb-buffer-pool-size = \"8G\"",
        "drive = [\"null\"]",
    )
    .replace("rows = 1000", "rows = 1000\nscale = \"1/8\"");
    let plan = plan(&text);
    assert_eq!(
        plan.cells[0].spec.variable("innodb_buffer_pool_size"),
        Some(&*(1_u64 << 30).to_string())
    );
}

/// A result of a server that says `FALSE` (MySQL 9.7 does where that was written).
#[test]
fn r3_sees_what_a_server_prints() {
    let says = |value: &'static str| {
        move |result: &mut StudyResult| {
            result.drives[0].atomicity.unit = Bytes(512);
            for run in result.runs.iter_mut().filter(|run| run.record.cell == 1) {
                let variables = Arc::make_mut(&mut run.variables);
                variables.insert("innodb_doublewrite".into(), value.into());
            }
        }
    };
    assert_eq!(spoiled(says("FALSE")), warned("R3"));
    // Asked was OFF, so both levels are one.
    let (rules, _) = spoiled(says("TRUE"));
    assert!(!rules.iter().any(|(rule, _)| rule == "R3"), "{rules:?}");
}
