//! Forms in which a log may be written.

use std::thread;
use std::time::Duration;

use weir_flashback::{FlashbackPlan, MomentRequest};
use weir_model::Flavor;
use weir_mysql::Row;
use weir_server::ServerBinary;

use crate::random::{Random, change};
use crate::{connect, definition, dump, flash, logging, options, orders, source, start};

/// Each way in which a log may be written.
pub(crate) fn every_form_of_the_log_says_the_same(flavor: Flavor) {
    let forms: Vec<Vec<(&str, &str)>> = match flavor {
        Flavor::Mysql => vec![
            vec![("binlog_checksum", "NONE")],
            vec![("binlog_transaction_compression", "ON")],
            vec![
                ("binlog_transaction_compression", "ON"),
                ("binlog_checksum", "NONE"),
            ],
            vec![
                ("binlog_row_value_options", "PARTIAL_JSON"),
                ("binlog_row_metadata", "FULL"),
            ],
            vec![
                ("gtid_mode", "OFF"),
                ("enforce_gtid_consistency", "OFF"),
                ("binlog_rows_query_log_events", "ON"),
            ],
        ],
        Flavor::Mariadb => vec![
            vec![("binlog_checksum", "NONE")],
            vec![
                ("log_bin_compress", "ON"),
                ("log_bin_compress_min_len", "10"),
            ],
            vec![
                ("log_bin_compress", "ON"),
                ("log_bin_compress_min_len", "10"),
                ("binlog_checksum", "NONE"),
            ],
            vec![("binlog_row_metadata", "FULL"), ("binlog_format", "MIXED")],
        ],
    };
    the_forms_say_the_same(&weir_testing::binary(flavor), &forms);
}

/// Encrypted, with and without compression and checksums. The server decrypts what it sends.
#[test]
fn every_form_of_an_encrypted_log_says_the_same() {
    let Some(plugins) = weir_testing::key_management() else {
        weir_testing::skipped(
            "an encrypted log of MariaDB",
            "its plugin file_key_management is not installed",
        );
        return;
    };
    let keys = tempfile::tempdir().unwrap();
    let key_file = keys.path().join("keys");
    std::fs::write(&key_file, "1;770A8A65DA156D24EE2A093277530142\n").unwrap();
    let (plugins, key_file) = (
        plugins.display().to_string(),
        key_file.display().to_string(),
    );
    let encrypted = [
        ("encrypt_binlog", "ON"),
        ("plugin_dir", &*plugins),
        ("plugin_load_add", "file_key_management"),
        ("file_key_management_filename", &key_file),
    ];
    let compressed = [
        ("log_bin_compress", "ON"),
        ("log_bin_compress_min_len", "10"),
    ];
    let plain = [("binlog_checksum", "NONE")];
    let forms = [
        encrypted.to_vec(),
        [&encrypted[..], &compressed].concat(),
        [&encrypted[..], &plain].concat(),
        [&encrypted[..], &compressed, &plain].concat(),
    ];
    the_forms_say_the_same(&weir_testing::binary(Flavor::Mariadb), &forms);
}

/// As above, of `MySQL`, which has its key in a keyring.
#[test]
fn every_form_of_an_encrypted_log_of_mysql_says_the_same() {
    let Some((binary, _folder)) = weir_testing::keyring_server() else {
        weir_testing::skipped(
            "an encrypted log of MySQL",
            "its component component_keyring_file is not installed",
        );
        return;
    };
    let encrypted = ("binlog_encryption", "ON");
    let forms = [
        vec![encrypted],
        vec![encrypted, ("binlog_transaction_compression", "ON")],
    ];
    the_forms_say_the_same(&binary, &forms);
}

/// With `MIXED`, which is `MariaDB`'s default, a statement that is safe is logged as such.
#[test]
fn a_statement_in_a_mixed_log_is_refused_where_it_stands() {
    let (server, _directory) = start(Flavor::Mariadb, &[("binlog_format", "MIXED")]);
    let mut control = connect(&server);
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, c INT)",
        "INSERT INTO shop.orders VALUES (1, 0), (2, 0)",
    ] {
        control.run(statement).unwrap();
    }
    thread::sleep(Duration::from_millis(1_100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1_100));
    control
        .run("UPDATE shop.orders SET c = UUID_SHORT() WHERE id = 1")
        .unwrap();
    let source = source(&server);
    let asked = MomentRequest::read(&time.unwrap());
    let changes = || {
        let (options, _work) = options();
        let prepared = FlashbackPlan::new(&source, &orders(), &asked, options).unwrap();
        prepared.changes(&mut |_| Ok(()))
    };
    // One that is not safe is logged as rows.
    assert_eq!(changes().unwrap().changes, 1);
    let before: Row = control.first("SHOW MASTER STATUS").unwrap().unwrap();
    let position: u64 = before.get(1).unwrap();
    control
        .run("UPDATE shop.orders SET c = 7 WHERE id = 2")
        .unwrap();
    let error = changes().unwrap_err().to_string();
    assert!(error.contains("`UPDATE shop.orders SET c = 7"), "{error}");
    let place = error.split("binlog.000001:").nth(1).unwrap();
    let found: u64 = place.split(',').next().unwrap().parse().unwrap();
    // The statement stands behind the start of its transaction.
    assert!((position..position + 100).contains(&found), "{error}");
}

fn the_forms_say_the_same(binary: &ServerBinary, forms: &[Vec<(&str, &str)>]) {
    let flavor = binary.flavor;
    for (number, form) in forms.iter().enumerate() {
        let (server, _directory) =
            weir_testing::start_program(binary, &[&logging(flavor)[..], form].concat());
        let mut control = connect(&server);
        if form.contains(&("binlog_format", "MIXED")) {
            control.run("SET SESSION binlog_format = 'ROW'").unwrap();
        }
        control.run("CREATE DATABASE shop").unwrap();
        control.run(definition(flavor)).unwrap();
        let mut random = Random(77 + number as u64);
        for _ in 0..60 {
            change(&mut random, &mut control, flavor);
        }
        thread::sleep(Duration::from_millis(1100));
        let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
        let expected = dump(&mut control);
        thread::sleep(Duration::from_millis(1100));
        for _ in 0..60 {
            change(&mut random, &mut control, flavor);
        }
        if flavor == Flavor::Mysql {
            control
                .run("UPDATE shop.orders SET js = JSON_SET(js, '$.a', 7, '$.b[0]', 'x')")
                .unwrap();
        }
        let found = flash(&server, &MomentRequest::read(&time.unwrap()));
        assert!(expected.len() > 10 && expected != dump(&mut control));
        assert_eq!(found, expected, "{form:?}");
    }
}
